"""Parts in free text, for `Constraint.tags`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from eliza_inference._arguments import instance, kind_of, several, utf8
from eliza_inference.json_schema import JsonSchema, schema_text

__all__ = ["Tag"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A part of a text: where free text has `begin`, a text of one language follows, and then `end`.

    The language is given by one of the others, which mean what the constructors of `Constraint` with these names
    mean; `ebnf` is XGrammar's. Without an `end` the part ends before the first byte that does not continue it.
    """

    begin: str
    end: str = ""
    json_schema: JsonSchema | None = None
    regex: str | None = None
    lark: str | None = None
    gbnf: str | None = None
    ebnf: str | None = None
    choices: Sequence[str] | None = None


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
        text = json.dumps(tags, ensure_ascii=False)
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
        if field.name == "json_schema":
            value = schema_text(f"{where}.json_schema", value)[0]
        elif field.name == "choices":
            value = list(several(f"{where}.choices", value, "strings"))
        elif not isinstance(value, str):
            raise TypeError(f"{where}.{field.name}: expected a str, got {kind_of(value)}")
        said[field.name] = value
    return said
