"""Calls of functions as the chat templates of models write them: a descriptor of tags, and reading them back."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from eliza_inference._parameters import Parameters, end_of_json
from eliza_inference.errors import InvalidArgumentError, UnsupportedError
from eliza_inference.json_schema import JsonSchemaSettings, schema_text
from eliza_inference.tools import (
    Tool,
    ToolChoice,
    ToolDefinition,
    choose,
    json_arguments,
    label_of,
    left_out,
    quoted,
    read_tools,
)

__all__ = ["ToolTemplate", "tool_templates"]

ToolTemplate = Mapping[str, Any]
"""How a family of models writes calls; native/templates/README.md describes it."""


@cache
def tool_templates() -> Mapping[str, ToolTemplate]:
    """The templates that ship, by name."""
    path = Path(__file__).parent / "data" / "templates" / "tool_calls.json"
    templates: Mapping[str, ToolTemplate] = json.loads(path.read_text(encoding="utf-8"))
    return templates


class _Call(NamedTuple):
    """How a call of one function is written."""

    tool: ToolDefinition
    begin: str
    """With the row's: as the first of a row begins."""
    next_begin: str
    """As another of a row begins."""
    end: str
    row: Mapping[str, str] | None
    tag: dict[str, Any]
    style: Mapping[str, Any] | None
    """How arguments are written that are no JSON."""

    def arguments(self, text: str, at: int) -> tuple[str, int] | None:
        """Those that begin here, as JSON, and where they end."""
        if self.style is not None:
            said = self.tag.get("schema_options", {})
            schema, documents = self.tag["json_schema"], said.get("documents", {})
            return Parameters(self.style, schema, documents, said.get("draft", "")).read(text, at)
        end = end_of_json(text, at)
        return None if end is None else (text[at:end].strip(), end)

    def read(self, text: str, at: int) -> tuple[dict[str, Any], int] | None:
        """The call whose arguments begin here, without its id, and where these end."""
        name = self.tool.name
        if self.tool.custom is not None and "json_schema" not in self.tag:
            last = text.find(self.end, at)
            return None if last < 0 else ({"type": "custom", "custom": {"name": name, "input": text[at:last]}}, last)
        found = self.arguments(text, at)
        if found is None:
            return None
        said, end = found
        if self.tool.custom is None:
            return {"type": "function", "function": {"name": name, "arguments": said}}, end
        try:
            return {"type": "custom", "custom": {"name": name, "input": json.loads(said)["input"]}}, end
        except (ValueError, KeyError, TypeError):  # no text of this constraint
            return None


class ToolCalls:
    """The functions that may be called, as one template writes the calls."""

    def __init__(
        self,
        tools: Iterable[Tool],
        tool_choice: ToolChoice,
        template: ToolTemplate | str,
        after: str,
        options: JsonSchemaSettings,
        bad: list[str] | None,
    ) -> None:
        """With a list `bad`, tools that are wrong are left out, and it is told of each."""
        found = read_tools(tools, bad)
        self._template = _known(template)
        self._after = after
        self._choice = choose(found, tool_choice)
        self._skips = bad is not None
        shared = {"schema_options": _schema_options(options)} if options else {}
        chosen = [_readable(found[name], self._template["calls"], shared, bad) for name in self._choice.names or ()]
        self._calls = [call for calls in zip(*filter(None, chosen), strict=True) for call in calls]

    def descriptor(self, parallel_tool_calls: bool) -> dict[str, Any]:
        """For `Constraint.tags`."""
        triggers = list(dict.fromkeys(form["trigger"] for form in self._template["calls"]))
        said: dict[str, Any] = {"special_tokens": self._template.get("special_tokens", []), "after": self._after}
        if not self._calls:
            return said | {"tags": [], "excludes": triggers}
        tags: list[dict[str, Any]] = []
        rows: dict[int, dict[str, Any]] = {}
        for call in self._calls:
            if call.row is None:
                tags.append(call.tag)
                continue
            if id(call.row) not in rows:
                tags.append(rows.setdefault(id(call.row), {**call.row, "tags": []}))
            rows[id(call.row)]["tags"].append(call.tag)
        if not (parallel_tool_calls and self._choice.parallel):
            said["at_most"] = 1
        if self._skips:
            said["skip_bad_tags"] = True
        return said | {"triggers": triggers, "tags": tags, "at_least": int(self._choice.mode == "required")}

    def parse(self, text: str | bytes) -> dict[str, Any]:
        """A text as a message of OpenAI's API. What is no whole call stays in its content."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        before, found, rest = text.partition(self._after) if self._after else ("", "", text)
        content, calls, at = before + found, [], 0
        while match := self._begins.search(rest, at):
            made, end = self._read(rest, match)
            content += rest[at : match.start() if made else match.end()]
            at = end
            calls += made
        return self._message(content + rest[at:], calls)

    @cached_property
    def _by_begin(self) -> dict[str, _Call]:
        """The longer ones first, of which a shorter one may be the beginning."""
        return {call.begin: call for call in sorted(self._calls, key=lambda call: -len(call.begin))}

    @cached_property
    def _begins(self) -> re.Pattern[str]:
        """Made when a text is parsed: with many tools it takes longer than their constraint."""
        return re.compile("|".join(map(re.escape, self._by_begin)) or "(?!)")

    def _read(self, text: str, begin: re.Match[str]) -> tuple[list[dict[str, Any]], int]:
        """The calls that begin here, and where they end."""
        made: list[dict[str, Any]] = []
        call: _Call | None = self._by_begin[begin[0]]
        first = end = begin.end()
        while call is not None:
            found = call.read(text, first)
            if found is None or not text.startswith(call.end, found[1]):
                break
            end = found[1] + len(call.end)
            made.append({"id": f"call_{secrets.token_hex(12)}", **found[0]})
            if call.row is None:
                break
            if text.startswith(call.row["end"], end):
                end += len(call.row["end"])
                break
            row, ended = call.row, end
            others = (
                one for one in self._by_begin.values() if one.row is row and text.startswith(one.next_begin, ended)
            )
            call = next(others, None)
            first = end + len(call.next_begin) if call else end
        return made, end

    def _message(self, content: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        reasoning = ""
        if marks := self._template.get("reasoning"):
            reasoning, content = _split(content, marks)
        for text in self._template.get("removed", ()):
            content = content.replace(text, "")
        message: dict[str, Any] = {"role": "assistant", "content": content.strip() or None}
        if reasoning:
            message["reasoning_content"] = reasoning
        if calls:
            message["tool_calls"] = calls
        return message


def _known(template: ToolTemplate | str) -> ToolTemplate:
    if isinstance(template, Mapping):
        return template
    try:
        return tool_templates()[template]
    except (KeyError, TypeError):
        names = ", ".join(tool_templates())
        raise InvalidArgumentError(f"template: {template!r} is none of {names}, and no template") from None


def _readable(
    tool: ToolDefinition, forms: Iterable[Mapping[str, Any]], shared: Mapping[str, Any], bad: list[str] | None
) -> list[_Call] | None:
    """The ways to call a tool, unless it is left out."""
    label = label_of(tool.name)
    try:
        schema = None
        if tool.custom is None or not all("custom" in form for form in forms):
            schema = schema_text(label, json_arguments(tool))[0]
        return [_call(form, tool, label, schema, shared) for form in forms]
    except (InvalidArgumentError, UnsupportedError) as error:
        if bad is None:
            raise
        bad.append(left_out(error))
        return None


def _call(
    form: Mapping[str, Any], tool: ToolDefinition, label: str, schema: str | None, shared: Mapping[str, Any]
) -> _Call:
    name = quoted(tool.name)[1:-1] if form["name"] == "json" else tool.name
    begin = form["before_name"] + name
    row = form.get("row")
    if tool.custom is not None and "custom" in form:
        begin, end = begin + form["custom"]["after_name"], form["custom"]["end"]
        return _in_row(tool, begin, end, row, {"name": label, "begin": begin, "end": end, **tool.custom}, None)
    begin, end = begin + form["after_name"], form["end"]
    tag = {"name": label, "begin": begin, "end": end, "json_schema": schema, **shared}
    style = form.get("arguments")
    if style is not None:
        tag["style"] = style["style"]
    return _in_row(tool, begin, end, row, tag, style)


def _in_row(
    tool: ToolDefinition,
    begin: str,
    end: str,
    row: Mapping[str, str] | None,
    tag: dict[str, Any],
    style: Mapping[str, Any] | None,
) -> _Call:
    if row is None:
        return _Call(tool, begin, "", end, None, tag, style)
    return _Call(tool, row["begin"] + begin, row["separator"] + begin, end, row, tag, style)


def _schema_options(options: JsonSchemaSettings) -> dict[str, Any]:
    """As a descriptor has them."""
    said: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if (documents := said.get("documents")) is not None:
        if not isinstance(documents, Mapping):
            raise InvalidArgumentError("documents: tags have them in a dict; a function is not supported")
        said["documents"] = {uri: schema_text(f"documents[{uri!r}]", one)[0] for uri, one in documents.items()}
    return said


def _split(content: str, marks: Mapping[str, Any]) -> tuple[str, str]:
    """What is between the marks, and the rest. The prompt may have the first mark."""
    begin, end = marks["begin"], marks["end"]
    head, found, _ = content.partition(end)
    if marks["may_be_open"] and found and begin not in head:
        content = begin + content
    thoughts = re.compile(f"{re.escape(begin)}(.*?){re.escape(end)}", re.DOTALL)
    reasoning = "\n".join(thought.strip() for thought in thoughts.findall(content))
    return reasoning, thoughts.sub("", content)
