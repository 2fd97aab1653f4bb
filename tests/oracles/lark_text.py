"""Reads a grammar in Lark's notation with Lark itself, and what this library adds to the notation."""

from __future__ import annotations

import re

from lark import Lark
from lark.grammar import NonTerminal

from oracles.parser import Production
from oracles.recognizer import Recognizer, Terminal

ADDED = re.compile(r"^%(soft|left|right|nonassoc|lexing|conflicts|case)\b(.*)$", re.MULTILINE)
PRECEDENCE = re.compile(r"%prec\s+\w+")


def recognizer_of(text: str, kind: type[Recognizer] = Recognizer) -> Recognizer:
    """Declared precedence is passed over: it must not change which texts the grammar has. So is `%case`: the texts that
    an oracle judges have no character whose case is another one's in ASCII."""
    soft = {
        word for kind, words in ADDED.findall(text) if kind == "soft" for word in re.findall(r'"[^"]*"i?|\w+', words)
    }
    lark = Lark(PRECEDENCE.sub("", ADDED.sub("", text)), parser="earley", maybe_placeholders=False)
    terminals = []
    for definition in sorted(lark.terminals, key=lambda one: _place(one.name, text)):
        pattern = definition.pattern
        literal = pattern.type == "str"
        ignore_case = "i" in pattern.flags
        spelling = f'"{pattern.value}"{"i" * ignore_case}' if literal else ""
        terminals.append(
            Terminal(
                definition.name,
                re.escape(pattern.value) if literal else pattern.value,
                literal=literal,
                soft=definition.name in soft or spelling in soft,
                skip=definition.name in lark.ignore_tokens,
                ignore_case=ignore_case,
                dot_all="s" in pattern.flags,
                priority=definition.priority,
            )
        )
    numbers = {terminal.name: number for number, terminal in enumerate(terminals)}
    productions = [
        Production(
            rule.origin.name,
            tuple(
                symbol.name if isinstance(symbol, NonTerminal) else numbers[symbol.name] for symbol in rule.expansion
            ),
        )
        for rule in lark.rules
    ]
    return kind(terminals, productions, "start")


def _place(name: str, text: str) -> int:
    """Where a terminal is defined; those without a name of their own are all literals here."""
    found = re.search(rf"^{re.escape(name)}(\.\d+)?\s*:", text, re.MULTILINE)
    return found.start() if found else -1
