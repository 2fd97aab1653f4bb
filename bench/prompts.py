"""Prompts and names that the benchmarks run on."""

from dataclasses import dataclass
from pathlib import Path

TEMPLATE = "User: {message}\nAction:"
PREFIX = " "
"""Between a prompt and the name that answers it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    expected: str | None = None
    """The name that answers it, if that is known."""


def read_prompts(path: Path) -> list[Prompt]:
    """A `.tsv` file has a message and its action on each line; any other file is one prompt, as it stands."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".tsv":
        return [Prompt(text.removesuffix("\n"))]
    rows = [line.split("\t") for line in text.splitlines()]
    return [Prompt(TEMPLATE.format(message=message), action) for message, action in rows]


def read_names(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split()


def every_third(names: list[str]) -> list[str]:
    """The smaller choice: what the model would say is then often not allowed."""
    return names[::3]


def grammar_of(names: list[str]) -> str:
    """A llama.cpp grammar of the names."""
    return "root ::= " + " | ".join(f'"{PREFIX}{name}"' for name in names)


def final_texts(names: list[str]) -> set[str]:
    """What an output may be stopped at: names that no other continues."""
    return {PREFIX + name for name in names if not any(other != name and other.startswith(name) for other in names)}
