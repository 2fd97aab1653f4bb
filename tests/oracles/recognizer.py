"""What a recognizer allows, by the definition: token by token, byte by byte.

    recognizer = Recognizer(terminals, productions, "start")
    state = recognizer.begin()
    recognizer.allowed(state, tokens)     the ids of the tokens that can come next
    recognizer.take(state, b"int")        the state after these bytes, or None
    recognizer.can_stop(state)

Bytes are taken while the lexer can continue. Where it cannot, the pending lexeme ends as the first terminal that
matches it, a soft one only if the parser can take it, and the lexer starts over at that byte. After every byte some
terminal that the lexeme can still become must be a skipped one, or one that the parser can take; the parser knows
only the terminals that some lexeme is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oracles import characters
from oracles.lexer import Lexer, Pattern, Positions
from oracles.parser import Column, Parser, Production


@dataclass(frozen=True)
class Terminal:
    """`priority` first, then literals, then the order in which they are given."""

    name: str
    regex: str
    literal: bool = False
    soft: bool = False
    skip: bool = False
    ignore_case: bool = False
    dot_all: bool = False
    priority: int = 0
    document: bool = False
    """It is no lexeme. `by_place` alone knows what that means."""


class State(NamedTuple):
    column: Column
    lexeme: Positions | None
    """Where the lexer stands in the pending lexeme; None before its first byte."""
    partial: bytes
    """The first bytes of a character that is not whole yet."""


class Recognizer:
    def __init__(self, terminals: Sequence[Terminal], productions: list[Production], start: str) -> None:
        """Productions have the places of terminals in the sequence."""
        self.terminals = terminals
        order = sorted(range(len(terminals)), key=lambda n: (-terminals[n].priority, not terminals[n].literal, n))
        self.number_of = order  # by pattern of the lexer
        self.lexer = Lexer([self._pattern(terminals[n]) for n in order])
        found = frozenset(order[pattern] for pattern in self.lexer.reachable(self.lexer.start))
        self.parser = Parser(productions, start, found)
        self._take: dict[tuple[State, int], State | None] = {}

    def begin(self) -> State:
        return State(self.parser.first, None, b"")

    def _pattern(self, terminal: Terminal) -> Pattern:
        # What is ignored is so everywhere.
        return Pattern(terminal.regex, terminal.soft and not terminal.skip, terminal.ignore_case, terminal.dot_all)

    def allowed(self, state: State, tokens: Sequence[bytes]) -> list[int]:
        return [n for n, token in enumerate(tokens) if token and self.take(state, token)]

    def take(self, state: State | None, text: bytes) -> State | None:
        for byte in text:
            if state is None:
                return None
            key = (state, byte)
            if key not in self._take:
                self._take[key] = self._take_byte(state, byte)
            state = self._take[key]
        return state

    def can_stop(self, state: State) -> bool:
        column = self.end_lexeme(state)
        return column is not None and column.accepts

    def _take_byte(self, state: State, byte: int) -> State | None:
        after = self._lex(state, byte)
        if after is None:
            column = self.end_lexeme(state)
            after = self._lex(State(column, None, b""), byte) if column else None
        return after if after and self._is_viable(after) else None

    def _lex(self, state: State, byte: int) -> State | None:
        """The lexer's step alone."""
        lexeme = self.lexer.start if state.lexeme is None else state.lexeme
        partial = state.partial + bytes([byte])
        if characters.of_prefix(partial) is None:
            return None
        if not characters.is_whole(partial):
            return State(state.column, lexeme, partial) if self._targets(lexeme, partial) else None
        after = self.lexer.after(lexeme, ord(partial.decode()))
        return State(state.column, after, b"") if after else None

    def _targets(self, lexeme: Positions, partial: bytes) -> list[Positions]:
        """Where a character that begins with these bytes can lead."""
        found = characters.of_prefix(partial)
        if found is None:
            return []
        low, high = found
        return [after for (first, last), after in self.lexer.successors(lexeme) if first <= high and low <= last]

    def end_lexeme(self, state: State) -> Column | None:
        """The parser after the pending lexeme; None if that is not whole, or not to be taken."""
        if state.partial:
            return None
        if state.lexeme is None:
            return state.column
        for pattern in self.lexer.matches(state.lexeme):
            number = self.number_of[pattern]
            if self.terminals[number].skip:
                return state.column
            if column := state.column.after(number):
                return column
        return None

    def _is_viable(self, state: State) -> bool:
        assert state.lexeme is not None
        lexemes = self._targets(state.lexeme, state.partial) if state.partial else [state.lexeme]
        expected = state.column.expected
        for lexeme in lexemes:
            for pattern in self.lexer.reachable(lexeme):
                number = self.number_of[pattern]
                if self.terminals[number].skip or number in expected:
                    return True
        return False


def of_regex(regex: str, *, ignore_case: bool = False, dot_all: bool = False) -> Recognizer:
    """The texts that a regular expression matches as a whole."""
    whole = Terminal("regex", regex, ignore_case=ignore_case, dot_all=dot_all)
    recognizer = Recognizer([whole], [Production("start", (0,))], "start")
    if recognizer.lexer.matches(recognizer.lexer.start):
        return Recognizer([whole], [Production("start", (0,)), Production("start", ())], "start")
    return recognizer
