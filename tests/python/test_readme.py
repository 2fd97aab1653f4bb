"""The program of the README, run as written, the example in C, and the grammars of docs/reference/grammars.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from eliza_inference import Constraint, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, ROOT, expected_output, run

README = (ROOT / "README.md").read_text("utf-8")
GRAMMARS = (ROOT / "docs" / "reference" / "grammars.md").read_text("utf-8")


def block(language: str) -> str:
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"{len(blocks)} blocks of {language}"
    return blocks[0]


def test_the_program_at_the_top(tmp_path: Path) -> None:
    code = block("python")
    script = tmp_path / "program.py"
    script.write_text(code, "utf-8")
    assert run(sys.executable, script) == expected_output(code)


def test_the_readme_fits_a_look() -> None:
    assert len(README.splitlines()) <= 130


def test_the_example_in_c(tmp_path: Path, native_library: Path) -> None:
    source, program = EXAMPLES / "c" / "router.c", tmp_path / "router"
    compile_c = [sys.executable, "-m", "ziglang", "cc", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    include = f"-I{ROOT / 'native' / 'include'}"
    run(*compile_c, include, source, native_library, f"-Wl,-rpath,{native_library.parent}", "-o", program)
    assert run(program) == expected_output(source.read_text("utf-8"))


@pytest.mark.parametrize("grammar", re.findall(r"^```lark\n(.*?)^```", GRAMMARS, re.MULTILINE | re.DOTALL))
def test_grammars_of_the_notation(grammar: str) -> None:
    """None is refused, and there are no warnings."""
    vocabulary = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])
    assert not Constraint.lark(vocabulary, grammar).warnings


@pytest.fixture
def native_library() -> Path:
    """The library that the Python package was installed with."""
    from eliza_inference import library_path

    return Path(library_path())
