"""Random JSON Schemas that mix the hard keywords, against an independent validator.

For more of them: `python tests/python/test_json_schema_random.py FROM TO`, numbers of schemas.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import jsonschema
import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Vocabulary

from json_schema_texts import accepted_order, accepts, byte_vocabulary, has_few_orders, load, spell, walk

Json = Any

N_SCHEMAS = 300
SCHEMAS_A_TEST = 20
INSTANCES = 30
WALKS = 2
"""In each order of members."""
LONG = 200
"""Bytes of a document of which the orders are too many to look at."""

REFUSED = (
    "without a member or an item in between",
    "more alternatives than are followed at once",
)
"""Errors with which a schema may be refused: no schema, and too many cases."""

KEYS = ("a", "b", "c", "ab")
PATTERNS = ("^a", "b$", "^[ab]$", "c", "^$")
SCALARS = (None, True, False, 0, 1, 2, 3, 6, -1, 1.5, "", "a", "b", "ab", "ba")


class Generator:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def document(self) -> Json:
        schema = self.schema(3)
        if isinstance(schema, dict):
            schema["$defs"] = {name: self.schema(2) for name in ("x", "y")}
        return schema

    def schema(self, depth: int) -> Json:
        rng = self.rng
        if rng.random() < 0.08:
            return rng.random() < 0.8
        made: dict[str, Json] = {}
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            made |= rng.choice(self.LEAVES if depth == 0 or rng.random() < 0.35 else self.BRANCHES)(self, depth - 1)
        return made

    def scalar(self) -> Json:
        return self.rng.choice(SCALARS)

    def scalars(self) -> Json:
        """A schema of scalars."""
        return self.rng.choice(
            (
                {"enum": [self.scalar() for _ in range(self.rng.randint(1, 4))]},
                {"type": self.rng.choice(("boolean", "integer", "number", "string"))},
                {"type": "integer", **self.bounds("minimum", "maximum", 3)},
                {"type": "number", "multipleOf": self.rng.choice((1, 0.5)), **self.bounds("minimum", "maximum", 3)},
                {"type": ["string", "null"], "pattern": self.rng.choice(PATTERNS)},
            )
        )

    def few(self, depth: int) -> Json:
        """A schema of few values."""
        match self.rng.randrange(4) if depth else 0:
            case 0 | 1:
                return {"enum": [self.scalar() for _ in range(self.rng.randint(1, 3))]}
            case 2:
                return {"type": "array", "items": self.few(depth - 1), "maxItems": 2}
            case _:
                named = {key: self.few(depth - 1) for key in self.names()}
                return {"type": "object", "properties": named, "additionalProperties": False}

    def bounds(self, least: str, most: str, limit: int) -> Json:
        low = self.rng.randint(0, limit)
        chosen = {least: low, most: low + self.rng.randint(0, 2)}
        return {key: chosen[key] for key in self.rng.choice(((least,), (most,), (least, most)))}

    def schemas(self, depth: int, n: int) -> Json:
        return [self.schema(depth) for _ in range(self.rng.randint(1, n))]

    def names(self) -> list[str]:
        return self.rng.sample(KEYS, self.rng.randint(1, 2))

    def reference(self) -> Json:
        return {"$ref": self.rng.choice(("#", "#/$defs/x", "#/$defs/y"))}

    def inner(self, depth: int) -> Json:
        """A member or an item, which may lead back."""
        return self.reference() if self.rng.random() < 0.15 else self.schema(depth)

    LEAVES = (
        lambda s, _: {"type": s.rng.choice(("null", "boolean", "integer", "number", "string", "array", "object"))},
        lambda s, _: {"type": s.rng.sample(("null", "integer", "number", "string", "array", "object"), 2)},
        lambda s, _: {"enum": [s.scalar() for _ in range(s.rng.randint(1, 4))]},
        lambda s, _: {"const": s.scalar()},
        lambda s, _: {s.rng.choice(("minimum", "exclusiveMinimum")): s.rng.randint(-1, 3)},
        lambda s, _: {s.rng.choice(("maximum", "exclusiveMaximum")): s.rng.randint(0, 6)},
        lambda s, _: {"multipleOf": s.rng.choice((2, 3, 0.5))},
        lambda s, _: s.bounds("minLength", "maxLength", 2),
        lambda s, _: {"pattern": s.rng.choice(PATTERNS)},
        lambda s, _: s.bounds("minItems", "maxItems", 3),
        lambda s, _: s.bounds("minProperties", "maxProperties", 3),
        lambda s, _: {"required": s.names()},
        lambda s, _: {"dependentRequired": {key: s.names() for key in s.names()}},
    )
    BRANCHES = (
        lambda s, d: {"properties": {key: s.inner(d) for key in s.names()}},
        lambda s, d: {"properties": {key: s.inner(d) for key in s.names()}, "required": s.names()},
        lambda s, d: {"properties": {key: s.inner(d) for key in s.names()}, "additionalProperties": False},
        lambda s, d: {"patternProperties": {one: s.inner(d) for one in s.rng.sample(PATTERNS, 2)}},
        lambda s, d: {"additionalProperties": s.inner(d)},
        lambda s, d: {"propertyNames": s.schema(0)},
        lambda s, d: {"dependentSchemas": {key: s.schema(d) for key in s.names()}},
        lambda s, d: {"items": s.inner(d)},
        lambda s, _: {"items": s.scalars(), "uniqueItems": True},
        lambda s, _: {"prefixItems": [s.scalars()], "items": s.scalars(), "uniqueItems": True, "minItems": 2},
        lambda s, d: {"items": s.inner(d), "uniqueItems": True},
        lambda s, d: {"items": s.few(2), "uniqueItems": True, **s.bounds("minItems", "maxItems", 3)},
        lambda s, d: {"items": s.inner(d), "not": {"uniqueItems": True}, **s.bounds("minItems", "maxItems", 3)},
        lambda s, d: {"prefixItems": s.schemas(d, 2), "items": s.few(1), "type": "array", "not": {"uniqueItems": True}},
        lambda s, d: {"prefixItems": s.schemas(d, 2)},
        lambda s, d: {"prefixItems": s.schemas(d, 2), "items": s.inner(d)},
        lambda s, d: {"contains": s.schema(d)},
        lambda s, d: {"contains": s.schema(d), **s.bounds("minContains", "maxContains", 2)},
        lambda s, d: {"allOf": s.schemas(d, 2)},
        lambda s, d: {"anyOf": s.schemas(d, 3)},
        lambda s, d: {"oneOf": s.schemas(d, 3)},
        lambda s, d: {"not": s.schema(d)},
        lambda s, d: {"not": s.schema(d)},
        lambda s, d: {"if": s.schema(d), "then": s.schema(d), "else": s.schema(d)},
        lambda s, d: {"unevaluatedProperties": s.schema(0)},
        lambda s, d: {"unevaluatedItems": s.schema(0)},
    )

    def value(self, depth: int) -> Json:
        rng = self.rng
        kind = rng.random() if depth else 0
        if kind < 0.4:
            return self.scalar()
        if kind < 0.6:
            return [self.value(depth - 1) for _ in range(rng.randint(0, 3))]
        return {rng.choice((*KEYS, "x", "")): self.value(depth - 1) for _ in range(rng.randint(0, 3))}

    def mutation(self, value: Json) -> Json:
        """One thing is changed, somewhere."""
        rng = self.rng
        match value:
            case dict() if value and rng.random() < 0.8:
                key = rng.choice(list(value))
                rest = {other: item for other, item in value.items() if other != key}
                return rng.choice((rest, {**value, key: self.mutation(value[key])}, {**value, rng.choice(KEYS): 1}))
            case list() if value and rng.random() < 0.8:
                i = rng.randrange(len(value))
                return rng.choice(
                    (
                        [*value[:i], *value[i + 1 :]],
                        [*value[:i], self.mutation(value[i]), *value[i + 1 :]],
                        [*value, value[i]],
                    )
                )
            case _:
                return self.value(1)

    def shuffled(self, value: Json) -> Json:
        """The members of all objects in some order."""
        match value:
            case dict():
                return {key: self.shuffled(value[key]) for key in self.rng.sample(list(value), len(value))}
            case list():
                return [self.shuffled(item) for item in value]
            case _:
                return value


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


@pytest.mark.parametrize("first", range(0, N_SCHEMAS, SCHEMAS_A_TEST))
def test_random_schemas(vocabulary: Vocabulary, first: int) -> None:
    for seed in range(first, first + SCHEMAS_A_TEST):
        assert wrong_about(vocabulary, seed) is None


def wrong_about(vocabulary: Vocabulary, seed: int) -> str | None:
    """What is wrong about the schema of a number."""
    try:
        return wrong_with(vocabulary, Generator(random.Random(seed)).document(), seed)
    except LimitError:
        return None  # where a document leads to, there are too many cases


def wrong_with(vocabulary: Vocabulary, schema: Json, seed: int) -> str | None:
    rng = random.Random(seed)
    generator = Generator(rng)
    text = json.dumps(schema)
    validator = jsonschema.Draft202012Validator(load(text))
    values = [generator.value(rng.randint(0, 3)) for _ in range(INSTANCES)]
    try:
        constraint = Constraint.json_schema(vocabulary, text, space="compact")
        unordered = Constraint.json_schema(vocabulary, text, space="compact", order="any")
    except (GrammarError, LimitError) as error:
        if any(reason in str(error) for reason in REFUSED):
            return None
        if "no document is valid" not in str(error):
            return f"{text}: {error}"
        valid = [value for value in values if validator.is_valid(load(json.dumps(value)))]
        return f"{text}: not even {json.dumps(valid[0])}" if valid else None
    for ordered_or_not in (constraint, unordered) * WALKS:
        document, problem = walk(ordered_or_not, rng)
        if problem:
            return f"{text}: after {document!r}: {problem}"
        if not document:
            continue
        value = load(document.decode())
        if not validator.is_valid(value):
            return f"{text}: lets {document!r} through"
        if len(document) < LONG:
            values += [value, generator.mutation(value), generator.mutation(value)]
    for value in filter(has_few_orders, values):
        is_valid = validator.is_valid(load(json.dumps(value, default=float)))
        if bool(accepted_order(constraint, value, "compact")) != is_valid:
            return f"{text}: {json.dumps(value, default=float)} is {'valid' if is_valid else 'invalid'}"
    for value in map(generator.shuffled, values):
        is_valid = validator.is_valid(load(json.dumps(value, default=float)))
        if accepts(unordered, spell(value, "compact")) != is_valid:
            return f"{text}, any order: {json.dumps(value, default=float)} is {'valid' if is_valid else 'invalid'}"
    return None


def main() -> None:
    vocabulary = byte_vocabulary()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            wrong = wrong_about(vocabulary, seed)
        except Exception as error:
            wrong = repr(error)
        if wrong:
            print(seed, wrong, flush=True)


if __name__ == "__main__":
    main()
