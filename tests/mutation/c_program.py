"""Runs one of the C programs with a library; compiles it into a folder when it is not there.

python tests/mutation/c_program.py PROGRAM LIBRARY FOLDER
"""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "eliza-router.gguf"


def main() -> int:
    name, library, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(ROOT / "tests" / "native"))
    base: Any = runpy.run_path(str(ROOT / "tests" / "native" / "build.py"))["Programs"]

    class Kept(base):  # type: ignore[misc]
        def compile(self, program: str, options: list[str], *sources: Path) -> Path:
            there = folder / program
            if not there.exists():
                super().compile(program, options, *sources)
            return there

    programs = Kept(folder, library, [])
    runs: dict[str, Callable[[], int]] = {
        "conformance": lambda: programs.run_conformance(MODEL),
        "recognizer_test": programs.run_recognizer_test,
        "abi_test": lambda: programs.run_abi_test(MODEL),
        "oom_test": programs.run_oom_test,
    }
    return min(runs[name](), 1)


if __name__ == "__main__":
    sys.exit(main())
