"""Which terminals can come next: Earley's parser, a column of items after each terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Symbol = str | int
"""The name of a rule, or the number of a terminal."""


@dataclass(frozen=True)
class Production:
    rule: str
    symbols: tuple[Symbol, ...]


class Parser:
    """Of the productions that a sentence of some terminals can use: the others must not promise anything."""

    def __init__(self, productions: list[Production], start: str, terminals: frozenset[int]) -> None:
        productive = terminals | _fixed_point(productions, lambda symbol, found: symbol in terminals or symbol in found)
        self.nullable = _fixed_point(productions, lambda symbol, found: symbol in found)
        self.start = start
        self.rules: dict[str, list[Production]] = {}
        for production in productions:
            if productive.issuperset(production.symbols):
                self.rules.setdefault(production.rule, []).append(production)

        self.first = Column(self)
        """Before the first terminal."""
        for production in self.rules.get(start, []):
            self.first.add((production, 0, self.first))
        self.first.complete()


def _fixed_point(productions: list[Production], holds: Callable[[Symbol, set[str]], bool]) -> set[str]:
    """The rules of which some production's symbols all have a property."""
    found: set[str] = set()
    grew = True
    while grew:
        grew = False
        for production in productions:
            if production.rule not in found and all(holds(symbol, found) for symbol in production.symbols):
                found.add(production.rule)
                grew = True
    return found


class Column:
    """What is known after some terminals; never changes once it is complete."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.items: list[tuple[Production, int, Column]] = []
        self._seen: set[tuple[Production, int, Column]] = set()
        self.waiting: dict[Symbol, list[tuple[Production, int, Column]]] = {}  # by the symbol after the dot
        self.accepts = False
        """Whether the terminals so far are a sentence."""
        self._after: dict[tuple[int, ...], Column | None] = {}

    @property
    def expected(self) -> frozenset[int]:
        """The terminals that can come next."""
        return frozenset(symbol for symbol in self.waiting if isinstance(symbol, int))

    def after(self, *terminals: int) -> Column | None:
        """The column after one of the terminals more; None if none of them can come next."""
        if terminals not in self._after:
            items = [item for terminal in terminals for item in self.waiting.get(terminal, ())]
            column = None
            if items:
                column = Column(self.parser)
                for production, dot, origin in items:
                    column.add((production, dot + 1, origin))
                column.complete()
            self._after[terminals] = column
        return self._after[terminals]

    def add(self, item: tuple[Production, int, Column]) -> None:
        if item not in self._seen:
            self._seen.add(item)
            self.items.append(item)

    def complete(self) -> None:
        for production, dot, origin in self.items:  # which grows meanwhile
            if dot == len(production.symbols):
                if production.rule == self.parser.start and origin is self.parser.first:
                    self.accepts = True
                for other, place, far in list(origin.waiting.get(production.rule, ())):
                    self.add((other, place + 1, far))
                continue
            symbol = production.symbols[dot]
            self.waiting.setdefault(symbol, []).append((production, dot, origin))
            if isinstance(symbol, str):
                for predicted in self.parser.rules.get(symbol, []):
                    self.add((predicted, 0, self))
                if symbol in self.parser.nullable:
                    self.add((production, dot + 1, origin))
