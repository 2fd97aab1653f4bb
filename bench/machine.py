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


def _processor() -> str:
    names = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.processor()


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
