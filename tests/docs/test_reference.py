"""The API reference names every public symbol of C, Python and TypeScript, and describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import eliza_inference

import c_reference
import python_reference

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "native" / "include" / "eliza_inference.h").read_text("utf-8")
TYPEDOC = ROOT / "build" / "typedoc" / "reference.json"

# Numbers of typedoc's kinds of reflections.
NAMESPACE, FUNCTION, CLASS, CONSTRUCTOR, PROPERTY, METHOD, ACCESSOR, REFERENCE = (
    4,
    64,
    128,
    512,
    1024,
    2048,
    262144,
    4194304,
)


class Page(HTMLParser):
    """The anchors of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.anchors |= {value for name, value in attrs if name == "id" and value}


def test_c(site: Path) -> None:
    manifest = json.loads((ROOT / "native" / "abi" / "manifest.json").read_text("utf-8"))
    kinds = ("constants", "callbacks", "structs", "functions", "aliases")
    names = {entry["name"] for kind in kinds for entry in manifest[kind]}
    names |= {name.removeprefix("struct ") for name in manifest["handles"]}
    described = {entry.name for entry in c_reference.entries(HEADER) if entry.description}
    assert names - described == set()
    assert names <= Page(site / "api" / "c" / "index.html").anchors


def test_python(site: Path) -> None:
    assert set(eliza_inference.__all__) - python_reference.names() == set()
    pages = "".join(file.read_text("utf-8") for file in sorted((site / "api" / "python").rglob("*.html")))
    undescribed = []
    for name in python_reference.names():
        section = pages.split(f'id="eliza_inference.{name}"', 1)[1].split('<div class="doc doc-object', 1)[0]
        if not re.search(r'<div class="doc doc-contents first">\s*<p>', section):
            undescribed.append(name)
    for name in eliza_inference.__all__:
        for member, value in public_members(getattr(eliza_inference, name)):
            assert f'id="eliza_inference.{name}.{member}"' in pages
            if not (value.__doc__ or "").strip():
                undescribed.append(f"{name}.{member}")
    assert undescribed == []


def public_members(exported: Any) -> Iterator[tuple[str, Any]]:
    """The functions and properties that a class defines. Fields of records are described with the record."""
    if isinstance(exported, type):
        for name, value in vars(exported).items():
            if not name.startswith("_") and (
                callable(value) or isinstance(value, (classmethod, staticmethod, property))
            ):
                yield name, value


def test_typescript(site: Path) -> None:
    root = json.loads(TYPEDOC.read_text("utf-8"))
    pages = "".join(file.read_text("utf-8") for file in sorted((site / "api" / "typescript").rglob("*.html")))
    for child in root["children"]:
        assert f">{child['name']}" in pages, child["name"]
    assert sorted(undescribed_typescript(root)) == []


def undescribed_typescript(root: dict[str, Any]) -> Iterator[str]:
    """Exports, and what classes have. Constants of the header are described by the C reference."""
    for child in root["children"]:
        if child["kind"] == REFERENCE or child["name"] == "abi":
            continue
        if child["kind"] == NAMESPACE:
            yield from undescribed_typescript(child)
        elif not has_comment(child):
            yield child["name"]
        if child["kind"] == CLASS:
            for member in child["children"]:
                if member["kind"] in (PROPERTY, METHOD, ACCESSOR) and not has_comment(member):
                    yield f"{child['name']}.{member['name']}"


def has_comment(reflection: dict[str, Any]) -> bool:
    signatures = [*reflection.get("signatures", ()), *filter(None, [reflection.get("getSignature")])]
    return any(one.get("comment", {}).get("summary") for one in [reflection, *signatures])
