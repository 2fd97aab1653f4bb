"""Grammars that ship, for `Constraint.lark`: JSON, C11, arithmetic and others.

For example: `Constraint.lark(vocabulary, grammars.text("json"))`.
"""

from __future__ import annotations

from pathlib import Path

from eliza_inference.errors import InvalidArgumentError

__all__ = ["names", "text"]

_FOLDER = Path(__file__).parent / "data" / "grammars"


def names() -> tuple[str, ...]:
    """The names of the grammars, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.lark")))


def text(name: str) -> str:
    """The text of a grammar, in Lark's notation. `InvalidArgumentError` if no grammar has this name."""
    if name not in names():
        raise InvalidArgumentError(f"no grammar {name!r}; there are: {', '.join(names())}")
    return (_FOLDER / f"{name}.lark").read_text(encoding="utf-8")
