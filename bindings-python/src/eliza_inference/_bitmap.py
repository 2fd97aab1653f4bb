"""The memory of bitmaps of legal tokens, in the layout of llguidance and XGrammar: bit `i % 32` of 32-bit word
`i // 32` is token `i`, and there are `ceil(n_tokens / 32)` words."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, TypeVar

from eliza_inference._arguments import words
from eliza_inference._library import CData, ffi
from eliza_inference.errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["WORDS", "Bitmap", "empty_bitmap", "int32_array", "lend_bitmap", "n_bitmap_words", "set_bits"]

Bitmap = TypeVar("Bitmap")

WORDS = ffi.typeof("int32_t[]")
"""How cffi lends an array of 32-bit integers."""


def n_bitmap_words(n_tokens: int) -> int:
    """How many 32-bit words a bitmap has."""
    return (n_tokens + 31) // 32


def empty_bitmap(n_words: int) -> Any:
    """A bitmap to be filled: a numpy array, or without numpy a `memoryview`."""
    try:
        import numpy as np
    except ImportError:
        return memoryview(bytearray(4 * n_words)).cast("i")
    return np.empty(n_words, np.int32)


def int32_array(memory: Any) -> npt.NDArray[np.int32]:
    """A read-only view of the memory as 32-bit integers: a numpy array, or without numpy a `memoryview`."""
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
    """Lends a bitmap to be filled; a `memoryview` only for the block of a `with`, since the collector of cycles
    crashes on one that is lent. Refuses one that is too short, or of other elements than 32-bit integers or bytes."""
    view = words("bitmap", out)
    if view.ndim > 1 and view.shape is not None and view.shape[0] != 1:
        raise InvalidArgumentError(f"bitmap: expected one row, got {view.shape[0]} (fill_bitmaps fills several)")
    if view.nbytes < 4 * n_words:
        raise InvalidArgumentError(f"bitmap: {view.nbytes // 4} words are fewer than the {n_words} of the vocabulary")
    return ffi.from_buffer(WORDS, out, require_writable=True)
