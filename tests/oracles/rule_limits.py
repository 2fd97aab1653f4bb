"""What a grammar of single characters allows, if some rules may have only so many tokens: leftmost derivations.

A rule begins with the first character that is read of it. After each token the outermost rule that has had as many as
it may have is over, and nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Use:
    rule: int
    repeats: bool = False
    """Any number of them."""


@dataclass(frozen=True)
class End:
    """Of a rule that has begun."""

    most: int
    tokens: int = 0


Symbol = str | Use | End
Left = tuple[Symbol, ...]
"""What a text must still have, in order."""
SKIPPED = " "


class RuleLimits:
    """Rules do not lead to themselves at the left. Rule 0 is the start. What `take` reads is one token."""

    def __init__(self, rules: Sequence[Sequence[Sequence[Symbol]]], limits: Mapping[int, int], *, skips: bool) -> None:
        self.rules = rules
        self.limits = limits
        self.skips = skips
        self._firsts: dict[Left, list[Left]] = {}

    def begin(self) -> frozenset[Left]:
        return frozenset([(Use(0),)])

    def allowed(self, state: frozenset[Left], tokens: Sequence[bytes]) -> list[int]:
        return [n for n, token in enumerate(tokens) if token and self.take(state, token)]

    def take(self, state: frozenset[Left], text: bytes) -> frozenset[Left] | None:
        for byte in text:
            state = frozenset(after for left in state for after in self._read(left, chr(byte)))
        return frozenset(cut(counted(left)) for left in state) or None

    def can_stop(self, state: frozenset[Left]) -> bool:
        return any(not first for left in state for first in self._first(left))

    def _read(self, left: Left, character: str) -> Iterator[Left]:
        if self.skips and character == SKIPPED:
            yield left
        for first in self._first(left):
            if first and first[0] == character:
                yield first[1:]

    def _first(self, left: Left) -> list[Left]:
        """All that it may be with a character first, or nothing."""
        if left not in self._firsts:
            found, waiting = [], [left]
            for one in waiting:
                if not one or isinstance(one[0], str):
                    found.append(one)
                else:
                    waiting += [next_one for next_one in self._expanded(one) if next_one not in waiting]
            self._firsts[left] = found
        return self._firsts[left]

    def _expanded(self, left: Left) -> list[Left]:
        symbol, rest = left[0], left[1:]
        if not isinstance(symbol, Use):
            return [rest]
        if symbol.repeats:
            return [rest, (Use(symbol.rule), *left)]
        end = (End(self.limits[symbol.rule]),) if symbol.rule in self.limits else ()
        return [(*alternative, *end, *rest) for alternative in self.rules[symbol.rule]]


def counted(left: Left) -> Left:
    return tuple(replace(one, tokens=one.tokens + 1) if isinstance(one, End) else one for one in left)


def cut(left: Left) -> Left:
    over = [i for i, one in enumerate(left) if isinstance(one, End) and one.tokens >= one.most]
    return left[over[-1] + 1 :] if over else left
