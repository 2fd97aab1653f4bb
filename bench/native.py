"""The C harnesses: each is one file of bench/native, linked to the library that is measured."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.paths import BENCH, BUILD, ROOT, library


def build(name: str, against: Path | None = None) -> Path:
    """Compiles `native/<name>.c` for the baseline CPU; returns the program."""
    shared = against or library()
    program = BUILD / name
    BUILD.mkdir(exist_ok=True)
    command: list[str | Path] = [
        *(
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-std=c11",
            "-O2",
            "-g",
            "-mcpu=baseline",
            "-fno-sanitize=undefined",
        ),
        *("-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "native" / "include"),
        *(BENCH / "native" / f"{name}.c", shared, f"-Wl,-rpath,{shared.parent}", "-ldl", "-o", program),
    ]
    subprocess.run(list(map(str, command)), check=True)
    return program


def run(name: str, *arguments: str | int | Path) -> dict[str, Any]:
    """Builds and runs a harness; returns the JSON that it prints."""
    done = subprocess.run([str(build(name)), *map(str, arguments)], stdout=subprocess.PIPE, check=True)
    results: dict[str, Any] = json.loads(done.stdout)
    return results
