"""A recognizer that follows every way to cut a text at once: its states are sets of ways."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from functools import cached_property
from typing import Any

from oracles.recognizer import Recognizer, State


class AllWays(Recognizer):
    """Of the ways and their steps subclasses know."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._after: dict[tuple[Hashable, int], frozenset[Any]] = {}

    def take(self, ways: Any, text: bytes) -> Any:
        for byte in text:
            if not ways:
                return None
            key = (ways, byte)
            if key not in self._after:
                self._after[key] = frozenset(self._steps(ways, byte))
            ways = self._after[key]
        return ways or None

    def _steps(self, ways: Any, byte: int) -> Iterable[Any]:
        raise NotImplementedError

    @cached_property
    def _begins(self) -> dict[int, set[int]]:
        """By byte: the terminals that begin with it."""
        nowhere = State(self.parser.first, None, b"")
        return {byte: self._can_become(begun) for byte in range(256) if (begun := self._lex(nowhere, byte))}

    def _parted_from(self, number: int, skipped: Collection[int]) -> set[int]:
        """What begins with a byte that some text of a terminal does not continue with as anything skipped."""
        waiting = [self.lexer.start]
        known = set(waiting)
        parted: set[int] = set()
        first = self.parser.first
        while waiting:
            lexeme = waiting.pop()
            for _, after in self.lexer.successors(lexeme):
                if after not in known and number in self._can_become(State(first, after, b"")):
                    known.add(after)
                    waiting.append(after)
            if number not in {self.number_of[pattern] for pattern in self.lexer.matches(lexeme)}:
                continue
            for byte, begun in self._begins.items():
                goes_on = self._lex(State(first, lexeme, b""), byte)
                if goes_on is None or not self._can_become(goes_on).intersection(skipped):
                    parted |= begun
        return parted

    def _can_become(self, state: State) -> set[int]:
        """The terminals that the pending lexeme matches, or will if it continues."""
        assert state.lexeme is not None
        lexemes = self._targets(state.lexeme, state.partial) if state.partial else [state.lexeme]
        return {self.number_of[pattern] for lexeme in lexemes for pattern in self.lexer.reachable(lexeme)}
