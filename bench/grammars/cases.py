"""Grammars, and documents that are in their languages. llama.cpp's are read from its sources."""

import json
from collections.abc import Callable
from functools import partial

from bench import llama_sources
from bench.grammars import notations, texts
from bench.recognizers import files
from bench.recognizers.case import Case

N_DOCUMENTS = 24
"""For llama.cpp's grammars: about two thousand tokens or more."""
N_TAGS = 64
N_TOKENS = 2000
"""At least, of the documents whose length is what matters."""


def _gbnf(name: str) -> Case:
    text = llama_sources.fetch(f"grammars/{name}.gbnf").read_text(encoding="utf-8")
    documents = texts.GBNF_DOCUMENTS[name](N_DOCUMENTS)
    sources = {"gbnf": text, "ebnf": text, "llguidance": notations.lark_of_gbnf(text)}
    return Case(f"gbnf-{name}", f"llama.cpp's {name}.gbnf", documents, sources=sources)


def _c11() -> Case:
    sources = {"lark": notations.c11(), "llguidance": notations.llguidance_c11(), "ebnf": notations.ebnf_c11()}
    return Case("ambiguous-c11", "C11 as in Annex A, its conflicts left in", files.c_files(), sources=sources)


def _sql() -> Case:
    sources = {"lark": notations.SQL, "llguidance": notations.SQL, "ebnf": notations.SQL_EBNF}
    return Case("ambiguous-sql", "SQL expressions, ambiguous", texts.sql_queries(4), sources=sources)


def _python() -> Case:
    sources = {"lark": notations.python(), "llguidance": notations.python()}
    return Case("python", "Python without indentation", texts.python_modules(4), sources=sources)


def _pairs() -> Case:
    """Runs of the letter are long tokens: eight or more characters each."""
    sources = notations.both('start: e\ne: e e | "a"\n', 'root ::= root root | "a"\n')
    return Case("pairs", '`E: E E | "a"`', ["a" * (16 * N_TOKENS)], sources=sources)


def _sums() -> Case:
    lark = 'start: e\ne: e "+" e | e "*" e | "(" e ")" | NUM\nNUM: /[0-9]+/\n'
    gbnf = 'root ::= root "+" root | root "*" root | "(" root ")" | [0-9]+\n'
    title = '`E: E "+" E | E "*" E | "(" E ")" | NUM`'
    return Case("sums", title, [texts.sums(2 * N_TOKENS)], sources=notations.both(lark, gbnf))


def _deep() -> Case:
    """Stays ambiguous however it is rewritten."""
    sources = notations.both('start: s\ns: s s s | s s | "a"\n', 'root ::= root root root | root root | "a"\n')
    return Case("triples", '`S: S S S | S S | "a"`', ["a" * (16 * N_TOKENS)], sources=sources)


def _tags(name: str, title: str, call: str) -> Case:
    sources = {
        "tags": json.dumps(notations.tags(N_TAGS)),
        "structural_tag": json.dumps(notations.structural_tag(N_TAGS)),
        "llguidance": notations.llguidance_tags(N_TAGS),
    }
    return Case(name, f"{N_TAGS} tags of grammars, {title}", texts.answers(3, call), sources=sources)


CALL = '<function=tool_7>{"city":"Berlin, the large one","days":3}</function>'
GBNF = tuple(f"gbnf-{name}" for name in llama_sources.GRAMMARS)
LONG = ("pairs", "sums", "triples")

CASES: dict[str, Callable[[], Case]] = {
    **{f"gbnf-{name}": partial(_gbnf, name) for name in llama_sources.GRAMMARS},
    "ambiguous-c11": _c11,
    "ambiguous-sql": _sql,
    "python": _python,
    "pairs": _pairs,
    "sums": _sums,
    "triples": _deep,
    "tags-free": partial(_tags, "tags-free", "free text", "I will not call it."),
    "tags-calls": partial(_tags, "tags-calls", "free text with calls", CALL),
}
