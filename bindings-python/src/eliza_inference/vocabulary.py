"""The vocabulary of a model: token ids with their bytes and kinds."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from ctypes import create_string_buffer
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from eliza_inference._arguments import integer, integers, kind_of, utf8
from eliza_inference._bitmap import n_bitmap_words
from eliza_inference._described import Described, Shared
from eliza_inference._library import CData, call, ffi, lib, new_struct
from eliza_inference._open_model import OpenModel
from eliza_inference._opening import open_flags
from eliza_inference._tokenizers import ByteTokenizer, RegisteredTokenizer, set_tokenizer
from eliza_inference.converters.tiktoken_ranks import Ranks, read_tiktoken_ranks
from eliza_inference.converters.token_table import TokenTable
from eliza_inference.converters.tokenizer_json import TokenizerJson, read_tokenizer_json
from eliza_inference.errors import InvalidArgumentError, error_from_status
from eliza_inference.token_flag import TokenFlag

__all__ = ["ByteTokenizer", "TokenFlag", "Vocabulary", "VocabularyInfo"]


@dataclass(frozen=True, slots=True)
class VocabularyInfo:
    """The size of a vocabulary and of its byte trie. The counts of the trie are 0 until it is built."""

    n_tokens: int
    n_nodes: int
    """Nodes of the byte trie, the root included."""
    n_duplicates: int
    """Tokens with the same bytes as another token."""
    missing_bytes: int
    """Byte values without a token of their own: where only such a byte is legal, perhaps no token is."""
    longest_token: int
    """Length of the longest token, in bytes."""
    fingerprint: int
    """A hash of the token bytes and flags, by which a saved constraint knows its vocabulary."""
    retained_bytes: int
    """Memory kept, in bytes, mapped files included."""


class Vocabulary(Shared, Described):
    """The token ids from 0 to `n_tokens` - 1. Immutable except for `set_tokenizer`, and usable by any
    number of threads at once.

    `token_bytes` has the bytes of each token and `flags` its `TokenFlag`, in the order of the ids. Both may
    be left out: a token tree needs only the number of tokens; a recognizer needs the bytes. `model_id` is
    compared with that of a token tree if both are known. Everything is copied.
    """

    __slots__ = ("_control_tokens", "_end_of_generation", "_handle", "_n_words", "_tokenizer")

    _control_tokens: dict[str, int] | None
    _end_of_generation: tuple[int, ...] | None
    _tokenizer: RegisteredTokenizer | None

    def __init__(
        self,
        n_tokens: int,
        token_bytes: Sequence[bytes] | None = None,
        flags: Sequence[int] | None = None,
        model_id: str | None = None,
    ) -> None:
        n_tokens = integer("n_tokens", n_tokens, 1)
        for name, values in (("token_bytes", token_bytes), ("flags", flags)):
            if values is not None and len(values) != n_tokens:
                raise InvalidArgumentError(f"{name}: {len(values)} items for {n_tokens} tokens")
        config = new_struct("eliza_vocab_config_t")
        config.n_tokens = n_tokens
        # The struct only borrows: what it points to must have an owner here until the call is over.
        owned_id = ffi.from_buffer("char[]", utf8("model_id", model_id or ""))
        config.model_id, config.model_id_len = owned_id, len(owned_id)
        if token_bytes is not None:
            owned_bytes = ffi.from_buffer("uint8_t[]", b"".join(token_bytes))
            owned_offsets = ffi.from_buffer("uint64_t[]", array("Q", accumulate(map(len, token_bytes), initial=0)))
            config.bytes, config.offsets = owned_bytes, owned_offsets
        if flags is not None:
            owned_flags = ffi.from_buffer("uint8_t[]", _flag_bytes(flags))
            config.flags = owned_flags
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_create, config, out)
        self._adopt(out[0])

    @classmethod
    def from_model(cls, model: OpenModel) -> Vocabulary:
        """The vocabulary of an open `Model`, with its token bytes, flags, id and tokenizer."""
        if not isinstance(model, OpenModel):
            raise TypeError(f"model: expected a Model, got {kind_of(model)}")
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_from_context, model._handle, out)
        return cls._from_handle(out[0])

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], *, model_id: str = "") -> Vocabulary:
        """The vocabulary of a GGUF file, which must hold a whole model: libllama loads it, as for `Model`, and
        it is closed again."""
        with OpenModel(path, model_id=model_id) as model:
            return cls.from_model(model)

    @classmethod
    def from_tokenizer_json(
        cls,
        source: TokenizerJson,
        *,
        n_tokens: int | None = None,
        end_of_generation: Iterable[str | int] | None = None,
        model_id: str | None = None,
    ) -> Vocabulary:
        """The vocabulary of a Hugging Face `tokenizer.json`, given as its path, its text, or the object that
        the text decodes to.

        Models of the types BPE and Unigram are supported, in the byte-level spelling (GPT-2 and its kin)
        and in that of SentencePiece (U+2581 for a space, `<0x0A>` for a byte). The `decoder` tells which,
        or without one the `pre_tokenizer` and `normalizer`. A token has the bytes that it has inside a
        text: U+2581 at its beginning is a space. The unknown token, and added tokens that are `special`,
        are `TokenFlag.SPECIAL`.

        `n_tokens` is the length of the model's logits if they are padded; ids without a token are
        `TokenFlag.UNUSED`. `end_of_generation` lists the tokens that end a generation, by name or id; None:
        the special tokens with a usual name for it, such as `</s>` or `<|im_end|>`. Raises
        `FileInvalidError`, which names the place in the file.
        """
        return cls._from_table(read_tokenizer_json(source), n_tokens, end_of_generation, model_id)

    @classmethod
    def from_transformers(
        cls, tokenizer: Any, *, n_tokens: int | None = None, model_id: str | None = None
    ) -> Vocabulary:
        """The vocabulary of a fast tokenizer of transformers, with that tokenizer for forced tokens and canonical
        choices. Its `eos_token` ends a generation, beside the special tokens with a usual name for it. All else is as
        for `from_tokenizer_json`."""
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise TypeError(f"tokenizer: expected a fast tokenizer of transformers, got {kind_of(tokenizer)}")
        table = read_tokenizer_json(json.loads(backend.to_str()))
        vocabulary = cls._from_table(table, n_tokens, None, model_id)
        ends = vocabulary.end_of_generation_tokens()
        if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
            vocabulary = cls._from_table(table, n_tokens, [*ends, tokenizer.eos_token_id], model_id)
        vocabulary.set_tokenizer(
            lambda text: tokenizer.encode(text.decode("utf-8", "ignore"), add_special_tokens=False)
        )
        return vocabulary

    @classmethod
    def from_llama_cpp(cls, llama: Any, *, model_id: str | None = None) -> Vocabulary:
        """The vocabulary of a `Llama` of llama-cpp-python, with its tokenizer for forced tokens and canonical choices.
        It keeps the `Llama` alive."""
        import llama_cpp

        vocab = llama_cpp.llama_model_get_vocab(llama.model)
        control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
        buffer = create_string_buffer(256)
        token_bytes, flags = [], []
        for token in range(llama.n_vocab()):
            length = llama_cpp.llama_token_to_piece(vocab, token, buffer, len(buffer), 0, True)
            if length < 0:
                buffer = create_string_buffer(-length)
                length = llama_cpp.llama_token_to_piece(vocab, token, buffer, len(buffer), 0, True)
            token_bytes.append(buffer.raw[:length])
            attributes = llama_cpp.llama_vocab_get_attr(vocab, token)
            ends = llama_cpp.llama_vocab_is_eog(vocab, token)
            flags.append(
                (TokenFlag.SPECIAL if attributes & control else 0)
                | (TokenFlag.UNUSED if attributes & llama_cpp.LLAMA_TOKEN_ATTR_UNUSED else 0)
                | (TokenFlag.END_OF_GENERATION if ends else 0)
            )
        vocabulary = cls(len(token_bytes), token_bytes, flags, model_id)
        vocabulary.set_tokenizer(lambda text: llama.tokenize(text, add_bos=False, special=False))
        return vocabulary

    @classmethod
    def from_tiktoken(
        cls,
        ranks: Ranks,
        *,
        special: Mapping[str, int] | None = None,
        n_tokens: int | None = None,
        end_of_generation: Iterable[str | int] | None = None,
        model_id: str | None = None,
    ) -> Vocabulary:
        """The vocabulary of tiktoken's ranks, given as the path of a file of lines `base64 rank`, or as a
        mapping from bytes to ranks.

        `special` maps the names of the special tokens, which such files lack, to their ids. All else is
        as for `from_tokenizer_json`.
        """
        return cls._from_table(read_tiktoken_ranks(ranks, special or {}), n_tokens, end_of_generation, model_id)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, trusted: bool = False, copy: bool = False) -> Vocabulary:
        """Maps a file that `save` wrote, which makes the vocabulary ready at once, byte trie included.

        Whoever wrote the file, all that it says is checked; not so if it is `trusted`. It must not change while the
        vocabulary lives, unless it is a `copy` that is used. Raises `FileInvalidError` if it is damaged or
        of another version, and `SlotFileError` if it cannot be read.
        """
        encoded = os.fsencode(path)
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_open_with, encoded, len(encoded), open_flags(trusted, copy), out)
        return cls._from_handle(out[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the vocabulary and its byte trie, but no tokenizer, to a file for `open`. `SlotFileError` if it
        cannot be written."""
        encoded = os.fsencode(path)
        call(lib.eliza_inference_vocab_save, self._handle, encoded, len(encoded))

    def prepare(self) -> None:
        """Builds the byte trie now; otherwise the first recognizer does.

        `InvalidArgumentError` if the bytes of the tokens are not known.
        """
        call(lib.eliza_inference_vocab_prepare, self._handle)

    def set_tokenizer(self, tokenizer: ByteTokenizer | None) -> None:
        """Sets the function that tokenises as the model does: from the bytes of a text to token ids, without
        special tokens. None: the longest token first.

        Forced tokens and canonical choices call it, in the thread of their own call, which raises what it
        raises. The vocabulary of a model has one from the start. Not to be called while another thread
        uses the vocabulary.
        """
        if tokenizer is None:
            set_tokenizer(self._handle, ffi.NULL, ffi.NULL)
            self._tokenizer = None
        else:
            self._tokenizer = RegisteredTokenizer(self._handle, tokenizer)

    @property
    def info(self) -> VocabularyInfo:
        """Sizes and the fingerprint."""
        info = new_struct("eliza_vocab_info_t")
        status = lib.eliza_inference_vocab_info(self._handle, info)
        if status < 0:
            raise error_from_status(status, "vocabulary info")
        return VocabularyInfo(
            info.n_tokens,
            info.n_nodes,
            info.n_duplicates,
            info.missing_bytes,
            info.longest_token,
            info.fingerprint,
            info.retained_bytes,
        )

    def __len__(self) -> int:
        return int(lib.eliza_inference_vocab_size(self._handle))

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token; b"" if they are not known. `InvalidArgumentError` for an id that there is not."""
        data, length = ffi.new("const uint8_t **"), ffi.new("size_t *")
        self._token(token, data, length, ffi.NULL)
        return bytes(ffi.buffer(data[0], length[0])) if length[0] else b""

    def flags(self, token: int) -> TokenFlag:
        """The kind of a token. `InvalidArgumentError` for an id that there is not."""
        flags = ffi.new("uint32_t *")
        self._token(token, ffi.NULL, ffi.NULL, flags)
        return TokenFlag(flags[0])

    def heal(self, prompt: Sequence[int]) -> tuple[list[int], bytes]:
        """Token healing: takes back the tokens at the end of a prompt that the model might not write if it knew what
        follows, since another token begins with them. Returns those that stay, and the bytes of those that do not:
        the `prefill` of a `Matcher` or a stream's constraint, which spells them again."""
        tokens = integers("prompt", prompt)
        kept = ffi.new("size_t *")
        call(lib.eliza_inference_vocab_heal, self._handle, tokens, len(tokens), kept)
        stay = [int(token) for token in tokens]
        return stay[: kept[0]], b"".join(map(self.token_bytes, stay[kept[0] :]))

    def end_of_generation_tokens(self) -> tuple[int, ...]:
        """The ids of the tokens that end a generation, ascending. The first call reads every token's flags."""
        if self._end_of_generation is None:
            flags, ends = ffi.new("uint32_t *"), int(TokenFlag.END_OF_GENERATION)
            handle, read = self._handle, lib.eliza_inference_vocab_token
            self._end_of_generation = tuple(
                token
                for token in range(len(self))
                if read(handle, token, ffi.NULL, ffi.NULL, flags) == 0 and flags[0] & ends
            )
        return self._end_of_generation

    def control_tokens(self) -> dict[str, int]:
        """The control tokens by their texts, but for those that a token of text spells too. The first call reads every
        token."""
        if self._control_tokens is None:
            spelled = set()
            control: dict[bytes, int] = {}
            for token in range(len(self)):
                flags = self.flags(token)
                if flags & TokenFlag.SPECIAL:
                    control.setdefault(self.token_bytes(token), token)
                elif not flags:
                    spelled.add(self.token_bytes(token))
            spelled.add(b"")
            self._control_tokens = {
                text.decode("utf-8", "replace"): token for text, token in control.items() if text not in spelled
            }
        return self._control_tokens

    @classmethod
    def _from_table(
        cls,
        table: TokenTable,
        n_tokens: int | None,
        end_of_generation: Iterable[str | int] | None,
        model_id: str | None,
    ) -> Vocabulary:
        token_bytes, flags = table.finish(n_tokens, end_of_generation)
        return cls(len(token_bytes), token_bytes, flags, model_id)

    @classmethod
    def _from_handle(cls, handle: CData) -> Vocabulary:
        vocabulary = cls.__new__(cls)
        vocabulary._adopt(handle)
        return vocabulary

    def _describe(self) -> str:
        return f"of {len(self)} tokens"

    def _adopt(self, handle: CData) -> None:
        self._handle = ffi.gc(handle, lib.eliza_inference_vocab_free)
        self._n_words = n_bitmap_words(len(self))
        self._end_of_generation = None
        self._control_tokens = None
        self._tokenizer = None

    def _token(self, token: int, data: CData, length: CData, flags: CData) -> None:
        try:
            status = lib.eliza_inference_vocab_token(self._handle, token, data, length, flags)
        except (TypeError, OverflowError):
            integer("token", token, 0, len(self) - 1)
            raise
        if status < 0:
            raise error_from_status(status, f"token {token} is outside 0..{len(self) - 1}")


def _flag_bytes(flags: Sequence[int]) -> bytes:
    """One byte for each element, whatever its size in an array."""
    try:
        return bytes([*flags])
    except (TypeError, ValueError):
        for at, flag in enumerate(flags):
            integer(f"flags[{at}]", flag, 0, 255)
        raise
