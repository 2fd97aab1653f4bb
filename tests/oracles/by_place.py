"""What a grammar allows that is read by place, by the definition: byte by byte, every way to cut a text at once.

A terminal is tried only where the parser can take it. All terminals that match a lexeme are followed. Before a byte a
lexeme ends where nothing that the parser could take there goes on with the byte; and where something does, only a
terminal may begin that nothing could separate from the lexeme: it goes on with every byte that the terminal can begin
with, and with every byte that something skipped can begin with. What is skipped counts only if something can come
behind the lexeme, or be separated from what is skipped, by the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from oracles.all_ways import AllWays
from oracles.lexer import Pattern
from oracles.parser import Column, Production
from oracles.recognizer import State, Terminal

States = frozenset[State]


class ByPlace(AllWays):
    """A way is a state of `Recognizer`."""

    def __init__(self, terminals: Sequence[Terminal], productions: list[Production], start: str) -> None:
        soft = [Terminal(t.name, t.regex, True, True, t.skip, t.ignore_case, t.dot_all) for t in terminals]
        super().__init__(soft, productions, start)
        self._skipped = {number for number, terminal in enumerate(terminals) if terminal.skip}
        self._parted = {number: self._parted_from(number) for number in self._skipped}
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
        after = self._lex(state, byte)
        goes_on = after is not None and self._is_viable(after)
        found = [after] if after is not None and goes_on else []
        if state.lexeme is None:
            return found
        separable = self._separable(state) if goes_on else set()
        for column in self._ends(state):
            begun = self._lex(State(column, None, b""), byte)
            if begun is None or not self._is_viable(begun):
                continue
            inseparable = self._can_become(begun) & column.expected - separable
            if not goes_on or (inseparable and not self._is_separated(column, separable)):
                found.append(begun)
        return found

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
        """What begins with a byte that the lexeme does not go on with."""
        separable: set[int] = set()
        for byte in range(256):
            begun = self._lex(State(state.column, None, b""), byte)
            after = self._lex(state, byte)
            if begun is not None and (after is None or not self._is_viable(after)):
                separable |= self._can_become(begun)
        return separable

    def _parted_from(self, number: int) -> set[int]:
        """What begins with a byte that some text of a terminal does not go on with as anything skipped."""
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
            for byte in range(256):
                begun = self._lex(State(first, None, b""), byte)
                goes_on = self._lex(State(first, lexeme, b""), byte)
                if begun is not None and (goes_on is None or not self._skipped & self._can_become(goes_on)):
                    parted |= self._can_become(begun)
        return parted
