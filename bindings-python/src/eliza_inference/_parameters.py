"""Reads the arguments of calls that are parameters between tags like those of XML (docs/reference/tags.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

__all__ = ["Parameters", "end_of_json"]

Types = frozenset[str]
_ALL: Types = frozenset({"null", "boolean", "number", "string", "array", "object"})
_SPACE = " \n\r\t"
_BRACKETS = {"[": "array", "{": "object"}


class Parameters:
    """Of one function: how a template writes them, and the schema of all."""

    def __init__(self, form: Mapping[str, Any], schema: str, documents: Mapping[str, str], draft: str) -> None:
        self._open = re.compile(form["open"])
        self._close: str = form["close"]
        self._has_lines: bool = form.get("lines", False)
        self._types = _Types(json.loads(schema), documents, draft)

    def read(self, text: str, at: int) -> tuple[str, int] | None:
        """The arguments as JSON, and where they end; None if a value has no end."""
        members: dict[str, str] = {}
        while begin := self._open.match(text, at):
            types = self._types.of_parameter(begin[1])
            if self._open.groups > 1:  # the tag says whether it is a string
                types = frozenset({"string"}) if begin[2] == "true" else _ALL - {"string"}
            found = self._value(text, begin.end(), types)
            if found is None:
                return None
            members[json.dumps(begin[1], ensure_ascii=False)], at = found
        made = ", ".join(f"{name}: {value}" for name, value in members.items())
        return f"{{{made}}}", at + text.startswith("\n", at)

    def _value(self, text: str, at: int, types: Types) -> tuple[str, int] | None:
        """A value as JSON, and where its tag ends."""
        first = _skip_space(text, at)
        if _BRACKETS.get(text[first : first + 1]) in types:
            end = end_of_json(text, at)
            end = end and _skip_space(text, end)
        else:
            end = text.find(self._close, at)
        if end is None or end < 0 or not text.startswith(self._close, end):
            return None
        return self._as_json(text[at:end], types), end + len(self._close)

    def _as_json(self, value: str, types: Types) -> str:
        bare = value.strip(_SPACE)
        if _kind_of(bare) in types - {"string"}:
            return bare
        if self._has_lines:
            value = value.removeprefix("\n").removesuffix("\n")
        return json.dumps(value, ensure_ascii=False)


def _skip_space(text: str, at: int) -> int:
    while text[at : at + 1] in tuple(_SPACE):
        at += 1
    return at


def end_of_json(text: str, at: int) -> int | None:
    """After the JSON object or array that begins here; None if there is none."""
    depth, in_string = 0, False
    for match in re.finditer(r'\s+|\\.|["{}\[\]]|[^\s\\"{}\[\]]+', text[at:], re.DOTALL):
        piece = match[0]
        if in_string:
            in_string = piece != '"'
        elif piece == '"':
            in_string = True
        elif piece in ("{", "["):
            depth += 1
        elif piece in ("}", "]"):
            depth -= 1
            if depth == 0:
                return at + match.end()
        if depth == 0 and not piece.isspace():
            return None
    return None


def _kind_of(text: str) -> str:
    """The type of a JSON text; of any other "string"."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except ValueError:
        return "string"
    return _type_of(value)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


def _type_of(value: Any) -> str:
    for kind, name in ((bool, "boolean"), ((int, float), "number"), (str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


class _Types:
    """The types that values may have, by the rule of docs/reference/tags.md: what `type`, `enum`, `const`, `$ref` and
    combinations of schemas say."""

    def __init__(self, schema: Any, documents: Mapping[str, str], draft: str) -> None:
        self._root = schema
        self._documents = documents
        dialect = schema.get("$schema", "") if isinstance(schema, dict) else ""
        is_old = re.search("draft-0[467]", dialect) is not None if dialect else draft in ("4", "6", "7")
        self._references_stand_alone = is_old
        """What stands beside one does not count."""

    def of_parameter(self, name: str) -> Types:
        """Of a member of the object."""
        objects = list(self._parts(self._root, self._root, 0))
        for schema, root in objects:
            properties = schema.get("properties")
            if isinstance(properties, dict) and name in properties:
                return self._of(properties[name], root, 0)
        for schema, root in objects:
            if "additionalProperties" in schema:
                return self._of(schema["additionalProperties"], root, 0)
        return _ALL

    def _parts(self, schema: Any, root: Any, depth: int) -> Iterator[tuple[dict[str, Any], Any]]:
        """A schema and those that hold with it, each with its document."""
        if not isinstance(schema, dict) or depth > 99:
            return
        yield schema, root
        if "$ref" in schema:
            yield from self._parts(*self._target(schema["$ref"], root), depth + 1)
        for part in schema.get("allOf", ()):
            yield from self._parts(part, root, depth + 1)

    def _of(self, schema: Any, root: Any, depth: int) -> Types:
        if not isinstance(schema, dict) or depth > 99:
            return frozenset() if schema is False else _ALL
        types = _ALL
        if "$ref" in schema:
            types = self._of(*self._target(schema["$ref"], root), depth + 1)
            if self._references_stand_alone:
                return types
        if "type" in schema:
            types &= _named(schema["type"], schema.get("nullable", False))
        for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if values is not None:
                types &= {_type_of(value) for value in values}
        for part in schema.get("allOf", ()):
            types &= self._of(part, root, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                types &= frozenset().union(*(self._of(part, root, depth + 1) for part in schema[keyword]))
        return types

    def _target(self, reference: str, root: Any) -> tuple[Any, Any]:
        """What a reference leads to, and its document; of other references than pointers nothing is known."""
        uri, _, pointer = reference.partition("#")
        at = root = json.loads(self._documents[uri]) if uri in self._documents else None if uri else root
        for token in pointer.split("/")[1:]:
            key = unquote(token).replace("~1", "/").replace("~0", "~")
            if isinstance(at, list):
                at = at[int(key)] if key.isdecimal() and int(key) < len(at) else None
            else:
                at = at.get(key) if isinstance(at, dict) else None
        return (at, root) if pointer[:1] in ("", "/") else (None, root)


def _named(names: Any, nullable: bool) -> Types:
    listed = {"number" if name == "integer" else name for name in ([names] if isinstance(names, str) else names)}
    return frozenset(listed | ({"null"} if nullable else set()))
