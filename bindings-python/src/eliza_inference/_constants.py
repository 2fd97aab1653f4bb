"""The integer constants of the C header."""

from __future__ import annotations

from eliza_inference._abi import ffi


def constant(name: str) -> int:
    """The value of a `#define` of the header."""
    return int(ffi.integer_const(name))
