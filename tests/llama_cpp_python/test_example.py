"""The example of examples/llama_cpp_python."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples import EXAMPLES, ROOT, run_python


def test_it_prints_what_it_says() -> None:
    run_python(EXAMPLES / "llama_cpp_python" / "router.py", ROOT / "build" / "llama-cpp-python")
