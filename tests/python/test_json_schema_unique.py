"""uniqueItems of arrays and objects, and its negation: each mask against all documents, where they are few."""

from __future__ import annotations

import itertools
import random
from typing import Any, Literal

import jsonschema
import pytest
from eliza_inference import Constraint, Matcher, TokenFlag, Vocabulary

from json_schema_texts import accepts, byte_vocabulary, spell

Json = Any

WORDS = (b'"}', b'"]', b"],[", b'],["', b'"},{"', b'"},{"a":"', b'{"a":', b'a":', b'":"', b'x"', b'x"}', b'y"],["',
         b"true", b"ue]", b",true]", b"}]", b"]]", b"1,", b"1]", b'":1}', b'":1},{"', b'b":', b"[]", b"{}")  # fmt: skip
END = 256 + len(WORDS)
PIECES = (*(bytes([byte]) for byte in range(256)), *WORDS)

VISITED_MAX = 600
"""Beginnings of documents of one schema, in some order."""

BOOLEAN = {"type": "boolean"}
LETTER = {"enum": ["x", "y", "xy"]}
PAIR = {"type": "array", "prefixItems": [BOOLEAN, {"enum": [1, 2]}], "items": False}
RECORD = {"type": "object", "properties": {"a": LETTER, "b": {"enum": [1, 2]}}, "additionalProperties": False}

CASES: list[tuple[Json, Json]] = [
    # What items can be, and what is asked of the array.
    ([[], [True], [False], [True, 1], [True, 2], [False, 1], [False, 2]], {"items": PAIR, "maxItems": 3}),
    ([[True, 1], [True, 2], [False, 1], [False, 2]], {"items": {**PAIR, "minItems": 2}, "minItems": 3, "maxItems": 4}),
    ([{}, *({"a": a} for a in LETTER["enum"]), {"b": 1}, {"b": 2}, {"a": "x", "b": 1}, {"a": "x", "b": 2},
      {"b": 2, "a": "y"}, {"b": 1, "a": "y"}, {"b": 1, "a": "xy"}, {"b": 2, "a": "xy"}],
     {"items": RECORD, "maxItems": 2}),
    ([{"a": "x"}, {"a": "y"}, {"a": "xy"}],
     {"items": {**RECORD, "required": ["a"], "maxProperties": 1}, "minItems": 2, "maxItems": 3}),
    ([{"a": 1}, {"b": 1}, {"ab": 1}],
     {"items": {"type": "object", "propertyNames": {"enum": ["a", "b", "ab"]}, "minProperties": 1, "maxProperties": 1,
                "additionalProperties": {"const": 1}}, "minItems": 3, "maxItems": 3}),
    ([{"a": [[True], []]}, {"a": [[False], []]}, {"a": [[], []]}],
     {"items": {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [
         {"type": "array", "items": BOOLEAN, "maxItems": 1}, {"const": []}], "items": False, "minItems": 2}},
         "required": ["a"], "additionalProperties": False}, "maxItems": 3}),
    # Different within each other.
    ([[], [True], [False], [True, False], [False, True]],
     {"items": {"type": "array", "items": BOOLEAN, "uniqueItems": True}, "minItems": 1, "maxItems": 2}),
    # What a later item needs does not come before; one that holds counts.
    ([[True], [False]],
     {"prefixItems": [{"type": "array", "items": BOOLEAN, "minItems": 1, "maxItems": 1}, {"const": [True]}],
      "items": False, "minItems": 2}),
    ([[], [True], [False], "x", {}], {"items": {"enum": [[], [True], [False], "x", {}]}, "contains": {"type": "array"},
                                      "minContains": 2, "maxContains": 2, "maxItems": 3}),
    ([[True], [False], 1, 2], {"items": {"anyOf": [{"enum": [1, 2]}, {**PAIR, "minItems": 1, "maxItems": 1}]},
                               "contains": {"items": {"const": True}, "type": "array"}, "maxItems": 3}),
    # Only what two items can both be comes first, and what came comes last.
    ([1, 2, 3, "x", [], [1]],
     {"prefixItems": [{"enum": [1, "x", [], [1]]}, {"enum": [2, 3]}, {"enum": [1, 2, [1]]}], "items": False}),
    ([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"b": 2}, {}, 1],
     {"prefixItems": [{"anyOf": [{"const": 1},
                                 {"type": "object", "properties": {"a": {"const": 1}, "b": {"enum": [1, 2]}},
                                  "additionalProperties": False}]},
                      {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 1}}, "minProperties": 1,
                       "additionalProperties": False}], "items": False}),
    ([1, 2, 3, 4],
     {"items": {"enum": [1, 2, 3, 4]}, "contains": {"enum": [1, 2]}, "minContains": 2, "maxContains": 2,
      "maxItems": 3}),
    ([1, 2, 3, 4], {"items": {"enum": [1, 2, 3, 4]}, "not": {"items": {"maximum": 2}}, "minItems": 1, "maxItems": 4}),
    ([[True, True], [False, False], [True], []],
     {"items": {"type": "array", "items": BOOLEAN, "maxItems": 2,
                "anyOf": [{"maxItems": 1, "items": {"const": True}}, {"not": {"uniqueItems": True}}]}, "maxItems": 3}),
]  # fmt: skip

UNIQUE = {"uniqueItems": True}
EQUAL = {"oneOf": [UNIQUE, {}]}
"""Two items are equal: as `not`, which the cases may have."""


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(END + 1, [*PIECES, b""], [0] * END + [TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION])


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("compared", [UNIQUE, EQUAL], ids=["different", "equal"])
@pytest.mark.parametrize(("values", "asked"), CASES, ids=range(len(CASES)))
def test_masks_lead_to_all_documents_and_no_other(
    vocabulary: Vocabulary, values: Json, asked: Json, compared: Json, order: Literal["declared", "any"]
) -> None:
    schema = {"type": "array", **asked, **compared}
    constraint = Constraint.json_schema(vocabulary, schema, space="compact", order=order)
    texts = documents(schema, values, order)
    prefixes = {text[:end] for text in texts for end in range(len(text) + 1)}
    reached = 0
    matcher = Matcher(constraint)
    rng = random.Random(1)

    def visit(prefix: bytes) -> None:
        nonlocal reached
        reached += 1
        found = matcher.allowed()
        assert found is not None
        allowed = {int(token) for token in found}
        expected = {token for token, piece in enumerate(PIECES) if prefix + piece in prefixes}
        assert allowed == expected | ({END} if prefix in texts else set()), prefix
        following = sorted(expected & set(range(256)))
        for byte in rng.sample(following, len(following)):
            if reached == VISITED_MAX:
                return
            matcher.accept(byte)
            visit(prefix + PIECES[byte])
            matcher.rollback(1)

    visit(b"")


def documents(schema: Json, values: list[Json], order: str) -> set[bytes]:
    validator = jsonschema.Draft202012Validator(schema)
    spellings = [[spell(one, "compact") for one in orders_of(value, order)] for value in values]
    found = set()
    for n in range(schema.get("maxItems", len(schema.get("prefixItems", [1, 2]))) + 1):
        for chosen in itertools.product(range(len(values)), repeat=n):
            if validator.is_valid([values[i] for i in chosen]):
                for items in itertools.product(*(spellings[i] for i in chosen)):
                    found.add(f"[{','.join(items)}]".encode())
    return found


def orders_of(value: Json, order: str) -> list[Json]:
    if not isinstance(value, dict):
        return [value]
    members = [(key, one) for key in value for one in orders_of(value[key], order)]
    assert len(members) == len(value)
    sorted_members = sorted(members)
    return [dict(each) for each in (itertools.permutations(members) if order == "any" else [sorted_members])]


@pytest.mark.parametrize("order", ["declared", "any"])
def test_values_of_any_kind_are_compared(order: Literal["declared", "any"]) -> None:
    constraint = Constraint.json_schema(
        byte_vocabulary(), {"type": "array", "uniqueItems": True}, space="compact", order=order
    )
    rng = random.Random(5)
    values: list[Json] = [1, 1.5, "a", "1", "\u00e9\n", None, True, [], {}, [1], [[1]], {"a": 1}, {"a": [1]},
                          {"a": 1, "b": {}}, {"a": {"b": 1}}, ["a", 1], [1, "a"]]  # fmt: skip
    for _ in range(100):
        chosen = rng.sample(values, rng.randint(1, len(values)))
        assert accepts(constraint, spell(chosen, "compact"))
        again = rng.choice(chosen)
        turned = dict(reversed(again.items())) if isinstance(again, dict) else again
        assert not accepts(constraint, spell([*chosen, turned], "compact"))
    assert not accepts(constraint, '[{"a":1.0},{"a":1}]')


def test_all_values_of_a_range_come_once_each() -> None:
    n = 120
    items = {"type": "integer", "minimum": 1, "maximum": n}
    constraint = Constraint.json_schema(
        byte_vocabulary(), {"items": items, "type": "array", "uniqueItems": True, "minItems": n}, space="compact"
    )
    numbers = random.Random(3).sample(range(1, n + 1), n)
    assert accepts(constraint, spell(numbers, "compact"))
    last = str(numbers[-1])
    matcher = Matcher(constraint)
    for byte in f"{spell(numbers[:-1], 'compact')[:-1]},".encode():
        matcher.accept(byte)
    assert matcher.forced_bytes() == f"{last}]".encode()
