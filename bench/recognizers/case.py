"""What is compiled and matched: a language, and documents that are in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """A language and texts that are in it, each matched from the start."""

    name: str
    title: str
    documents: list[str]
    choices: list[str] | None = None
    pattern: str | None = None
    grammar: str | None = None
    """The name of a grammar that every library has in its own notation: "json" or "c11"."""
    schema: str | None = None
    """A JSON Schema."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """By notation, for each library one that it takes: "lark", "gbnf" (also llama.cpp's) or "tags" for this one,
    "llguidance", and "ebnf" or "structural_tag" for XGrammar."""
