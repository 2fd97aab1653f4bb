"""vLLM's Python files from PyPI; nothing that is tested needs its kernels."""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "hosts")]
sys.path += [str(TESTS.parent / "build" / name) for name in ("transformers", "hosts")]
os.environ["VLLM_PLUGINS"] = "eliza_inference"
