"""What a GBNF grammar allows, by the definition: a derivation of every character, found by Earley's parser.

    recognizer = Recognizer(read('root ::= "a"* [^b]'))
    state = recognizer.begin()
    recognizer.take(state, b"aa")       the state after these bytes, or None
    recognizer.can_stop(state)

`read` knows the notation on its own. Nothing is said about lexemes: characters are the terminals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from oracles import characters
from oracles.characters import Range
from oracles.parser import Column, Parser, Production, Symbol

ZERO: Range = (0, 0)
"""No text has it: llama.cpp ends a token's text there."""


@dataclass(frozen=True)
class Tokens:
    """A terminal that is a token, whatever it spells."""

    ids: frozenset[int]
    negated: bool

    def has(self, token: int) -> bool:
        return (token in self.ids) != self.negated


Terminal = tuple[Range, ...] | Tokens


@dataclass
class Grammar:
    """Productions have the places of terminals in the list."""

    start: str
    terminals: list[Terminal] = field(default_factory=list)
    productions: list[Production] = field(default_factory=list)


class Recognizer:
    """A state is a set of columns, each with the first bytes of a character that is not whole yet: several where a
    token can be read as itself and as its characters."""

    def __init__(self, grammar: Grammar) -> None:
        self.terminals = grammar.terminals
        found = frozenset(n for n, terminal in enumerate(grammar.terminals) if terminal)
        self.parser = Parser(grammar.productions, grammar.start, found)

    def begin(self) -> State:
        return frozenset([(self.parser.first, b"")])

    def allowed(self, state: State, tokens: Sequence[bytes]) -> list[int]:
        """The ids of the tokens that can come next; without bytes none can."""
        return [n for n, token in enumerate(tokens) if token and self.take_token(state, n, token)]

    def take_token(self, state: State, token: int, text: bytes) -> State | None:
        """One token: as itself where the grammar names tokens, or as what it spells."""
        found = set(self.take(state, text) or ()) if text else set()
        for column, partial in state:
            named = [n for n in column.expected if isinstance(one := self.terminals[n], Tokens) and one.has(token)]
            after = column.after(*named)
            if after and not partial:
                found.add((after, b""))
        return frozenset(found) or None

    def take(self, state: State | None, text: bytes) -> State | None:
        for byte in text:
            if state is None:
                return None
            state = frozenset(after for one in state if (after := self._take_byte(*one, byte))) or None
        return state

    def can_stop(self, state: State) -> bool:
        return any(column.accepts and not partial for column, partial in state)

    def _take_byte(self, column: Column, partial: bytes, byte: int) -> tuple[Column, bytes] | None:
        partial += bytes([byte])
        found = characters.of_prefix(partial)
        if found is None:
            return None
        low, high = found
        possible = [
            n
            for n in sorted(column.expected)
            if isinstance(ranges := self.terminals[n], tuple)
            and any(first <= high and low <= last for first, last in ranges)
        ]
        if not characters.is_whole(partial):
            return (column, partial) if possible else None
        after = column.after(*possible)
        return (after, b"") if after else None


State = frozenset[tuple[Column, bytes]]


# ---- The notation ----------------------------------------------------------------------------------------------------

SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
NAME = re.compile(r"[A-Za-z0-9_-]+")
ESCAPED = r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([ntr\\\"\[\]-])"
CHARACTER = re.compile(rf"{ESCAPED}|([^\\])", re.DOTALL)
COUNT = re.compile(r"([*+?])|\{\s*(\d+)\s*(,)?\s*(\d+)?\s*\}")
TOKEN = re.compile(r"(!?)<\[(\d+)\]>")


def read(text: str, root: str = "root") -> Grammar:
    """Of a grammar without errors. Tokens only by number."""
    return _Reader(text, root).grammar


class _Reader:
    def __init__(self, text: str, root: str) -> None:
        self.text = text
        self.at = 0
        self.grammar = Grammar(root)
        self.numbers: dict[Terminal, int] = {}
        self.definitions: dict[str, list[tuple[Symbol, ...]]] = {}
        self.n_helpers = 0
        self.skip(SPACE_AND_LINES)
        while self.at < len(text):
            name = self.expect(NAME)
            self.skip(SPACE)
            self.expect(re.compile("::="))
            self.skip(SPACE_AND_LINES)
            self.definitions[name] = self.alternatives(SPACE)  # the last one counts
            assert self.at == len(text) or text[self.at] in "\r\n", text[self.at :]
            self.skip(SPACE_AND_LINES)
        self.grammar.productions = [
            Production(name, body) for name, bodies in self.definitions.items() for body in dict.fromkeys(bodies)
        ]

    def skip(self, pattern: re.Pattern[str]) -> None:
        self.expect(pattern)

    def expect(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        assert found, f"{pattern.pattern} at {self.text[self.at :]!r}"
        self.at = found.end()
        return found[0]

    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def alternatives(self, space: re.Pattern[str]) -> list[tuple[Symbol, ...]]:
        bodies = [self.sequence(space)]
        while self.next() == "|":
            self.at += 1
            self.skip(SPACE_AND_LINES)
            bodies.append(self.sequence(space))
        return bodies

    def sequence(self, space: re.Pattern[str]) -> tuple[Symbol, ...]:
        items: list[tuple[Symbol, ...]] = []
        while True:
            if found := COUNT.match(self.text, self.at):
                self.at = found.end()
                items[-1] = self.repeated(items[-1], *_bounds(found))
            elif atom := self.atom():
                items.append(atom())
            else:
                return tuple(symbol for item in items for symbol in item)
            self.skip(space)

    def atom(self) -> Callable[[], tuple[Symbol, ...]] | None:
        first = self.next()
        if first and NAME.match(first):
            return lambda: (self.expect(NAME),)
        return {'"': self.literal, "[": self.character_class, ".": self.any, "(": self.group}.get(first) or (
            self.token if first and first in "<!" else None
        )

    def literal(self) -> tuple[Symbol, ...]:
        self.at += 1
        symbols = []
        while self.next() != '"':
            code = self.character()
            symbols.append(self.terminal([(code, code)]))
        self.at += 1
        return tuple(symbols)

    def character_class(self) -> tuple[Symbol, ...]:
        self.at += 1
        negated = self.next() == "^"
        self.at += negated
        ranges = []
        while self.next() != "]":
            first = last = self.character()
            if self.next() == "-" and self.text[self.at + 1] != "]":
                self.at += 1
                last = self.character()
            ranges.append((first, min(last, characters.LAST)))
        self.at += 1
        union = characters.union(ranges)
        return (self.terminal([*characters.complement(union)] if negated else [*union]),)

    def any(self) -> tuple[Symbol, ...]:
        self.at += 1
        return (self.terminal([(0, characters.LAST)]),)

    def group(self) -> tuple[Symbol, ...]:
        self.at += 1
        self.skip(SPACE_AND_LINES)
        bodies = self.alternatives(SPACE_AND_LINES)
        assert self.next() == ")"
        self.at += 1
        return (self.helper(bodies),)

    def token(self) -> tuple[Symbol, ...]:
        found = TOKEN.match(self.text, self.at)
        assert found
        self.at = found.end()
        return (self.number_of(Tokens(frozenset([int(found[2])]), bool(found[1]))),)

    def character(self) -> int:
        found = CHARACTER.match(self.text, self.at)
        assert found
        self.at = found.end()
        code = found[1] or found[2] or found[3]
        if code:
            return int(code, 16)
        return ord({"n": "\n", "t": "\t", "r": "\r"}.get(found[4], found[4]) if found[4] else found[5])

    def terminal(self, ranges: list[Range]) -> int:
        gap = characters.complement((ZERO,))
        return self.number_of(_intersection(characters.union(ranges), gap))

    def number_of(self, terminal: Terminal) -> int:
        if terminal not in self.numbers:
            self.numbers[terminal] = len(self.grammar.terminals)
            self.grammar.terminals.append(terminal)
        return self.numbers[terminal]

    def helper(self, bodies: list[tuple[Symbol, ...]]) -> str:
        self.n_helpers += 1
        name = f"({self.n_helpers})"
        self.definitions[name] = bodies
        return name

    def repeated(self, item: tuple[Symbol, ...], least: int, most: int | None) -> tuple[Symbol, ...]:
        rest: tuple[Symbol, ...] = ()
        if most is None:
            name = self.helper([()])
            self.definitions[name].append((*item, name))
            rest = (name,)
        for _ in range((most or least) - least):
            rest = (self.helper([(), (*item, *rest)]),)
        return item * least + rest


def _bounds(found: re.Match[str]) -> tuple[int, int | None]:
    if found[1]:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
    least = int(found[2])
    if not found[3]:
        return least, least
    return least, int(found[4]) if found[4] else None


def _intersection(a: tuple[Range, ...], b: tuple[Range, ...]) -> tuple[Range, ...]:
    return characters.union(
        [(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b if max(x[0], y[0]) <= min(x[1], y[1])]
    )
