"""Schemas of objects with many cases that overlap, against an independent validator: they are told apart."""

from __future__ import annotations

import json
import random
from typing import Any, Literal

import jsonschema
import pytest
from eliza_inference import Constraint, Vocabulary

from json_schema_texts import accepted_order, accepts, byte_vocabulary, has_few_orders, spell

Json = Any

KINDS = ["text", "date", "number", "place", "list"]
N_INSTANCES = 40


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


def dependencies(rng: random.Random) -> Json:
    """Members that ask for a kind, which need not be said."""
    names = [f"m{i}" for i in range(16)]
    return {
        "type": "object",
        "properties": {"kind": {"enum": KINDS}, **{name: {"type": "integer"} for name in names}},
        "additionalProperties": False,
        "dependentSchemas": {
            name: {"properties": {"kind": {"enum": rng.sample(KINDS, rng.randint(1, 2))}}} for name in names
        },
    }


def overlapping(rng: random.Random) -> Json:
    """Branches of one form, of which some say nothing of their tag."""
    names = ["m0", "m1", "m2", "m3"]
    branches = []
    for i in range(7):
        tag = {"kind": {"const": KINDS[i % len(KINDS)]}} if rng.random() < 0.8 else {}
        members = {name: {"type": rng.choice(["integer", "string"])} for name in rng.sample(names, 2)}
        required = ["kind", *rng.sample(names, 2)]
        branches.append({"type": "object", "properties": {**tag, **members}, "required": required})
    return {rng.choice(["oneOf", "anyOf"]): branches}


def nested(rng: random.Random) -> Json:
    """Each of several choices of members, in a recursive schema."""
    names = [f"m{i}" for i in range(6)]
    choices = [
        {"anyOf": [{"required": [name]}, {"properties": {"kind": {"enum": rng.sample(KINDS, 2)}}}]} for name in names
    ]
    node = {"type": "object", "allOf": choices, "properties": {"m0": {"$ref": "#"}}}
    return {"anyOf": [{"type": ["integer", "string"]}, node]}


def instance(rng: random.Random, depth: int = 2) -> Json:
    names = rng.sample([f"m{i}" for i in range(5 if rng.random() < 0.7 else 16)], rng.choice([0, 1, 2, 2, 3, 4, 5]))
    members: dict[str, Json] = {name: rng.choice([1, 2, "x"]) for name in names}
    if depth and rng.random() < 0.3:
        members["m0"] = instance(rng, depth - 1)
    if rng.random() < 0.8:
        members["kind"] = rng.choice(KINDS)
    return members


@pytest.mark.parametrize("order", ["any", "declared"])
@pytest.mark.parametrize("make", [dependencies, overlapping, nested])
@pytest.mark.parametrize("seed", range(3))
def test_as_a_validator_says(vocabulary: Vocabulary, make: Any, seed: int, order: Literal["any", "declared"]) -> None:
    rng = random.Random(seed)
    schema = make(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = Constraint.json_schema(vocabulary, schema, space="compact", order=order)
    n_valid = 0
    for _ in range(N_INSTANCES):
        value = instance(rng)
        is_valid = validator.is_valid(value)
        n_valid += is_valid
        if order == "any":
            assert accepts(constraint, spell(value, "compact")) == is_valid, json.dumps([schema, value])
        elif has_few_orders(value):
            assert bool(accepted_order(constraint, value, "compact")) == is_valid, json.dumps([schema, value])
    assert 0 < n_valid < N_INSTANCES
