"""What using the library costs before it does anything: imports, and the memory of the loaded library."""

import os
import subprocess
import sys
from dataclasses import dataclass

from bench.figures import Figure, figure
from bench.paths import ROOT, library

REPEATS = 20
"""Fresh processes for each figure. The first may also compile bytecode; the median does not see it."""

IMPORT_PYTHON = """
import time
started = time.perf_counter_ns()
import eliza_inference
print(time.perf_counter_ns() - started)
"""

IMPORT_TYPESCRIPT = """
const started = Bun.nanoseconds();
await import(process.argv[1]);
console.log(Bun.nanoseconds() - started);
"""

# The counters of /proc/self/statm lag behind; the roll-up is counted when it is read.
LOAD = """
import ctypes, pathlib, sys

def resident():
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))

resident() # takes its own memory first
before = resident()
ctypes.CDLL(sys.argv[1]).eliza_inference_abi_version()
print(resident() - before)
"""


@dataclass(frozen=True, slots=True)
class StartFigure:
    what: str
    unit: str
    bar: float
    value: Figure


def measure() -> list[StartFigure]:
    bun = ["node", str(ROOT / "bindings-ts" / "scripts" / "bun.mjs"), "-e", IMPORT_TYPESCRIPT]
    module = str(ROOT / "bindings-ts" / "src" / "index.ts")
    return [
        StartFigure("import of the Python package", "ms", 60, _repeated([sys.executable, "-c", IMPORT_PYTHON])),
        StartFigure("import of the TypeScript module", "ms", 20, _repeated([*bun, module])),
        StartFigure("resident after loading", "MB", 3, _repeated([sys.executable, "-c", LOAD, str(library())])),
    ]


def _repeated(command: list[str]) -> Figure:
    """In millions of what the program prints: nanoseconds or bytes."""
    environment = os.environ | {"ELIZA_INFERENCE_LIBRARY": str(library())}
    samples = []
    for _ in range(REPEATS):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        samples.append(int(done.stdout))
    return figure(samples).scaled(1e-6)
