"""Which lines of native/src the tests of Zig, C and Python run, on x86-64 Linux.

    .venv/bin/python tests/coverage/measure.py                    into build/coverage/report.md
    .venv/bin/python tests/coverage/measure.py --report FILE      there

The tests and the library are built for debugging, and a breakpoint is put where the code of each line begins: `traps.c`
says how it is met. A line counts as run if it is anywhere that it was compiled to. Lines of tests do not count. The
Python tests need what `tests/run.py test python` installs; a failed test is reported, and the rest continues.
"""

import argparse
import os
import re
import runpy
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from line_table import Elf, rows

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = ROOT / "tests"
WORK = ROOT / "build" / "coverage"
TRAPS = WORK / "libtraps.so"
LIBRARY = WORK / "lib" / "libelizainference.so"
PROGRAMS = [WORK / "tests" / name for name in ("message", "engine", "shell", "conformance")]
C_PROGRAMS = ("conformance", "recognizer_test", "abi_test", "oom_test")
ZIG = [sys.executable, "-m", "ziglang"]
SOURCE = f"{ROOT}/native/src/"
TEST_BLOCK = re.compile(r'^test (?:"[^\n]*" )?\{.*?^\}$', re.MULTILINE | re.DOTALL)
INT3 = 0xCC
KINDS = {
    "`unreachable`: says that it is never come by": r"\bunreachable\b",
    "`errdefer` and the like: when memory runs out just there": r"\berrdefer\b|outOfMemory|OutOfMemory|\.oom\b",
    "limits and failures of what the system or libllama does": r"fail\(\.(limit|ffi_fault|io|cancelled)\b|log\.write",
}
"""Of lines that no test runs, by what is in them."""

Lines = dict[str, set[int]]
"""Numbers of lines by the path of their file in native/src."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--report", type=Path, default=WORK / "report.md")
    report = arguments.parse_args().report
    build()
    for file in (*PROGRAMS, LIBRARY):
        set_traps(file)
    failures = [name for name, command in commands().items() if not run(name, command)]
    every, met = gather((*PROGRAMS, LIBRARY))
    report.write_text(written(every, met, failures), "utf-8")
    print(f"{100 * count(met) / count(every):.2f} % of {count(every)} lines; see {report}")


def build() -> None:
    """Again, without the traps of the last run."""
    for file in (*PROGRAMS, LIBRARY):
        file.unlink(missing_ok=True)
    subprocess.run([*ZIG, "build", "tests", "install", "--prefix", str(WORK)], cwd=ROOT, check=True)
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run([*ZIG, "cc", *flags, str(HERE / "traps.c"), "-o", str(TRAPS)], check=True)


def commands() -> dict[str, list[str]]:
    c_program = [sys.executable, str(TESTS / "mutation" / "c_program.py")]
    return {
        **{program.name: [str(program)] for program in PROGRAMS},
        **{f"c {name}": [*c_program, name, str(LIBRARY), str(WORK)] for name in C_PROGRAMS},
        "python": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS / "python")],
    }


def run(name: str, command: list[str]) -> bool:
    locate = runpy.run_path(str(TESTS / "llama" / "locate.py"))["libllama_path"]
    variables = {
        "LD_PRELOAD": str(TRAPS),
        "ELIZA_INFERENCE_LIBRARY": str(LIBRARY),
        "ELIZA_INFERENCE_LLAMA": str(locate()),
    }
    with (WORK / f"{name}.log").open("wb") as log:
        done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, stdout=log, stderr=log)
    print(f"{name}: exit code {done.returncode}, see {log.name}", flush=True)
    return done.returncode == 0


# ---- Traps -----------------------------------------------------------------------------------------------------------


def set_traps(file: Path) -> None:
    """In a file of its own: Zig may have linked it to its cache."""
    elf = Elf(file)
    offsets = sorted({elf.offset(address) for address in addresses(elf)})
    data = bytearray(elf.data)
    table = b"".join(struct.pack("<QQ", offset, data[offset]) for offset in offsets)
    for offset in offsets:
        data[offset] = INT3
    file.unlink()
    file.write_bytes(data)
    file.chmod(0o755)
    Path(f"{file}.original").write_bytes(elf.data)
    Path(f"{file}.traps").write_bytes(table)
    Path(f"{file}.hits").write_bytes(bytes(len(offsets)))


def addresses(elf: Elf) -> dict[int, tuple[str, int]]:
    """Of each line, the path in native/src and its number."""
    return {
        row.address: (row.file.removeprefix(SOURCE), row.line)
        for row in rows(elf)
        if row.file.startswith(SOURCE) and row.line > 0
    }


def gather(files: Iterable[Path]) -> tuple[Lines, Lines]:
    """All lines that have code, and those that were run."""
    every: Lines = defaultdict(set)
    met: Lines = defaultdict(set)
    for file in files:
        elf = Elf(Path(f"{file}.original"))
        hits = Path(f"{file}.hits").read_bytes()
        offsets = [offset for offset, _ in struct.iter_unpack("<QQ", Path(f"{file}.traps").read_bytes())]
        hit = {offset for offset, byte in zip(offsets, hits, strict=True) if byte}
        for address, (path, line) in addresses(elf).items():
            every[path].add(line)
            if elf.offset(address) in hit:
                met[path].add(line)
    return without_tests(every), without_tests(met)


def without_tests(lines: Lines) -> Lines:
    kept: Lines = {}
    for path, numbers in lines.items():
        if path.endswith("_test.zig"):
            continue
        text = Path(SOURCE + path).read_text("utf-8")
        of_tests = {
            line
            for block in TEST_BLOCK.finditer(text)
            for line in range(text.count("\n", 0, block.start()) + 1, text.count("\n", 0, block.end()) + 2)
        }
        kept[path] = numbers - of_tests
    return kept


def count(lines: Lines) -> int:
    return sum(map(len, lines.values()))


# ---- The report ------------------------------------------------------------------------------------------------------


def written(every: Lines, met: Lines, failures: list[str]) -> str:
    folders: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path in every:
        folder = "/".join(path.split("/")[:2]) if path.count("/") > 1 else path
        folders[folder][0] += len(every[path])
        folders[folder][1] += len(met.get(path, set()))
    table = [
        f"| {name} | {n} | {n_met} | {100 * n_met / n:.1f} % |" for name, (n, n_met) in sorted(folders.items()) if n
    ]
    total = f"| all | {count(every)} | {count(met)} | {100 * count(met) / count(every):.2f} % |"
    return "\n".join(
        [
            "# Lines of native/src that the tests run",
            "",
            "By `tests/coverage/measure.py`: the tests of Zig, C and Python, with a debug build for x86-64 Linux.",
            *([f"Failed: {', '.join(failures)}."] if failures else []),
            "",
            "| folder | lines | run | |",
            "|---|---|---|---|",
            *table,
            total,
            "",
            "## Lines that none runs",
            "",
            *kinds(every, met),
            "",
            *(line for path in sorted(every) for line in missing(path, every[path] - met.get(path, set()))),
            "",
        ]
    )


def kinds(every: Lines, met: Lines) -> list[str]:
    left = [text for path in every for text in texts(path, every[path] - met.get(path, set())).values()]
    found = []
    for name, pattern in KINDS.items():
        of_it = [text for text in left if re.search(pattern, text)]
        left = [text for text in left if not re.search(pattern, text)]
        found.append(f"- {len(of_it)}: {name}")
    return [*found, f"- {len(left)}: other"]


def texts(path: str, numbers: set[int]) -> dict[int, str]:
    text = Path(SOURCE + path).read_text("utf-8").split("\n")
    return {number: text[number - 1].strip() for number in sorted(numbers)}


def missing(path: str, numbers: set[int]) -> list[str]:
    if not numbers:
        return []
    shown = [f"    {number:5} {text[:110]}" for number, text in texts(path, numbers).items()]
    return [f"{path}:", "", *shown, ""]


if __name__ == "__main__":
    main()
