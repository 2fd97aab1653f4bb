"""The examples of examples/transformers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, ROOT, run_python


@pytest.mark.parametrize("script", sorted((EXAMPLES / "transformers").iterdir()), ids=lambda script: script.stem)
def test_it_prints_what_it_says(script: Path) -> None:
    run_python(script, ROOT / "build" / "transformers")
