"""The vocabulary of a model: token ids, their bytes and their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from itertools import accumulate
from typing import TYPE_CHECKING

from eliza_inference._constants import constant
from eliza_inference._library import CData, call, ffi, lib, new_struct
from eliza_inference.errors import InvalidArgumentError, error_from_status

if TYPE_CHECKING:
    from eliza_inference.model import Model

__all__ = ["TokenFlag", "Vocabulary"]


class TokenFlag(IntFlag):
    """The kind of a token."""

    NORMAL = 0
    SPECIAL = constant("ELIZA_TOKEN_SPECIAL")
    """A control token: its text is not output."""
    END_OF_GENERATION = constant("ELIZA_TOKEN_END_OF_GENERATION")
    """Ends the generation."""
    UNUSED = constant("ELIZA_TOKEN_UNUSED")
    """Never produced."""


class Vocabulary:
    """The token ids 0 .. `n_tokens`-1. Immutable; any number of threads may use it.

    `token_bytes` (one item per token) and `flags` (a `TokenFlag` per token) may be left out: a token
    tree needs only the number. `model_id` is compared with that of a token tree if both are known.
    Everything is copied.
    """

    __slots__ = ("_end_of_generation", "_handle")

    _end_of_generation: tuple[int, ...] | None

    def __init__(
        self,
        n_tokens: int,
        token_bytes: Sequence[bytes] | None = None,
        flags: Sequence[int] | None = None,
        model_id: str | None = None,
    ) -> None:
        for name, values in (("token_bytes", token_bytes), ("flags", flags)):
            if values is not None and len(values) != n_tokens:
                raise InvalidArgumentError(f"{name}: {len(values)} items for {n_tokens} tokens")
        config = new_struct("eliza_vocab_config_t")
        config.n_tokens = n_tokens
        # The struct only borrows: what it points to must have an owner here until the call is over.
        owned_id = ffi.from_buffer("char[]", (model_id or "").encode())
        config.model_id, config.model_id_len = owned_id, len(owned_id)
        if token_bytes is not None:
            owned_bytes = ffi.from_buffer("uint8_t[]", b"".join(token_bytes))
            owned_offsets = ffi.new("uint64_t[]", list(accumulate(map(len, token_bytes), initial=0)))
            config.bytes, config.offsets = owned_bytes, owned_offsets
        if flags is not None:
            owned_flags = ffi.from_buffer("uint8_t[]", bytes(flags))
            config.flags = owned_flags
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_create, config, out)
        self._adopt(out[0])

    @classmethod
    def from_model(cls, model: Model) -> Vocabulary:
        """The vocabulary of an open model, with its token bytes, flags and id."""
        out = ffi.new("eliza_vocab **")
        call(lib.eliza_inference_vocab_from_context, model._handle, out)
        vocabulary = cls.__new__(cls)
        vocabulary._adopt(out[0])
        return vocabulary

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

    def _adopt(self, handle: CData) -> None:
        self._handle = ffi.gc(handle, lib.eliza_inference_vocab_free)
        self._end_of_generation = None

    def _token(self, token: int, data: CData, length: CData, flags: CData) -> None:
        status = lib.eliza_inference_vocab_token(self._handle, token, data, length, flags)
        if status < 0:
            raise error_from_status(status, f"token {token} is outside 0..{len(self) - 1}")
