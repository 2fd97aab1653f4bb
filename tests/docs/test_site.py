"""The site has every page of docs in its navigation, and what a page is searched for by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_is_in_the_navigation(site: Path) -> None:
    front = (site / "index.html").read_text("utf-8")
    for file in (ROOT / "docs").rglob("*.md"):
        page = file.relative_to(ROOT / "docs").as_posix().removesuffix(".md").removesuffix("README")
        assert f'href="{page}/"' in front or f'href="{page}"' in front or not page, page


@pytest.mark.parametrize(
    "words",
    [
        *("structured output", "constrained decoding", "guided generation", "function calling", "tool calling"),
        *("JSON mode", "grammar-constrained", "logits processor", "token mask", "ELIZA_ERR_BUSY", "UnsupportedError"),
    ],
)
def test_the_index_has_what_people_search_for(site: Path, words: str) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    pages = {entry["location"].partition("#")[0] for entry in index["docs"] if words in entry["title"] + entry["text"]}
    assert pages, words
