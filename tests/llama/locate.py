"""Tells where the libllama is that `npm ci --ignore-scripts` installed here: `python3 tests/llama/locate.py`."""

import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

SYSTEMS = {
    "linux": ("linux", "libllama.v*.so"),
    "darwin": ("mac", "libllama.v*.dylib"),
    "win32": ("win", "llama.v*.dll"),
}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def libllama_path() -> Path:
    """The file of the package for this machine; FileNotFoundError if it is not installed."""
    system, library = SYSTEMS[sys.platform]
    machine = MACHINES[platform.machine().lower()]
    pattern = f"node_modules/@node-llama-cpp/{system}-{machine}*/bins/*/{library}"
    found = sorted(HERE.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no {HERE / pattern}: run `npm ci --ignore-scripts` in {HERE}")
    return found[0]


if __name__ == "__main__":
    print(libllama_path())
