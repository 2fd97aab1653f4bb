"""What a grammar allows with `ignore_once`, by the definition: byte by byte, every way to cut a text at once.

A way knows what its last lexeme was, and whether one was skipped of which one alone may stand between two others. Where
lexemes end is what `%lexing` says; see `by_place`, but that ways with the same last terminal and one pending
lexeme are judged together, and of what is ignored each kind by itself separates what is around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from oracles.all_ways import AllWays
from oracles.lexer import Pattern
from oracles.parser import Column, Production
from oracles.recognizer import State, Terminal

Lexing = Literal["contextual", "longest", "any"]
LEXINGS: tuple[Lexing, ...] = ("contextual", "longest", "any")


class Way(NamedTuple):
    state: State
    last: int | None
    """The terminal of the last lexeme that has ended."""
    is_behind: bool = False
    """Before that one was skipped that may be so again."""
    has_skipped: bool = False

    @property
    def place(self) -> tuple[object, ...]:
        """Ways at one place are judged together."""
        return self.last, self.is_behind, self.state.lexeme, self.state.partial


Ways = frozenset[Way]


class SkippedOnce(AllWays):
    def __init__(
        self,
        terminals: Sequence[Terminal],
        productions: list[Production],
        start: str,
        lexing: Lexing,
        repeated: frozenset[int] = frozenset(),
    ) -> None:
        """`repeated`: the terminals that are skipped any number of times."""
        self.lexing = lexing
        super().__init__(terminals, productions, start)
        self.skipped = frozenset(n for n, terminal in enumerate(terminals) if terminal.skip)
        self._repeated = repeated
        self._parted = {number: self._parted_from(number, self.skipped) for number in repeated}
        self._inseparable_of: dict[tuple[Way, Ways], frozenset[int]] = {}

    def _pattern(self, terminal: Terminal) -> Pattern:
        return super()._pattern(terminal) if self.lexing == "longest" else Pattern(terminal.regex, True)

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
                others = (other for each in self._together(one, ways) for other in self._ends(each))
                is_separated = any(
                    self._is_separated(other, inseparable) for other in others if other.place == end.place
                )
                if not is_separated and inseparable & self._possible(begun) - self.skipped:
                    yield begun

    def _begin(self, one: Way, byte: int) -> Way | None:
        """With one byte more in the lexeme."""
        after = self._lex(one.state, byte)
        begun = one._replace(state=after) if after else None
        return begun if begun and self._possible(begun) else None

    def _goes_on(self, one: Way, ways: Ways, byte: int) -> bool:
        return any(self._begin(each, byte) for each in self._together(one, ways))

    def _together(self, one: Way, ways: Ways) -> list[Way]:
        return [each for each in ways if each.place == one.place]

    def _ends(self, one: Way) -> Iterator[Way]:
        """After the pending lexeme, in every way."""
        if one.state.lexeme is None:
            yield one
        if one.state.lexeme is None or one.state.partial:
            return
        for pattern in self.lexer.matches(one.state.lexeme):
            number = self.number_of[pattern]
            column: Column | None
            if number in self.skipped:
                column = one.state.column if number in self._may_skip(one) else None
            else:
                column = one.state.column.after(number)
            if column is not None:
                has_skipped = number in self.skipped and (one.has_skipped or number not in self._repeated)
                yield Way(State(column, None, b""), number, one.last in self._repeated, has_skipped)
                if self.lexing == "longest":
                    return

    def _inseparable(self, one: Way, ways: Ways) -> frozenset[int]:
        """The terminals that begin only with bytes that the lexeme continues with."""
        key = (one, ways)
        if key not in self._inseparable_of:
            separable: set[int] = set()
            for byte, begun in self._begins.items():
                if not self._goes_on(one, ways, byte):
                    separable |= begun
            self._inseparable_of[key] = frozenset(range(len(self.terminals))) - separable
        return self._inseparable_of[key]

    def _may_skip(self, one: Way) -> frozenset[int]:
        return self._repeated if one.has_skipped else self.skipped

    def _is_separated(self, one: Way, inseparable: frozenset[int]) -> bool:
        separators = self._may_skip(one) - inseparable
        if separators - self._repeated:
            return True
        column = one.state.column
        return any(column.accepts or column.expected & self._parted[number] for number in separators)

    def _possible(self, one: Way) -> set[int]:
        """What the lexeme can become that may stand there."""
        return self._can_become(one.state) & (one.state.column.expected | self._may_skip(one))
