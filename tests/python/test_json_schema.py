"""JSON Schemas: documents are accepted exactly when an independent validator says that they are valid."""

from __future__ import annotations

import datetime
import itertools
import json
import random
import re
import types
import uuid
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import jsonschema_specifications
import pydantic
import pytest
from eliza_inference import (
    Constraint,
    ConstraintKind,
    GrammarError,
    InvalidArgumentError,
    LimitError,
    Matcher,
    Step,
    TokenFlag,
    Vocabulary,
)

from json_schema_texts import END, PIECES, accepts, byte_vocabulary, load, orders

Json = Any
SCHEMAS: list[Json] = [
    True,
    {},
    {"type": "object"},
    {"type": ["string", "null"]},
    {"type": "integer"},
    {"type": "number", "minimum": -3, "exclusiveMaximum": 12},
    {"type": "number", "multipleOf": 0.25, "maximum": 4},
    {"type": "integer", "not": {"multipleOf": 3}},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"enum": ["red", "green", 1, None, True, [1, "x"], {"a": 1}]},
    {"const": {"a": [1, {"b": None}]}},
    {"not": {"type": "string"}},
    {"not": {"enum": ["a", 1]}},
    {"type": "string", "not": {"const": "ab"}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
    {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 2},
    {"type": "array", "contains": {"type": "string"}},
    {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 2, "maxItems": 4},
    {"type": "array", "not": {"items": {"type": "integer"}}},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "array", "items": {"type": ["number", "null", "boolean"]}, "uniqueItems": True},
    {"type": "array", "items": {"enum": ["a", "b", 1, None]}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 3}, "uniqueItems": True, "minItems": 3},
    {"type": "array", "prefixItems": [{"type": "string"}, {"const": "a"}], "items": {"type": "integer"},
     "uniqueItems": True, "minItems": 2},
    {"type": "array", "prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}, {"const": 3}], "items": False,
     "uniqueItems": True, "minItems": 3},
    {"type": "array", "items": {"enum": [1, 2, "a", "b"]}, "contains": {"type": "string"}, "minContains": 2,
     "maxItems": 3, "uniqueItems": True},
    {"anyOf": [{"type": "array", "items": {"type": "string"}, "uniqueItems": True},
               {"type": "array", "items": {"type": ["string", "integer"]}, "maxItems": 2}]},
    {"type": "array", "not": {"contains": {"type": "null"}}, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": True}, "additionalProperties": {"type": "null"}},
    {"type": "object", "properties": {"a": True, "b": True}, "required": ["b", "c"], "maxProperties": 2},
    {"type": "object", "minProperties": 2, "maxProperties": 3},
    {"type": "object", "properties": {"a": True, "b": True}, "additionalProperties": False, "minProperties": 2},
    {"type": "object", "not": {"required": ["a"]}},
    {"type": "object", "not": {"properties": {"a": {"type": "integer"}}}},
    {"type": "object", "properties": {"a": True}, "not": {"additionalProperties": {"type": "integer"}}},
    {"type": "object", "propertyNames": {"maxLength": 2}},
    {"type": "object", "propertyNames": {"enum": ["a", "b", 3]}, "minProperties": 2},
    {"type": "object", "patternProperties": {"^[ab]$": True}, "additionalProperties": False, "minProperties": 2},
    {"dependentSchemas": {"a": {"const": 6}}},
    {"dependentSchemas": {"a": {"items": True}}, "unevaluatedItems": {"type": "integer"}, "type": ["array", "null"]},
    {"not": {"patternProperties": {"^a$": {"type": "integer"}}}, "type": "object", "maxProperties": 1},
    {"type": "object", "not": {"propertyNames": {"maxLength": 2}}},
    {"type": "object", "maxProperties": 1, "not": {"patternProperties": {"^[ab]$": {"type": "integer"}}}},
    {"type": "object", "propertyNames": {"enum": ["a", "b", "zzz"]}},
    {"type": "object", "propertyNames": {"enum": ["a", "c", 1], "not": {"const": "c"}},
     "properties": {"a": {"type": "integer"}}},
    {"type": "object", "dependentRequired": {"a": ["b"]}, "properties": {"a": True, "b": True}},
    {"type": "object", "dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}},
     "properties": {"a": {}, "b": {}}},
    {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "maxLength": 1}]},
    {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "properties": {"a": {}, "b": {}}},
    {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}}}], "type": "object"},
    {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"required": ["c"]},
     "type": "object", "properties": {"a": {}, "b": {}, "c": {}}},
    {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {
        "v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "required": ["v"], "additionalProperties": False}}},
    {"anyOf": [
        {"type": "object", "properties": {"t": {"const": "x"}, "n": {"type": "integer"}}, "required": ["t", "n"]},
        {"type": "object", "properties": {"t": {"const": "y"}, "s": {"type": "string"}}, "required": ["t", "s"]}]},
]  # fmt: skip

TAGS = ("a", "ab", "abc", "red", *(f"t{number}" for number in range(20)))
"""Of branches that exclude each other."""
SCHEMAS += [
    {"oneOf": [{"type": "object", "required": ["a"], "properties": {"a": {"enum": [tag]}, "b": {"maxLength": at}}}
               for at, tag in enumerate(TAGS)]},
    {"type": "object", "properties": {"a": {"enum": [*TAGS, 1]}},
     "allOf": [{"if": {"properties": {"a": {"const": tag}}, "required": ["a"]}, "then": {"required": ["b"]}}
               for tag in TAGS]},
    {"type": "object", "properties": {"a": {"enum": [1, 3, "x"]}},
     "dependentSchemas": {key: {"properties": {"a": {"enum": [1, 3] if key in "bd" else ["x"]}}}
                          for key in "bcdefghijk"}},
    {"type": "object", "dependentRequired": {key: ["a", "b"] for key in "cdefghijklmn"}},
    {"oneOf": [{"properties": {"a": {"const": 1}, "b": {"type": "string"}}},
               {"properties": {"a": {"const": "x"}, "b": {"type": "integer"}}},
               {"properties": {"a": {"const": 3}}, "required": ["b"]}], "type": "object"},
]  # fmt: skip
VALUES: list[Json] = [
    None, True, False, 0, 1, -3, -4, 3, 5, 12, 1.5, 0.25, 2.75, 4.25, "", "a", "ab", "abc", "\u00e9\u00e9",
    "red", 'q"\\\n\x01',
    [], [1], ["a"], ["a", None], ["a", 1, 2], [1, 1], [1, 2, 1, 3], [1, 2, 3, 4], [None], [1, "x"], [[], {}],
    {}, {"a": 1}, {"a": "x"}, {"a": 3}, {"b": 1}, {"a": 1, "b": "x"}, {"a": 1, "b": 2, "c": 3}, {"b": 1, "c": 2},
    {"zzz": None},
    {"a": None, "zz": None}, {"a": 1, "b": 1, "c": 1, "d": 1}, {"c": 1}, {"a": [1, {"b": None}]}, {"t": "x", "n": 1},
    {"t": "y", "s": "q"}, {"t": "x", "s": "q"}, {"v": 1}, {"v": 1, "kids": [{"v": 2, "kids": []}]},
    {"v": 1, "kids": [{}]},
]  # fmt: skip


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


@pytest.mark.parametrize("schema", SCHEMAS, ids=[json.dumps(schema)[:60] for schema in SCHEMAS])
def test_documents_are_accepted_as_a_validator_says(vocabulary: Vocabulary, schema: Json) -> None:
    constraint = Constraint.json_schema(vocabulary, schema)
    validator = jsonschema.Draft202012Validator(schema)
    for value in VALUES:
        text = json.dumps(value, ensure_ascii=False)
        assert accepts(constraint, text) == validator.is_valid(value), text


@pytest.mark.parametrize("schema", SCHEMAS, ids=[json.dumps(schema)[:60] for schema in SCHEMAS])
def test_with_any_order_members_may_stand_in_each(vocabulary: Vocabulary, schema: Json) -> None:
    constraint = Constraint.json_schema(vocabulary, schema, order="any")
    validator = jsonschema.Draft202012Validator(schema)
    for value in VALUES:
        for one in itertools.islice(orders(value), 24):
            text = json.dumps(one, ensure_ascii=False)
            assert accepts(constraint, text) == validator.is_valid(value), text


def test_with_any_order_hundreds_of_keys_cost_no_more_than_their_number(vocabulary: Vocabulary) -> None:
    keys = [f"k{number}" for number in range(400)]
    rng = random.Random(3)
    named = {"properties": {key: {"type": "null"} for key in keys}, "required": keys[::2]}
    schema = {"type": "object", "maxProperties": 300, "additionalProperties": False, **named}
    constraint = Constraint.json_schema(vocabulary, schema, order="any")
    optional = rng.sample(keys[1::2], 101)
    for chosen, is_valid in ((optional[:100], True), (optional, False), (optional[:99] + optional[:1], False)):
        members = [f'"{key}":null' for key in rng.sample(keys[::2] + chosen, len(keys[::2]) + len(chosen))]
        assert accepts(constraint, "{" + ",".join(members) + "}") == is_valid


@pytest.mark.parametrize("schema", SCHEMAS, ids=[json.dumps(schema)[:60] for schema in SCHEMAS])
def test_walks_over_the_masks_end_in_valid_documents(vocabulary: Vocabulary, schema: Json) -> None:
    constraint = Constraint.json_schema(vocabulary, schema)
    validator = jsonschema.Draft202012Validator(load(json.dumps(schema)))
    rng = random.Random(7)
    for _ in range(8):
        text = walk(constraint, rng)
        assert validator.is_valid(load(text.decode())), text


def walk(constraint: Constraint, rng: random.Random) -> bytes:
    """A random text that the masks allow; they are compared with what `accept` takes on the way."""
    matcher = Matcher(constraint)
    text = b""
    for step in itertools.count():
        allowed = allowed_by(matcher)
        if step < 12:
            assert allowed == [token for token in range(END + 1) if takes(matcher, token)], text
        assert allowed, text
        if END in allowed and (rng.random() < 0.3 or len(text) > 12):  # before a number is longer than a double holds
            return text
        closing = [token for token in CLOSING if token in allowed]
        others = [token for token in allowed if token != END]
        if not others:
            return text
        token = closing[0] if closing and step > 20 and rng.random() < 0.8 else rng.choice(others)
        assert Step.REFUSED not in matcher.accept(token)
        text += PIECES[token]
    raise AssertionError


def allowed_by(matcher: Matcher) -> list[int]:
    allowed = matcher.allowed()
    return list(range(END + 1)) if allowed is None else [int(token) for token in allowed]


@pytest.mark.parametrize(
    ("schema", "before", "unit"),
    [
        ({"type": "string", "pattern": "^(?:\\S+\\s+){0,49}\\S+$"}, b'"', b"a "),
        ({"type": "string", "pattern": "^(?:\\S+\\s+){0,49}\\S+$", "maxLength": 80}, b'"', b"a "),
        (
            {"type": "object", "patternProperties": {"^.{1,60}$": {"type": "null"}}, "additionalProperties": False},
            b'{"',
            b"x",
        ),
        ({"type": "object", "patternProperties": {"ab": {"type": "null"}, "b$": {"type": "boolean"}}}, b'{"', b"ba"),
        ({"type": "object", "patternProperties": {"^(a|b){40,}$": False}}, b'{"', b"ab"),
    ],
)
def test_masks_of_patterns_with_counters_are_what_accept_takes(schema: Json, before: bytes, unit: bytes) -> None:
    words = [
        piece * n for n in (1, 2, 3, 11, 12, 13, 20, 24, 25, 26, 40) for piece in (b"a ", b"x", b"ab", b"\\n", b" ")
    ]
    pieces = [
        *PIECES,
        *words,
        *(word + b'"' for word in words),
        *(word + b'":' for word in words),
        *(word + b"\\" for word in words),
    ]
    end = len(pieces)
    vocabulary = Vocabulary(end + 1, [*pieces, b""], flags=[0] * end + [TokenFlag.END_OF_GENERATION])
    matcher = Matcher(Constraint.json_schema(vocabulary, schema, space="compact"))
    for byte in before:
        assert Step.REFUSED not in matcher.accept(byte)
    for step in range(64):
        assert allowed_by(matcher) == [token for token in range(end + 1) if takes(matcher, token)], step
        if any(Step.REFUSED in matcher.accept(byte) for byte in unit):
            break


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "^[^x]{0,30}$"},
        {"pattern": "^(?:[ac][^g]|[^acg-])*$"},
        {"pattern": "^(?:[^ac]|a[^7]|c[^\u00e9]{2})*$", "maxLength": 9},
        {"pattern": "^(?:[^a]|a(?!c))*$", "minLength": 3},
        {"pattern": "^.{2,70}$"},
        {"maxLength": 4},
    ],
)
def test_masks_of_many_tokens_are_what_accept_takes(schema: dict[str, Json]) -> None:
    characters = "acgzAG07- .x\u00e9\u03b1\u0436\u65e5\u20ac"
    words = ["".join(word).encode() for n in (2, 3) for word in itertools.product(characters, repeat=n)]
    pieces = [*(bytes([byte]) for byte in range(256)), *words]
    end = len(pieces)
    vocabulary = Vocabulary(end + 1, [*pieces, b""], flags=[0] * end + [TokenFlag.END_OF_GENERATION])
    matcher = Matcher(Constraint.json_schema(vocabulary, {"type": "string"} | schema, space="compact"))
    for step, byte in enumerate(b'"zab'):
        assert Step.REFUSED not in matcher.accept(byte)
        assert allowed_by(matcher) == [token for token in range(end + 1) if takes(matcher, token)], step


CLOSING = [ord(character) for character in '"}]:']
"""What leads to an end, most of the time."""


def takes(matcher: Matcher, token: int) -> bool:
    clone = matcher.clone()
    return Step.REFUSED not in clone.accept(token)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {
            "$ref": "#/$defs/x",
            "$defs": {"x": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/x"}}}},
        },
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 20, "items": False}}},
    ],
)
def test_a_schema_that_nothing_satisfies_is_an_error(vocabulary: Vocabulary, schema: Json) -> None:
    with pytest.raises(GrammarError):
        Constraint.json_schema(vocabulary, schema)


class Point(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    x: Literal[1]
    name: Literal["p"]


@pytest.mark.parametrize(
    ("schema", "document", "parsed"),
    [
        (Point, b'{"x":1,"name":"p"}', Point(x=1, name="p")),
        (pydantic.TypeAdapter(tuple[Point]), b'[{"x":1,"name":"p"}]', (Point(x=1, name="p"),)),
        (pydantic.TypeAdapter(Literal["\u00e9"]), '"\u00e9"'.encode(), "\u00e9"),
        (types.MappingProxyType({"const": "\u00e9"}), '"\u00e9"'.encode(), "\u00e9"),
        ('{"const": {}}', b"{}", {}),
    ],
)
def test_what_a_schema_is_given_as_reads_its_documents(
    vocabulary: Vocabulary, schema: Json, document: bytes, parsed: Json
) -> None:
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    assert constraint.kind == ConstraintKind.JSON_SCHEMA
    assert Matcher(constraint).forced_bytes() == document
    assert constraint.parse(document) == parsed
    assert constraint.parse(document.decode()) == parsed


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = pydantic.Field(ge=1, le=9)


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    names: dict[str, int] = {}
    born: datetime.date | None = None


class Home(pydantic.BaseModel):
    pet: Cat | Dog = pydantic.Field(discriminator="kind")
    number: tuple[int, Annotated[str, pydantic.Field(pattern="^[a-z]?$")]]
    built: datetime.datetime
    key: uuid.UUID
    share: float = pydantic.Field(gt=0, lt=1)
    beside: list[Home] = []


ADAPTED: list[Json] = [list[Cat], Cat | Dog | None, dict[str, Home], tuple[Dog, ...]]


@pytest.mark.parametrize("schema", [Home, *map(pydantic.TypeAdapter, ADAPTED)], ids=str)
def test_pydantic_reads_what_its_schemas_allow(vocabulary: Vocabulary, schema: Json) -> None:
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    assert constraint.warnings == ()
    rng = random.Random(11)
    for _ in range(6):
        constraint.parse(walk(constraint, rng))  # or it raises


def test_parse_is_of_json_schemas(vocabulary: Vocabulary) -> None:
    with pytest.raises(InvalidArgumentError, match="REGEX"):
        Constraint.regex(vocabulary, "a").parse("a")


def test_wrong_arguments_are_clear_errors(vocabulary: Vocabulary) -> None:
    wrong: list[tuple[Json, type[Exception], str]] = [
        (None, TypeError, "schema: expected a dict, .*, got None"),
        ([], TypeError, "schema: expected a dict, .*, got list"),
        (1, TypeError, "schema: expected a dict, .*, got int"),
        ({"minimum": float("nan")}, InvalidArgumentError, "schema: JSON cannot express it: Out of range"),
        ({"maximum": float("inf")}, InvalidArgumentError, "schema: JSON cannot express it: Out of range"),
        ({"enum": {1, 2}}, InvalidArgumentError, "schema: JSON cannot express it: .*set"),
        ({"const": "\ud800"}, InvalidArgumentError, "schema: not valid Unicode"),
    ]
    for schema, error, message in wrong:
        with pytest.raises(error, match=message):
            Constraint.json_schema(vocabulary, schema)
    endless: Json = {}
    endless["not"] = endless
    with pytest.raises(InvalidArgumentError, match="schema: JSON cannot express it"):
        Constraint.json_schema(vocabulary, endless)
    with pytest.raises(InvalidArgumentError, match="space: 'wide' is none of loose, compact, spaced, any"):
        Constraint.json_schema(vocabulary, True, space="wide")  # type: ignore[arg-type]


@pytest.mark.parametrize("within", ["member", "item", "contained"])
def test_schemas_deep_within_each_other(vocabulary: Vocabulary, within: str) -> None:
    n = 2_000
    schemas = {}
    for at in range(n):
        inner = {"$ref": f"#/$defs/{at + 1}"}
        schemas[str(at)] = {
            "member": {"type": "object", "properties": {"x": inner}, "required": ["x"], "additionalProperties": False},
            "item": {"type": "array", "items": inner, "minItems": 1, "maxItems": 1},
            "contained": {"type": "array", "contains": inner, "maxItems": 1},
        }[within]
    schema = {"$ref": "#/$defs/0", "$defs": schemas | {str(n): {"const": 1}}}
    matcher = Matcher(Constraint.json_schema(vocabulary, schema, space="compact"))
    opening = b'{"x":' if within == "member" else b"["
    assert matcher.forced_bytes().startswith(opening * 20)
    impossible = schema | {"$defs": schemas | {str(n): False}}
    with pytest.raises(GrammarError, match="no document is valid"):
        Constraint.json_schema(vocabulary, impossible)


def test_an_exception_is_found_among_many_keys(vocabulary: Vocabulary) -> None:
    keys: Json = {f"k{at}": {"type": "null"} for at in range(12_000)}
    schema = {"type": "object", "properties": keys | {"k3": {"enum": [None, 1]}}, "additionalProperties": False}
    schema["not"] = {"properties": {"k3": {"type": "null"}}}
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    assert accepts(constraint, '{"k0":null,"k3":1,"k11999":null}')
    assert not accepts(constraint, "{}")
    schema["properties"] = keys
    with pytest.raises(GrammarError, match="no document is valid"):
        Constraint.json_schema(vocabulary, schema)


def test_alternatives_deep_within_each_other_are_a_limit(vocabulary: Vocabulary) -> None:
    schemas: Json = {str(at): {"anyOf": [{"$ref": f"#/$defs/{at + 1}"}, {"const": at}]} for at in range(20_000)}
    with pytest.raises(LimitError, match="more alternatives than are followed at once"):
        Constraint.json_schema(vocabulary, {"$ref": "#/$defs/0", "$defs": schemas | {"20000": {"type": "null"}}})


def test_a_tagged_union_may_have_a_thousand_branches(vocabulary: Vocabulary) -> None:
    def branch(number: int) -> Json:
        of = {"kind": {"const": f"k{number}"}, f"of{number}": {"type": "integer"}}
        return {"properties": of, "required": list(of), "additionalProperties": False}

    schema: Json = {"type": "object", "oneOf": [branch(number) for number in range(1000)]}
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    assert accepts(constraint, '{"kind":"k999","of999":1}')
    assert not accepts(constraint, '{"kind":"k999","of998":1}')
    assert not accepts(constraint, '{"kind":"k1000"}')


def test_what_is_saved_needs_no_documents_to_be_opened(vocabulary: Vocabulary, tmp_path: Path) -> None:
    documents: Json = {
        "http://h/a": {"$ref": "b#/$defs/x"},
        "http://h/b": {"$defs": {"x": {"const": [1]}}},
        "http://h/c": 1,
    }
    schema = {"$ref": "http://h/a", "format": "colour"}
    Constraint.json_schema(vocabulary, schema, space="spaced", documents=documents).save(tmp_path / "saved")
    opened = Constraint.open(vocabulary, tmp_path / "saved")
    assert opened.kind == ConstraintKind.JSON_SCHEMA
    assert opened.warnings == ('the format "colour" is not known: it is not enforced',)
    assert Matcher(opened).forced_bytes() == b"[1]"
    assert opened.parse("[1]") == [1]


def test_documents_are_given_in_every_form(vocabulary: Vocabulary) -> None:
    schema = {"$id": "http://h/x", "$ref": "a", "not": {"$ref": "b"}}
    given: list[Json] = [
        {"http://h/a": '{"enum": [1, 2]}', "http://h/b": {"const": 1}},
        {"http://h/a": types.MappingProxyType({"enum": [2, 1]}), "http://h/b": {"const": 1}, "unused": None},
        {"http://h/a": {"enum": [2, [1]]}, "http://h/b": pydantic.TypeAdapter(tuple[Literal[1]])},
        lambda uri: {"const": 2} if uri == "http://h/a" else False,
    ]
    for documents in given:
        constraint = Constraint.json_schema(vocabulary, schema, space="compact", documents=documents)
        assert Matcher(constraint).forced_bytes() == b"2"


def test_a_function_is_asked_for_each_document_once_and_may_compile(vocabulary: Vocabulary) -> None:
    asked: list[str] = []

    def documents(uri: str) -> Json:
        asked.append(uri)
        if uri == "http://h/inner":
            return {"const": "inner"}
        inner = Constraint.json_schema(vocabulary, {"$ref": "http://h/inner"}, documents=documents)
        return {"const": Matcher(inner).forced_bytes().decode()}

    schema = {
        "type": "array",
        "prefixItems": [{"$ref": "http://h/%C3%A9"}, {"$ref": "http://h/%C3%A9#"}],
        "minItems": 2,
    }
    constraint = Constraint.json_schema(vocabulary, schema | {"items": False}, documents=documents, space="compact")
    assert asked == ["http://h/%C3%A9", "http://h/inner"]
    assert Matcher(constraint).forced_bytes() == json.dumps([json.dumps("inner")] * 2, separators=(",", ":")).encode()


def test_what_a_function_raises_comes_through(vocabulary: Vocabulary) -> None:
    def documents(uri: str) -> Json:
        raise KeyError(uri)

    def interrupted(_uri: str) -> Json:
        raise KeyboardInterrupt

    schema = {"$ref": "http://h/a"}
    with pytest.raises(KeyError, match="http://h/a"):
        Constraint.json_schema(vocabulary, schema, documents=documents)
    with pytest.raises(KeyboardInterrupt):
        Constraint.json_schema(vocabulary, schema, documents=interrupted)
    wrong: list[tuple[Json, type[Exception], str]] = [
        ({}, GrammarError, 'at #/\\$ref: there is no "http://h/a"'),
        (3, TypeError, "documents: expected a dict or a function of a URI, got int"),
        ({"http://h/a": 3}, TypeError, r"documents\['http://h/a'\]: expected a dict, .*, got int"),
        ({"http://h/a": "\ud800"}, InvalidArgumentError, r"documents\['http://h/a'\]: not valid Unicode"),
        ({"http://h/a": ""}, GrammarError, 'in "http://h/a": the schema is not JSON'),
        (lambda _uri: b"{}", TypeError, r"documents\[.*\]: expected a dict, .*, got bytes"),
    ]
    for given, error, message in wrong:
        with pytest.raises(error, match=message):
            Constraint.json_schema(vocabulary, schema, documents=given)


META_SCHEMAS = {
    uri: jsonschema_specifications.REGISTRY[uri].contents
    for uri in jsonschema_specifications.REGISTRY
    if "draft-03" not in uri
}


@pytest.mark.parametrize("uri", sorted(META_SCHEMAS))
def test_the_meta_schemas_are_those_of_the_drafts(vocabulary: Vocabulary, uri: str) -> None:
    """The published ones, under another host, allow the same."""
    documents = {renamed(each): renamed_ids(contents) for each, contents in META_SCHEMAS.items()}
    draft = {"$schema": META_SCHEMAS[uri]["$schema"]}
    published = Constraint.json_schema(vocabulary, draft | {"$ref": renamed(uri)}, documents=documents, lenient=True)
    built_in = Constraint.json_schema(vocabulary, draft | {"$ref": uri}, documents=documents, lenient=True)
    rng = random.Random(uri)
    for _ in range(3):
        text = ""
        matchers = [Matcher(published), Matcher(built_in)]
        for _ in range(120):
            allowed, same = map(allowed_by, matchers)
            assert allowed == same, text
            keys = [token for token in allowed if token != END and chr(token % 256).isalpha()]
            token = rng.choice(keys if keys and rng.random() < 0.9 else allowed)
            if token == END:
                break
            text += repr(PIECES[token])
            for matcher in matchers:
                assert Step.REFUSED not in matcher.accept(token)


def renamed(uri: str) -> str:
    return uri.replace("//json-schema.org", "//example.org")


def renamed_ids(contents: Json) -> Json:
    return contents | {key: renamed(contents[key]) for key in ("$id", "id") if key in contents}


SCHEMAS_MD = (Path(__file__).resolve().parents[2] / "docs/reference/json-schema.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```\n\n```text\n(.*?)^```", SCHEMAS_MD, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("schema", "documents"), EXAMPLES)
def test_the_examples_of_the_document(vocabulary: Vocabulary, schema: str, documents: str) -> None:
    """Each line is a document, and whether it is legal."""
    constraint = Constraint.json_schema(vocabulary, schema)
    for line in documents.splitlines():
        verdict, document = line.split(maxsplit=1)
        assert accepts(constraint, document) == {"yes": True, "no": False}[verdict], line


def test_the_document_has_examples_and_names_every_keyword() -> None:
    assert len(EXAMPLES) >= 4
    source = (Path(__file__).resolve().parents[2] / "native/src/shell/compile/schema/keywords.zig").read_text("utf-8")
    body = source[source.index("pub const Keyword = enum {") : source.index("pub fn of(name")]
    for keyword in re.findall(r'^    (?:@")?([$\w]+)"?,$', body, re.MULTILINE):
        assert f"`{keyword}`" in SCHEMAS_MD, keyword
