"""The page of site/, used as a reader does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from web.browsers import serving
from web.conftest import ROOT, environment


@pytest.fixture(scope="module")
def found(module: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What site.mjs told."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(["node", "build.mjs", module, folder], cwd=ROOT / "site", check=True)
    chromium = shutil.which("chromium")
    assert chromium is not None
    with serving(folder) as site:
        command = ["node", "site.mjs", f"{site.url}/", chromium]
        result = subprocess.run(
            command, cwd=Path(__file__).parent, env=environment(), capture_output=True, text=True, timeout=180
        )
    assert result.returncode == 0, result.stderr
    seen: dict[str, Any] = json.loads(result.stdout)
    return seen


def test_nothing_goes_wrong(found: dict[str, Any]) -> None:
    assert found["errors"] == []


def test_every_example_of_the_guides_is_computed(found: dict[str, Any]) -> None:
    assert len(found["guides"]) == 7
    assert {name: ready for name, ready in found["guides"] if ready != "yes"} == {}


def test_a_text_is_shown_as_tokens_with_what_may_follow(found: dict[str, Any]) -> None:
    assert "".join(found["first"]["tokens"]) == '{"city":␣"Bath",␣"days":␣1'
    assert found["first"]["verdict"] == "13 tokens are legal next."


def test_what_must_follow_is_shown_and_a_legal_token_can_be_clicked(found: dict[str, Any]) -> None:
    assert found["forced"] == ":␣"
    assert found["clicked"] == "color:"


def test_an_illegal_token_is_marked(found: dict[str, Any]) -> None:
    assert found["refused"] == ["␣blue"]


def test_an_error_is_shown_at_its_place(found: dict[str, Any]) -> None:
    assert found["failure"] == "1:12: the rule word is not defined"
    assert found["place"] == "word"


def test_another_vocabulary_is_fetched(found: dict[str, Any]) -> None:
    assert found["large"] == "200,019"


def test_the_link_holds_the_state(found: dict[str, Any]) -> None:
    assert found["linked"] == "colour: blue"
