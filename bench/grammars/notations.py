"""The languages of the cases in the notations of the libraries."""

import re
from typing import Any

from bench.recognizers import notations as recognizers
from bench.recognizers.notations import ebnf_c11, llguidance_c11, read_grammar

__all__ = ["ebnf_c11", "llguidance_c11"]

SQL = r"""
start: query ";"
query: "SELECT" ws cols ws "FROM" ws name (ws "WHERE" ws expr)?
cols: "*" | expr (ws? "," ws? expr)*
expr: expr ws "AND" ws expr | expr ws "OR" ws expr | "NOT" ws expr | expr ws? CMP ws? expr
    | expr ws? ("+" | "-" | "*" | "/") ws? expr | "-" expr | "(" ws? expr ws? ")" | name | NUM | STR
    | name "(" expr ("," ws? expr)* ")" | expr ws "IN" ws "(" expr ("," ws? expr)* ")" | expr ws "IS" ws "NULL"
    | "CASE" (ws "WHEN" ws expr ws "THEN" ws expr)+ ws "END"
name: NAME | NAME "." NAME
NAME: /[A-Za-z_][A-Za-z_0-9]*/
NUM: /[0-9]+(\.[0-9]+)?/
STR: /'[^']*'/
CMP: "=" | "<" | ">" | "<=" | ">=" | "<>"
ws: /[ \n]+/
"""

SQL_EBNF = r"""
root ::= query ";"
query ::= "SELECT" ws cols ws "FROM" ws name (ws "WHERE" ws expr)?
cols ::= "*" | expr (optional "," optional expr)*
expr ::= expr ws "AND" ws expr | expr ws "OR" ws expr | "NOT" ws expr | expr optional comparison optional expr
    | expr optional [-+*/] optional expr | "-" expr | "(" optional expr optional ")" | name | number | string
    | name "(" expr ("," optional expr)* ")" | expr ws "IN" ws "(" expr ("," optional expr)* ")"
    | expr ws "IS" ws "NULL" | "CASE" (ws "WHEN" ws expr ws "THEN" ws expr)+ ws "END"
name ::= word | word "." word
word ::= [A-Za-z_] [A-Za-z_0-9]*
number ::= [0-9]+ ("." [0-9]+)?
string ::= "'" [^']* "'"
comparison ::= "=" | "<" | ">" | "<=" | ">=" | "<>"
optional ::= ws?
ws ::= [ \n]+
"""

TAG_GRAMMAR = r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
array: "[" [value ("," value)*] "]"
STRING: /"[^"\\\n]*"/
NUMBER: /-?[0-9]+/
"""

TAG_EBNF = r"""
root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (pair ("," pair)*)? "}"
pair ::= string ":" value
array ::= "[" (value ("," value)*)? "]"
string ::= "\"" [^"\\\n]* "\""
number ::= "-"? [0-9]+
"""


def lark_of_gbnf(text: str) -> str:
    """For llguidance, by its own converter."""
    from llguidance.gbnf_to_lark import gbnf_to_lark

    converted: str = gbnf_to_lark(text)
    return converted


def c11() -> str:
    """The grammar of C for this library: nothing is resolved, key words are reserved."""
    return "%lexing longest\n" + recognizers.lark_c11()


def python() -> str:
    """The shipped grammar, with lines in place of indented blocks: where a block ends is ambiguous."""
    text = read_grammar("python").replace("_NEWLINE _INDENT stmt+ _DEDENT", "_NEWLINE stmt+")
    kept = [line for line in text.splitlines() if not line.startswith(("//", "%declare", "match_stmt:", "case:"))]
    return "\n".join(kept).replace("match_stmt | ", "")


def both(lark: str, gbnf: str) -> dict[str, str]:
    return {"lark": lark, "llguidance": lark, "gbnf": gbnf, "ebnf": gbnf}


def _begin(index: int) -> str:
    return f"<function=tool_{index}>"


def tags(count: int) -> dict[str, Any]:
    listed = [{"begin": _begin(n), "end": "</function>", "lark": TAG_GRAMMAR} for n in range(count)]
    return {"tags": listed, "triggers": ["<function="]}


def structural_tag(count: int) -> dict[str, Any]:
    """XGrammar's."""
    content = {"type": "grammar", "grammar": TAG_EBNF}
    listed = [{"type": "tag", "begin": _begin(n), "content": content, "end": "</function>"} for n in range(count)]
    triggered = {"type": "triggered_tags", "triggers": ["<function="], "tags": listed}
    return {"type": "structural_tag", "format": triggered}


def llguidance_tags(count: int) -> str:
    """As its documents write tool calls in free text."""
    tags = "\n".join(f'tag_{n}: text_{n} value "</function>"\ntext_{n}[lazy]: TEXT "{_begin(n)}"' for n in range(count))
    grammar = re.sub(r"^\nstart: value\n", "", TAG_GRAMMAR)
    any_tag = " | ".join(f"tag_{n}" for n in range(count))
    return f"start: (any_tag)* tail\ntail: TEXT\nany_tag: {any_tag}\nTEXT: /(.|\\n)*/\n{tags}\n{grammar}"
