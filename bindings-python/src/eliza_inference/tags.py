"""Parts in free text, for `Constraint.tags`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from eliza_inference._arguments import instance, kind_of, several, utf8
from eliza_inference.json_schema import JsonSchema
from eliza_inference.languages import language_value
from eliza_inference.token_tree import TokenTree

__all__ = ["Tag", "TagMarker"]

TagMarker = str | Mapping[str, int | str]
"""A text, or a token by its number or text: `{"token": 128010}`."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A part of a text: where free text has `begin`, a text of one language follows, and then `end`.

    The language is given by one of the others, which mean what the constructors of `Constraint` with these names
    mean; `ebnf` is XGrammar's. A `token_tree` has one descriptor, without a trigger: its tokens follow the token that
    ends `begin`. Without an `end` the part ends before the first byte or token that does not continue it.
    `schema_options` are those of `Constraint.json_schema`, by name. Instead of a language, `tags` may be one or more
    parts that follow each other with `separator` in between, each with its own `begin` and `end`. With a `style`, an
    object of the `json_schema` is written as parameters: "qwen_xml", "minimax_xml", "deepseek_xml",
    "deepseek_v4_1_xml", "glm_xml", "kimi_k3_xml", "cohere_xml", "minimax_m3_xml".
    """

    begin: TagMarker
    end: TagMarker = ""
    json_schema: JsonSchema | None = None
    regex: str | None = None
    lark: str | None = None
    gbnf: str | None = None
    ebnf: str | None = None
    choices: Sequence[str] | None = None
    token_tree: TokenTree | Mapping[str, Any] | None = None
    schema_options: Mapping[str, Any] | None = None
    style: str | None = None
    tags: Sequence[Tag] | None = None
    separator: TagMarker | None = None
    name: str | None = None
    """What errors and warnings call it, in place of `tags[0]`."""


def descriptor_bytes(
    tags: Iterable[Tag] | Mapping[str, Any] | str | bytes,
    options: Mapping[str, Any],
) -> bytes:
    """What the library reads. `options` are those of a list of tags, by the key of the descriptor."""
    if isinstance(tags, bytes):
        return tags
    if isinstance(tags, str):
        return utf8("tags", tags)
    if not isinstance(tags, Mapping):
        listed = [_tag(f"tags[{at}]", tag) for at, tag in enumerate(several("tags", tags, "tags"))]
        tags = {"tags": listed, **{key: value for key, value in options.items() if value is not None}}
    try:
        text = json.dumps(tags, ensure_ascii=False, default=_written)
    except (TypeError, ValueError) as error:
        raise TypeError(f"tags: {error}") from error
    return utf8("tags", text)


def _tag(where: str, tag: Tag) -> dict[str, Any]:
    instance(where, tag, Tag)
    said: dict[str, Any] = {}
    for field in fields(tag):
        value = getattr(tag, field.name)
        if value is None:
            continue
        if field.name == "tags":
            inner = several(f"{where}.tags", value, "tags")
            value = [_tag(f"{where}.tags[{at}]", one) for at, one in enumerate(inner)]
        elif field.name == "token_tree" and not isinstance(value, Mapping):
            instance(f"{where}.token_tree", value, TokenTree)
        else:
            value = language_value(where, field.name, value)
        said[field.name] = value
    return said


def _written(value: object) -> dict[str, Any]:
    """What `json` cannot write by itself."""
    if isinstance(value, TokenTree):
        return value._to_object()
    raise TypeError(f"JSON has no {kind_of(value)}")
