"""The site has every page of docs in its navigation."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_is_in_the_navigation(site: Path) -> None:
    front = (site / "index.html").read_text("utf-8")
    for file in (ROOT / "docs").rglob("*.md"):
        page = file.relative_to(ROOT / "docs").as_posix().removesuffix(".md").removesuffix("README")
        assert f'href="{page}/"' in front or f'href="{page}"' in front or not page, page
