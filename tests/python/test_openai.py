"""`response_format` and `tools` of OpenAI's API, as constraints."""

from __future__ import annotations

import json
from typing import Any, Literal

import pydantic
import pytest
from eliza_inference import Constraint, ElizaError, InvalidArgumentError, Matcher, ToolForm, Vocabulary

from json_schema_texts import accepts, byte_vocabulary

Json = Any

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather at a place",
        "parameters": {
            "type": "object",
            "properties": {"place": {"$ref": "#/$defs/place"}, "unit": {"enum": ["C", "F"]}},
            "required": ["place"],
            "additionalProperties": False,
            "$defs": {"place": {"type": "string", "minLength": 1}},
        },
        "strict": True,
    },
}
# As in the Responses API; its definitions have the same names as those of the other one.
TIMER = {
    "type": "function",
    "name": "set/timer",
    "parameters": {
        "type": "object",
        "properties": {"minutes": {"$ref": "#/$defs/place"}},
        "required": ["minutes"],
        "additionalProperties": False,
        "$defs": {"place": {"type": "integer"}},
    },
}
STOP = {"type": "function", "function": {"name": "stop"}}
TOOLS = [WEATHER, TIMER, STOP]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


class Answer(pydantic.BaseModel):
    kind: Literal["answer"]


def forced(constraint: Constraint | None) -> str:
    assert constraint is not None
    return Matcher(constraint).forced_bytes().decode()


@pytest.mark.parametrize(
    "response_format",
    [
        {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": {"const": {"kind": "answer"}}}},
        {"type": "json_schema", "name": "x", "schema": {"const": {"kind": "answer"}}},
        {"type": "json_schema", "json_schema": {"schema": '{"const": {"kind": "answer"}}'}},
    ],
)
def test_a_response_format_with_a_schema(vocabulary: Vocabulary, response_format: Json) -> None:
    constraint = Constraint.response_format(vocabulary, response_format, space="compact")
    assert forced(constraint) == '{"kind":"answer"}'


def test_a_response_format_may_be_a_model(vocabulary: Vocabulary) -> None:
    constraint = Constraint.response_format(vocabulary, Answer)
    assert forced(constraint) == '{"kind":"answer"}'
    assert forced(Constraint.response_format(vocabulary, Answer, additional="allow")) == '{"kind":"answer"'
    assert constraint is not None
    assert constraint.parse('{"kind": "answer"}') == Answer(kind="answer")


def test_response_formats_without_a_schema(vocabulary: Vocabulary) -> None:
    assert Constraint.response_format(vocabulary, {"type": "text"}) is None
    assert Constraint.response_format(vocabulary, None) is None
    constraint = Constraint.response_format(vocabulary, {"type": "json_object"})
    assert constraint is not None
    assert accepts(constraint, '{"a":[1,{}]}')
    assert not accepts(constraint, "[]")


SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}


class Measured(pydantic.BaseModel):
    n: float


@pytest.mark.parametrize(
    ("make", "is_compact"),
    [
        (lambda v, **o: Constraint.json_schema(v, Measured, **o), True),
        (lambda v, **o: Constraint.json_schema(v, pydantic.TypeAdapter(Measured), **o), True),
        (lambda v, **o: Constraint.response_format(v, {"type": "json_schema", "schema": SCHEMA}, **o), True),
        (lambda v, **o: Constraint.tool_arguments(v, TOOL, **o), False),
    ],
)
def test_what_a_model_writes_has_the_defaults_of_generation(
    vocabulary: Vocabulary, make: Any, is_compact: bool
) -> None:
    usual, whole = make(vocabulary), make(vocabulary, space="loose", numbers="any", additional="allow")
    assert accepts(usual, '{"n":0.5}')
    assert accepts(usual, '{"n": 0.5}') != is_compact
    long = '{"n":0.' + "5" * 30 + "}"
    assert not accepts(usual, '{"n":1,"m":2}')
    assert not accepts(usual, long)
    for text in ('{"n": 0.5}', '{"n":1,"m":2}', long):
        assert accepts(whole, text)
        assert accepts(Constraint.json_schema(vocabulary, SCHEMA), text)


def call(name: str, arguments: Json) -> Json:
    return {"name": name, "arguments": arguments}


CALLS = [
    (call("get_weather", {"place": "Oslo"}), True),
    (call("get_weather", {"place": "Oslo", "unit": "F"}), True),
    (call("get_weather", {"place": ""}), False),
    (call("get_weather", {"place": 3}), False),
    (call("get_weather", {}), False),
    (call("set/timer", {"minutes": 10}), True),
    (call("set/timer", {"minutes": "10"}), False),
    (call("stop", {}), True),
    (call("stop", {"now": True}), False),
    (call("go", {}), False),
    ({"name": "stop"}, False),
    ({"arguments": {}, "name": "stop"}, False),
]


@pytest.mark.parametrize(("document", "is_legal"), CALLS)
def test_calls(vocabulary: Vocabulary, document: Json, is_legal: bool) -> None:
    constraint = Constraint.tool_call(vocabulary, TOOLS)
    assert constraint is not None
    text = json.dumps(document)
    assert accepts(constraint, text) == is_legal
    if is_legal:
        assert constraint.parse(text) == document
    as_list = Constraint.tool_call(vocabulary, TOOLS, form="mistral")
    assert as_list is not None
    assert accepts(as_list, json.dumps([document])) == is_legal
    assert accepts(as_list, json.dumps([document, call("stop", {})])) == is_legal
    assert not accepts(as_list, "[]")


def test_the_keys_of_a_form(vocabulary: Vocabulary) -> None:
    forms: list[tuple[str | ToolForm, str]] = [
        ("llama", '{"name":"stop","parameters":{}}'),
        (ToolForm("tool", "input"), '{"tool":"stop","input":{}}'),
    ]
    for form, expected in forms:
        assert forced(Constraint.tool_call(vocabulary, [STOP], form=form, space="compact")) == expected


@pytest.mark.parametrize("name", ["get_weather", "set/timer", "stop"])
def test_a_function_that_is_chosen(vocabulary: Vocabulary, name: str) -> None:
    for choice in ({"type": "function", "function": {"name": name}}, {"type": "function", "name": name}):
        constraint = Constraint.tool_call(vocabulary, TOOLS, choice)
        assert constraint is not None
        for document, is_legal in CALLS:
            assert accepts(constraint, json.dumps(document)) == (is_legal and document["name"] == name)


def test_the_arguments_of_a_function(vocabulary: Vocabulary) -> None:
    for tool in TOOLS:
        constraint = Constraint.tool_arguments(vocabulary, tool)
        name = tool.get("name") or tool["function"]["name"]  # type: ignore[index]
        for document, is_legal in CALLS:
            if document["name"] == name and "arguments" in document and document != CALLS[-1][0]:
                assert accepts(constraint, json.dumps(document["arguments"])) == is_legal, document


def test_functions_may_refer_to_documents_of_the_caller(vocabulary: Vocabulary) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"$ref": "http://h/a"}}}]
    given: list[Json] = [{"http://h/a": {"const": {}}}, lambda uri: {"const": {}} if uri == "http://h/a" else None]
    for documents in given:
        constraint = Constraint.tool_call(vocabulary, tools, space="compact", documents=documents)
        assert forced(constraint) == '{"name":"f","arguments":{}}'


def test_no_call(vocabulary: Vocabulary) -> None:
    assert Constraint.tool_call(vocabulary, TOOLS, "none") is None


def any_of(value: Json) -> Json:
    """Of any type, for the type checker."""
    return value


def test_what_is_wrong_is_told_with_its_place(vocabulary: Vocabulary) -> None:
    wrong: list[tuple[Json, type[Exception], str]] = [
        (
            lambda: Constraint.response_format(vocabulary, {"type": "xml"}),
            InvalidArgumentError,
            "the type 'xml' is none",
        ),
        (
            lambda: Constraint.response_format(vocabulary, {"type": "json_schema"}),
            InvalidArgumentError,
            "has no schema",
        ),
        (lambda: Constraint.response_format(vocabulary, 3), TypeError, "schema: expected"),  # type: ignore[arg-type]
        (
            lambda: Constraint.tool_call(vocabulary, TOOLS, any_of("auto")),
            InvalidArgumentError,
            'with "auto" the text may be no',
        ),
        (
            lambda: Constraint.tool_call(vocabulary, TOOLS, any_of("always")),
            InvalidArgumentError,
            "is none of auto, none, required",
        ),
        (lambda: Constraint.tool_call(vocabulary, []), InvalidArgumentError, "tools: there are none"),
        (lambda: Constraint.tool_call(vocabulary, [any_of("f")]), TypeError, r"tools\[0\]: expected a dict, got str"),
        (lambda: Constraint.tool_call(vocabulary, [STOP, STOP]), InvalidArgumentError, r"tools\[1\]: another tool"),
        (
            lambda: Constraint.tool_call(vocabulary, [{"type": "web_search"}]),
            InvalidArgumentError,
            "is none of function, custom",
        ),
        (lambda: Constraint.tool_call(vocabulary, [{"type": "function"}]), InvalidArgumentError, "has no name"),
        (
            lambda: Constraint.tool_call(vocabulary, TOOLS, form="x"),
            InvalidArgumentError,
            "form: 'x' is none of hermes",
        ),
        (
            lambda: Constraint.tool_call(vocabulary, TOOLS, {"type": "function", "function": {"name": "go"}}),
            InvalidArgumentError,
            "tool_choice: no tool is called 'go'",
        ),
        (
            lambda: Constraint.tool_call(vocabulary, [STOP, {"name": "a b", "parameters": {"type": "int"}}]),
            ElizaError,
            'tool "a b": at #/type: no type is called',
        ),
    ]
    for make, error, message in wrong:
        with pytest.raises(error, match=message):
            make()
    with pytest.raises(TypeError, match=r"tools\[0\]: expected a dict, got str"):
        Constraint.tool_call(vocabulary, WEATHER)  # type: ignore[arg-type]
