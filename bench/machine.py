"""What the figures were measured on."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from eliza_inference import library_version, llama_info

from bench.paths import ROOT


def description() -> dict[str, str]:
    """Machine and versions, as rows of the report. Needs a loaded libllama."""
    llama = llama_info()
    assert llama is not None
    return {
        "processor": f"{_processor()}, {os.cpu_count()} processors",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "libelizainference": f"{library_version()}, commit {_output('git', 'describe', '--always', '--dirty')}",
        "libllama": f"{llama.version} (layout {llama.layout}), {Path(llama.path).name}",
        "compiler": f"Zig {_output(sys.executable, '-m', 'ziglang', 'version')}",
        "Python": platform.python_version(),
        "bun": _output("node", "bindings-ts/scripts/bun.mjs", "--version"),
    }


def load() -> str:
    """Mean number of processes that wanted to run in the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def has_extension(name: str) -> bool:
    """Of the processor's instructions, as Linux names it."""
    return name in _processor_field("flags").split()


def _processor() -> str:
    return _processor_field("model name") or platform.processor()


def _processor_field(name: str) -> str:
    """Empty if there is none."""
    found = re.search(rf"^{name}\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else ""


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
