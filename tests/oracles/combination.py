"""Intersections and complements, by what they mean: which texts a tree of them matches, and which bytes can come next
in a text that matches a regular expression or not, and another or not."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from oracles import characters
from oracles.characters import Range
from oracles.lexer import Lexer, Pattern, Positions
from oracles.parser import Production
from oracles.recognizer import Recognizer, Terminal


@dataclass(frozen=True)
class Tree:
    """What a terminal is defined as: a regular expression, or `&`, `~`, `|`, ` ` or `+` of other trees."""

    kind: str
    regex: str = ""
    parts: tuple[Tree, ...] = ()

    @property
    def notation(self) -> str:
        match self.kind:
            case "regex":
                return "/" + self.regex.replace("/", "\\/") + "/"
            case "~":
                return "~" + self.parts[0]._in_parentheses
            case "+":
                return self.parts[0]._in_parentheses + "+"
        return f" {self.kind} ".join(part._in_parentheses for part in self.parts)

    @property
    def _in_parentheses(self) -> str:
        return self.notation if self.kind == "regex" else f"({self.notation})"


def matches(tree: Tree, text: str) -> bool:
    return len(text) in beginnings(tree, text)


@cache
def beginnings(tree: Tree, text: str) -> frozenset[int]:
    """The lengths of the beginnings of the text that match."""
    every = range(len(text) + 1)
    if tree.kind == "regex":
        return frozenset(length for length in every if re.fullmatch(tree.regex, text[:length]))
    found = [beginnings(part, text) for part in tree.parts]
    match tree.kind:
        case "&":
            return frozenset.intersection(*found)
        case "|":
            return frozenset.union(*found)
        case "~":
            return frozenset(every) - found[0]
        case " ":
            rest = tree.parts[1:]
            return _behind(found[0], Tree(" ", parts=rest), text) if rest else found[0]
    assert tree.kind == "+"
    return found[0] | _behind(found[0] - {0}, tree, text)


def _behind(lengths: frozenset[int], tree: Tree, text: str) -> frozenset[int]:
    return frozenset(length + more for length in lengths for more in beginnings(tree, text[length:]))


# ---- Byte by byte ----------------------------------------------------------------------------------------------------


class Combination:
    """Several lexers followed at once; a text matches if `holds` says so of what matches it. As `Lexer` is used."""

    def __init__(self, regexes: Sequence[str], holds: Callable[..., bool]) -> None:
        self.lexers = [Lexer([Pattern(regex)]) for regex in regexes]
        self.holds = holds
        self._next: dict[tuple[Positions, ...], list[tuple[Range, tuple[Positions, ...]]]] = {}
        self._reachable: dict[tuple[Positions, ...], frozenset[int]] = {}
        self.start = tuple(lexer.start for lexer in self.lexers)

    def matches(self, state: tuple[Positions, ...]) -> list[int]:
        pairs = zip(self.lexers, state, strict=True)
        return [0] if self.holds(*(bool(lexer.matches(positions)) for lexer, positions in pairs)) else []

    def reachable(self, state: tuple[Positions, ...]) -> frozenset[int]:
        if state not in self._reachable:
            seen, waiting = {state}, [state]
            while waiting:
                for _, after in self._all_successors(waiting.pop()):
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
            self._reachable[state] = frozenset(number for one in seen for number in self.matches(one))
        return self._reachable[state]

    def successors(self, state: tuple[Positions, ...]) -> list[tuple[Range, tuple[Positions, ...]]]:
        return [(found, after) for found, after in self._all_successors(state) if self.reachable(after)]

    def after(self, state: tuple[Positions, ...], character: int) -> tuple[Positions, ...]:
        for (first, last), target in self.successors(state):
            if first <= character <= last:
                return target
        return ()

    def _all_successors(self, state: tuple[Positions, ...]) -> list[tuple[Range, tuple[Positions, ...]]]:
        if state not in self._next:
            edges = [lexer.successors(one) for lexer, one in zip(self.lexers, state, strict=True)]
            borders = {border for each in edges for (first, last), _ in each for border in (first, last + 1)}
            borders |= {0, characters.SURROGATES[0], characters.SURROGATES[1] + 1, characters.LAST + 1}
            self._next[state] = [
                ((first, end - 1), tuple(_target(each, first) for each in edges))
                for first, end in pairwise(sorted(borders))
                if first != characters.SURROGATES[0]
            ]
        return self._next[state]


def _target(edges: Sequence[tuple[Range, Positions]], character: int) -> Positions:
    """Of edges in ascending order; the empty set if none is of this character."""
    at = bisect_right(edges, character, key=lambda edge: edge[0][0]) - 1
    return edges[at][1] if at >= 0 and character <= edges[at][0][1] else frozenset()


def recognizer_of(regexes: Sequence[str], holds: Callable[..., bool], *, matches_empty: bool) -> Recognizer:
    """One terminal: the texts that are not empty and of which `holds` is true, given for each regular expression
    whether it matches. The empty text is a rule's."""
    productions = [Production("start", symbols) for symbols in ([(0,), ()] if matches_empty else [(0,)])]
    recognizer = Recognizer([Terminal("T", regexes[0])], productions, "start")
    lexer = Combination([*regexes, "(?s).+"], lambda *found: found[-1] and holds(*found[:-1]))
    recognizer.lexer = lexer  # type: ignore[assignment]
    return recognizer
