"""`response_format`, `tools` and `tool_choice` of OpenAI's API, as JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from eliza_inference._arguments import kind_of, several
from eliza_inference.errors import InvalidArgumentError
from eliza_inference.json_schema import JsonDocuments, JsonSchema, PydanticAdapter, PydanticModel

__all__ = ["TOOL_FORMS", "ResponseFormat", "Tool", "ToolChoice", "ToolForm"]

ResponseFormat = Mapping[str, Any] | PydanticModel | PydanticAdapter
Tool = Mapping[str, Any]
ToolChoice = Literal["auto", "none", "required"] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolForm:
    """How a model writes calls as JSON. Tags around them are not part of it."""

    name: str = "name"
    """The key of the function's name."""
    arguments: str = "arguments"
    is_list: bool = False
    """An array of calls, at least one."""


TOOL_FORMS: dict[str, ToolForm] = {
    "hermes": ToolForm(),
    "qwen": ToolForm(),
    "llama": ToolForm(arguments="parameters"),
    "mistral": ToolForm(is_list=True),
}
"""The forms of common models, within the tags of their templates."""

_NO_PARAMETERS: JsonSchema = {"type": "object", "additionalProperties": False}


def response_schema(response_format: ResponseFormat | None) -> JsonSchema | None:
    """The schema of an answer; None for any text."""
    if not isinstance(response_format, Mapping):
        return response_format  # a Pydantic model, none, or what `schema_text` refuses
    match response_format.get("type"):
        case "text":
            return None
        case "json_object":
            return {"type": "object"}
        case "json_schema":
            # As `text.format` of the Responses API it has no level of its own.
            inner = response_format.get("json_schema", response_format)
            if isinstance(inner, Mapping) and "schema" in inner:
                schema: JsonSchema = inner["schema"]
                return schema
            raise InvalidArgumentError("response_format: a json_schema has no schema")
        case other:
            raise InvalidArgumentError(f"response_format: the type {other!r} is none of text, json_object, json_schema")


def argument_schema(tool: Tool) -> JsonSchema:
    """The schema of the arguments of one function."""
    return _function(tool, "tool")[1]


def call_schema(
    tools: Iterable[Tool], tool_choice: ToolChoice, form: ToolForm | str
) -> tuple[JsonSchema, dict[str, JsonSchema]] | None:
    """The schema of a call, and the documents that it refers to: the schema of each function's arguments is one, so
    that its references stay its own. None if there is to be no call."""
    if not isinstance(form, ToolForm):
        form = _known_form(form)
    functions = functions_of(tools)
    if tool_choice == "auto":
        raise InvalidArgumentError(
            'tool_choice: with "auto" the text may be no call: Constraint.tool_calls serves that, with the template '
            "of a model; or constrain the call alone, once it has begun"
        )
    chosen = chosen_functions(functions, tool_choice)
    if not chosen:
        return None
    calls = [
        {
            "type": "object",
            "properties": {form.name: {"const": name}, form.arguments: {"$ref": _uri(name)}},
            "required": [form.name, form.arguments],
            "additionalProperties": False,
        }
        for name in chosen
    ]
    call: dict[str, Any] = {"anyOf": calls}
    schema = {"type": "array", "items": call, "minItems": 1} if form.is_list else call
    return schema, {_uri(name): functions[name] for name in chosen}


def functions_of(tools: Iterable[Tool]) -> dict[str, JsonSchema]:
    """The schema of the arguments of each function, by its name."""
    functions: dict[str, JsonSchema] = {}
    for at, tool in enumerate(several("tools", tools, "function definitions")):
        name, schema = _function(tool, f"tools[{at}]")
        if name in functions:
            raise InvalidArgumentError(f"tools[{at}]: another function is called {name!r}")
        functions[name] = schema
    return functions


def chosen_functions(functions: Mapping[str, JsonSchema], tool_choice: ToolChoice) -> list[str]:
    """The names of those that may be called."""
    match tool_choice:
        case "none":
            return []
        case "auto":
            return list(functions)
        case "required":
            names = list(functions)
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            names = [name]
        case _:
            raise InvalidArgumentError(f"tool_choice: {tool_choice!r} is none of auto, none, required, nor a function")
    if not names:
        raise InvalidArgumentError("tools: there are none to choose from")
    for name in names:
        if name not in functions:
            raise InvalidArgumentError(f"tool_choice: no function is called {name!r}")
    return names


def with_documents(own: Mapping[str, JsonSchema], others: JsonDocuments | None) -> JsonDocuments:
    """Both; the own ones first."""
    if others is None:
        return own
    find = others.get if isinstance(others, Mapping) else others
    return lambda uri: own[uri] if uri in own else find(uri)


def _known_form(name: str) -> ToolForm:
    try:
        return TOOL_FORMS[name]
    except (KeyError, TypeError):
        raise InvalidArgumentError(f"form: {name!r} is none of {', '.join(TOOL_FORMS)}, and no ToolForm") from None


def _function(tool: Tool, where: str) -> tuple[str, JsonSchema]:
    """Its name, and the schema of its arguments. In the Responses API a definition has no level of its own."""
    if not isinstance(tool, Mapping):
        raise TypeError(f"{where}: expected a dict, got {kind_of(tool)}")
    if tool.get("type", "function") != "function":
        raise InvalidArgumentError(f"{where}: the type {tool['type']!r} is not function")
    function = tool.get("function", tool)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        raise InvalidArgumentError(f"{where}: a function has no name")
    parameters = function.get("parameters")
    return name, _NO_PARAMETERS if parameters is None else parameters


def _uri(name: str) -> str:
    return f"tool:{quote(name, safe='')}"
