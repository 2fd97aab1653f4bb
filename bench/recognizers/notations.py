"""The languages of the cases in the notations of the other libraries.

Choices and regular expressions are written as each library's documents advise. The grammar of C is made
from the one that ships with this library, rule by rule, without what only LR(1) needs.
"""

import re
from pathlib import Path

from bench.paths import ROOT

GRAMMARS = ROOT / "native" / "grammars"

LLGUIDANCE_JSON = r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" [member ("," member)*] "}"
member: STRING ":" value
array: "[" [value ("," value)*] "]"
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
%ignore /[ \t\n\r]+/
"""

EBNF_JSON = r"""
root ::= ws value
value ::= (object | array | string | number | "true" | "false" | "null") ws
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value
array ::= "[" ws (value ("," ws value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9A-Fa-f] [0-9A-Fa-f] [0-9A-Fa-f] [0-9A-Fa-f]))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
ws ::= [ \t\n\r]*
"""

EBNF_C11_TERMINALS = r"""
identifier ::= [A-Za-z_] [A-Za-z_0-9]* ws
integer ::= ("0" [Xx] [0-9A-Fa-f] [0-9A-Fa-f]* | [0-9] [0-9]*) integer-suffix ws
integer-suffix ::= "" | [Uu] ("" | "l" | "L" | "ll" | "LL") | ("ll" | "LL" | "l" | "L") ("" | [Uu])
float ::= (digits exponent | [0-9]* "." digits ("" | exponent) | digits "." ("" | exponent)) ("" | [FLfl]) ws
digits ::= [0-9] [0-9]*
exponent ::= [Ee] ("" | [+-]) [0-9] [0-9]*
character ::= ("" | [LUu]) "'" ([^'\\\n] | escape) character-rest ws
character-rest ::= "'" | [^'\\\n] character-rest | escape character-rest
string ::= ("" | "u8" | [LUu]) "\"" string-rest ws
string-rest ::= "\"" | [^"\\\n] string-rest | escape string-rest
escape ::= "\\" ([0-7] ("" | [0-7]) ("" | [0-7]) | "x" [0-9A-Fa-f] [0-9A-Fa-f]* | ['"?\\abfnrtv])
ws ::= "" | [ \t\r\n] ws | "\\" "\n" ws | "//" line ws | "/*" block ws | "#" line ws
line ::= "\n" | [^\\\n] line | "\\" [^\x00] line
block ::= "*" block-star | [^*] block
block-star ::= "/" | "*" block-star | [^*/] block
"""
"""As in c11.lark, but for universal character names and hexadecimal floats. Repetition that ends in a character
of its own is right recursion, which XGrammar keeps masks for; with `*` its JSON grammar takes 200 ms a mask."""

C11_OF_ANNEX_A = {
    "any_type_name": "type_name",
    "block_item": "statement | declaration",
    "for_begin": "simple_statement | declaration",
    "simple_statement": '";" | expression ";"',
    "cast_expression": 'unary_expression | "(" type_name ")" cast_expression',
    "unary_expression": 'postfix | "++" unary_expression | "--" unary_expression | unary_operator cast_expression'
    ' | "sizeof" unary_expression | "sizeof" "(" type_name ")" | "_Alignof" "(" type_name ")"',
    "unary_operator": '"&" | "*" | "+" | "-" | "~" | "!"',
    "postfix": 'primary_expression | "(" type_name ")" braced_initializer | postfix "[" expression "]"'
    ' | postfix "(" ")" | postfix "(" arguments ")" | postfix "." IDENTIFIER | postfix "->" IDENTIFIER'
    ' | postfix "++" | postfix "--"',
    "arguments": 'assignment_expression | arguments "," assignment_expression',
    "primary_expression": 'IDENTIFIER | INTEGER | FLOAT | CHARACTER | strings | "(" expression ")" | generic_selection',
}
"""The rules of c11.lark that read types as products and casts as calls, for LR(1), as the standard has them."""


def ebnf_choices(choices: list[str]) -> str:
    """For XGrammar and llama.cpp. The choices have no character that needs an escape."""
    return "root ::= " + " | ".join(f'"{each}"' for each in choices)


def regex_choices(choices: list[str]) -> str:
    return "|".join(map(re.escape, choices))


def lark_c11() -> str:
    """The grammar of C for parsers that take any context-free grammar, with a lexer beside it."""
    lines = [f"{name}: {' | '.join(map(' '.join, alternatives))}" for name, alternatives in _c11_rules().items()]
    kept = [line for line in _c11_lines() if re.match(r"%ignore|(?!TYPEDEF_NAME|IF)[A-Z_]+:", line)]
    return "\n".join([*lines, *kept])


def llguidance_c11() -> str:
    """A text may begin with a comment."""
    return '%llguidance {"allow_initial_skip": true}\n' + lark_c11()


def ebnf_c11() -> str:
    """The same for libraries without a lexer: white space follows each terminal, left recursion is repetition."""
    lines = ["root ::= ws start"]
    lines += [f"{_dashed(name)} ::= {_alternatives(name, each)}" for name, each in _c11_rules().items()]
    return "\n".join(lines) + EBNF_C11_TERMINALS


def ebnf_regex(regex: str) -> str:
    """A regular expression without look-around as an expression of EBNF."""
    return _Regex(regex).alternation()


def _c11_lines() -> list[str]:
    text = (GRAMMARS / "c11.lark").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("//")]


def _c11_rules() -> dict[str, list[list[str]]]:
    """The alternatives of each rule, as lists of symbols. What is a name and what a typedef name is one terminal."""
    rules: dict[str, list[list[str]]] = {}
    current = ""
    for line in _c11_lines():
        if re.match(r"%|[A-Z_]+:", line):
            continue
        head = re.match(r"([a-z_0-9]+):", line)
        if head:
            current, line = head[1], line[head.end() :]
            rules[current] = []
        line = re.sub("%prec [A-Z]+", "", line).replace("TYPEDEF_NAME", "IDENTIFIER")
        rules[current] += _split(line)
    rules |= {name: _split(text) for name, text in C11_OF_ANNEX_A.items()}
    reached, waiting = {"start"}, ["start"]
    while waiting:
        new = {symbol for each in rules[waiting.pop()] for symbol in each if symbol in rules} - reached
        reached |= new
        waiting += new
    return {name: alternatives for name, alternatives in rules.items() if name in reached}


def _split(alternatives: str) -> list[list[str]]:
    parts = re.split(r"\|(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", alternatives)
    return [part.split() for part in parts if part.strip()]


def _alternatives(name: str, alternatives: list[list[str]]) -> str:
    first = [" ".join(map(_symbol, each)) for each in alternatives if each[0] != name]
    rest = [" ".join(map(_symbol, each[1:])) for each in alternatives if each[0] == name]
    return f"({' | '.join(first)}) ({' | '.join(rest)})*" if rest else " | ".join(first)


def _symbol(symbol: str) -> str:
    return f"{symbol} ws" if symbol.startswith('"') else _dashed(symbol)


def _dashed(name: str) -> str:
    return name.lower().replace("_", "-")


class _Regex:
    """Reads a regular expression of classes, groups, repeats and escapes."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def alternation(self) -> str:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return " | ".join(branches)

    def _sequence(self) -> str:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            part = self._atom()
            repeat = re.compile(r"[*+?]|\{[0-9,]+\}").match(self._text, self._at)
            if repeat:
                part, self._at = part + repeat[0], repeat.end()
            parts.append(part)
        return " ".join(parts)

    def _atom(self) -> str:
        if self._take("("):
            inner = self.alternation()
            assert self._take(")")
            return f"({inner})"
        found = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]|\\.|.").match(self._text, self._at)
        assert found
        self._at = found.end()
        atom = found[0].replace(r"\/", "/").replace(r"\v", r"\x0b").replace(r"\f", r"\x0c")
        if atom.startswith("["):
            return atom
        if atom.startswith("\\") and atom[1] in "nrtx":
            return f'"{atom}"'
        character = atom.removeprefix("\\")
        return '"\\\\"' if character == "\\" else '"\\""' if character == '"' else f'"{character}"'

    def _take(self, character: str) -> bool:
        taken = self._text.startswith(character, self._at)
        self._at += taken
        return taken


def read_grammar(name: str) -> str:
    """The text of a grammar that ships with this library."""
    return Path(GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
