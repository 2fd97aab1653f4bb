"""The ABI against what was recorded: the names and constants of the header, its types and functions.

    python native/abi/abi.py check [HEADER]     fails if the header differs from the record
    python native/abi/abi.py record             makes the header the record, on purpose

abidiff does not see the functions of a Zig library, so it compares a C library with the functions of
the header and nothing in them. Needs abidw and abidiff (Debian: abigail-tools) and the Python package
ziglang. What an ABI change means for ELIZA_INFERENCE_ABI_VERSION is said in the header: functions and
constants may be added; anything else takes a new version.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent / "include" / "eliza_inference.h"
TYPES = HERE / "recorded.abi"
NAMES = HERE / "recorded-names.txt"


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the ABI with what was recorded.")
    parser.add_argument("command", choices=["check", "record"])
    parser.add_argument("header", type=Path, nargs="?", default=HEADER)
    chosen = parser.parse_args()
    header = chosen.header.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        library = build_shim(header, Path(folder))
        if chosen.command == "record":
            record(header, library)
            return 0
        problems = name_problems(header) + type_problems(library)
    for problem in problems:
        print(problem)
    if problems:
        print("If this is meant: python native/abi/abi.py record, and see there what it means for the ABI version.")
    return 1 if problems else 0


def functions(header: str) -> list[str]:
    return sorted(re.findall(r"\b((?:eliza_inference|llama_sampler)_\w+)\(", code(header)))


def constants(header: str) -> list[str]:
    defines = re.findall(r"^#define (ELIZA_\w+)[ ]+(.*?)[ ]*(?:/\*.*)?$", header, re.MULTILINE)
    return [f"{name} {value}" for name, value in defines]


def names(header: str) -> list[str]:
    """With a value where there is one. The first line is the ABI version."""
    return constants(header) + functions(header)


def record(header: str, library: Path) -> None:
    options = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", str(TYPES)]
    subprocess.run(["abidw", *options, str(library)], check=True)
    NAMES.write_text("\n".join(names(header)) + "\n", "utf-8")


def name_problems(header: str) -> list[str]:
    now, before = names(header), NAMES.read_text("utf-8").splitlines()
    problems = [f"recorded, not in the header: {line}" for line in before if line not in set(now)]
    return problems + [f"in the header, not recorded: {line}" for line in now if line not in set(before)]


def type_problems(library: Path) -> list[str]:
    result = subprocess.run(["abidiff", "--no-show-locs", TYPES, library], capture_output=True, text=True)
    return [result.stdout + result.stderr] if result.returncode != 0 else []


def code(header: str) -> str:
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    return re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.DOTALL | re.MULTILINE)


def build_shim(header: str, folder: Path) -> Path:
    """A library of empty functions with the header's declarations, and debug information."""
    (folder / "eliza_inference.h").write_text(header, "utf-8")
    source = folder / "shim.c"
    source.write_text(shim_source(header), "utf-8")
    library = folder / "libelizainference.so"
    options = ["-g", "-gdwarf-4", "-O0", "-shared", "-fPIC", "-target", "x86_64-linux-gnu.2.17", f"-I{folder}"]
    options += ["-Wno-return-type", "-Wl,-soname,libelizainference.so", f"-ffile-prefix-map={folder}=."]
    command = [sys.executable, "-m", "ziglang", "cc", *options, str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def shim_source(header: str) -> str:
    """Each prototype of the header once more, as a definition."""
    prototypes = re.findall(
        r"(?:^|[;{}])\s*((?:struct )?[\w ]+?[ *]+(?:eliza_inference|llama_sampler)_\w+\([^;{]*?\))(?=;)",
        " ".join(code(header).split()),
    )
    understood = functions(" ".join(prototypes))
    if understood != functions(header):
        sys.exit(f"prototypes that were not understood: {sorted(set(functions(header)) ^ set(understood))}")
    bodies = [f"{prototype} {{ __builtin_trap(); }}" for prototype in prototypes]
    return "\n".join(['#include "eliza_inference.h"', *bodies, ""])


if __name__ == "__main__":
    sys.exit(main())
