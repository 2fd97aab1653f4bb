"""Parameters between tags like those of XML, read from the front, by the rules of docs/reference/tags.md.

    read(text, style, {"a": {"string"}, ...})     [("a", "..."), ...], or None if it is no list of parameters

`types` are those that the value of each parameter may have, and "" stands for other names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

DSML = "\uff5cDSML\uff5c"
# The pieces around a name, what closes a value, and what opens one.
MARKS = {
    "qwen_xml": (["<parameter=", ">"], "</parameter>", r"\n?<parameter=([\w.-]+)>"),
    "minimax_xml": (['<parameter name="', '">'], "</parameter>", r'\n?<parameter name="([\w.-]+)">'),
    "glm_xml": (
        ["<arg_key>", "</arg_key>", "\n", "<arg_value>"],
        "</arg_value>",
        r"\n?<arg_key>([\w.-]+)</arg_key>\n?<arg_value>",
    ),
    "deepseek_xml": (
        [f'<{DSML}parameter name="', '" string="', "true", '">'],
        f"</{DSML}parameter>",
        rf'\n?<{DSML}parameter name="([\w.-]+)" string="(true|false)">',
    ),
    "deepseek_v4_1_xml": (
        [f'<{DSML} parameter name="', '" string="', "true", '">'],
        f"</{DSML} parameter>",
        rf'\n?<{DSML} parameter name="([\w.-]+)" string="(true|false)">',
    ),
    "kimi_k3_xml": (
        ['<|open|>argument key="', '" type="', "string", '"<|sep|>'],
        "<|close|>argument<|sep|>",
        r'\n?<\|open\|>argument key="([\w.-]+)" type="(\w+)"<\|sep\|>',
    ),
}
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
SPACE = " \n\r\t"


def read(
    text: str, style: str, types: Mapping[str, Collection[str]], *, any_order: bool = False
) -> list[tuple[str, Any]] | None:
    """Names stand in the order of `types`, and other names after them; or all in any order."""
    _, close, opening = MARKS[style]
    values: list[tuple[str, Any]] = []
    order = [name for name in types if name]
    at, last = 0, -1
    while begin := re.compile(opening).match(text, at):
        name = begin[1]
        place = order.index(name) if name in order else len(order)
        is_again = name in order and any(name == known for known, _ in values)
        if is_again or (place < last and not any_order):
            return None
        last = place
        kinds = set(types.get(name, types.get("", ())))
        if style.startswith("deepseek"):
            kinds &= {"string"} if begin[2] == "true" else kinds - {"string"}
        elif style == "kimi_k3_xml":
            kinds &= {begin[2]}
        found = _value(text, begin.end(), close, kinds, lines=style == "qwen_xml")
        if found is None:
            return None
        values.append((name, found[0]))
        at = found[1]
    return values if text[at:] in ("", "\n") else None


def _value(text: str, at: int, close: str, kinds: set[str], *, lines: bool) -> tuple[Any, int] | None:
    """A value and where its tag ends."""
    if (document := _document(text, at, close, kinds, lines=lines)) is not None:
        return document
    end = text.find(close, at)
    if end < 0 or "string" not in kinds:
        return None
    string = text[at:end]
    if lines:
        edges = (string[:1] == "\n", string[-1:] == "\n")
        if edges[0] != edges[1] or string == "\n":
            return None
        string = string[1:-1] if edges[0] else string
    return None if is_other(string, kinds) else (string, end + len(close))


def _document(text: str, at: int, close: str, kinds: set[str], *, lines: bool) -> tuple[Any, int] | None:
    if lines and text.startswith("\n", at):
        at += 1
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        return None
    if kind_of(value) not in kinds - {"string"} or isinstance(value, str):
        return None
    if lines and text.startswith("\n", end):
        end += 1
    return (value, end + len(close)) if text.startswith(close, end) else None


def kind_of(value: Any) -> str:
    names = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def is_other(string: str, kinds: set[str]) -> bool:
    """Whether a string is spelled as a value of another kind."""
    bare = string.strip(SPACE)
    return (
        (bare == "null" and "null" in kinds)
        or (bare in ("true", "false") and "boolean" in kinds)
        or (NUMBER.fullmatch(bare) is not None and "number" in kinds)
        or (bare[:1] == "[" and "array" in kinds)
        or (bare[:1] == "{" and "object" in kinds)
    )
