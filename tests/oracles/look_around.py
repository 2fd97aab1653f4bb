"""What a grammar with look-around allows, by Python's `re`: each text up to a length is tried, and what can continue is
what some of them begin with.

Terminals are one character long, so that there is one way to cut a text; their look-around sees the whole text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from functools import cache
from random import Random

ALPHABET = "ab "
CONDITIONS = [
    "(?=b)",
    "(?!b)",
    "(?=ab)",
    "(?!ab)",
    "(?=.a)",
    "(?![ab]b)",
    "(?=b|$)",
    "(?=$)",
    "(?!$)",
    r"\b",
    r"\B",
    r"(?=a*b\b)",
    r"(?!a+$)",
    "(?<=a)",
    "(?<!a)",
    "(?<=ab)",
    "(?<!ba)",
    "(?<=a.)",
    r"(?<=\bb)",
    "(?<!^a)",
    "(?<=a )",
    "(?=(?!ab)[ab]{2})",
    r"(?<=\Bb)",
]
PIECES = ["a", "b", "[ab]", "."]

Ends = Callable[[str, int], Iterable[int]]


@cache
def matches(pattern: str, text: str, at: int, end: int) -> bool:
    return re.compile(rf"(?:{pattern})(?={re.escape(text[end:])}\Z)").match(text, at) is not None


def random_terminal(random: Random) -> str:
    before = random.choice(CONDITIONS) if random.random() < 0.3 else ""
    behind = random.choice(CONDITIONS) if random.random() < 0.4 else ""
    piece = random.choice(PIECES)
    if random.random() < 0.15:
        return f"{before}{piece}{behind}|{random.choice(PIECES)}{random.choice(CONDITIONS)}"
    return before + piece + behind


def random_pattern(random: Random, depth: int = 3) -> str:
    """Of a whole text; any number of characters."""
    kind = random.randrange(6) if depth else 0
    if kind <= 1:
        return random.choice(PIECES)
    if kind == 2:
        return random.choice(CONDITIONS)
    if kind == 3:
        inner = random_pattern(random, depth - 1)
        return f"(?:{inner})" + ("" if "^" in inner or "$" in inner else random.choice(["*", "+", "?", "*?", "{1,2}"]))
    joint = "|" if kind == 4 else ""
    return "(?:" + joint.join(random_pattern(random, depth - 1) for _ in range(random.randint(1, 3))) + ")"


class RandomGrammar:
    """Without recursion to itself, so that its texts are short."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.terminals: list[str] = [random_terminal(random) for _ in range(random.randint(1, 4))]
        self.skips = random.random() < 0.4
        self.lark, self.ends = self.expression(2)
        lines = [f"start: {self.lark}"]
        lines += [f"T{n}: /{pattern}/" for n, pattern in enumerate(self.terminals)]
        self.text = "\n".join(lines) + ('\n%ignore " "' if self.skips else "")

    def expression(self, depth: int) -> tuple[str, Ends]:
        kind = self.random.randrange(5) if depth else 0
        if kind == 0:
            n = self.random.randrange(len(self.terminals))
            return f"T{n}", lambda text, at: self.after(self.terminals[n], text, at)
        parts = [self.expression(depth - 1) for _ in range(self.random.randint(1, 2))]
        if kind <= 2:

            def sequence(text: str, at: int) -> set[int]:
                all_at = {at}
                for _, ends in parts:
                    all_at = {end for one in all_at for end in ends(text, one)}
                return all_at

            return "(" + " ".join(lark for lark, _ in parts) + ")", sequence
        if kind == 3:
            choice = lambda text, at: {end for _, ends in parts for end in ends(text, at)}  # noqa: E731
            return "(" + " | ".join(lark for lark, _ in parts) + ")", choice
        lark, ends = parts[0]
        return f"({lark})?", lambda text, at: {at, *ends(text, at)}

    def after(self, pattern: str, text: str, at: int) -> list[int]:
        if at == len(text) or not matches(pattern, text, at, at + 1):
            return []
        return self.skipped(text, at + 1)

    def skipped(self, text: str, at: int) -> list[int]:
        ends = [at]
        while self.skips and ends[-1] < len(text) and text[ends[-1]] == " ":
            ends.append(ends[-1] + 1)
        return ends

    def accepts(self, text: str) -> bool:
        return any(len(text) in self.ends(text, at) for at in self.skipped(text, 0))


def texts(length: int) -> list[str]:
    return ["".join(letters) for n in range(length + 1) for letters in itertools.product(ALPHABET, repeat=n)]
