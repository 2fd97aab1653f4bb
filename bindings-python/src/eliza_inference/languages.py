"""Languages of parts, as descriptors of tags and of token trees have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eliza_inference._arguments import kind_of, several
from eliza_inference.json_schema import schema_text


def language_value(where: str, key: str, value: Any) -> Any:
    """What the library reads under this key. `TypeError` if it can be nothing there."""
    if key == "json_schema":
        return schema_text(f"{where}.json_schema", value)[0]
    if key == "choices":
        return list(several(f"{where}.choices", value, "strings"))
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, str):
        raise TypeError(f"{where}.{key}: expected a str, got {kind_of(value)}")
    return value
