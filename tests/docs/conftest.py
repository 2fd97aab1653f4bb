"""The documentation, built once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "site" / "docs"), str(ROOT / "tests")]

PACKAGES = ROOT / "build" / "mkdocs"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every link to a page or to a part of one that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", "site/docs/mkdocs.yml", "-d", str(folder)]
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(PACKAGES)}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder
