"""Which library takes which case with which vocabulary."""

from bench.grammars.cases import GBNF
from bench.recognizers.measure import Plan

ALL = ("ours", "llama.cpp", "llguidance", "XGrammar")
WITH_LEXER = ("ours", "llguidance", "XGrammar")

PLAN: Plan = {
    "model": dict.fromkeys(GBNF, ("ours", "llama.cpp")),
    "llama3": {
        **dict.fromkeys(GBNF, ALL),
        "ambiguous-c11": WITH_LEXER,
        "ambiguous-sql": WITH_LEXER,
        "python": ("ours", "llguidance"),
        "pairs": WITH_LEXER,
        "sums": WITH_LEXER,
        "triples": WITH_LEXER,
        "tags-free": WITH_LEXER,
        "tags-calls": WITH_LEXER,
    },
}
"""llama.cpp follows neither left recursion nor tags. The vocabulary of the model that ships has a tokenizer of its own,
which the others cannot be given."""
