"""Parameters as elements within each other (`cohere_xml`, `minimax_m3_xml`), read from the front, by the rules of
docs/reference/tags.md.

    is_legal(text, style, schema)      whether a reader that goes by the types alone gets a value that the schema allows

Schemas are of `$ref` to `$defs`, `anyOf`, `type`, `enum`, `properties`, `required`, `additionalProperties`, `items`,
`prefixItems`, and what says nothing of types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema

from oracles.parameters import is_other, kind_of

NS = "]<]minimax[>["
COHERE_CLOSE = "</cofl:value>"
LINE = re.compile(r"(\n {0,32})?")
COHERE = re.compile(r'<cofl:value( name="([\w.-]+)")? type="(raw|json|dict|list)">')
MINIMAX = re.compile(re.escape(NS) + r"<([\w.-]+)>")
KINDS = ("string", "null", "boolean", "number", "array", "object")
SCALARS = ("null", "boolean", "number")

Schema = Any


class Pairs(list[tuple[str | None, Any]]):
    """Members in their order; of items the names are null."""


def is_legal(text: str, style: str, schema: Schema, *, any_order: bool = False) -> bool:
    reader = (Cohere if style == "cohere_xml" else Minimax)(text, schema)
    try:
        pairs, at = reader.members([schema], 0, named=True)
    except ValueError:
        return False
    fit = Fits(schema, any_order=any_order, only_listed=style == "minimax_m3_xml")
    return LINE.fullmatch(text, at) is not None and fit.fits(schema, pairs)


def refers(root: Schema, schema: Schema) -> Schema:
    return root["$defs"][schema["$ref"].removeprefix("#/$defs/")] if "$ref" in schema else schema


def alternatives(root: Schema, schema: Schema) -> Iterator[Schema]:
    schema = {} if schema is True else {"enum": []} if schema is False else refers(root, schema)
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from alternatives(root, one)
    elif any(isinstance(value, (dict, list)) for value in schema.get("enum", [])):
        yield from map(exactly, schema["enum"])
    else:
        yield schema


def exactly(value: Any) -> Schema:
    if isinstance(value, dict):
        members = {name: exactly(one) for name, one in value.items()}
        return {"type": "object", "properties": members, "required": [*members], "additionalProperties": False}
    if isinstance(value, list):
        n = len(value)
        items = {"prefixItems": [exactly(one) for one in value], "items": False} if n else {}
        return {"type": "array", "minItems": n, "maxItems": n, **items}
    return {"enum": [value]}


def kinds_of(schema: Schema) -> set[str]:
    if "enum" in schema:
        return {kind_of(value) for value in schema["enum"]}
    kinds = schema.get("type", KINDS)
    return {"number" if one == "integer" else one for one in ([kinds] if isinstance(kinds, str) else kinds)}


def members_of(schema: Schema, name: str | None) -> Schema:
    return schema.get("properties", {}).get(name, schema.get("additionalProperties", True))


def items_of(schema: Schema) -> list[Schema]:
    return [*schema.get("prefixItems", []), schema.get("items", True)]


class Reader:
    """`of` are schemas of which a value has to satisfy one; ValueError is raised where there is none."""

    def __init__(self, text: str, root: Schema) -> None:
        self.text = text
        self.root = root

    def open(self, at: int, *, named: bool) -> tuple[str | None, str, int] | None:
        """The name, its type, and where the value begins."""
        raise NotImplementedError

    def value(self, of: list[Schema], name: str | None, kind: str, at: int) -> tuple[Any, int]:
        raise NotImplementedError

    def members(self, of: list[Schema], at: int, *, named: bool) -> tuple[Pairs, int]:
        alts = [one for schema in of for one in alternatives(self.root, schema)]
        alts = [one for one in alts if ("object" if named else "array") in kinds_of(one)]
        pairs = Pairs()
        while begin := self.open(LINE.match(self.text, at).end(), named=named):  # type: ignore[union-attr]
            name, kind, inside = begin
            within = [members_of(one, name) for one in alts] if named else self.items(alts, len(pairs))
            value, at = self.value(within, name, kind, inside)
            pairs.append((name, value))
        return pairs, at

    def items(self, alts: list[Schema], place: int) -> list[Schema]:
        if len(alts) == 1:
            own = items_of(alts[0])
            return [own[min(place, len(own) - 1)]]
        return [item for one in alts for item in items_of(one)]

    def closed(self, at: int, close: str, *, line: bool = True) -> int:
        at = LINE.match(self.text, at).end() if line else at  # type: ignore[union-attr]
        if not self.text.startswith(close, at):
            raise ValueError
        return at + len(close)

    def scalar(self, at: int) -> tuple[Any, int]:
        value, end = json.JSONDecoder().raw_decode(self.text, at)
        if kind_of(value) not in SCALARS:
            raise ValueError
        return value, end


class Cohere(Reader):
    def open(self, at: int, *, named: bool) -> tuple[str | None, str, int] | None:
        found = COHERE.match(self.text, at)
        return (found[2], found[3], found.end()) if found and (found[2] is not None) == named else None

    def value(self, of: list[Schema], name: str | None, kind: str, at: int) -> tuple[Any, int]:
        if kind == "raw":
            end = self.text.index(COHERE_CLOSE, at)
            return self.text[at:end], end + len(COHERE_CLOSE)
        value: Any
        value, at = self.scalar(at) if kind == "json" else self.members(of, at, named=kind == "dict")
        return (value if kind != "list" else [one for _, one in value]), self.closed(at, COHERE_CLOSE)

    def items(self, alts: list[Schema], place: int) -> list[Schema]:
        return super().items(alts, place) if alts else [True]


class Minimax(Reader):
    def open(self, at: int, *, named: bool) -> tuple[str | None, str, int] | None:
        found = MINIMAX.match(self.text, at)
        if found is None or (not named and found[1] != "item"):
            return None
        return (found[1] if named else None), "", found.end()

    def value(self, of: list[Schema], name: str | None, kind: str, at: int) -> tuple[Any, int]:
        close = f"{NS}</{name or 'item'}>"
        kinds = {one for schema in of for alt in alternatives(self.root, schema) for one in kinds_of(alt)}
        end = self.text.index(NS, at)
        inside = self.text[at:end]
        if not self.text.startswith(f"{NS}</", end):
            is_list = "array" in kinds and ("object" not in kinds or self.text.startswith(f"{NS}<item>", end))
            return self.nested(of, at, close, is_list=is_list)
        if kinds & {"array", "object"} and LINE.fullmatch(inside):
            return self.nested(of, at, close, is_list="array" in kinds)
        try:
            value, after = self.scalar(at)
            if kind_of(value) in kinds:
                return value, self.closed(after, close)
        except ValueError:
            pass
        if "string" not in kinds or is_other(inside, kinds - {"array", "object"}):
            raise ValueError
        return inside, self.closed(end, close, line=False)

    def nested(self, of: list[Schema], at: int, close: str, *, is_list: bool) -> tuple[Any, int]:
        pairs, at = self.members(of, at, named=not is_list)
        return ([value for _, value in pairs] if is_list else pairs), self.closed(at, close)


class Fits:
    """Whether a value, whose objects are pairs, is what a schema allows, with members in its order."""

    def __init__(self, root: Schema, *, any_order: bool, only_listed: bool) -> None:
        self.root = root
        self.any_order = any_order
        self.only_listed = only_listed

    def fits(self, schema: Schema, value: Any) -> bool:
        return any(self._fits(one, value) for one in alternatives(self.root, schema))

    def _fits(self, schema: Schema, value: Any) -> bool:
        if isinstance(value, Pairs):
            return self._fits_members(schema, value)
        if not isinstance(value, list):
            return self._is_valid(schema, value)
        own = items_of(schema)
        shape = {key: one for key, one in schema.items() if key not in ("items", "prefixItems")}
        return self._is_valid(shape, [None] * len(value)) and all(
            self.fits(own[min(place, len(own) - 1)], one) for place, one in enumerate(value)
        )

    def _fits_members(self, schema: Schema, pairs: Pairs) -> bool:
        order = [*schema.get("properties", {})]
        order += [name for name in schema.get("required", []) if name not in order]
        places = [order.index(name) if name in order else len(order) for name, _ in pairs]
        known = [place for place in places if place < len(order)]
        if self.only_listed and len(known) < len(places):
            return False
        if len(set(known)) < len(known) or (places != sorted(places) and not self.any_order):
            return False
        shape = {key: one for key, one in schema.items() if key in ("type", "required", "enum")}
        return self._is_valid(shape, dict(pairs)) and all(
            self.fits(members_of(schema, name), value) for name, value in pairs
        )

    def _is_valid(self, schema: Schema, value: Any) -> bool:
        whole = {**schema, "$defs": self.root.get("$defs", {})}
        return bool(jsonschema.Draft202012Validator(whole).is_valid(value))
