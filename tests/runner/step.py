"""A step, and where things are."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
VENV = ROOT / ".venv"
VENV_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(VENV_BIN / "python")


@dataclass(frozen=True)
class Counts:
    """Numbers of tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


@dataclass(frozen=True)
class Step:
    """Commands that are run one after the other, until one fails. The first word is a program of the PATH."""

    name: str
    commands: list[list[str]]
    folder: Path = ROOT
    counts: Callable[[str], Counts] | None = None
    """Reads the numbers of tests from the output; None if the step runs no tests."""
    inputs: tuple[Path, ...] = ()
    """If given, the step is done once, and again when one of these files changes."""
    done: Path | None = None
    """With `inputs`: a file in the folder that the step makes, so that it goes when the folder goes."""
    always: bool = False
    """Even where no input has changed."""


def tool(name: str) -> str:
    """The path of a program."""
    path = shutil.which(name)
    if path is None:
        sys.exit(f"{name} is not installed; on Debian: apt-get install {name}")
    return path
