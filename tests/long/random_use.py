"""Random valid use for long: `python tests/long/random_use.py [--seconds 3600] [--seed 1] [--sessions 12]`.

Builds the library as it is shipped, and runs tests/native/long_test.c with the model that ships. It prints a line for
each tenth of the time: what was live at most, by malloc; what the library reports of its vocabularies and constraints;
what was resident; and how long accepting a token took with finding what is legal after it. Ends with an error if a
result was wrong or memory was not flat. With many sessions in an era (400 or more) the same vocabulary, constraints and
model live for long, with few they come and go.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "llama")]

from locate import libllama_path  # noqa: E402
from native.build import Programs  # noqa: E402
from runner.setup import native_library  # noqa: E402


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=float, default=3600)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--sessions", type=int, default=12)
    chosen = arguments.parse_args()
    step, library = native_library("fast")
    for command in step.commands:
        subprocess.run(command, cwd=ROOT, check=True)
    os.environ["ELIZA_INFERENCE_LLAMA"] = str(libllama_path())
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(Path(folder), library, [])
        program = programs.compile("long_test", ["-std=c11"], TESTS / "native" / "long_test.c")
        model = TESTS / "models" / "eliza-router.gguf"
        given = [folder, str(chosen.seconds), str(chosen.seed), str(model), str(chosen.sessions)]
        return programs.run(program, given).returncode


if __name__ == "__main__":
    sys.exit(main())
