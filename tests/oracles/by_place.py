"""What a grammar with contextual lexing allows, by the definition: byte by byte, every way to cut a text at once.

A terminal is tried only where the parser can take it. All terminals that match a lexeme are followed. Before a byte a
lexeme ends where nothing that the parser could take there continues with the byte; and where something does, only a
terminal may begin that nothing could separate from the lexeme: it continues with every byte that the terminal can begin
with, and with every byte that something skipped can begin with. What is ignored counts only if something can come
after the lexeme, or be separated from what is ignored, by the same rule. A document begins as a terminal does, beside
the lexemes that may stand there, and ends wherever it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from oracles.all_ways import AllWays
from oracles.lexer import Pattern, Positions
from oracles.parser import Column, Production
from oracles.recognizer import State, Terminal

States = frozenset[State]


class ByPlace(AllWays):
    """A way is a state of `Recognizer`."""

    def __init__(self, terminals: Sequence[Terminal], productions: list[Production], start: str) -> None:
        soft = [replace(t, literal=True, soft=True, priority=0) for t in terminals]
        super().__init__(soft, productions, start)
        self._documents = {number for number, terminal in enumerate(terminals) if terminal.document}
        self._starts = self._find_starts()
        self._skipped = {number for number, terminal in enumerate(terminals) if terminal.skip}
        self._parted = {number: self._parted_from(number, self._skipped) for number in self._skipped}
        for _ in self._skipped:
            for parted in self._parted.values():
                parted.update(*(self._parted[number] for number in parted & self._skipped))

    def _pattern(self, terminal: Terminal) -> Pattern:
        return Pattern(terminal.regex, True, terminal.ignore_case, terminal.dot_all)

    def begin(self) -> States:  # type: ignore[override]
        return frozenset([super().begin()])

    def can_stop(self, state: States) -> bool:  # type: ignore[override]
        return any(column.accepts for one in state for column in self._ends(one))

    def _steps(self, ways: States, byte: int) -> Iterator[State]:
        return chain.from_iterable(self._step(one, byte) for one in ways)

    def _step(self, state: State, byte: int) -> list[State]:
        if state.lexeme is None:
            return [begun for begun in self._begun_by(state.column, byte) if self._is_viable(begun)]
        after = self._lex(state, byte)
        found = [after] if after is not None and self._is_viable(after) else []
        goes_on = bool(found) and not self._can_become(state) <= self._documents
        separable = self._separable(state) if goes_on else set()
        for column in self._ends(state):
            for begun in filter(self._is_viable, self._begun_by(column, byte)):
                inseparable = self._can_become(begun) & column.expected - separable
                if not goes_on or (inseparable and not self._is_separated(column, separable)):
                    found.append(begun)
        return found

    def _begun_by(self, column: Column, byte: int) -> list[State]:
        """A lexeme and the documents that begin with a byte."""
        return [begun for start in self._starts if (begun := self._lex(State(column, start, b""), byte))]

    def _find_starts(self) -> list[Positions]:
        """Of the lexer for lexemes, and for each document alone."""
        starts: dict[int | None, set[int]] = {}
        for position in self.lexer.start:
            for pattern in self.lexer.reachable(frozenset([position])):
                number = self.number_of[pattern]
                starts.setdefault(number if number in self._documents else None, set()).add(position)
        return [frozenset(positions) for positions in starts.values()]

    def _is_separated(self, column: Column, separable: set[int]) -> bool:
        """Whether something skipped may come, and then, or at once, something else."""
        separators = separable & self._skipped
        if not separators:
            return False
        behind = separable.union(*(self._parted[number] for number in separators))
        return column.accepts or bool(column.expected & behind)

    def _ends(self, state: State) -> list[Column]:
        """The parser after the pending lexeme, in every way."""
        if state.partial:
            return []
        if state.lexeme is None:
            return [state.column]
        numbers = [self.number_of[pattern] for pattern in self.lexer.matches(state.lexeme)]
        columns = [state.column if self.terminals[n].skip else state.column.after(n) for n in numbers]
        return [column for column in columns if column is not None]

    def _separable(self, state: State) -> set[int]:
        """What begins with a byte that the lexeme does not continue with."""
        separable: set[int] = set()
        for byte, begun in self._begins.items():
            after = self._lex(state, byte)
            if after is None or not self._is_viable(after):
                separable |= begun
        return separable
