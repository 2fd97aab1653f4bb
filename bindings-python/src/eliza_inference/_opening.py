"""How saved files are opened."""

from __future__ import annotations

from eliza_inference._constants import constant

__all__ = ["open_flags"]

_TRUSTED = constant("ELIZA_OPEN_TRUSTED")
_COPY = constant("ELIZA_OPEN_COPY")


def open_flags(trusted: bool, copy: bool) -> int:
    """The flags of the header."""
    return (_TRUSTED if trusted else 0) | (_COPY if copy else 0)
