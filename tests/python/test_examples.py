"""The examples that need nothing beside the package; test_readme.py runs examples/c/router.c."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, run_python


@pytest.mark.parametrize("script", sorted((EXAMPLES / "python").iterdir()), ids=lambda script: script.stem)
def test_it_prints_what_it_says(script: Path) -> None:
    run_python(script)


def test_the_table_shows_every_example() -> None:
    text = (EXAMPLES / "README.md").read_text("utf-8")
    files = [path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()]
    assert [file for file in files if file != "README.md" and f"({file})" not in text] == []
