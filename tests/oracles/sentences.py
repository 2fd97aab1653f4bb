"""Whole texts of a grammar by chance, from its rules rather than from its masks."""

from __future__ import annotations

from random import Random

from oracles.completion import Completion
from oracles.parser import Symbol
from oracles.recognizer import Recognizer


class Sentences:
    def __init__(self, recognizer: Recognizer, random: Random) -> None:
        self.recognizer = recognizer
        self.completion = Completion(recognizer)
        self.random = random

    def text(self, size: int, separator: bytes = b" ") -> bytes:
        """About `size` rules are chosen by chance; what is then left becomes as short as it can."""
        self.left = size
        terminals = self._expand(self.recognizer.parser.start)
        return separator.join(self.completion.spellings[terminal] for terminal in terminals)

    def _expand(self, symbol: Symbol) -> list[int]:
        if isinstance(symbol, int):
            return [symbol]
        if self.left <= 0:
            return list(self.completion.shortest[symbol])
        self.left -= 1
        symbols = self.random.choice(self.recognizer.parser.rules[symbol]).symbols
        # In any order, so that not only the beginning of the text is by chance.
        parts = {place: self._expand(symbols[place]) for place in self.random.sample(range(len(symbols)), len(symbols))}
        return [terminal for place in range(len(symbols)) for terminal in parts[place]]
