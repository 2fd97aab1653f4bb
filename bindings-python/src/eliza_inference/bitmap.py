"""Bitmaps of legal tokens for several matchers at once."""

from __future__ import annotations

from collections.abc import Sequence

from eliza_inference._arguments import UINT32_MAX, instance, integer, several, words
from eliza_inference._bitmap import WORDS, Bitmap
from eliza_inference._library import ffi, lib
from eliza_inference.errors import ClosedError, InvalidArgumentError, error_from_status
from eliza_inference.matcher import Matcher

__all__ = ["fill_bitmaps"]


def fill_bitmaps(matchers: Sequence[Matcher], out: Bitmap, n_threads: int = 0) -> Bitmap:
    """Writes the legal next tokens of each matcher to its row of `out`, in several threads, and returns
    `out`. The layout is that of `Matcher.bitmap`.

    `out` is a writable, contiguous array of 32-bit integers (numpy or any other with the buffer
    protocol) with one row for each matcher, each of at least `ceil(n_tokens / 32)` words; words beyond
    that become 0. At most `n_threads` threads are used; 0: one for each processor. No matcher may be
    listed twice, or be used by another thread meanwhile.
    """
    try:
        handles = ffi.new("eliza_matcher *[]", [matcher._handle for matcher in matchers])
    except (AttributeError, TypeError):
        for at, matcher in enumerate(several("matchers", matchers, "matchers")):
            instance(f"matchers[{at}]", matcher, Matcher)
        raise
    if ffi.NULL in handles:
        raise ClosedError("a matcher is closed")
    if len(set(map(id, matchers))) < len(matchers):
        raise InvalidArgumentError("matchers: one of them is there twice")
    n_words = _words_of_row(out, len(matchers), max((matcher._n_words for matcher in matchers), default=0))
    lent = ffi.from_buffer(WORDS, out, require_writable=True)
    n_threads = integer("n_threads", n_threads, 0, UINT32_MAX)
    status = lib.eliza_inference_matcher_fill_bitmaps(handles, len(handles), lent, n_words, n_threads)
    if status < 0:
        raise error_from_status(status, f"the bitmaps of {len(handles)} matchers could not be filled")
    return out


def _words_of_row(out: object, n_rows: int, n_words: int) -> int:
    """Words from one row to the next."""
    view = words("bitmaps", out)
    if view.ndim > 1 and view.shape is not None and view.shape[0] != n_rows:
        raise InvalidArgumentError(f"bitmaps: {view.shape[0]} rows for {n_rows} matchers")
    n_all = view.nbytes // 4
    if n_all < n_rows * n_words or (n_rows and n_all % n_rows):
        raise InvalidArgumentError(f"bitmaps: {n_all} words are not {n_rows} rows of at least {n_words}")
    return n_all // n_rows if n_rows else 0
