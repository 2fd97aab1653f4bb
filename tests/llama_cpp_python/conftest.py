"""Where `tests/run.py test llama-cpp-python` has put llama-cpp-python, whose own libllama is the one in use."""

import os
import sys
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "build" / "llama-cpp-python"

sys.path.append(str(PACKAGES))
os.environ.pop("ELIZA_INFERENCE_LLAMA", None)
