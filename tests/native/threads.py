"""Builds threads_test.c and the library with ThreadSanitizer, and runs it. A race, or a wrong result, is a failure.

    python tests/native/threads.py [--seconds SECONDS] [--seed SEED]

The same seed gives each thread the same work; how they meet is the machine's to say. The compiler is that of the Python
package ziglang.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "eliza-router.gguf"
PREFIX = ROOT / "build" / "threads"
sys.path.append(str(ROOT / "tests" / "llama"))
from locate import libllama_path  # noqa: E402


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=float, default=12)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    build = [sys.executable, "-m", "ziglang", "build", "threads", "-Doptimize=fast", "--prefix", str(PREFIX)]
    subprocess.run(build, cwd=ROOT, check=True)
    environment = os.environ | {"ELIZA_INFERENCE_LLAMA": str(libllama_path())}
    with tempfile.TemporaryDirectory() as folder:
        given = [folder, str(chosen.seconds), str(chosen.seed), str(MODEL)]
        program = [str(PREFIX / "bin" / "threads_test"), *given]
        return subprocess.run(program, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
