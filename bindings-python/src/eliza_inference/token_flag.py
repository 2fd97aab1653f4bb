"""The kinds of tokens."""

from __future__ import annotations

from enum import IntFlag

from eliza_inference._constants import constant

__all__ = ["TokenFlag"]


class TokenFlag(IntFlag):
    """The kind of a token."""

    NORMAL = 0
    SPECIAL = constant("ELIZA_TOKEN_SPECIAL")
    """A control token: its text is not output."""
    END_OF_GENERATION = constant("ELIZA_TOKEN_END_OF_GENERATION")
    """Ends the generation."""
    UNUSED = constant("ELIZA_TOKEN_UNUSED")
    """Never produced."""
