"""Where things are, and which libraries are measured."""

import os
import sys
from pathlib import Path

from eliza_inference import library_path, load_llama

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
BUILD = BENCH / "build"
"""Compiled harnesses and generated payloads; not part of the repository."""
REPORTS = BENCH / "reports"

MODEL = ROOT / "tests" / "models" / "eliza-router.gguf"
LARGE_MODEL = BENCH / ".cache" / "eliza-router-llama3.gguf"
"""What bench/models/make_llama3.py makes: a vocabulary of 128,256 tokens."""
ACTIONS = ROOT / "tests" / "models" / "actions.txt"
MESSAGES = ROOT / "tests" / "models" / "heldout.tsv"

sys.path[:0] = [str(ROOT / "tests" / "llama"), str(ROOT / "tests" / "models")]


def use_llama() -> Path:
    """Loads libllama for this process: `ELIZA_INFERENCE_LLAMA`, or the one that the tests run on."""
    if "ELIZA_INFERENCE_LLAMA" not in os.environ:
        from locate import libllama_path

        os.environ["ELIZA_INFERENCE_LLAMA"] = str(libllama_path())
    return Path(load_llama().path)


def library() -> Path:
    """The library that is measured from C, Python and bun alike: `ELIZA_INFERENCE_LIBRARY`, or the package's."""
    return library_path().resolve()


def newer_source() -> Path | None:
    """A source of the library that was changed after the package's was built: what was measured would not be what the
    report says. None if there is none, or if `ELIZA_INFERENCE_LIBRARY` names another library."""
    if "ELIZA_INFERENCE_LIBRARY" in os.environ:
        return None
    built = library().stat().st_mtime
    sources = (ROOT / "native" / "src").rglob("*.zig")
    return next((source for source in sources if source.stat().st_mtime > built), None)
