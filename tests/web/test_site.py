"""The page of site/, used as a reader does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
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


def test_another_kind_brings_a_source_of_its_own_and_keeps_the_last_one(found: dict[str, Any]) -> None:
    assert found["switched"][0].startswith("20") and found["switched"][1] == 0
    assert found["switchedBack"].startswith('{"type": "object",')


def test_options_of_schemas_are_in_the_link(found: dict[str, Any]) -> None:
    assert found["compact"].startswith("\u2423")  # no space after a colon
    assert found["optionsLink"]


def test_errors_in_json_have_line_and_column(found: dict[str, Any]) -> None:
    assert "at line 2, column " in found["jsonFailure"] and "at byte" not in found["jsonFailure"]


def test_what_can_be_read_comes_before_parts_of_characters(found: dict[str, Any]) -> None:
    assert found["parts"] == "0123456789"


def test_programs_in_python_compile_the_same_constraint(found: dict[str, Any]) -> None:
    """With a vocabulary of bytes in place of that of a file."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    assert len(found["programs"]) == 7
    for program in found["programs"]:
        lines = program["python"].splitlines()
        (at,) = (i for i, line in enumerate(lines) if line.startswith("vocabulary = "))
        lines[at] = "vocabulary = Vocabulary(257, tokens, [0] * 256 + [2])"
        exec("\n".join(lines), {"tokens": tokens})


def test_programs_in_c_compile_against_the_header(found: dict[str, Any], tmp_path: Path) -> None:
    functions = [
        f"void example{i}(const eliza_vocab *vocab) {{\n{program['c']}(void)status;\n}}"
        for i, program in enumerate(found["programs"])
    ]
    source = tmp_path / "programs.c"
    source.write_text('#include "eliza_inference.h"\n' + "\n".join(functions), "utf-8")
    include = f"-I{ROOT / 'native' / 'include'}"
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-c", include, "-o", str(tmp_path / "programs.o")]
    subprocess.run([sys.executable, "-m", "ziglang", "cc", *options, source], check=True)
