"""Whether a grammar is LR(1), by the canonical construction."""

from __future__ import annotations

from oracles.parser import Parser, Production, Symbol

END = -1
"""The lookahead at the end of the input."""

Item = tuple[Production, int, int]
"""A production, the place of the dot, and a lookahead."""


def is_lr1(parser: Parser) -> bool:
    """Of a reduced grammar; rules that cannot be reached are not looked at."""
    first = _first_sets(parser)
    # A start that becomes itself must not look like one that is done.
    begin = _close(parser, first, {(Production("", (parser.start,)), 0, END)})
    seen, waiting = {begin}, [begin]
    while waiting:
        state = waiting.pop()
        after: dict[Symbol, set[Item]] = {}
        actions: dict[int, object] = {}
        for production, dot, lookahead in state:
            if dot < len(production.symbols):
                after.setdefault(production.symbols[dot], set()).add((production, dot + 1, lookahead))
            elif actions.setdefault(lookahead, production) != production:
                return False
        if any(symbol in actions for symbol in after):
            return False
        for kernel in after.values():
            target = _close(parser, first, kernel)
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return True


def _close(parser: Parser, first: dict[str, set[int]], kernel: set[Item]) -> frozenset[Item]:
    items, waiting = set(kernel), list(kernel)
    while waiting:
        production, dot, lookahead = waiting.pop()
        if dot == len(production.symbols) or not isinstance(rule := production.symbols[dot], str):
            continue
        lookaheads = _first_of(parser, first, production.symbols[dot + 1 :], lookahead)
        for item in ((p, 0, one) for p in parser.rules.get(rule, []) for one in lookaheads):
            if item not in items:
                items.add(item)
                waiting.append(item)
    return frozenset(items)


def _first_of(parser: Parser, first: dict[str, set[int]], symbols: tuple[Symbol, ...], lookahead: int) -> set[int]:
    found: set[int] = set()
    for symbol in symbols:
        if isinstance(symbol, int):
            return found | {symbol}
        found |= first[symbol]
        if symbol not in parser.nullable:
            return found
    return found | {lookahead}


def _first_sets(parser: Parser) -> dict[str, set[int]]:
    first: dict[str, set[int]] = {rule: set() for rule in parser.rules}
    grew = True
    while grew:
        grew = False
        for rule, productions in parser.rules.items():
            for production in productions:
                found = _first_of(parser, first, production.symbols, END) - {END}
                if not found <= first[rule]:
                    first[rule] |= found
                    grew = True
    return first
