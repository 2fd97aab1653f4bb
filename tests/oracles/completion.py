"""A way out of every position: text with which a recognizer's text so far becomes a whole one."""

from __future__ import annotations

import heapq

from oracles.characters import of_prefix
from oracles.lexer import Positions
from oracles.parser import Column, Symbol
from oracles.recognizer import Recognizer, State

Terminals = tuple[int, ...]


class Completion:
    """Takes the fewest terminals that end the sentence, each in its shortest spelling."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.spellings = self._spellings()
        skipped = [self.spellings[n] for n, terminal in enumerate(recognizer.terminals) if terminal.skip]
        self.separators = [b"", b" ", b"\n", *skipped]
        self.shortest: dict[str, Terminals] = {}
        self._find_shortest()

    def of(self, state: State) -> bytes:
        """The text; AssertionError at a dead end."""
        text, plan = b"", Terminals()
        while not self.recognizer.can_stop(state):
            piece = self._end_of_lexeme(state)
            after = self.recognizer.take(state, piece)
            assert after is not None
            column = self.recognizer.end_lexeme(after)
            assert column is not None
            if not column.accepts:
                plan = plan or self._plan(column)
                terminal, plan = plan[0], plan[1:]
                state, more = self._append(after, column, terminal)
                if self.recognizer.end_lexeme(state) is not column.after(terminal):
                    plan = ()  # read as another terminal: another way from there
                piece += more
            else:
                state = after
            text += piece
            assert len(text) < 100_000, "no end"
        return text

    def _append(self, state: State, column: Column, terminal: int) -> tuple[State, bytes]:
        """The state after the terminal, and what was written: its spelling, after white space if need be."""
        found = []
        for separator in self.separators:
            piece = separator + self.spellings[terminal]
            after = self.recognizer.take(state, piece)
            if after is None:
                continue
            end = self.recognizer.end_lexeme(after)
            if end is column.after(terminal):
                return after, piece
            if end is not None and end is not column and after.column is column:
                found.append((after, piece))
        assert found, f"a dead end before {self.recognizer.terminals[terminal].name}"
        return found[0]

    # ---- Lexemes

    def _end_of_lexeme(self, state: State) -> bytes:
        """The fewest characters after which the pending lexeme can end here."""
        if self.recognizer.end_lexeme(state) is not None:
            return b""
        assert state.lexeme is not None
        begins: list[tuple[bytes, Positions]] = [(b"", state.lexeme)]
        if state.partial:
            begins = [
                (text[len(state.partial) :], after) for text, after in self._characters(state.lexeme, state.partial)
            ]
        seen = set()
        for text, lexeme in begins:  # which grows meanwhile
            if self.recognizer.end_lexeme(State(state.column, lexeme, b"")) is not None:
                return text
            for character, after in self._characters(lexeme, b""):
                if after not in seen:
                    seen.add(after)
                    begins.append((text + character, after))
        raise AssertionError("a dead end in a lexeme")

    def _characters(self, lexeme: Positions, partial: bytes) -> list[tuple[bytes, Positions]]:
        """A character for each way on, of those that begin with some bytes."""
        found = []
        for (first, last), after in self.recognizer.lexer.successors(lexeme):
            candidates = [c for c in map(ord, "a0 .") if first <= c <= last] + [first, last]
            if partial:
                candidates = [ord(text) for text in _with_prefix(partial, first, last)]
            if candidates:
                found.append((chr(candidates[0]).encode(), after))
        return found

    def _spellings(self) -> dict[int, bytes]:
        """The shortest text of each terminal that the lexer can take for it."""
        lexer = self.recognizer.lexer
        spellings: dict[int, bytes] = {}
        waiting: list[tuple[bytes, Positions]] = [(b"", lexer.start)]
        seen = {lexer.start}
        for text, lexeme in waiting:  # which grows meanwhile
            for pattern in lexer.matches(lexeme):
                spellings.setdefault(self.recognizer.number_of[pattern], text)
            for character, after in self._characters(lexeme, b""):
                if after not in seen:
                    seen.add(after)
                    waiting.append((text + character, after))
        return spellings

    # ---- Sentences

    def _plan(self, column: Column) -> Terminals:
        """The terminals that end the sentence: the shortest way up, from rule to rule."""
        heap: list[tuple[int, int, Terminals, Column, str]] = []
        count = 0
        best: dict[tuple[Column, str], int] = {}

        def reach(origin: Column, rule: str, terminals: Terminals) -> None:
            nonlocal count
            cost = self._cost(terminals)
            if cost < best.get((origin, rule), cost + 1):
                best[origin, rule] = cost
                count += 1
                heapq.heappush(heap, (cost, count, terminals, origin, rule))

        for production, dot, origin in column.items:
            if (rest := self._rest(production.symbols[dot:])) is not None:
                reach(origin, production.rule, rest)
        parser = self.recognizer.parser
        while heap:
            _, _, terminals, origin, rule = heapq.heappop(heap)
            if rule == parser.start and origin is parser.first:
                return terminals
            for production, dot, far in origin.waiting.get(rule, ()):
                if (rest := self._rest(production.symbols[dot + 1 :])) is not None:
                    reach(far, production.rule, terminals + rest)
        raise AssertionError("a dead end in the grammar")

    def _cost(self, terminals: Terminals) -> int:
        return sum(len(self.spellings[terminal]) + 1 for terminal in terminals)

    def _rest(self, symbols: tuple[Symbol, ...]) -> Terminals | None:
        parts = [(symbol,) if isinstance(symbol, int) else self.shortest.get(symbol) for symbol in symbols]
        if any(part is None or any(one not in self.spellings for one in part) for part in parts):
            return None
        return tuple(one for part in parts for one in part)  # type: ignore[union-attr]

    def _find_shortest(self) -> None:
        """The shortest terminals of each rule."""
        grew = True
        while grew:
            grew = False
            for rule, productions in self.recognizer.parser.rules.items():
                for production in productions:
                    terminals = self._rest(production.symbols)
                    if terminals is None:
                        continue
                    if rule not in self.shortest or self._cost(terminals) < self._cost(self.shortest[rule]):
                        self.shortest[rule] = terminals
                        grew = True


def _with_prefix(prefix: bytes, first: int, last: int) -> list[str]:
    """The first character, if any, between two whose UTF-8 begins with some bytes."""
    found = of_prefix(prefix)
    if found is None or found[0] > last or found[1] < first:
        return []
    return [chr(max(first, found[0]))]
