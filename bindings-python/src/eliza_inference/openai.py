"""`response_format` of OpenAI's API, and calls of tools as JSON documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from eliza_inference._arguments import kind_of
from eliza_inference._keys import check_keys
from eliza_inference.errors import InvalidArgumentError
from eliza_inference.json_schema import JsonDocuments, JsonSchema, PydanticAdapter, PydanticModel
from eliza_inference.tools import ToolDefinition, label_of

__all__ = ["TOOL_FORMS", "ResponseFormat", "ToolForm"]

ResponseFormat = Mapping[str, Any] | PydanticModel | PydanticAdapter


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


def response_schema(response_format: ResponseFormat | None) -> JsonSchema | None:
    """The schema of an answer; None for any text."""
    if not isinstance(response_format, Mapping):
        return response_format  # a Pydantic model, none, or what `schema_text` refuses
    place = "response_format"
    match response_format.get("type"):
        case "text":
            check_keys(place, response_format, ("type",))
            return None
        case "json_object":
            check_keys(place, response_format, ("type", "schema"))
            schema: JsonSchema | None = response_format.get("schema")
            return {"type": "object"} if schema is None else schema
        case "json_schema":
            return _named_schema(response_format)
    raise InvalidArgumentError(
        f"response_format: the type {response_format.get('type')!r} is none of text, json_object, json_schema, "
        "structural_tag, grammar, regex"
    )


def response_language(response_format: ResponseFormat | None) -> tuple[str, str] | None:
    """The notation and the text of a grammar or regular expression; None if it is no such format."""
    if not isinstance(response_format, Mapping) or response_format.get("type") not in ("grammar", "regex"):
        return None
    kind: str = response_format["type"]
    texts = ("pattern", "regex", "value") if kind == "regex" else ("grammar", "definition", "value")
    check_keys("response_format", response_format, ("type", *texts, *(("syntax",) if kind == "grammar" else ())))
    given = [response_format[key] for key in texts if key in response_format]
    if len(given) != 1:
        raise InvalidArgumentError(f"response_format: expected one of {', '.join(texts)}, found {len(given)}")
    text: Any = given[0]
    syntax: Any = response_format.get("syntax")
    if isinstance(text, Mapping) and kind == "grammar":  # as in a tool
        check_keys("response_format.grammar", text, ("syntax", "definition"))
        syntax, text = text.get("syntax"), text.get("definition")
    if not isinstance(text, str):
        raise InvalidArgumentError(f"response_format: expected a text, got {kind_of(text)}")
    if kind == "regex":
        return kind, text
    syntax = ("gbnf" if "::=" in text else "lark") if syntax is None else syntax
    if syntax not in ("lark", "gbnf", "ebnf", "regex"):
        raise InvalidArgumentError(f"response_format: the syntax {syntax!r} is none of lark, gbnf, ebnf, regex")
    return syntax, text


def call_schema(
    tools: Mapping[str, ToolDefinition], names: Iterable[str], form: ToolForm | str
) -> tuple[JsonSchema, dict[str, JsonSchema]]:
    """The schema of a call, and the documents that it refers to: the schema of each function's arguments is one, so
    that its references stay its own."""
    if not isinstance(form, ToolForm):
        form = _known_form(form)
    calls = [
        {
            "type": "object",
            "properties": {form.name: {"const": name}, form.arguments: {"$ref": _uri(name)}},
            "required": [form.name, form.arguments],
            "additionalProperties": False,
        }
        for name in names
    ]
    call: dict[str, Any] = {"anyOf": calls}
    schema = {"type": "array", "items": call, "minItems": 1} if form.is_list else call
    return schema, {_uri(name): tools[name].schema for name in names}


def of_tools(warning: str) -> str:
    """A warning about a schema of `call_schema`, with the tool that it is about."""
    return re.sub("^at tool:([^#]*)#", lambda found: f"{label_of(unquote(found[1]))}: at #", warning)


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


def _named_schema(given: Mapping[str, Any]) -> JsonSchema:
    """Of a `json_schema`. As `text.format` of the Responses API it has no level of its own."""
    place = "response_format"
    inner = given.get("json_schema", given)
    if inner is not given:
        check_keys(place, given, ("type", "json_schema"))
        place = "response_format.json_schema"
    if isinstance(inner, Mapping):
        own = ("type",) if inner is given else ()
        check_keys(place, inner, ("schema", "name", "strict", "description", *own))
        if "schema" in inner:
            schema: JsonSchema = inner["schema"]
            return schema
    raise InvalidArgumentError("response_format: a json_schema has no schema")


def _uri(name: str) -> str:
    return f"tool:{quote(name, safe='')}"
