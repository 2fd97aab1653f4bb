"""`tools` and `tool_choice` as OpenAI's, Anthropic's and Gemini's APIs have them, and tools as MCP lists them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from eliza_inference._arguments import kind_of, several
from eliza_inference._keys import check_keys
from eliza_inference.errors import ElizaError, InvalidArgumentError, UnsupportedError
from eliza_inference.json_schema import JsonSchema

__all__ = ["Tool", "ToolChoice"]

quoted = json.JSONEncoder(ensure_ascii=False).encode
"""A text as JSON has it. Made once: `json.dumps` makes an encoder for each call."""

Tool = Mapping[str, Any]
ToolChoice = Literal["auto", "none", "required", "any"] | Mapping[str, Any]


class ToolDefinition(NamedTuple):
    """A tool that may be called."""

    name: str
    schema: JsonSchema
    """Of its arguments."""
    custom: Mapping[str, str] | None = None
    """Instead of arguments, a text: the language of it, as a tag has it."""


class Choice(NamedTuple):
    """What a `tool_choice` says."""

    mode: Literal["auto", "none", "required"]
    names: list[str] | None = None
    """Of the tools that may be called; None: any."""
    parallel: bool = True
    """Whether there may be several calls."""


def read_tools(tools: Iterable[Tool], bad: list[str] | None = None) -> dict[str, ToolDefinition]:
    """The tools by name. With a list `bad`, those that are wrong are left out, and it is told of each."""
    found: dict[str, ToolDefinition] = {}
    for at, tool in enumerate(several("tools", tools, "function definitions")):
        for place, one in _declared(tool, f"tools[{at}]"):
            try:
                definition = _definition_of(one, place)
                if definition.name in found:
                    raise InvalidArgumentError(f"{place}: another tool is called {definition.name!r}")
                found[definition.name] = definition
            except InvalidArgumentError as error:
                if bad is None:
                    raise
                bad.append(left_out(error))
    return found


def read_tool(tool: Tool) -> ToolDefinition:
    """One tool, in any of the shapes that are known."""
    found = _declared(tool, "tool")
    if len(found) != 1:
        raise InvalidArgumentError(f"tool: expected one function, found {len(found)}")
    place, one = found[0]
    return _definition_of(one, place)


def json_arguments(tool: ToolDefinition) -> JsonSchema:
    """The schema of a tool's arguments where they are JSON. The text of a custom tool is a string there, `input`."""
    if tool.custom is None:
        return tool.schema
    ((notation, text),) = tool.custom.items()
    if notation != "regex":
        message = "a grammar of a custom tool needs a template that writes its text as it is, such as harmony"
        raise of_tool(tool.name, UnsupportedError(message))
    string = {"type": "string"} if text == _ANY_TEXT else {"type": "string", "pattern": f"^(?:{text})$"}
    return {"type": "object", "properties": {"input": string}, "required": ["input"], "additionalProperties": False}


def choose(tools: Mapping[str, ToolDefinition], tool_choice: ToolChoice) -> Choice:
    """What `tool_choice` says, with the names of the tools that may be called."""
    choice = _choice(tool_choice)
    if choice.mode == "none":
        return choice._replace(names=[])
    names = list(tools) if choice.names is None else choice.names
    if not names and choice.mode == "required":
        raise InvalidArgumentError("tools: there are none to choose from")
    for name in names:
        if name not in tools:
            raise InvalidArgumentError(f"tool_choice: no tool is called {name!r}")
    return choice._replace(names=names)


def label_of(name: str) -> str:
    """What messages call a tool."""
    return f"tool {quoted(name)}"


def of_tool(name: str, error: ElizaError) -> ElizaError:
    """An error in the schema of a tool's arguments, with its name."""
    return type(error)(f"{label_of(name)}: {error.message}", error.status)


def left_out(error: ElizaError) -> str:
    """The warning about a tool that is left out."""
    return f"left out: {error.message}"


_NO_PARAMETERS: JsonSchema = {"type": "object", "additionalProperties": False}

_KINDS = ("function", "custom")

_ANY_TEXT = "(?s:.*)"

_PARAMETERS = ("parameters", "inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema")
"""The keys of the schema of arguments: OpenAI's and Gemini's, MCP's, Anthropic's, Gemini's."""

_NO_EFFECT = frozenset(
    "type description title strict annotations outputSchema output_schema _meta meta icons execution cache_control"
    " input_examples defer_loading allowed_callers eager_input_streaming behavior response response_json_schema"
    " responseJsonSchema examples".split()
)
"""Keys that say nothing about the text of a call. A schema is always enforced, whether it is `strict` or not."""

_FUNCTION_KEYS = _NO_EFFECT | {"name", *_PARAMETERS}
_CUSTOM_KEYS = _NO_EFFECT | {"name", "format"}
_LEVEL_KEYS = {kind: _NO_EFFECT | {kind} for kind in _KINDS}

_MEANT = dict.fromkeys(("arguments", "args", "params", "schema", "input", "json_schema"), "parameters")
_DECLARATIONS = ("functionDeclarations", "function_declarations")


def _declared(tool: Any, place: str) -> list[tuple[str, Tool]]:
    """The tools in a tool of Gemini's, which is a list of them; else the tool itself."""
    if not isinstance(tool, Mapping):
        raise TypeError(f"{place}: expected a dict, got {kind_of(tool)}")
    for key in _DECLARATIONS:
        if key in tool:
            check_keys(place, tool, {key})
            listed = several(f"{place}.{key}", tool[key], "function definitions")
            return [found for at, one in enumerate(listed) for found in _declared(one, f"{place}.{key}[{at}]")]
    return [(place, tool)]


def _definition_of(tool: Tool, place: str) -> ToolDefinition:
    kind = tool.get("type", "function")
    if kind not in _KINDS:
        raise InvalidArgumentError(f"{_named(tool, place)}: the type {kind!r} is none of {', '.join(_KINDS)}")
    if kind not in tool:
        return _definition(tool, kind, place)
    inner = tool[kind]
    if not isinstance(inner, Mapping):
        raise InvalidArgumentError(f"{place}.{kind}: expected a dict, got {kind_of(inner)}")
    check_keys(_named(inner, place), tool, _LEVEL_KEYS[kind])
    return _definition(inner, kind, place)


def _named(tool: Mapping[str, Any], place: str) -> str:
    name = tool.get("name")
    return label_of(name) if isinstance(name, str) else place


def _definition(given: Mapping[str, Any], kind: str, place: str) -> ToolDefinition:
    name = given.get("name")
    if not isinstance(name, str):
        raise InvalidArgumentError(f"{place}: a {kind} has no name")
    place = _named(given, place)
    schemas = [key for key in _PARAMETERS if given.get(key) is not None]
    if kind == "custom" and not schemas:  # with a schema it is a function in Anthropic's words
        check_keys(place, given, _CUSTOM_KEYS, {"grammar": "format"})
        return ToolDefinition(name, _NO_PARAMETERS, _language(given.get("format"), place))
    check_keys(place, given, _FUNCTION_KEYS, _MEANT)
    if len(schemas) > 1:
        raise InvalidArgumentError(f"{place}: both {schemas[0]} and {schemas[1]} are given")
    return ToolDefinition(name, given[schemas[0]] if schemas else _NO_PARAMETERS)


def _language(given: Any, place: str) -> dict[str, str]:
    """The language of a custom tool's text. In the Responses API a grammar has no level of its own."""
    if given is None:
        return {"regex": _ANY_TEXT}
    place = f"{place}: format"
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(f"{place}: expected a dict, got {kind_of(given)}")
    if given.get("type") == "text":
        check_keys(place, given, ("type",))
        return {"regex": _ANY_TEXT}
    if given.get("type") != "grammar":
        raise InvalidArgumentError(f"{place}: the type {given.get('type')!r} is none of text, grammar")
    grammar = given.get("grammar", given)
    if not isinstance(grammar, Mapping):
        raise InvalidArgumentError(f"{place}.grammar: expected a dict, got {kind_of(grammar)}")
    if grammar is not given:
        check_keys(place, given, ("type", "grammar"))
    check_keys(place, grammar, ("syntax", "definition", *(("type",) if grammar is given else ())))
    syntax, definition = grammar.get("syntax"), grammar.get("definition")
    if syntax not in ("lark", "regex"):
        raise InvalidArgumentError(f"{place}: the syntax {syntax!r} is none of lark, regex")
    if not isinstance(definition, str):
        raise InvalidArgumentError(f"{place}: expected a definition, got {kind_of(definition)}")
    return {syntax: definition}


# ---- Choices


def _choice(given: ToolChoice) -> Choice:
    if isinstance(given, str) and given in _MODES:
        return Choice(_MODES[given])
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(f"tool_choice: {given!r} is none of auto, none, required, nor names a tool")
    for key in ("functionCallingConfig", "function_calling_config"):
        if key in given:
            check_keys("tool_choice", given, {key})
            return _gemini(given[key])
    if "type" not in given and "mode" in given:
        return _gemini(given)
    match given.get("type"):
        case "auto" | "any" | "none" as mode:
            check_keys("tool_choice", given, _ANTHROPIC)
            return Choice(_MODES[mode], None, not given.get("disable_parallel_tool_use"))
        case "tool":
            check_keys("tool_choice", given, {"name", *_ANTHROPIC})
            return Choice("required", [_name(given, "tool_choice")], not given.get("disable_parallel_tool_use"))
        case "function" | "custom":
            return Choice("required", [_chosen(given, "tool_choice")])
        case "allowed_tools":
            return _allowed(given)
    raise InvalidArgumentError(f"tool_choice: {given!r} is none of auto, none, required, nor names a tool")


_MODES: dict[str, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
_GEMINI: dict[Any, Literal["auto", "none", "required"]] = {
    "MODE_UNSPECIFIED": "auto",
    "AUTO": "auto",
    "VALIDATED": "auto",
    "ANY": "required",
    "NONE": "none",
}
_ANTHROPIC = ("type", "disable_parallel_tool_use")


def _gemini(config: Any) -> Choice:
    """Gemini's `functionCallingConfig`."""
    if not isinstance(config, Mapping):
        raise InvalidArgumentError(f"tool_choice: expected a dict, got {kind_of(config)}")
    keys = ("allowedFunctionNames", "allowed_function_names")
    check_keys("tool_choice", config, {"mode", *keys})
    mode = config.get("mode", "AUTO")
    if not isinstance(mode, str) or mode.upper() not in _GEMINI:
        raise InvalidArgumentError(f"tool_choice: the mode {mode!r} is none of {', '.join(_GEMINI)}")
    names = next((config[key] for key in keys if config.get(key)), None)
    if names is None:
        return Choice(_GEMINI[mode.upper()])
    if mode.upper() not in ("ANY", "VALIDATED"):
        raise InvalidArgumentError(f"tool_choice: allowedFunctionNames have no meaning with the mode {mode}")
    return Choice(_GEMINI[mode.upper()], several("tool_choice.allowedFunctionNames", names, "names"))


def _allowed(given: Mapping[str, Any]) -> Choice:
    """OpenAI's `allowed_tools`; in the Responses API without a level of its own."""
    inner = given.get("allowed_tools", given)
    if not isinstance(inner, Mapping):
        raise InvalidArgumentError(f"tool_choice.allowed_tools: expected a dict, got {kind_of(inner)}")
    if inner is given:
        check_keys("tool_choice", given, ("type", "mode", "tools"))
    else:
        check_keys("tool_choice", given, ("type", "allowed_tools"))
        check_keys("tool_choice.allowed_tools", inner, ("mode", "tools"))
    mode = inner.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise InvalidArgumentError(f"tool_choice: the mode {mode!r} of allowed_tools is none of auto, required")
    listed = several("tool_choice.tools", inner.get("tools", ()), "tools")
    names = [_chosen(one, f"tool_choice.tools[{at}]") for at, one in enumerate(listed)]
    if not names:
        raise InvalidArgumentError("tool_choice.tools: there are none")
    return Choice(mode, list(dict.fromkeys(names)))


def _chosen(given: Any, place: str) -> str:
    """The name of a tool, in OpenAI's words."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    if kind not in _KINDS:
        raise InvalidArgumentError(f"{place}: {given!r} names no tool")
    if kind in given:
        check_keys(place, given, ("type", kind))
        return _name(given[kind], place)
    check_keys(place, given, ("type", "name"))
    return _name(given, place)


def _name(given: Any, place: str) -> str:
    name = given.get("name") if isinstance(given, Mapping) else None
    if not isinstance(name, str):
        raise InvalidArgumentError(f"{place}: the name of a tool is missing")
    return name
