"""The kinds of tokens."""

from __future__ import annotations

from eliza_inference._constants import constant
from eliza_inference._named import NamedFlag

__all__ = ["TokenFlag"]


class TokenFlag(NamedFlag):
    """The kind of a token: a set of flags."""

    NORMAL = 0
    SPECIAL = constant("ELIZA_TOKEN_SPECIAL")
    """A control token, whose name is not part of the output."""
    END_OF_GENERATION = constant("ELIZA_TOKEN_END_OF_GENERATION")
    """A token that ends the generation."""
    UNUSED = constant("ELIZA_TOKEN_UNUSED")
    """An id that the model never produces, such as padding."""
