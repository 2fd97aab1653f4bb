"""Conditions of objects that are many: they are not multiplied. Each schema against an independent validator, over
documents of a few members.

For more random ones: `python tests/python/test_json_schema_conditions.py FROM TO`, numbers of schemas.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jsonschema
import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Vocabulary

from json_schema_texts import accepts, byte_vocabulary, load, spell, walk

Json = Any

N_SCHEMAS = 120
SCHEMAS_A_TEST = 20
DOCUMENTS = 60

KEYS = tuple("abcdefghkl")
VALUES: tuple[Json, ...] = (True, False, 1, "x", {"e": ""}, {})
SCHEMAS: tuple[Json, ...] = (
    {"const": True},
    {"type": "boolean"},
    {"type": "string"},
    {"required": ["e"]},
    {"type": ["integer", "object"]},
    False,
    {"enum": [1, "x"]},
)
"""Of the value of one member."""


N = 200
"""Conditions of one schema that tell of different members."""

STRING = {"type": "string"}
EACH = range(N)


def named(letters: str, schema: Json = STRING) -> Json:
    return {f"{letter}{number}": schema for letter in letters for number in EACH}


def order_of(member: tuple[str, Json]) -> tuple[str, int]:
    """The members that are named first come first."""
    number = member[0][1:]
    return member[0][0], int(number) if number.isdigit() else 0


def pairs(condition: Callable[[int], Json]) -> Json:
    return {
        "type": "object",
        "properties": named("ab"),
        "allOf": [condition(number) for number in EACH],
        "additionalProperties": False,
    }


ALL_A = {f"a{number}": "" for number in EACH}

# A schema, documents that are valid, and others that are not.
MANY: dict[str, tuple[Json, list[Json], list[Json]]] = {
    "dependent members": (
        {
            "type": "object",
            "properties": named("az"),
            "dependentRequired": {f"a{number}": [f"z{number}"] for number in EACH},
            "additionalProperties": False,
        },
        [{}, {"a1": "", "z1": ""}, ALL_A | {f"z{number}": "" for number in EACH}],
        [{"a1": ""}, ALL_A | {f"z{number}": "" for number in EACH[1:]}],
    ),
    "dependent members that are not named": (
        {
            "type": "object",
            "properties": named("a"),
            "dependentRequired": {f"a{number}": [f"z{number}"] for number in EACH},
        },
        [{}, {"a1": "", "z1": ""}],
        [{"a1": ""}, {"a1": "", "z2": ""}],
    ),
    "if and then": (
        {
            "type": "object",
            "properties": named("b", {"type": "boolean"}) | named("x"),
            "allOf": [
                {
                    "if": {"properties": {f"b{number}": {"const": True}}, "required": [f"b{number}"]},
                    "then": {"required": [f"x{number}"]},
                }
                for number in EACH
            ],
            "additionalProperties": False,
        },
        [{}, {"b1": False}, {"b1": True, "b2": False, "x1": ""}],
        [{"b1": True}, {"b1": True, "x2": ""}],
    ),
    "one of closed objects": (
        {
            "oneOf": [
                {"type": "object", "additionalProperties": False, "properties": {f"k{number}": STRING}}
                for number in EACH
            ]
        },
        [{"k1": ""}, {"k199": ""}],
        [{}, {"k1": "", "k2": ""}, {"k1": 1}, {"x": ""}],
    ),
    "one of open objects": (
        {
            "type": "object",
            "properties": named("k", {"type": "object", "properties": {"e": STRING}}),
            "oneOf": [
                {"required": [f"k{number}"], "properties": {f"k{number}": {"required": ["e"]}}} for number in EACH
            ],
        },
        [{"k1": {"e": ""}}, {"k0": {}, "k1": {"e": ""}, "k2": {}}],
        [{}, {"k0": {"e": ""}, "k1": {"e": ""}}, {"k0": {}}],
    ),
    "one of each pair": (
        pairs(lambda number: {"oneOf": [{"required": [f"a{number}"]}, {"required": [f"b{number}"]}]}),
        [ALL_A],
        [{}, {"a0": ""}, ALL_A | {"b3": ""}],
    ),
    "one of each pair or both": (
        pairs(lambda number: {"anyOf": [{"required": [f"a{number}"]}, {"required": [f"b{number}"]}]}),
        [ALL_A, ALL_A | {"b3": ""}],
        [{}, {"a0": ""}],
    ),
    "patterns": (
        {
            "type": "object",
            "patternProperties": {f"^t{number} ": {"type": "integer"} for number in EACH},
            "additionalProperties": False,
        },
        [{}, {"t1 a": 1, "t199 ": 2, "t1 b": 3}],
        [{"t1 a": ""}, {"t1": 1}, {"t200 a": 1}],
    ),
    "patterns that match together": (
        {
            "type": "object",
            "patternProperties": {f"^t{number} ": {"type": "integer"} for number in range(40)}
            | {"z$": {"minimum": 0}, "^t[0-9]+ y": {"maximum": 5}},
            "additionalProperties": STRING,
        },
        [{"t1 a": 9}, {"t1 y": 5, "t2 z": 0, "t3 yz": 5, "other": "", "other z": ""}],
        [{"t1 y": 6}, {"t2 z": -1}, {"t3 yz": 6}, {"t40 y": 6}, {"other": 1}],
    ),
    "not both of a pair": (
        pairs(lambda number: {"not": {"required": [f"a{number}", f"b{number}"]}}),
        [{}, {"a0": "", "b1": ""}, ALL_A],
        [{"a1": "", "b1": ""}, ALL_A | {"b199": ""}],
    ),
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


class Generator:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        # Conditions of five pairs of members are kept apart; of a few members they may be multiplied.
        self.is_apart = rng.random() < 0.6
        self.keys = KEYS if self.is_apart else KEYS[: rng.randint(4, 8)]

    def schema(self) -> Json:
        rng = self.rng
        made: Json = {"type": "object", "properties": {key: self.value() for key in self.keys}}
        if self.is_apart:
            made["allOf"] = [
                self.condition(2, KEYS[n : n + 2]) for n in range(0, len(KEYS), 2) for _ in range(rng.randint(1, 2))
            ]
        else:
            made["allOf"] = [self.condition(2, self.keys) for _ in range(rng.randint(3, 9))]
        if rng.random() < 0.5:
            made["additionalProperties"] = rng.choice((False, {"type": "integer"}, {"const": "x"}))
        if rng.random() < 0.25:
            made["minProperties"] = rng.randint(1, 4)
        if rng.random() < 0.25:
            made["maxProperties"] = rng.randint(1, 5)
        if rng.random() < 0.3:
            made["required"] = rng.sample(self.keys, rng.randint(1, 2))
        if rng.random() < 0.15:
            made["propertyNames"] = {"pattern": rng.choice(("^[^b]*$", "^[a-z]$"))}
        return made

    def value(self) -> Json:
        return True if self.rng.random() < 0.7 else self.rng.choice(SCHEMAS)

    def condition(self, depth: int, keys: Sequence[str]) -> Json:
        rng = self.rng
        kind = rng.randrange(12 if depth else 5)
        key, other = rng.sample(keys, 2)
        match kind:
            case 0:
                return {"required": [key]}
            case 1 | 2:
                return {"properties": {key: rng.choice(SCHEMAS)}}
            case 3:
                return {"required": [key], "properties": {key: rng.choice(SCHEMAS), other: self.value()}}
            case 4:
                return self.wide(keys)
            case 5 | 6:
                return {"if": self.condition(0, keys), "then": self.condition(depth - 1, keys)} | (
                    {"else": self.condition(depth - 1, keys)} if rng.random() < 0.3 else {}
                )
            case 7:
                return {"dependentRequired": {key: [other]}}
            case 8:
                return {"not": {"required": [key, other]}}
            case 9:
                return {"anyOf": [self.condition(depth - 1, keys) for _ in range(rng.randint(2, 3))]}
            case 10:
                return {"oneOf": [self.condition(depth - 1, keys) for _ in range(rng.randint(2, 4))]}
            case _:
                return {"not": self.condition(depth - 1, keys)}

    def wide(self, keys: Sequence[str]) -> Json:
        """Tells of all members, if it may."""
        rng = self.rng
        key = rng.choice(keys)
        if self.is_apart and rng.random() < 0.95:
            return {"required": [key]}
        return rng.choice(
            (
                {"properties": {key: True}, "additionalProperties": rng.choice(SCHEMAS)},
                {"patternProperties": {rng.choice(("^[ab]", "c$", "^z")): rng.choice(SCHEMAS)}},
                {"propertyNames": {"pattern": rng.choice(("^[^b]*$", "^[a-z]$"))}},
                {"maxProperties": rng.randint(1, 4)},
                {"minProperties": rng.randint(1, 3)},
                {"required": [key]},
                {"required": [key]},
                {"required": [key]},
            )
        )

    def document(self) -> Json:
        rng = self.rng
        keys = [key for key in (*self.keys, "y", "zz") if rng.random() < rng.choice((0.2, 0.5, 0.8))]
        return {key: rng.choice(VALUES) for key in keys}


def wrong_about(vocabulary: Vocabulary, seed: int) -> str | None:
    """What is wrong about the schema of a number."""
    rng = random.Random(seed)
    generator = Generator(rng)
    schema = generator.schema()
    text = json.dumps(schema)
    validator = jsonschema.Draft202012Validator(load(text))
    documents = [generator.document() for _ in range(DOCUMENTS)]
    valid = [validator.is_valid(document) for document in documents]
    constraints = []
    for order in ("declared", "any"):
        try:
            constraints.append(Constraint.json_schema(vocabulary, text, space="compact", order=order))
        except (GrammarError, LimitError) as error:
            if any(valid) or "no document is valid" not in str(error):
                return f"{text}, {order}: {error}; valid is {documents[valid.index(True)] if any(valid) else None}"
    if len(constraints) < 2:
        return None
    for document, is_valid in zip(documents, valid, strict=True):
        if accepts(constraints[0], spell(document, "compact")) != is_valid:
            return f"{text}: {json.dumps(document)} is {'valid' if is_valid else 'invalid'}"
        shuffled = dict(rng.sample(list(document.items()), len(document)))
        if accepts(constraints[1], spell(shuffled, "compact")) != is_valid:
            return f"{text}, any order: {json.dumps(shuffled)} is {'valid' if is_valid else 'invalid'}"
    for constraint in constraints * 3:
        walked, problem = walk(constraint, rng)
        if problem:
            return f"{text}: after {walked!r}: {problem}"
        if walked and not validator.is_valid(load(walked.decode())):
            return f"{text}: lets {walked!r} through"
    return None


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("kind", MANY)
def test_many_conditions_of_different_members(vocabulary: Vocabulary, kind: str, order: Any) -> None:
    schema, valid, invalid = MANY[kind]
    constraint = Constraint.json_schema(vocabulary, schema, space="compact", order=order)
    for document in valid:
        ordered = dict(sorted(document.items(), key=order_of))
        assert accepts(constraint, spell(ordered, "compact")), document
    for document in invalid:
        assert not accepts(constraint, spell(document, "compact")), document


def test_conditions_that_a_document_only_leads_to(vocabulary: Vocabulary) -> None:
    of_items = {
        "type": "object",
        "properties": {
            "on": {
                "oneOf": [
                    {"required": [f"k{number}"], "properties": {f"k{number}": {"required": ["e"]}}}
                    for number in range(12)
                ]
            }
        },
    }
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": of_items}}}
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    assert accepts(constraint, '{"all":[{"on":{"k0":{"e":"x"}}},{"on":{"k7":1,"k8":{}}}]}')
    assert not accepts(constraint, '{"all":[{"on":{"k0":{"e":"x"},"k1":{"e":1}}}]}')


@pytest.mark.parametrize("first", range(0, N_SCHEMAS, SCHEMAS_A_TEST))
def test_random_conditions(vocabulary: Vocabulary, first: int) -> None:
    for seed in range(first, first + SCHEMAS_A_TEST):
        assert wrong_about(vocabulary, seed) is None


def main() -> None:
    vocabulary = byte_vocabulary()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        wrong = wrong_about(vocabulary, seed)
        if wrong:
            print(seed, wrong, flush=True)


if __name__ == "__main__":
    main()
