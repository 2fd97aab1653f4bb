"""The vocabulary of a model: token ids, their bytes and their kinds."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from eliza_inference._arguments import integer, kind_of, utf8
from eliza_inference._described import Described
from eliza_inference._library import CData, call, ffi, lib, new_struct
from eliza_inference._open_model import OpenModel
from eliza_inference._tokenizers import ByteTokenizer, RegisteredTokenizer, set_tokenizer
from eliza_inference.converters.tiktoken_ranks import Ranks, read_tiktoken_ranks
from eliza_inference.converters.token_table import TokenTable
from eliza_inference.converters.tokenizer_json import TokenizerJson, read_tokenizer_json
from eliza_inference.errors import InvalidArgumentError, error_from_status
from eliza_inference.token_flag import TokenFlag

__all__ = ["ByteTokenizer", "TokenFlag", "Vocabulary", "VocabularyInfo"]


@dataclass(frozen=True, slots=True)
class VocabularyInfo:
    """The size of a vocabulary and of its byte trie. Counts of the trie are 0 until `prepare`."""

    n_tokens: int
    n_nodes: int
    """Nodes of the byte trie, the root included; 0: not prepared."""
    n_duplicates: int
    """Tokens with the same bytes as another one."""
    missing_bytes: int
    """Bytes without a token of their own: where one of them is the only legal byte, no token may be."""
    longest_token: int
    """Bytes of the longest token."""
    fingerprint: int
    """Of the token bytes and flags: what saved constraints are compared with."""
    retained_bytes: int
    """Memory kept, mapped files included."""


class Vocabulary(Described):
    """The token ids 0 .. `n_tokens`-1. Immutable but for `set_tokenizer`; any number of threads may use
    it.

    `token_bytes` (one item per token) and `flags` (a `TokenFlag` per token) may be left out: a token
    tree needs only the number, a recognizer needs the bytes. `model_id` is compared with that of a
    token tree if both are known. Everything is copied.
    """

    __slots__ = ("_end_of_generation", "_handle", "_tokenizer")

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
            owned_flags = ffi.from_buffer("uint8_t[]", bytes(flags))
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
        """The vocabulary of a GGUF file with a whole model, read by libllama (see `Model`)."""
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
        """The vocabulary of a Hugging Face `tokenizer.json`: the path, the text, or the object in it.

        Served are models of the types BPE and Unigram in the byte-level spelling (GPT-2 and its kin)
        and that of SentencePiece (U+2581 for a space, `<0x0A>` for a byte), told apart by the
        `decoder`, or without one by `pre_tokenizer` and `normalizer`. Each token has the bytes that it
        has inside a text: U+2581 at its beginning is a space. The unknown token and added tokens that
        are `special` are `TokenFlag.SPECIAL`.

        `n_tokens` is the size of the model's output where that is padded (ids without a token are
        `TokenFlag.UNUSED`). `end_of_generation` names the tokens that end a generation, by name or
        id; without it, special tokens with a name that is in use for this, such as `</s>` or
        `<|im_end|>`. Raises `FileInvalidError` with the place.
        """
        return cls._from_table(read_tokenizer_json(source), n_tokens, end_of_generation, model_id)

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
        """The vocabulary of tiktoken's ranks: the path of a file of lines `base64 rank`, or a mapping
        from bytes to ranks. `special` maps the names of special tokens to their ids, which such files
        do not hold. The rest is as for `from_tokenizer_json`."""
        return cls._from_table(read_tiktoken_ranks(ranks, special or {}), n_tokens, end_of_generation, model_id)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Opens a file that `save` wrote, by mapping it: ready at once, byte trie included.

        The file must not be changed while the vocabulary lives. Raises `FileInvalidError` if it is
        damaged or of another version, and `SlotFileError` if it cannot be read.
        """
        encoded = os.fsencode(path)
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_open, encoded, len(encoded), out)
        return cls._from_handle(out[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the vocabulary with its byte trie to a file, for `open`. A tokenizer is not saved."""
        encoded = os.fsencode(path)
        call(lib.eliza_inference_vocab_save, self._handle, encoded, len(encoded))

    def prepare(self) -> None:
        """Builds the byte trie, which otherwise the first recognizer does.

        `InvalidArgumentError` if the bytes of the tokens are not known.
        """
        call(lib.eliza_inference_vocab_prepare, self._handle)

    def set_tokenizer(self, tokenizer: ByteTokenizer | None) -> None:
        """Says how the model's tokenizer spells a text, from its bytes to token ids without special
        ones; None: the longest token first.

        Used by forced tokens and canonical choices, in the threads of these calls, which raise what
        the tokenizer raises. A vocabulary of a model has one. Not to be called while another thread
        uses the vocabulary.
        """
        if tokenizer is None:
            set_tokenizer(self._handle, ffi.NULL, ffi.NULL)
            self._tokenizer = None
        else:
            self._tokenizer = RegisteredTokenizer(self._handle, tokenizer)

    @property
    def info(self) -> VocabularyInfo:
        """Sizes and fingerprint."""
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
        """The bytes of a token; b"" where they are not known."""
        data, length = ffi.new("const uint8_t **"), ffi.new("size_t *")
        self._token(token, data, length, ffi.NULL)
        return bytes(ffi.buffer(data[0], length[0])) if length[0] else b""

    def flags(self, token: int) -> TokenFlag:
        """The kind of a token."""
        flags = ffi.new("uint32_t *")
        self._token(token, ffi.NULL, ffi.NULL, flags)
        return TokenFlag(flags[0])

    def end_of_generation_tokens(self) -> tuple[int, ...]:
        """The tokens that end a generation, ascending. The first call looks at every token."""
        if self._end_of_generation is None:
            flags, ends = ffi.new("uint32_t *"), int(TokenFlag.END_OF_GENERATION)
            handle, read = self._handle, lib.eliza_inference_vocab_token
            self._end_of_generation = tuple(
                token
                for token in range(len(self))
                if read(handle, token, ffi.NULL, ffi.NULL, flags) == 0 and flags[0] & ends
            )
        return self._end_of_generation

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
        self._end_of_generation = None
        self._tokenizer = None

    def _token(self, token: int, data: CData, length: CData, flags: CData) -> None:
        try:
            status = lib.eliza_inference_vocab_token(self._handle, token, data, length, flags)
        except (TypeError, OverflowError):
            integer("token", token, 0, len(self) - 1)
            raise
        if status < 0:
            raise error_from_status(status, f"token {token} is outside 0..{len(self) - 1}")
