"""`additional="forbid"`, against `jsonschema` with the same schemas closed by hand, and walks that must end."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Matcher

from json_schema_texts import accepts, byte_vocabulary

Json = Any
KEYS = ("a", "b", "c", "d")
REFUSED = (GrammarError, LimitError)


class Generator:
    """Makes schemas beside what they are when they are closed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def pair(self, depth: int) -> tuple[Json, Json]:
        """A schema of a value."""
        if depth == 0 or self.rng.random() < 0.2:
            one = self.rng.choice(({"type": "null"}, {"enum": [1, "x"]}, {"type": "object"}, {"type": "boolean"}))
            return one, one
        return self.rng.choice((self.object, self.object, self.array, self.union, self.tagged, self.mixed))(depth - 1)

    def members(self, depth: int) -> tuple[dict[str, Json], dict[str, Json]]:
        """`properties` and what stands beside them, without `additionalProperties`."""
        pairs = {key: self.pair(depth) for key in self.rng.sample(KEYS, self.rng.randint(0, 2))}
        beside: dict[str, Json] = {"type": "object"}
        if self.rng.random() < 0.4:
            beside["required"] = self.rng.sample(KEYS, 1)
        opened = beside | {"properties": {key: pair[0] for key, pair in pairs.items()}}
        closed = beside | {"properties": {key: pair[1] for key, pair in pairs.items()}}
        for key in beside.get("required", ()):
            closed["properties"].setdefault(key, True)
        return opened, closed

    def object(self, depth: int) -> tuple[Json, Json]:
        opened, closed = self.members(depth)
        if self.rng.random() < 0.15:
            return opened | {"additionalProperties": True}, closed
        return opened, closed | {"unevaluatedProperties": False}

    def array(self, depth: int) -> tuple[Json, Json]:
        opened, closed = self.pair(depth)
        return {"type": "array", "items": opened}, {"type": "array", "items": closed}

    def union(self, depth: int) -> tuple[Json, Json]:
        pairs = [self.pair(depth) for _ in range(2)]
        keyword = self.rng.choice(("anyOf", "allOf"))
        if keyword == "allOf":
            pairs = [self.members(depth) for _ in range(2)]
            return {"allOf": [one[0] for one in pairs]}, {
                "allOf": [one[1] for one in pairs],
                "unevaluatedProperties": False,
            }
        return {keyword: [one[0] for one in pairs]}, {keyword: [one[1] for one in pairs]}

    def tagged(self, depth: int) -> tuple[Json, Json]:
        opened: list[Json] = []
        closed: list[Json] = []
        for tag in ("x", "y"):
            one, other = self.members(depth)
            for to, branch in ((opened, one), (closed, other)):
                properties = {**branch["properties"], "d": {"const": tag}}
                to.append(branch | {"properties": properties, "required": ["d"]})
            closed[-1]["unevaluatedProperties"] = False
        return {"oneOf": opened}, {"oneOf": closed}

    def mixed(self, depth: int) -> tuple[Json, Json]:
        """Names of its own, and of the branch that holds."""
        opened, closed = self.members(depth)
        if self.rng.random() < 0.5:
            pairs = [self.members(depth) for _ in range(2)]
            when = {"properties": {"a": {"type": "null"}}, "required": ["a"]}
            for to, at in ((opened, 0), (closed, 1)):
                to |= {"if": when, "then": pairs[0][at], "else": pairs[1][at]}
            named = [key for one, _ in pairs for key in one.get("required", [])]
        else:
            tags = [{"properties": {"d": {"const": tag}, tag: {"type": "null"}}, "required": ["d"]} for tag in "bc"]
            opened["oneOf"] = closed["oneOf"] = tags
            named = []
        for key in named:
            closed["properties"].setdefault(key, True)
        return opened, closed | {"unevaluatedProperties": False}

    def value(self, depth: int) -> Json:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice((None, True, 1, "x", "y", "b", "c", {}))
        if rng.random() < 0.2:
            return [self.value(depth - 1) for _ in range(rng.randint(0, 2))]
        return {key: self.value(depth - 1) for key in rng.sample(KEYS, rng.randint(0, 3))}


@pytest.mark.parametrize("seed", range(150))
def test_what_is_allowed_is_valid_for_the_closed_schema(seed: int) -> None:
    generator = Generator(random.Random(seed))
    opened, closed = generator.pair(3)
    try:
        constraint = Constraint.json_schema(
            byte_vocabulary(), opened, space="compact", order="any", additional="forbid"
        )
    except REFUSED:
        return
    validator = jsonschema.Draft202012Validator(closed)
    for _ in range(60):
        value = generator.value(3)
        text = json.dumps(value, separators=(",", ":"))
        assert accepts(constraint, text) == validator.is_valid(value), (opened, text)


@pytest.mark.parametrize("seed", range(60))
def test_every_walk_ends_in_a_valid_document(seed: int) -> None:
    rng = random.Random(1000 + seed)
    generator = Generator(rng)
    opened, closed = generator.pair(3)
    try:
        constraint = Constraint.json_schema(
            byte_vocabulary(), opened, space="compact", numbers="double", additional="forbid"
        )
    except REFUSED:
        return
    for _ in range(3):
        matcher, text = Matcher(constraint), b""
        while not matcher.can_stop or (len(text) < 60 and rng.random() < 0.5):
            allowed = matcher.allowed()
            assert allowed is not None
            bytes_left = [int(token) for token in allowed if token < 128]
            if not bytes_left:
                break
            # Closing bytes, once the text is long.
            ends = [byte for byte in bytes_left if byte in b'"}]' or len(text) < 60] or bytes_left
            byte = rng.choice(ends)
            matcher.accept(byte)
            text += bytes([byte])
            assert len(text) < 2000
        assert matcher.can_stop, (opened, text)
        value = json.loads(text)
        assert jsonschema.Draft202012Validator(opened).is_valid(value), (opened, text)
        assert jsonschema.Draft202012Validator(closed).is_valid(value), (opened, text)


def test_too_many_cases_allow_the_names_of_all_branches_with_a_warning() -> None:
    branches = [{"properties": {f"m{n}": {"type": "integer"}}} for n in range(10)]
    schema = {"type": "object", "properties": {"own": {"type": "null"}}, "anyOf": branches}
    constraint = Constraint.json_schema(byte_vocabulary(), schema, space="compact", additional="forbid")
    assert constraint.warnings == ("at #: too many cases: a member that any of the branches names is allowed",)
    assert accepts(constraint, '{"own":null,"m3":1}')
    assert not accepts(constraint, '{"other":1}')
