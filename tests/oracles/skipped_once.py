"""What a grammar allows with `ignore_once`, by the definition: byte by byte, every way to cut a text at once.

A way knows what its last lexeme was: behind what was skipped nothing is skipped. Where lexemes end is what `%lexing`
says; by place, see `by_place`, but that ways with one last terminal and one pending lexeme are judged together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from oracles.all_ways import AllWays
from oracles.parser import Column, Production
from oracles.recognizer import State, Terminal

Lexing = Literal["contextual", "longest", "any"]
LEXINGS: tuple[Lexing, ...] = ("contextual", "longest", "any")


class Way(NamedTuple):
    state: State
    last: int | None
    """The terminal of the last lexeme that has ended."""


Ways = frozenset[Way]


class SkippedOnce(AllWays):
    def __init__(
        self, terminals: Sequence[Terminal], productions: list[Production], start: str, lexing: Lexing
    ) -> None:
        soft = [Terminal(t.name, t.regex, t.literal, True, t.skip) for t in terminals]
        super().__init__(terminals if lexing == "longest" else soft, productions, start)
        self.lexing = lexing
        self.skipped = frozenset(n for n, terminal in enumerate(terminals) if terminal.skip)
        self._inseparable_of: dict[tuple[Way, Ways], frozenset[int]] = {}

    def begin(self) -> Ways:  # type: ignore[override]
        return frozenset([Way(super().begin(), None)])

    def can_stop(self, ways: Ways) -> bool:  # type: ignore[override]
        return any(end.state.column.accepts for one in ways for end in self._ends(one))

    def _steps(self, ways: Ways, byte: int) -> Iterator[Way]:
        return chain.from_iterable(self._step(one, ways, byte) for one in ways)

    def _step(self, one: Way, ways: Ways, byte: int) -> Iterator[Way]:
        after = self._begin(one, byte)
        if after is not None:
            yield after
        if one.state.lexeme is None:
            return
        if self.lexing == "longest":
            goes_on = self._lex(one.state, byte) is not None
        else:
            goes_on = self.lexing == "contextual" and self._goes_on(one, ways, byte)
        for end in self._ends(one):
            begun = self._begin(end, byte)
            if begun is None:
                continue
            if not goes_on:
                yield begun
            elif self.lexing == "contextual":
                inseparable = self._inseparable(one, ways)
                is_separated = self._may_skip(end) and not self.skipped <= inseparable
                if not is_separated and inseparable & self._possible(begun):
                    yield begun

    def _begin(self, one: Way, byte: int) -> Way | None:
        """With one byte more in the lexeme."""
        after = self._lex(one.state, byte)
        return Way(after, one.last) if after and self._possible(Way(after, one.last)) else None

    def _goes_on(self, one: Way, ways: Ways, byte: int) -> bool:
        here = (one.last, one.state.lexeme, one.state.partial)
        together = [each for each in ways if (each.last, each.state.lexeme, each.state.partial) == here]
        return any(self._begin(each, byte) for each in together)

    def _ends(self, one: Way) -> Iterator[Way]:
        """Behind the pending lexeme, in every way."""
        if one.state.lexeme is None:
            yield one
        if one.state.lexeme is None or one.state.partial:
            return
        for pattern in self.lexer.matches(one.state.lexeme):
            number = self.number_of[pattern]
            column: Column | None
            if number in self.skipped:
                column = one.state.column if self._may_skip(one) else None
            else:
                column = one.state.column.after(number)
            if column is not None:
                yield Way(State(column, None, b""), number)
                if self.lexing == "longest":
                    return

    def _inseparable(self, one: Way, ways: Ways) -> frozenset[int]:
        """The terminals that begin only with bytes that the lexeme goes on with."""
        key = (one, ways)
        if key not in self._inseparable_of:
            separable: set[int] = set()
            for byte in range(256):
                begun = self._lex(State(one.state.column, None, b""), byte)
                if begun is not None and not self._goes_on(one, ways, byte):
                    separable |= self._can_become(begun)
            self._inseparable_of[key] = frozenset(range(len(self.terminals))) - separable
        return self._inseparable_of[key]

    def _may_skip(self, one: Way) -> bool:
        return one.last not in self.skipped

    def _possible(self, one: Way) -> set[int]:
        """What the lexeme can become that may stand there."""
        skipped = self.skipped if self._may_skip(one) else frozenset()
        return self._can_become(one.state) & (one.state.column.expected | skipped)
