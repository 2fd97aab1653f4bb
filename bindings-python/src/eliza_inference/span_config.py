"""How the span of a constraint ends, in the form that the library reads."""

from __future__ import annotations

from collections.abc import Iterable

from eliza_inference._library import CData, ffi, new_struct
from eliza_inference.errors import InvalidArgumentError

__all__ = ["SpanConfig"]


class SpanConfig:
    """Owns the memory that `pointer` lends to a call; NULL if everything is as by default."""

    __slots__ = ("_end", "pointer")

    pointer: CData

    def __init__(self, end: Iterable[int] | None, span_timeout: int | None) -> None:
        if span_timeout is not None and span_timeout < 1:
            raise InvalidArgumentError("span_timeout: at least 1 token")
        if end is None and span_timeout is None:
            self.pointer = ffi.NULL
            return
        self.pointer = new_struct("eliza_span_config_t")
        self.pointer.span_timeout = span_timeout or 0
        if end is not None:
            tokens = list(end)
            # No tokens and no pointer mean two things: the array is never without an address.
            self._end = ffi.new("int32_t[]", [*tokens, 0])
            self.pointer.end, self.pointer.n_end = self._end, len(tokens)
