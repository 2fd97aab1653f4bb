"""How a constraint's span ends, as the library reads it."""

from __future__ import annotations

from collections.abc import Iterable

from eliza_inference._arguments import UINT32_MAX, integer, integers, utf8
from eliza_inference._library import CData, ffi, new_struct

__all__ = ["SpanConfig"]


class SpanConfig:
    """Owns the struct that `pointer` lends to a call; NULL stands for the defaults."""

    __slots__ = ("_end", "_prefill", "pointer")

    pointer: CData

    def __init__(self, end: Iterable[int] | None, span_timeout: int | None, prefill: str | bytes = b"") -> None:
        if span_timeout is not None:
            span_timeout = integer("span_timeout", span_timeout, 1, UINT32_MAX)
        if end is None and span_timeout is None and not prefill:
            self.pointer = ffi.NULL
            return
        self.pointer = new_struct("eliza_span_config_t")
        self.pointer.span_timeout = span_timeout or 0
        if end is not None:
            # An empty `end` differs from none: one more item gives the array an address in either case.
            self._end = integers("end", end, more=(0,))
            self.pointer.end, self.pointer.n_end = self._end, len(self._end) - 1
        if prefill:
            text = utf8("prefill", prefill) if isinstance(prefill, str) else prefill
            self._prefill = ffi.from_buffer("uint8_t[]", text)
            self.pointer.prefill, self.pointer.prefill_len = self._prefill, len(self._prefill)
