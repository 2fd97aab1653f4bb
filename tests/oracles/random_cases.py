"""Small grammars, regular expressions and vocabularies by chance, the same for the same seed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random

from oracles.by_place import ByPlace
from oracles.combination import Tree
from oracles.parser import Production, Symbol
from oracles.recognizer import Recognizer, Terminal

LITERALS = [
    "a",
    "b",
    "ab",
    "aab",
    "if",
    "in",
    "int",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "+",
    "++",
    "=",
    "==",
    "é",
    "éa",
    "🦉",
]
REGEXES = [
    "[a-z]+",
    "[a-c]{1,3}",
    "i[a-z]*",
    "a+b?",
    "[0-9]+",
    "[0-9]+(\\.[0-9]+)?",
    "x(y|z)*x",
    '"[^"]*"',
    "[é-ü]+",
    "(ab|a)b",
]
SKIPPED = ["[ ]+", "#[^\\n]*\\n", "/\\*([^*]|\\*+[^*/])*\\*+/"]
LETTERS = ["a", "b", "ab", "a+", "[ab]+", "#a", "b\\n?", "(ab|a)b", "a#?", "\\n+", "[ab]+\\n"]
REMARKS = [" +", "#[^\\n]*", "\\n", "#[ab]*", "\\n[ab]?", " a?", "\\n#[^\\n]*", " [ab]*"]
"""What is ignored beside `LETTERS`."""
DIGITS = str.maketrans("ab", "12")
DOCUMENTS = [[1], [2], [12], [1, 2], [1, 12], [21, 112], [2, 221]]

SAMPLES = [
    "a", "b", "c", "ab", "aab", "abb", "if", "in", "int", "iffy", "()", "[]", ",", ";", "+", "++", "=", "==", "1",
    "1.", ".5", "10", "x", "xy", "yx", '"', '"a', 'b"', "é", "éé", "ü", "🦉", " ", "  ", "#", "# a\n", "\n", "/*", "*/",
    "*", "**/", ".", "_", "-",
]  # fmt: skip


@dataclass(frozen=True)
class RandomGrammar:
    text: str
    recognizer: Recognizer


def grammar(random: Random) -> RandomGrammar:
    """Any grammar over a few terminals, for maximal munch and one parser: many are not LR(1), and in some a rule
    yields nothing."""
    text, terminals, productions = _grammar(random)
    return RandomGrammar(f"%lexing longest\n%conflicts refuse\n{text}", Recognizer(terminals, productions, "start"))


@dataclass(frozen=True)
class RandomGrammarByPlace:
    text: str
    recognizer: ByPlace


def grammar_by_place(random: Random) -> RandomGrammarByPlace:
    """Any grammar over a few terminals, read with contextual lexing."""
    text, terminals, productions = _grammar(random)
    return RandomGrammarByPlace(text, ByPlace(terminals, productions, "start"))


def two_skipped(random: Random, *, documents: bool = False) -> tuple[str, list[Terminal], list[Production]]:
    """A grammar without recursion in which two kinds of lexemes are skipped, that can continue with what follows them.
    With documents it has digits in place of letters."""
    terminals = [Terminal(f"T{n}", regex) for n, regex in enumerate(random.sample(LETTERS, random.randint(1, 4)))]
    skipped = [Terminal(f"S{n}", regex, skip=True) for n, regex in enumerate(random.sample(REMARKS, 2))]
    if documents:
        terminals, skipped = (
            [replace(one, regex=one.regex.translate(DIGITS)) for one in all_of] for all_of in (terminals, skipped)
        )
        for values in random.sample(DOCUMENTS, random.randint(1, 2)):
            name = f'%json {{"enum": {values}}}'
            terminals.append(Terminal(name, "|".join(map(str, values)), literal=True, document=True))
    rules = ["start", "second", "third"][: random.randint(1, 3)]
    productions = []
    for at, rule in enumerate(rules):
        later = rules[at + 1 :]
        for _ in range(random.randint(1, 2)):
            symbols: list[Symbol] = [
                random.choice(later) if later and random.random() < 0.4 else random.randrange(len(terminals))
                for _ in range(random.randint(1, 3))
            ]
            productions.append(Production(rule, tuple(symbols)))
    return _kept([*terminals, *skipped], rules, list(dict.fromkeys(productions)))


def _grammar(random: Random) -> tuple[str, list[Terminal], list[Production]]:
    terminals = _terminals(random)
    usable = [number for number, terminal in enumerate(terminals) if not terminal.skip]
    rules = ["start", "second", "third", "fourth"][: random.randint(1, 4)]
    productions = []
    for rule in rules:
        for _ in range(random.randint(1, 3)):
            length = random.choices([0, 1, 2, 3, 4], [1, 5, 5, 4, 2])[0]
            symbols: list[Symbol] = [
                random.choice(rules) if random.random() < 0.4 else random.choice(usable) for _ in range(length)
            ]
            productions.append(Production(rule, tuple(symbols)))
    return _kept(terminals, rules, list(dict.fromkeys(productions)))


def _kept(
    terminals: list[Terminal], rules: list[str], productions: list[Production]
) -> tuple[str, list[Terminal], list[Production]]:
    """The text of a grammar, and what of it counts."""
    text = _text(terminals, rules, productions)
    # What the start does not lead to is no part of the grammar.
    used = _used(productions)
    kept = [n for n, terminal in enumerate(terminals) if terminal.skip or n in used]
    places: dict[Symbol, Symbol] = {old: new for new, old in enumerate(kept)}
    productions = [
        Production(p.rule, tuple(places.get(s, s) for s in p.symbols)) for p in productions if p.rule in used
    ]
    return text, [terminals[n] for n in kept], productions


def _used(productions: list[Production]) -> set[Symbol]:
    """The rules and terminals that the start leads to."""
    used: set[Symbol] = {"start"}
    while more := {symbol for p in productions if p.rule in used for symbol in p.symbols} - used:
        used |= more
    return used


def _terminals(random: Random) -> list[Terminal]:
    found = []
    for literal in random.sample(LITERALS, random.randint(1, 5)):
        regex = re.escape(literal)
        found.append(Terminal(f'"{literal}"', regex, literal=True, soft=random.random() < 0.2))
    for number, regex in enumerate(random.sample(REGEXES, random.randint(0, 3))):
        soft, priority = random.random() < 0.2, int(random.random() < 0.1)
        found.append(Terminal(f"REGEX_{number}", regex, soft=soft, priority=priority))
    for number, regex in enumerate(random.sample(SKIPPED, random.choice([0, 1, 1, 2]))):
        found.append(Terminal(f"SKIPPED_{number}", regex, skip=True))
    return found


def _text(terminals: list[Terminal], rules: list[str], productions: list[Production]) -> str:
    named = {symbol for production in productions for symbol in production.symbols}
    lines = []
    for rule in rules:
        bodies = [p.symbols for p in productions if p.rule == rule]
        names = [" ".join(s if isinstance(s, str) else terminals[s].name for s in body) for body in bodies]
        lines.append(f"{rule}: " + "\n  | ".join(names))
    for number, terminal in enumerate(terminals):
        if terminal.literal and number not in named:
            continue
        if not terminal.literal:
            priority = f".{terminal.priority}" if terminal.priority else ""
            escaped = re.sub(r"(?<!\\)/", r"\\/", terminal.regex)
            lines.append(f"{terminal.name}{priority}: /{escaped}/")
        if terminal.soft:
            lines.append(f"%soft {terminal.name}")
        if terminal.skip:
            lines.append(f"%ignore {terminal.name}")
    return "\n".join(lines) + "\n"


def operators(random: Random) -> tuple[str, list[str]]:
    """A grammar of operators in one ambiguous rule, whose operands are the rule `atom` that it lacks, with a declared
    precedence of each. And the operators."""
    infix = random.sample(["<", "+", "*", "^"], random.randint(2, 3))
    prefix = random.choice([[], ["-"], infix[:1]])
    postfix = random.choice([[], [], ["!"]])
    ranked = [f'"{one}"' for one in infix + postfix] + ["SIGN"] * len(prefix)
    random.shuffle(ranked)
    levels: list[list[str]] = []
    for one in ranked:
        if not levels or random.random() < 0.7:
            levels.append([])
        levels[-1].append(one)
    alternatives = [f'start "{one}" start' for one in infix] + [f'start "{one}"' for one in postfix]
    alternatives += [f'"{one}" start %prec SIGN' for one in prefix]
    alternatives += random.choice([["atom"], ["atom", '"(" start ")"']])
    declared = [f"%{random.choice(['left', 'right', 'nonassoc', 'nonassoc'])} {' '.join(level)}" for level in levels]
    return "\n".join([f"start: {' | '.join(alternatives)}", *declared]), sorted({*infix, *prefix, *postfix})


def tokens(random: Random, n: int, samples: list[str] | None = None) -> list[bytes]:
    """Pieces of what the terminals are, also with broken characters; a few tokens twice."""
    pieces = [sample.encode() for sample in samples or SAMPLES]
    found = [bytes([byte]) for byte in sorted({byte for piece in pieces for byte in piece})]
    while len(found) < n:
        token = b"".join(random.choices(pieces, k=random.choice([1, 1, 2, 2, 3, 5])))
        begin = random.randrange(len(token))
        found.append(token[begin : begin + random.randint(1, 8)] if random.random() < 0.3 else token[:12])
    return found


CHARACTERS = [
    "a", "b", "c", "1", "é", "🦉", "\\.", "\\n", "\\x61", "\\u00e9", ".", "[a-c]", "[^a]", "[^\\n]", "[é-ü]", "[a1]",
    "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[\\d_]", "[^\\w]", "-", "#", " ", "/",
]  # fmt: skip
FEW_CHARACTERS = ["a", "b", "é", "[ab]", "[^a]", "."]


GREEDY = ["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}"]
REPEATS = [*GREEDY, "*?", "+?"]


def regex(random: Random, depth: int = 3, characters: list[str] = CHARACTERS, repeats: list[str] = REPEATS) -> str:
    """A pattern that Python's `re` and this library read alike."""
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return random.choice(characters)
    if kind < 0.5:
        return "".join(regex(random, depth - 1, characters, repeats) for _ in range(random.randint(2, 3)))
    if kind < 0.65:
        return (
            "(?:" + "|".join(regex(random, depth - 1, characters, repeats) for _ in range(random.randint(2, 3))) + ")"
        )
    repeat = random.choice(repeats)
    return f"(?:{regex(random, depth - 1, characters, repeats)}){repeat}"


def combination(random: Random, depth: int = 3, repeats: list[str] = GREEDY) -> Tree:
    """Intersections and complements, and trees of them. In their operands alone, lazy repeats are as others."""
    kind = random.choice("&&~~| +") if depth > 0 else "regex"
    if kind == "regex" or random.random() < 0.1:
        return Tree("regex", regex(random, 2, FEW_CHARACTERS, repeats))
    n_parts = 1 if kind in "~+" else random.randint(2, 3)
    within = REPEATS if kind in "&~" else repeats
    return Tree(kind, parts=tuple(combination(random, depth - 1, within) for _ in range(n_parts)))


# ---- GBNF ------------------------------------------------------------------------------------------------------------

GBNF_ATOMS = [
    '"a"', '"b"', '"ab"', '"aa"', '"\\x61b"', '"é"', '"\\U0001F989"', '"-"', '""', "[ab]", "[^a]", "[a-c]", "[^a-cé]",
    "[é-ü\\]\\-]", "[\\u00e9\\x41-Z]", ".", "[a-]", '"\\n"',
]  # fmt: skip
GBNF_DEPTH = 2
GBNF_COUNTS = ["*", "+", "?", "{2}", "{0}", "{1,3}", "{0,2}", "{2,}", "{ 1 , 2 }"]
GBNF_SAMPLES = ["a", "b", "c", "ab", "aa", "ba", "aab", "é", "éa", "ü", "🦉", "-", "]", "A", "Z", "\n", "x", "aé"]


def gbnf(random: Random) -> str:
    """Any grammar: ambiguous ones, rules that derive themselves or nothing, left recursion in the open and hidden."""
    rules = ["root", "second", "third-rule", "4", "x_5"][: random.randint(1, 5)]
    lines = []
    for rule in rules:
        body = _gbnf_alternatives(random, rules, depth=GBNF_DEPTH)
        lines.append(f"{rule} ::={random.choice([' ', '', '  # comment' + chr(10)])}{body}")
    random.shuffle(lines)
    return random.choice(["\n", "\r\n", " # end\n\n"]).join(lines) + random.choice(["", "\n"])


def _gbnf_alternatives(random: Random, rules: list[str], depth: int) -> str:
    count = random.choice([1, 1, 2, 3])
    return random.choice(["|", " | ", " |\n  "]).join(_gbnf_sequence(random, rules, depth) for _ in range(count))


def _gbnf_sequence(random: Random, rules: list[str], depth: int) -> str:
    items = []
    for _ in range(random.choices([0, 1, 2, 3], [1, 5, 5, 3])[0]):
        kind = random.random()
        if kind < 0.35:
            item = random.choice(rules)
        elif kind < 0.55 and depth:
            item = f"({_gbnf_alternatives(random, rules, depth - 1)})"
        else:
            item = random.choice(GBNF_ATOMS)
        items.append(item + (random.choice(GBNF_COUNTS) if random.random() < 0.25 and item != '""' else ""))
    # Outside of parentheses nothing at all would take in the next line.
    return " ".join(items) or ('""' if depth == GBNF_DEPTH else "")
