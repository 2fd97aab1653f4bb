"""The programs of the documentation in Python, TypeScript and C, run as written. A comment `prints: X` is a line that
must be printed. A program that is a file of examples is left out: other tests run it, where its packages are."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import eliza_inference
import pytest
from eliza_inference import library_path

from examples import EXAMPLES, ROOT, expected_output, run

BLOCK = re.compile(r"^```(python|ts|c)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def programs() -> Iterator[tuple[str, str, str]]:
    """Page and number, language, program."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, (language, code) in enumerate(BLOCK.findall(page.read_text("utf-8")), 1):
            yield f"{page.relative_to(ROOT / 'docs').as_posix()} {number}", language, code


DOCSTRING = re.compile(r'\A""".*?"""\n+', re.DOTALL)
EXAMPLE_FILES = {DOCSTRING.sub("", file.read_text("utf-8")) for file in EXAMPLES.glob("*/*.*")}
PROGRAMS = [found for found in programs() if found[2] not in EXAMPLE_FILES]


@pytest.mark.parametrize(("language", "code"), [found[1:] for found in PROGRAMS], ids=[found[0] for found in PROGRAMS])
def test_a_program(tmp_path: Path, language: str, code: str) -> None:
    assert {"python": run_python, "ts": run_typescript, "c": run_c}[language](code, tmp_path) == expected_output(code)


def run_python(code: str, folder: Path) -> str:
    script = folder / "program.py"
    script.write_text(code, "utf-8")
    return run(sys.executable, script)


def run_typescript(code: str, folder: Path) -> str:
    script = folder / "program.ts"
    script.write_text(code, "utf-8")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "eliza-inference").symlink_to(ROOT / "bindings-ts", target_is_directory=True)
    return run("node", ROOT / "bindings-ts" / "scripts" / "bun.mjs", script)


def run_c(code: str, folder: Path) -> str:
    source, program, library = folder / "program.c", folder / "program", Path(library_path())
    source.write_text(code, "utf-8")
    compile_c = [sys.executable, "-m", "ziglang", "cc", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    include = f"-I{ROOT / 'native' / 'include'}"
    run(*compile_c, include, source, library, f"-Wl,-rpath,{library.parent}", "-o", program)
    return run(program)


def test_the_program_of_help(tmp_path: Path) -> None:
    """Beside the three calls, on the first screen."""
    screen = "\n".join((eliza_inference.__doc__ or "").splitlines()[:20])
    assert all(call in screen for call in ("Constraint.json_schema(", "stream.choose(", "matcher.sample("))
    program = textwrap.dedent(screen.split("A whole program with llama.cpp:\n", 1)[1].split("\nThe same", 1)[0])
    assert 1 <= int(run_python(program.replace("model.gguf", "tests/models/eliza-router.gguf"), tmp_path)) <= 90


def test_every_kind_of_program_is_found() -> None:
    assert {language for _, language, _ in PROGRAMS} == {"python", "ts", "c"}
    assert len(PROGRAMS) > 25
    shown = {code for _, _, code in programs()} & EXAMPLE_FILES
    assert len(shown) >= 6
