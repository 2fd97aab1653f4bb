"""The sample and the quick starts of the README, run as written, and the grammars of docs/reference/grammars.md. A
comment `prints: X` is what a line must print."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from eliza_inference import Constraint, Model, TokenTree, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, ROOT, expected_output, run

README = (ROOT / "README.md").read_text("utf-8")
GRAMMARS = (ROOT / "docs" / "reference" / "grammars.md").read_text("utf-8")


def block(language: str) -> str:
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"{len(blocks)} blocks of {language}"
    return blocks[0]


def test_the_tree_at_the_top(model: Model, tmp_path: Path) -> None:
    command, _, shown = block("text").partition("\n")
    names = re.findall(r"  ([A-Z_]+)$", shown, re.MULTILINE)
    tree = tmp_path / "tree.json"
    tree.write_text(TokenTree.from_names(names, model.tokenize, prefix=" ").to_json(), "utf-8")
    arguments = command.removeprefix("$ eliza-inference ").replace("tree.json", str(tree)).split()
    explained = re.sub(r" +→ : .*$", "", shown, flags=re.MULTILINE)
    assert run(sys.executable, "-m", "eliza_inference.cli", *arguments) == explained


def test_python_quick_start(tmp_path: Path) -> None:
    code = block("python")
    script = tmp_path / "quick_start.py"
    script.write_text(code, "utf-8")
    assert run(sys.executable, script) == expected_output(code)


def test_typescript_quick_start(tmp_path: Path) -> None:
    code = block("typescript")
    script = tmp_path / "quick_start.ts"
    script.write_text(code, "utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "eliza-inference").symlink_to(ROOT / "bindings-ts", target_is_directory=True)
    assert run("node", ROOT / "bindings-ts" / "scripts" / "bun.mjs", script) == expected_output(code)


def test_c_quick_start(tmp_path: Path, native_library: Path) -> None:
    code = block("c")
    assert code == (EXAMPLES / "c" / "router.c").read_text("utf-8")
    source, program = tmp_path / "quick_start.c", tmp_path / "quick_start"
    source.write_text(code, "utf-8")
    compile_c = [sys.executable, "-m", "ziglang", "cc", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    include = f"-I{ROOT / 'native' / 'include'}"
    run(*compile_c, include, source, native_library, f"-Wl,-rpath,{native_library.parent}", "-o", program)
    assert run(program) == expected_output(code)


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
