"""The byte-level spelling of GPT-2: one printable character for each byte.

Printable Latin-1 characters stand for their own byte; the other 68 bytes, in their order, are
U+0100, U+0101, ... So a space is U+0120, and a line feed is U+010A.
"""

from __future__ import annotations

__all__ = ["bytes_from_spelling"]

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = tuple(byte for byte in range(256) if byte not in _PRINTABLE)
_BYTES = {chr(byte): byte for byte in _PRINTABLE} | {chr(256 + n): byte for n, byte in enumerate(_OTHERS)}


def bytes_from_spelling(spelling: str) -> bytes:
    """The bytes of a spelled token; one with any other character means itself, in UTF-8."""
    try:
        return bytes(map(_BYTES.__getitem__, spelling))
    except KeyError:
        return spelling.encode()
