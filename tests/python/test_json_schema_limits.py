"""JSON Schemas that ask for too much: an answer, or an error that leaves everything usable."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from eliza_inference import Budget, Constraint, GrammarError, LimitError, Matcher, Step, Vocabulary

from json_schema_texts import accepts, byte_vocabulary

Json = Any

BOMB = {"allOf": [{"anyOf": [{"pattern": f"a{number}"}, {"pattern": f"b{number}"}]} for number in range(30)]}
"""Strings that satisfy it are of 2**30 kinds."""
LARGE_MULTIPLE = {"multipleOf": 1e300}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "string", **BOMB}, id="choices"),
        pytest.param({"type": "array", "minItems": 4000, "items": {"type": "integer", "minimum": 1, "maximum": 5000},
                      "uniqueItems": True}, id="values"),
        pytest.param({"type": "array", "contains": {"const": 1}, "minContains": 10**6}, id="contained items"),
    ],
)  # fmt: skip
def test_what_compiling_meets_is_an_error(vocabulary: Vocabulary, schema: Json) -> None:
    with pytest.raises(LimitError, match="alternatives"):
        Constraint.json_schema(vocabulary, schema)


@pytest.mark.parametrize(
    ("schema", "text"), [({"properties": {"a": BOMB}}, '{"a":'), ({"properties": {"a": LARGE_MULTIPLE}}, '{"a":')]
)
def test_what_a_document_leads_to_is_an_error_that_changes_nothing(
    vocabulary: Vocabulary, schema: Json, text: str
) -> None:
    matcher = Matcher(Constraint.json_schema(vocabulary, schema, space="compact"))
    for byte in text.encode():
        assert Step.REFUSED not in matcher.accept(byte)
    for ask in (matcher.allowed, matcher.forced_bytes, matcher.forced):
        with pytest.raises(LimitError, match="alternatives"):
            ask()
    matcher.rollback(len(text))
    allowed = matcher.allowed()
    assert allowed is not None
    assert ord("[") in allowed


MANY = range(300)


@pytest.mark.parametrize(
    ("all_of", "text"),
    [
        pytest.param([{"allOf": [{"$ref": "#/$defs/one"}, {"minLength": number % 9}]} for number in MANY], '"a',
                     id="the same choice again"),
        pytest.param([{"anyOf": [{"enum": [number]}, {"minItems": number % 9}]} for number in MANY], "[1",
                     id="a choice that the first byte makes"),
    ],
)  # fmt: skip
def test_what_leaves_no_choice_is_no_alternative(vocabulary: Vocabulary, all_of: list[Json], text: str) -> None:
    one = {"anyOf": [{"pattern": "^a"}, {"pattern": "b$"}, {"pattern": "^.c"}]}
    matcher = Matcher(Constraint.json_schema(vocabulary, {"$defs": {"one": one}, "allOf": all_of}))
    for byte in text.encode():
        assert matcher.allowed() is not None
        assert Step.REFUSED not in matcher.accept(byte)


@pytest.mark.parametrize("order", ["declared", "any"])
def test_large_schemas_have_an_answer(vocabulary: Vocabulary, order: Any) -> None:
    named = {f"k{number}": {"type": "null"} for number in range(30_000)}
    text = json.dumps({"type": "object", "properties": named, "additionalProperties": False})
    constraint = Constraint.json_schema(vocabulary, text, order=order, space="compact")
    assert accepts(constraint, '{"k17":null,"k29999":null}')
    assert accepts(constraint, '{"k29999":null,"k17":null}') == (order == "any")
    assert not accepts(constraint, '{"k30000":null}')
    constraint = Constraint.json_schema(vocabulary, {"enum": [f"v{number}" for number in range(200_000)]})
    assert accepts(constraint, '"v199999"')
    assert not accepts(constraint, '"v200000"')


# 40 schemas, of which each refers to the next one twice: 2**40 ways lead to the last.
SHARED: Json = {
    f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}, {"required": [f"k{number}"]}] * 2}
    for number in range(40)
} | {"d40": {"type": ["object", "integer"]}}
OF_SHARED = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": SHARED}


def test_schemas_that_many_ways_lead_to_are_looked_at_once(vocabulary: Vocabulary) -> None:
    constraint = Constraint.json_schema(vocabulary, OF_SHARED, order="any")
    members = ",".join(f'"k{number}":0' for number in range(40))
    assert accepts(constraint, f'{{"x":{{{members}}}}}')
    assert not accepts(constraint, '{"x":{"k0":0}}')
    assert accepts(constraint, '{"x":3}')


def next_of(number: int) -> Json:
    return {"$ref": f"#/$defs/d{number + 1}"}


# A schema that leads to the next one in two ways or more.
LEADING: dict[str, Callable[[int], Json]] = {
    "all": lambda n: {"allOf": [next_of(n), {"required": [f"k{n}"]}, next_of(n)]},
    "any": lambda n: {"anyOf": [next_of(n), {"required": [f"k{n}"]}, next_of(n)]},
    "any of all": lambda n: {"anyOf": [{"allOf": [next_of(n), {bound: n}]} for bound in ("minLength", "minItems")]},
    "one": lambda n: {"oneOf": [next_of(n), {"allOf": [next_of(n), {"minLength": n}]}]},
    "not": lambda n: {"not": {"allOf": [next_of(n), {"not": next_of(n)}, {"minLength": n}]}},
    "not not": lambda n: {"allOf": [{"not": {"not": next_of(n)}}, next_of(n), {"minLength": 1}]},
    "then and else": lambda n: {"if": {"minLength": n}, "then": next_of(n), "else": next_of(n)},
    "if and else": lambda n: {"if": next_of(n), "then": {"required": [f"k{n}"]}, "else": next_of(n)},
    "members": lambda n: {"type": "object", "properties": {"a": next_of(n), "b": next_of(n)}, "required": ["a", "b"]},
    "the same member": lambda n: {"allOf": [{"properties": {"a": next_of(n)}, "required": ["a"]}] * 2},
    "a member of either": lambda n: {
        "anyOf": [{"properties": {name: next_of(n)}, "required": [name]} for name in "ab"]
    },
    "a member of one": lambda n: {"oneOf": [{"properties": {name: next_of(n)}, "required": [name]} for name in "ab"]},
    "items": lambda n: {"type": "array", "items": next_of(n), "prefixItems": [next_of(n)] * 2, "minItems": 3},
    "contained items": lambda n: {"type": "array", "contains": next_of(n), "items": next_of(n)},
    "names": lambda n: {"additionalProperties": next_of(n), "patternProperties": {"^a": next_of(n), "b$": next_of(n)}},
    "unevaluated": lambda n: {
        "anyOf": [next_of(n), {"properties": {"p": next_of(n)}}],
        "unevaluatedProperties": next_of(n),
    },
    "dependent": lambda n: {"dependentSchemas": {"a": next_of(n), "b": next_of(n)}},
}
LEAVES = [{"type": "object"}, {"type": "string", "maxLength": 50}, {"type": "integer"}, {}, {"enum": [1, "a", None]}]


@pytest.mark.parametrize("way", LEADING)
def test_many_ways_to_a_schema_have_an_answer_or_an_error(vocabulary: Vocabulary, way: str) -> None:
    for leaf in LEAVES:
        named = {f"d{number}": LEADING[way](number) for number in range(40)} | {"d40": leaf}
        schema = {**OF_SHARED, "$defs": named, "additionalProperties": False}
        tag = {"begin": "<f>", "end": "</f>", "json_schema": schema}
        for definition in ({**tag, "style": "glm_xml"}, {**tag, "style": "cohere_xml"}, None):
            try:
                if definition is not None:
                    Constraint.tags(vocabulary, {"tags": [definition]})
                    continue
                matcher = Matcher(Constraint.json_schema(vocabulary, schema))
                for byte in b'{"x":{"a":':
                    assert Step.REFUSED in matcher.accept(byte) or matcher.allowed() is not None
            except (GrammarError, LimitError) as error:
                assert str(error)


def test_alternatives_that_many_ways_lead_to_are_an_error(vocabulary: Vocabulary) -> None:
    """40 ways from each of seven to the next: looking for what holds already in all of them checks the budget."""
    many = {
        f"d{number}": {"anyOf": [{"allOf": [next_of(number), {"minLength": 100 * number + n}]} for n in range(40)]}
        for number in range(7)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": many | {"d7": {"minLength": 2}}}
    with pytest.raises(LimitError, match=r"alternatives|ms_max"):
        Constraint.json_schema(vocabulary, schema, budget=Budget(ms_max=1000))


@pytest.mark.parametrize("style", ["glm_xml", "cohere_xml"])
def test_schemas_of_parameters_that_many_ways_lead_to_are_looked_at_once(vocabulary: Vocabulary, style: str) -> None:
    tag = {"begin": "<f>", "end": "</f>", "style": style, "json_schema": OF_SHARED}
    constraint = Constraint.tags(vocabulary, {"tags": [tag]})
    value = "<arg_key>x</arg_key><arg_value>3</arg_value>"
    value = value if style == "glm_xml" else '<cofl:value name="x" type="json">3</cofl:value>'
    matcher = Matcher(constraint)
    for byte in f"<f>{value}</f>".encode():
        assert Step.IN_SPAN in matcher.accept(byte)
    assert matcher.can_stop


def test_scopes_of_dynamic_references_that_are_very_many_are_an_error(vocabulary: Vocabulary) -> None:
    """12 resources, which lead to each other in any order: one scope for each."""
    names = range(12)
    leads = {f"p{number}": {"$ref": f"x:{number}"} for number in names}
    asks = {f"q{number}": {"$dynamicRef": f"x:{number}#n{number}"} for number in names}
    resources = {
        f"d{number}": {"$id": f"x:{number}", "$dynamicAnchor": f"n{number}", "properties": leads | asks}
        for number in names
    }
    with pytest.raises(LimitError, match="the schema needs more than 16000000 bytes"):
        Constraint.json_schema(vocabulary, {"$ref": "x:0", "$defs": resources}, budget=Budget(bytes_max=16_000_000))


def test_keys_of_each_case_of_unevaluated_members_count_as_memory(vocabulary: Vocabulary) -> None:
    definitions = {
        "many": {"properties": {f"p{number}": {} for number in range(1000)}},
        "cases": {"anyOf": [{"properties": {f"q{number}": {}}} for number in range(6)]},
    }
    both = [{"$ref": "#/$defs/many"}, {"$ref": "#/$defs/cases"}]
    closed = {f"k{number}": {"allOf": both, "unevaluatedProperties": {"maxLength": number}} for number in range(100)}
    schema = {"properties": closed, "$defs": definitions}
    with pytest.raises(LimitError, match="the schema needs more than 20000000 bytes"):
        Constraint.json_schema(vocabulary, schema, budget=Budget(bytes_max=20_000_000))


def test_what_each_parameter_has_of_the_whole_schema_counts_as_memory(vocabulary: Vocabulary) -> None:
    definitions = {f"d{number}": {"maxLength": number, "description": "x" * 100} for number in range(1000)}
    properties = {f"k{number}": {"enum": [number]} for number in range(100)}
    schema = {"type": "object", "properties": properties, "$defs": definitions, "additionalProperties": False}
    tag = {"begin": "<f>", "end": "</f>", "style": "qwen_xml", "json_schema": schema}
    with pytest.raises(LimitError, match="the list of parameters needs more than 8000000 bytes"):
        Constraint.tags(vocabulary, {"tags": [tag]}, budget=Budget(bytes_max=8_000_000))
    Constraint.tags(vocabulary, {"tags": [tag]})


@pytest.mark.parametrize(
    "schema",
    [
        {"minProperties": 10**9},
        {"type": "array", "minItems": 10**9},
        {"type": "string", "minLength": 10**9},
        {"properties": {"k" * 40_000: {}}},
    ],
)
def test_what_no_document_reaches_can_be_begun(vocabulary: Vocabulary, schema: Json) -> None:
    matcher = Matcher(Constraint.json_schema(vocabulary, schema, space="compact"))
    start = {"array": "[1,", "string": '"a'}.get(schema.get("type"), '{"k')
    for byte in start.encode():
        assert Step.REFUSED not in matcher.accept(byte)
        assert matcher.allowed() is not None
    assert not matcher.can_stop


def test_where_a_late_item_can_be_of_endlessly_many_values_no_other_array_is_looked_for(vocabulary: Vocabulary) -> None:
    """An item that is looked at is within the one before: so many would be past the limit."""
    n = 300
    items = [*[{"const": 1}] * n, {"type": "string"}]
    item = {"type": "array", "prefixItems": items, "minItems": n + 1, "maxItems": n + 1}
    schema = {"type": "array", "items": item, "uniqueItems": True}
    beginning = "[" + "1," * n + '"'
    with Matcher(Constraint.json_schema(vocabulary, schema, space="compact")) as matcher:
        for byte in f'[{beginning}a"],{beginning}a'.encode():
            assert Step.REFUSED not in matcher.accept(byte)
        allowed = matcher.allowed()
        assert allowed is not None
        assert ord('"') not in allowed
        assert ord("a") in allowed


@pytest.mark.parametrize("keyword", ["if", "not", "then"])
def test_a_schema_that_refers_to_itself_at_once_is_an_error(vocabulary: Vocabulary, keyword: str) -> None:
    schema = {keyword: {"$ref": "#"}, **({"if": {"type": "null"}} if keyword == "then" else {})}
    with pytest.raises(GrammarError, match="refers to itself"):
        Constraint.json_schema(vocabulary, schema)


def test_what_texts_leave_is_dropped_when_none_goes_on(vocabulary: Vocabulary) -> None:
    """A constraint that lives long does not grow with each new text; one that continues is not disturbed."""
    schema = {"type": "object", "additionalProperties": {"type": "array", "items": {}, "uniqueItems": True}}
    few = Budget(mask_bytes_max=50_000)
    constraint = Constraint.json_schema(vocabulary, schema, space="compact", budget=few)
    tags = Constraint.tags(vocabulary, {"tags": [{"begin": "<", "json_schema": schema, "end": ">"}]}, budget=few)

    def walk(matcher: Matcher, text: str) -> list[int]:
        found: list[int] = []
        for byte in text.encode():
            assert Step.REFUSED not in matcher.accept(byte)
            allowed = matcher.allowed()
            assert allowed is not None
            found = list(allowed)
        return found

    def use(number: int) -> tuple[int, int]:
        text = ",".join(f'"key {number} {n}":[{number + 10},{n},"{n * number}"]' for n in range(8))
        with Matcher(constraint) as matcher, Matcher(tags) as in_tags:
            walk(matcher, f"{{{text}}}")
            walk(in_tags, f"<{{{text}}}>")
        return constraint.recognizer_info.automaton_bytes, tags.recognizer_info.automaton_bytes

    kept = 1 << 19  # half of what a schema may keep at least; twice as much is a LimitError
    sizes = [use(number) for number in range(80)]
    for one in zip(*sizes, strict=True):
        assert any(later < before - kept / 2 for before, later in pairwise(one))

    with Matcher(constraint) as going_on, Matcher(constraint) as fresh:
        expected = walk(going_on, '{"a":[1,2],"b":[3,')
        number = 80
        while use(number)[0] < kept:
            number += 1
        assert use(number + 1)[0] > kept, "nothing is dropped while a text continues"
        walk(fresh, '{"a":[1,2],"b":[3,')
        assert walk(going_on, "4],") == walk(fresh, "4],")
        going_on.rollback(3)
        assert list(going_on.allowed()) == expected  # type: ignore[arg-type]
    assert use(number + 2)[0] < kept / 2


def test_threads_share_a_constraint(vocabulary: Vocabulary) -> None:
    schema = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "required": ["v"], "additionalProperties": False,
              "properties": {"v": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
                             "k": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}}}  # fmt: skip
    constraint = Constraint.json_schema(vocabulary, schema, space="compact", order="any")
    texts = [f'{{"k":[{{"v":[{n},1]}},{{"k":[],"v":[]}}],"v":[3,{n}]}}' for n in range(10, 40)]
    masks: list[list[list[int]]] = [[] for _ in range(4)]

    def run(own: list[list[int]]) -> None:
        for text in texts:
            matcher = Matcher(constraint)
            for byte in text.encode():
                allowed = matcher.allowed()
                assert allowed is not None
                own.append(list(allowed))
                matcher.accept(byte)
            assert matcher.can_stop

    threads = [threading.Thread(target=run, args=(own,)) for own in masks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected: list[list[int]] = []
    run(expected)
    assert all(own == expected for own in masks)


def test_documents_that_lead_to_others_without_end_are_an_error(vocabulary: Vocabulary) -> None:
    def document(uri: str) -> str:
        return json.dumps({"items": {"$ref": f"d:{int(uri.removeprefix('d:')) + 1}"}})

    with pytest.raises(LimitError, match="1024 other documents"):
        Constraint.json_schema(vocabulary, {"$ref": "d:0"}, documents=document)
    last = 1023
    schemas = {f"d:{number}": {"items": {"$ref": f"d:{number + 1}"}} for number in range(last)} | {f"d:{last}": {}}
    assert accepts(Constraint.json_schema(vocabulary, {"$ref": "d:0"}, documents=schemas), "[[1]]")


@pytest.mark.parametrize(
    ("schema", "item"),
    [
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, "[{}"),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, '["s{}"'),
        ({"type": "array", "uniqueItems": True}, '[["x",{}]'),
        ({"type": "object"}, '{{"k{}":1'),
    ],
)
def test_memory_grows_with_a_text_and_not_with_its_square(vocabulary: Vocabulary, schema: Json, item: str) -> None:
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    matcher = Matcher(constraint)
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(1, 3001):
        text = item.format(number)
        for byte in (text if number == 1 else "," + text[1:]).encode():
            assert Step.REFUSED not in matcher.accept(byte)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # KB
    again = (text if schema["type"] == "object" else text[1:]).encode()
    end = b"]" if schema["type"] == "array" else b""
    assert any(Step.REFUSED in matcher.accept(byte) for byte in b"," + again.removeprefix(b"{") + end)
