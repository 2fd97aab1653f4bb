"""The examples of examples/transformers and examples/outlines."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, ROOT, run_python


@pytest.mark.parametrize("script", ["transformers/beams.py", "outlines/python_types.py"])
def test_it_prints_what_it_says(script: str) -> None:
    run_python(EXAMPLES / script, ROOT / "build" / "transformers")
