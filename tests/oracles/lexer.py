"""The terminals that a text can be: several regular expressions followed at once, character by character.

Python's own parser of regular expressions reads them; sets of positions in them are what is followed, so that
nothing depends on an automaton's construction.
"""

from __future__ import annotations

import importlib
import itertools
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

from oracles import characters
from oracles.characters import Range

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    sre_parse: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

Positions = frozenset[int]


@dataclass(frozen=True)
class Pattern:
    """A terminal, as the lexer sees it. In a list of them, the first that matches wins."""

    regex: str
    soft: bool = False
    ignore_case: bool = False
    dot_all: bool = False


class Lexer:
    """Follows the patterns from `start`; states are sets of positions, `dead` is the empty one."""

    def __init__(self, patterns: list[Pattern]) -> None:
        self.patterns = patterns
        self.edges: list[list[tuple[tuple[Range, ...], int]]] = []  # by position: what leads on
        self.epsilons: list[list[int]] = []
        self.accepted: dict[int, int] = {}  # final position: pattern
        begins = []
        for number, pattern in enumerate(patterns):
            flags = (re.IGNORECASE if pattern.ignore_case else 0) | (re.DOTALL if pattern.dot_all else 0)
            begin, end = self._position(), self._position()
            tree = sre_parse.parse(pattern.regex, flags)
            self._build(tree, tree.state.flags, begin, end)
            self.accepted[end] = number
            begins.append(begin)
        self._drop_dead_ends()
        self._closed: dict[Positions, Positions] = {}
        self._next: dict[Positions, list[tuple[Range, Positions]]] = {}
        self._reachable: dict[Positions, frozenset[int]] = {}
        self.start = self._close(frozenset(begins))

    # ---- States

    def successors(self, state: Positions) -> list[tuple[Range, Positions]]:
        """The states after one character more, with the characters that lead there; never `dead`."""
        if state not in self._next:
            changes: dict[int, Counter[int]] = {}  # by code point: which targets begin to be reached, or cease
            for ranges, target in (edge for position in state for edge in self.edges[position]):
                for first, last in ranges:
                    changes.setdefault(first, Counter())[target] += 1
                    changes.setdefault(last + 1, Counter())[target] -= 1
            found: list[tuple[Range, Positions]] = []
            targets: Counter[int] = Counter()
            bounds = sorted(changes)
            for first, end in itertools.pairwise(bounds):
                targets.update(changes[first])
                after = self._close(frozenset(target for target, count in targets.items() if count))
                if after and found and found[-1][0][1] == first - 1 and found[-1][1] == after:
                    found[-1] = ((found[-1][0][0], end - 1), after)
                elif after:
                    found.append(((first, end - 1), after))
            self._next[state] = found
        return self._next[state]

    def after(self, state: Positions, character: int) -> Positions:
        for (first, last), target in self.successors(state):
            if first <= character <= last:
                return target
        return frozenset()

    def matches(self, state: Positions) -> list[int]:
        """The patterns that match here, in their order, up to the first that is not soft."""
        found = []
        for number in sorted(self.accepted[position] for position in state if position in self.accepted):
            found.append(number)
            if not self.patterns[number].soft:
                break
        return found

    def reachable(self, state: Positions) -> frozenset[int]:
        """The patterns that match here or after more characters."""
        if state not in self._reachable:
            seen, waiting = {state}, [state]
            while waiting:
                for _, after in self.successors(waiting.pop()):
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
            self._reachable[state] = frozenset(number for one in seen for number in self.matches(one))
        return self._reachable[state]

    def _close(self, positions: Positions) -> Positions:
        if positions in self._closed:
            return self._closed[positions]
        seen, waiting = set(positions), list(positions)
        while waiting:
            for target in self.epsilons[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        self._closed[positions] = frozenset(seen & self.useful)
        return self._closed[positions]

    # ---- Positions, from the tree of a regular expression

    def _position(self) -> int:
        self.edges.append([])
        self.epsilons.append([])
        return len(self.edges) - 1

    def _drop_dead_ends(self) -> None:
        """Keeps the positions from which a match can be reached."""
        before: dict[int, list[int]] = {}
        for position, edges in enumerate(self.edges):
            for target in [target for ranges, target in edges if ranges] + self.epsilons[position]:
                before.setdefault(target, []).append(position)
        self.useful = set(self.accepted)
        waiting = list(self.accepted)
        while waiting:
            for position in before.get(waiting.pop(), []):
                if position not in self.useful:
                    self.useful.add(position)
                    waiting.append(position)

    def _build(self, tree: Any, flags: int, begin: int, end: int) -> None:
        here = begin
        for name, argument in tree:
            after = self._position()
            self._build_one(str(name), argument, flags, here, after)
            here = after
        self.epsilons[here].append(end)

    def _build_one(self, name: str, argument: Any, flags: int, begin: int, end: int) -> None:
        if name == "SUBPATTERN":
            _, more, less, tree = argument
            self._build(tree, (flags | more) & ~less, begin, end)
        elif name == "BRANCH":
            for tree in argument[1]:
                self._build(tree, flags, begin, end)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, tree = argument
            self._repeat(least, most, tree, flags, begin, end)
        else:
            ranges = _ranges(name, argument, flags)
            if flags & re.IGNORECASE:
                ranges = characters.other_cases(ranges)
            self.edges[begin].append((ranges, end))

    def _repeat(self, least: int, most: Any, tree: Any, flags: int, begin: int, end: int) -> None:
        here = begin
        for _ in range(least):
            after = self._position()
            self._build(tree, flags, here, after)
            here = after
        if most is sre_parse.MAXREPEAT:
            again = self._position()
            self.epsilons[here].append(again)
            self._build(tree, flags, again, again)
            self.epsilons[again].append(end)
            return
        for _ in range(int(most) - least):
            self.epsilons[here].append(end)
            after = self._position()
            self._build(tree, flags, here, after)
            here = after
        self.epsilons[here].append(end)


def _ranges(name: str, argument: Any, flags: int) -> tuple[Range, ...]:
    if name == "LITERAL":
        return characters.union([(argument, argument)])
    if name == "NOT_LITERAL":
        return characters.complement(_cased(((argument, argument),), flags))
    if name == "ANY":
        return characters.complement(() if flags & re.DOTALL else ((10, 10),))
    assert name == "IN", f"not a regular expression: {name}"
    ranges: list[Range] = []
    negated = False
    for kind, value in argument:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                ranges.append((value, value))
            case "RANGE":
                ranges.append(value)
            case "CATEGORY":
                ranges += _category(str(value))
    found = characters.union(ranges)
    return characters.complement(_cased(found, flags)) if negated else found


def _cased(ranges: tuple[Range, ...], flags: int) -> tuple[Range, ...]:
    return characters.other_cases(ranges) if flags & re.IGNORECASE else ranges


def _category(name: str) -> tuple[Range, ...]:
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.rsplit("_", 1)[1]]
    return characters.category("\\" + (letter.upper() if "_NOT_" in name else letter))
