"""Bitmaps of legal tokens for several matchers, or several places, at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eliza_inference._arguments import UINT32_MAX, instance, integer, several, words
from eliza_inference._bitmap import WORDS, Bitmap, empty_bitmap
from eliza_inference._library import ffi, lib
from eliza_inference._logits import apply_bitmaps
from eliza_inference.errors import BusyError, ClosedError, InvalidArgumentError, Status, error_from_status
from eliza_inference.matcher import Matcher, Step

__all__ = ["apply_bitmaps", "fill_bitmaps", "fill_draft_bitmaps"]


def fill_bitmaps(
    matchers: Sequence[Matcher], out: Bitmap, n_threads: int = 0, *, rows: Sequence[int] | None = None
) -> Bitmap:
    """Writes the legal next tokens of each matcher to its row of `out`, in several threads, and returns
    `out`. The layout is that of `Matcher.bitmap`.

    `out` is a writable, contiguous array of 32-bit integers (numpy or any other with the buffer
    protocol) with one row for each matcher, each of at least `ceil(n_tokens / 32)` words; words beyond
    that become 0. With `rows`, `out` is a two-dimensional array of numpy, matcher i has the row `rows[i]`, and
    others stay as they are. At most `n_threads` threads are used; 0: one for each processor. No matcher may be
    listed twice, or be used by another thread meanwhile.
    """
    if rows is None:
        return _fill(matchers, out, n_threads)
    array: Any = out
    if len(rows) != len(matchers):
        raise InvalidArgumentError(f"rows: {len(rows)} for {len(matchers)} matchers")
    for at, row in enumerate(rows):
        integer(f"rows[{at}]", row, 0, array.shape[0] - 1)
    filled = empty_bitmap(len(matchers) * array.shape[1]).reshape(len(matchers), array.shape[1])
    array[list(rows)] = _fill(matchers, filled, n_threads)
    return out


def fill_draft_bitmaps(
    matcher: Matcher, tokens: Sequence[int], out: Bitmap, *, parents: Sequence[int] | None = None
) -> Bitmap:
    """Writes the legal next tokens before and after each token of a draft, and returns `out`. The matcher stays
    where it is.

    Row 0 is where the matcher stands, and row i + 1 is behind `tokens[i]`, which stands behind row `parents[i]`,
    at most i; None: a chain, in which that is row i. After a token that is not legal every bit is 1: nothing is
    verified there. `out` is a two-dimensional array of numpy of at least as many rows, as for `fill_bitmaps`.
    """
    array: Any = out
    if array.shape[0] <= len(tokens):
        raise InvalidArgumentError(f"bitmaps: {array.shape[0]} rows for a draft of {len(tokens)} tokens")
    above = range(len(tokens)) if parents is None else parents
    if len(above) != len(tokens):
        raise InvalidArgumentError(f"parents: {len(above)} for {len(tokens)} tokens")
    path: list[int] = []  # the rows after the tokens that were accepted, from row 0 on
    legal = {0}
    matcher.fill_bitmap(array[0])
    for row, (token, parent) in enumerate(zip(tokens, above, strict=True), 1):
        integer(f"parents[{row - 1}]", parent, 0, row - 1)
        if parent in legal:
            path = _go_to(matcher, path, parent, tokens, above)
            if Step.REFUSED not in matcher.accept(token):
                path.append(row)
                legal.add(row)
                matcher.fill_bitmap(array[row])
                continue
        array[row] = -1
    matcher.rollback(len(path))
    return out


def _go_to(matcher: Matcher, path: list[int], row: int, tokens: Sequence[int], parents: Sequence[int]) -> list[int]:
    """Moves the matcher from one row of a draft to another, both behind legal tokens. Returns the new path."""
    target: list[int] = []
    while row > 0:
        target.append(row)
        row = parents[row - 1]
    target.reverse()
    common = 0
    while common < min(len(path), len(target)) and path[common] == target[common]:
        common += 1
    matcher.rollback(len(path) - common)
    for each in target[common:]:
        matcher.accept(tokens[each - 1])
    return target


def _fill(matchers: Sequence[Matcher], out: Bitmap, n_threads: int) -> Bitmap:
    try:
        held = [matcher._handle for matcher in matchers]  # during the call, whoever closes one
        handles = ffi.new("eliza_matcher *[]", held)
    except (AttributeError, TypeError):
        for at, matcher in enumerate(several("matchers", matchers, "matchers")):
            instance(f"matchers[{at}]", matcher, Matcher)
        raise
    if ffi.NULL in held:
        raise ClosedError("a matcher is closed")
    if len(set(map(id, matchers))) < len(matchers):
        raise InvalidArgumentError("matchers: one of them is there twice")
    n_words = _words_of_row(out, len(matchers), max((matcher._n_words for matcher in matchers), default=0))
    n_threads = integer("n_threads", n_threads, 0, UINT32_MAX)
    with ffi.from_buffer(WORDS, out, require_writable=True) as lent:
        status = lib.eliza_inference_matcher_fill_bitmaps(handles, len(handles), lent, n_words, n_threads)
    if status == Status.BUSY:
        raise BusyError("one of the matchers is in use: by another thread, or by the call whose callback this is in")
    if status < 0:
        raise error_from_status(status, f"the bitmaps of {len(held)} matchers could not be filled")
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
