"""JSON documents in grammars, token by token, against the oracle: in its grammar each document is a literal. Which
documents a schema has says `jsonschema`. Seeds are fixed."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eliza_inference import Constraint, GrammarError, Matcher
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import gbnf, random_cases
from recognizer_walk import Tokens, Walk

N_GRAMMARS = 200
BLOCK = 50  # cases of one test

SCHEMAS: list[dict[str, Any]] = [
    {"enum": ["a", "ab", 1, 12, True, None, "]", "},"]},
    {"type": "integer", "minimum": 0, "maximum": 12},
    {"type": ["null", "integer"], "minimum": -3, "maximum": 11},
    {"type": "string", "maxLength": 2, "pattern": '^[ab"]*$'},
    {"type": "array", "items": {"enum": [1, "a"]}, "maxItems": 2},
    {"anyOf": [{"type": "array", "items": {"type": "array", "maxItems": 1, "items": {"const": 0}}}, {"const": "a"}]},
    {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"enum": [1, 11]}}, "additionalProperties": False},
    {"const": 1},
    {"const": {"a": [True]}},
]

STRINGS = ["".join(letters) for n in range(3) for letters in itertools.product('ab"', repeat=n)]
SCALARS = [None, True, False, *range(-20, 21), "]", "},", *STRINGS]
ITEMS = [0, 1, "a", [], [0]]
ARRAYS = [list(items) for n in range(3) for items in itertools.product(ITEMS, repeat=n)]
A = [True, False, [True]]
OBJECTS = [{}, *({"a": a} for a in A), *({"b": b} for b in (1, 11)), *({"a": a, "b": b} for a in A for b in (1, 11))]
VALUES = [*SCALARS, *ARRAYS, *OBJECTS]


def documents(schema: dict[str, Any]) -> list[str]:
    """All of `VALUES` that are valid; arrays have at most two items."""
    validator = Draft202012Validator(schema)
    found = [json.dumps(value, separators=(",", ":")) for value in VALUES if validator.is_valid(value)]
    return [*found, "-0"] if "0" in found else found


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class RandomGrammar:
    """The same grammar in both notations. Its terminals are single characters, so that no lexeme can be cut in two
    ways, and documents."""

    CHARACTERS = 'ab1,]}"'

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rules = ["start", "second", "third"][: random.randint(1, 3)]
        self.skips = random.random() < 0.3
        self.schemas = random.sample(SCHEMAS, random.randint(1, 3))
        self.named = random.random() < 0.5
        both = [self.alternatives(2) for _ in self.rules]
        self.lark = "\n".join(f"{rule}: {lark}" for rule, (lark, _) in zip(self.rules, both, strict=True))
        rules = "\n".join(f"{rule} ::= {text}" for rule, (_, text) in zip(self.rules, both, strict=True))
        space = '" "*' if self.skips else '""'
        self.gbnf = f"root ::= start ws\nws ::= {space}\n{rules}"
        if self.skips:
            self.lark += '\n%ignore " "'

    @property
    def imports(self) -> dict[str, str]:
        return {f"part-{n}": self.text_of(schema) for n, schema in enumerate(SCHEMAS)}

    @property
    def samples(self) -> list[str]:
        texts = [text for schema in self.schemas for text in documents(schema)]
        joined = [self.random.choice(texts) + self.random.choice([*self.CHARACTERS, *texts]) for _ in range(8)]
        return [*self.CHARACTERS, *texts, *joined, *([" ", ' "', "1 "] if self.skips else [])]

    @staticmethod
    def text_of(schema: dict[str, Any]) -> str:
        compact = {"whitespace_flexible": False}
        return json.dumps({**schema, "maxItems": schema.get("maxItems", 2), "x-guidance": compact})

    def alternatives(self, depth: int) -> tuple[str, str]:
        both = [self.sequence(depth) for _ in range(self.random.choice([1, 1, 2, 3]))]
        return " | ".join(lark for lark, _ in both), " | ".join(text for _, text in both)

    def sequence(self, depth: int) -> tuple[str, str]:
        items = [self.item(depth) for _ in range(self.random.choices([0, 1, 2, 3], [1, 5, 5, 3])[0])]
        return " ".join(lark for lark, _ in items), " ".join(text for _, text in items) or '""'

    def item(self, depth: int) -> tuple[str, str]:
        kind = self.random.random()
        count = self.random.choice(["*", "+", "?"]) if self.random.random() < 0.25 else ""
        if kind < 0.25:
            lark = text = self.random.choice(self.rules)
        elif kind < 0.4 and depth:
            lark, text = (f"({one})" for one in self.alternatives(depth - 1))
        elif kind < 0.75:
            schema = self.random.choice(self.schemas)
            lark = f"@part-{SCHEMAS.index(schema)}" if self.named else f"%json {self.text_of(schema)}"
            text = f"(ws ({' | '.join(map(literal, documents(schema)))}))"
        else:
            lark = literal(self.random.choice(self.CHARACTERS))
            text = f"(ws {lark})"
        return lark + count, text + count


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_documents_of_the_schemas(schema: dict[str, Any]) -> None:
    """The schema alone has these documents: what the grammars below rest on."""
    tokens = Tokens(random_cases.tokens(Random(1), 40, [*documents(schema), '"', ",", "1"]))
    constraint = Constraint.lark(tokens.vocabulary, f"start: %json {RandomGrammar.text_of(schema)}")
    recognizer = gbnf.Recognizer(gbnf.read(f"root ::= {' | '.join(map(literal, documents(schema)))}"))
    for seed in range(5):
        Walk(constraint, recognizer, tokens).at_random(Random(seed), 6)


@pytest.mark.parametrize("allowed", ["", "n", 'u"', "\\nu", '"\\bfnrtu'])
def test_escapes_that_are_allowed(allowed: str) -> None:
    """In strings and in keys: of all documents, spelled with the escapes that JSON needs, those without others."""
    letters = 'a"\\\n\x01'
    text = {"type": "string", "maxLength": 2, "pattern": r'^[a"\\\n\u0001]*$'}
    key = {"propertyNames": {**text, "maxLength": 1}, "additionalProperties": {"const": 0}, "maxProperties": 1}
    guidance = {"whitespace_flexible": False, "json_allowed_escapes": allowed}
    schema = {"anyOf": [text, {"type": "object", **key}], "x-guidance": guidance}
    strings = ["".join(some) for n in range(3) for some in itertools.product(letters, repeat=n)]
    values = [*strings, {}, *({one: 0} for one in strings if len(one) < 2)]
    every = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    legal = [one for one in every if all(letter in allowed for letter in re.findall(r"\\(.)", one))]
    tokens = Tokens(random_cases.tokens(Random(1), 80, [*every, "\\", "\\u", "u00", "\\n", '\\"']))
    recognizer = gbnf.Recognizer(gbnf.read(f"root ::= {' | '.join(map(literal, legal))}"))
    constraint = Constraint.lark(tokens.vocabulary, f"start: %json {json.dumps(schema)}")
    for seed in range(10):
        Walk(constraint, recognizer, tokens).at_random(Random(seed), 6)


def test_escapes_in_schemas_of_any_size() -> None:
    """What is left out must not depend on how much room is left where the schema is kept."""
    tokens = Tokens([bytes([byte]) for byte in range(128)])
    for n in range(100):
        properties = {f"p{i}": {"type": "string", "minLength": 1, "maxLength": i + 5} for i in range(n)}
        free = {"additionalProperties": {"type": "string"}, "x-guidance": {"json_allowed_escapes": ""}}
        schema = json.dumps({"type": "object", "properties": properties, **free})
        matcher = Matcher(Constraint.lark(tokens.vocabulary, f"start: %json {schema}"))
        assert matcher.accept_tokens(b'{"p0":"a')
        assert not matcher.validate_tokens(b"\\n"), n


@pytest.mark.parametrize("block", range(0, N_GRAMMARS, BLOCK))
def test_grammars_by_chance(block: int, tmp_path: Path) -> None:
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"parts {seed}")
        grammar = RandomGrammar(random)
        recognizer = gbnf.Recognizer(gbnf.read(grammar.gbnf))
        tokens = Tokens(random_cases.tokens(random, 60, grammar.samples))
        try:
            constraint = Constraint.lark(tokens.vocabulary, grammar.lark, imports=grammar.imports)
        except GrammarError as error:
            assert not recognizer.parser.rules.get("root"), f"seed {seed}: {error}\n{grammar.lark}"
            continue
        if seed % 10 == 0:
            constraint.save(tmp_path / "saved")
            constraint = Constraint.open(tokens.vocabulary, tmp_path / "saved")
        try:
            Walk(constraint, recognizer, tokens).at_random(random, 7)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{grammar.lark}") from error
        n_compiled += 1
    assert n_compiled >= 0.4 * BLOCK
