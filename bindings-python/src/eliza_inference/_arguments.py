"""Checks of arguments. A message names the argument, what was expected and what came.

A wrong type is a `TypeError`, a number out of range an `InvalidArgumentError`. Calls that must be fast
check nothing first: they let the library's call fail, and then find the reason here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import index
from typing import Any

from eliza_inference._library import CData, ffi
from eliza_inference.errors import InvalidArgumentError

__all__ = [
    "INT32_MIN",
    "UINT32_MAX",
    "UINT64_MAX",
    "floats",
    "instance",
    "integer",
    "integers",
    "kind_of",
    "mode_number",
    "number",
    "several",
    "utf8",
    "words",
]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
UINT32_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1
_REMEDIES = {
    ("Constraint", "TokenTree"): " (Constraint(vocabulary, tree) makes one)",
    ("Constraint", "Matcher"): " (use the constraint that it was made from)",
    ("Vocabulary", "Model"): " (use model.vocabulary)",
}
# Of memory in this machine's byte order; "<" and ">" name one.
_NATIVE_ORDER = "@=" + ("<" if sys.byteorder == "little" else ">")
_WORD_FORMATS = frozenset("iIlL")
_OCTET_FORMATS = frozenset("Bbc")
_OTHER_FLOATS = frozenset("ed")


def kind_of(value: object) -> str:
    """The type of a value, as messages name it."""
    return "None" if value is None else type(value).__name__


def instance(name: str, value: object, kind: type) -> None:
    """Raises a `TypeError` unless the value is an instance of `kind`."""
    if not isinstance(value, kind):
        expected, got = kind.__name__, kind_of(value)
        remedy = _REMEDIES.get((expected, got), "")
        raise TypeError(f"{name}: expected a {expected}, got {got}{remedy}")


def integer(name: str, value: int, least: int = 0, most: int = INT32_MAX, *, expected: str = "an int") -> int:
    """The value as an int; raises unless it is an integer from `least` to `most`."""
    try:
        whole = index(value)
    except TypeError:
        raise TypeError(f"{name}: expected {expected}, got {kind_of(value)}") from None
    if not least <= whole <= most:
        raise InvalidArgumentError(f"{name}: {whole} is outside {least}..{most}")
    return whole


def mode_number(mode: int) -> int:
    """A `Mode` as an int. The library itself refuses a number that is no mode."""
    return integer("mode", mode, INT32_MIN, expected="a Mode")


def number(name: str, value: float) -> float:
    """The value as a float; raises unless it is a number."""
    try:
        return float(ffi.new("double[1]", [value])[0])
    except TypeError:
        raise TypeError(f"{name}: expected a number, got {kind_of(value)}") from None


def integers(name: str, values: Iterable[int], *, more: tuple[int, ...] = ()) -> CData:
    """A new C array of 32-bit integers, such as token ids, followed by `more`."""
    try:
        listed = [*values, *more]
    except TypeError:
        raise TypeError(f"{name}: expected several ints, got {kind_of(values)}") from None
    try:
        return ffi.new("int32_t[]", listed)
    except (TypeError, OverflowError):
        for at, value in enumerate(listed):
            integer(f"{name}[{at}]", value, INT32_MIN)
        raise


def utf8(name: str, text: str) -> bytes:
    """The UTF-8 bytes of a text."""
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected a str, got {kind_of(text)}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{name}: not valid Unicode: {error}") from None


def several(name: str, values: Iterable[Any], of: str) -> list[Any]:
    """The values as a list. Refuses a single text, which would count as its characters."""
    try:
        if not isinstance(values, (str, bytes)):
            return list(values)
    except TypeError:
        pass
    one = "one " if isinstance(values, (str, bytes)) else ""
    raise TypeError(f"{name}: expected several {of}, got {one}{kind_of(values)}")


def words(name: str, out: object) -> memoryview:
    """A view of a writable, contiguous array of 32-bit integers or plain bytes."""
    expected = "32-bit integers"
    view = _view(name, out, expected)
    form = _format(view)
    if not (form in _WORD_FORMATS and view.itemsize == 4) and form not in _OCTET_FORMATS:
        raise TypeError(f"{name}: expected {expected}, got {_elements(out, view)}")
    _expect_writable(name, view)
    if not view.c_contiguous:
        raise BufferError(f"{name}: expected a contiguous array, got one with gaps")
    return view


def floats(name: str, values: object, *, writable: bool) -> memoryview:
    """A view of a one-dimensional array of 32-bit floats."""
    expected = "a contiguous 1-d array of 32-bit floats"
    view = _view(name, values, expected)
    if view.format != "f" or view.ndim != 1:
        other = " (apply_bitmap takes other float types)" if view.format in _OTHER_FLOATS else ""
        raise TypeError(f"{name}: expected {expected}, got {_elements(values, view)} with shape {view.shape}{other}")
    if not view.contiguous:
        raise BufferError(f"{name}: expected a contiguous array, got one with gaps")
    if writable:
        _expect_writable(name, view)
    return view


def _view(name: str, values: Any, expected: str) -> memoryview:
    try:
        return memoryview(values)
    except TypeError:
        remedy = " (numpy.array or array.array makes an array)" if isinstance(values, (list, tuple)) else ""
        raise TypeError(f"{name}: expected {expected}, got {kind_of(values)}{remedy}") from None


def _format(view: memoryview) -> str:
    return view.format[1:] if view.format[:1] in _NATIVE_ORDER else view.format


def _elements(values: Any, view: memoryview) -> str:
    return str(getattr(values, "dtype", f"format {view.format!r}"))


def _expect_writable(name: str, view: memoryview) -> None:
    if view.readonly:
        raise BufferError(f"{name}: expected a writable array, got a read-only one")
