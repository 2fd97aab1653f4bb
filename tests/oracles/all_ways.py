"""A recognizer that follows every way to cut a text at once: its states are sets of ways."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
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

    def _can_become(self, state: State) -> set[int]:
        """The terminals that the pending lexeme matches, or will if it goes on."""
        assert state.lexeme is not None
        lexemes = self._targets(state.lexeme, state.partial) if state.partial else [state.lexeme]
        return {self.number_of[pattern] for lexeme in lexemes for pattern in self.lexer.reachable(lexeme)}
