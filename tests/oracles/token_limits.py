"""What a grammar allows that is read with contextual lexing, if lexemes of some terminals may have only so many tokens.

A lexeme has the tokens of which a byte is its. A terminal is spent where the lexeme has had as many as it may have.
If the lexeme is one of a spent terminal and continues, all spent terminals are over: it can become none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oracles.by_place import ByPlace
from oracles.lexer import Positions
from oracles.parser import Column, Production
from oracles.recognizer import State, Terminal


class Counted(NamedTuple):
    state: State
    tokens: int
    """Before this one."""
    over: frozenset[int]


class Limited(ByPlace):
    """Its states are sets of `Counted`. What `take` reads is one token."""

    def __init__(
        self, terminals: Sequence[Terminal], productions: list[Production], start: str, limits: Mapping[int, int]
    ) -> None:
        """`limits`: by terminal."""
        super().__init__(terminals, productions, start)
        self.limits = limits
        self.skipped = {number for number, terminal in enumerate(terminals) if terminal.skip}
        self._known: dict[tuple[Counted, int], list[Counted]] = {}
        self._firsts: dict[int, tuple[Positions | None, bytes] | None] = {}

    def begin(self) -> frozenset[Counted]:  # type: ignore[override]
        return frozenset(Counted(state, 0, frozenset()) for state in super().begin())

    def take(  # type: ignore[override]
        self, state: frozenset[Counted] | None, text: bytes
    ) -> frozenset[Counted] | None:
        if state is None:
            return None
        for byte in text:
            state = frozenset(after for one in state for after in self._read(one, byte))
        most = max(self.limits.values(), default=0)
        return frozenset(one._replace(tokens=min(one.tokens + 1, most)) for one in state) or None

    def can_stop(self, state: frozenset[Counted]) -> bool:  # type: ignore[override]
        return any(column.accepts for one in state for column in self._columns(one))

    def _read(self, one: Counted, byte: int) -> list[Counted]:
        key = (one, byte)
        if key not in self._known:
            self._known[key] = self._find_after(one, byte)
        return self._known[key]

    def _find_after(self, one: Counted, byte: int) -> list[Counted]:
        after = self._behind(one, byte)
        found = [after] if after else []
        if one.state.lexeme is None:
            return [Counted(after.state, 0, frozenset())] if after else []
        inseparable = self._unseparated(one) if after else set()
        for column in self._columns(one):
            begun = self._behind(Counted(State(column, None, b""), 0, frozenset()), byte)
            if begun and (not after or self._can_become(begun.state) & column.expected & inseparable):
                found.append(begun)
        return found

    def _behind(self, one: Counted, byte: int) -> Counted | None:
        """Where the lexeme continues with the byte."""
        state = self._lex(one.state, byte)
        if state is None:
            return None
        spent = {number for number, limit in self.limits.items() if limit <= one.tokens}
        ends = spent & self._matched(one) & one.state.column.expected
        after = Counted(state, one.tokens, one.over | spent if ends else one.over)
        can_be = self._can_become(state) - after.over
        return after if can_be & (state.column.expected | self.skipped) else None

    def _begun(self, column: Column, byte: int) -> State | None:
        if byte not in self._firsts:
            after = self._lex(State(column, None, b""), byte)
            self._firsts[byte] = (after.lexeme, after.partial) if after else None
        first = self._firsts[byte]
        return State(column, *first) if first else None

    def _matched(self, one: Counted) -> set[int]:
        if one.state.lexeme is None or one.state.partial:
            return set()
        return {self.number_of[pattern] for pattern in self.lexer.matches(one.state.lexeme)} - one.over

    def _columns(self, one: Counted) -> list[Column]:
        column = one.state.column
        if one.state.lexeme is None:
            return [column]
        columns = [column if number in self.skipped else column.after(number) for number in self._matched(one)]
        return [column for column in columns if column is not None]

    def _unseparated(self, one: Counted) -> set[int]:
        separable: set[int] = set()
        for byte in range(256):
            begun = self._begun(one.state.column, byte)
            if begun is not None and self._behind(one, byte) is None:
                separable |= self._can_become(begun)
        return set() if separable & self.skipped else set(range(len(self.terminals))) - separable
