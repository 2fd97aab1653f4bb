"""Programs that are documentation: run as they stand. A comment `prints: X` is a line that must be printed."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def expected_output(code: str) -> str:
    lines = re.findall(r"prints: (.*?)(?: \*/)?$", code, re.MULTILINE)
    assert lines, "an example shows what it prints"
    return "".join(line + "\n" for line in lines)


def run(*command: str | os.PathLike[str], env: Mapping[str, str] | None = None) -> str:
    """What a program prints, run in the root of the repository."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def run_python(script: Path, *folders: Path) -> None:
    """Runs an example with packages of more folders, and compares what it prints."""
    output = run(sys.executable, script, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))})
    assert output == expected_output(script.read_text("utf-8"))
