"""Bitmaps of legal tokens, in the layout of llguidance and XGrammar: bit `i % 32` of 32-bit word
`i // 32` is token `i`, and there are `ceil(n_tokens / 32)` words."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from eliza_inference._arguments import UINT32_MAX, instance, integer, several, words
from eliza_inference._library import CData, ffi, lib
from eliza_inference.errors import ClosedError, InvalidArgumentError, error_from_status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from eliza_inference.matcher import Matcher

__all__ = ["fill_bitmaps", "n_bitmap_words"]

Bitmap = TypeVar("Bitmap")

_WORDS = ffi.typeof("int32_t[]")


def n_bitmap_words(n_tokens: int) -> int:
    """The 32-bit words of a bitmap."""
    return (n_tokens + 31) // 32


def fill_bitmaps(matchers: Sequence[Matcher], out: Bitmap, n_threads: int = 0) -> Bitmap:
    """Writes the legal next tokens of each matcher into its row of `out`, with several threads; returns
    `out`.

    `out` is a writable, contiguous array of 32-bit integers (numpy or any other with the buffer
    protocol) with a row for each matcher, each at least `ceil(n_tokens / 32)` words long; words beyond
    become 0. `n_threads` is the most threads to use; 0: one for each processor. No matcher may be in
    the list twice, or in use by another thread meanwhile.
    """
    try:
        handles = ffi.new("eliza_matcher *[]", [matcher._handle for matcher in matchers])
    except (AttributeError, TypeError):
        from eliza_inference.matcher import Matcher  # here, since it imports this module

        for at, matcher in enumerate(several("matchers", matchers, "matchers")):
            instance(f"matchers[{at}]", matcher, Matcher)
        raise
    if ffi.NULL in handles:
        raise ClosedError("a matcher is closed")
    if len(set(map(id, matchers))) < len(matchers):
        raise InvalidArgumentError("matchers: one of them is there twice")
    n_words = _words_of_row(out, len(matchers), max((matcher._n_words for matcher in matchers), default=0))
    lent = ffi.from_buffer(_WORDS, out, require_writable=True)
    n_threads = integer("n_threads", n_threads, 0, UINT32_MAX)
    status = lib.eliza_inference_matcher_fill_bitmaps(handles, len(handles), lent, n_words, n_threads)
    if status < 0:
        raise error_from_status(status, f"the bitmaps of {len(handles)} matchers could not be filled")
    return out


def empty_bitmap(n_words: int) -> Any:
    """A bitmap that is yet to be filled: a numpy array, or without numpy a `memoryview`."""
    try:
        import numpy as np
    except ImportError:
        return memoryview(bytearray(4 * n_words)).cast("i")
    return np.empty(n_words, np.int32)


def int32_array(memory: Any) -> npt.NDArray[np.int32]:
    """A read-only numpy array of 32-bit integers on the memory, or without numpy a `memoryview`."""
    integers = memoryview(memory).toreadonly().cast("i")
    try:
        import numpy as np
    except ImportError:
        return integers  # type: ignore[return-value]
    return np.asarray(integers)


def set_bits(bitmap: Any) -> npt.NDArray[np.int32]:
    """The ids of a bitmap, ascending."""
    try:
        import numpy as np
    except ImportError:
        octets = memoryview(bitmap).cast("B")
        ids = array("i", (8 * at + bit for at, octet in enumerate(octets) if octet for bit in _BITS[octet]))
        return int32_array(ids.tobytes())
    bits = np.unpackbits(bitmap.view(np.uint8), bitorder="little")
    return int32_array(np.flatnonzero(bits).astype(np.int32).tobytes())


_BITS = [[bit for bit in range(8) if octet >> bit & 1] for octet in range(256)]


def lend_bitmap(out: object, n_words: int) -> CData:
    """Lends a bitmap to be filled; refuses what is too short, or no array of 32-bit integers or bytes."""
    view = words("bitmap", out)
    if view.nbytes < 4 * n_words:
        raise InvalidArgumentError(f"bitmap: {view.nbytes // 4} words are fewer than the {n_words} of the vocabulary")
    return ffi.from_buffer(_WORDS, view, require_writable=True)


def _words_of_row(out: object, n_rows: int, n_words: int) -> int:
    """Words from one row to the next."""
    view = words("bitmaps", out)
    if view.ndim > 1 and view.shape is not None and view.shape[0] != n_rows:
        raise InvalidArgumentError(f"bitmaps: {view.shape[0]} rows for {n_rows} matchers")
    n_all = view.nbytes // 4
    if n_all < n_rows * n_words or (n_rows and n_all % n_rows):
        raise InvalidArgumentError(f"bitmaps: {n_all} words are not {n_rows} rows of at least {n_words}")
    return n_all // n_rows if n_rows else 0
