"""Building the Python package for a platform, installing and using it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import lief

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings-python"

# Zig target -> what the wheel's name ends with, and the processor of the library.
PLATFORMS = {
    "x86_64-linux-gnu.2.17": ("manylinux_2_17_x86_64.manylinux2014_x86_64", lief.ELF.ARCH.X86_64),
    "aarch64-linux-gnu.2.17": ("manylinux_2_17_aarch64.manylinux2014_aarch64", lief.ELF.ARCH.AARCH64),
    "x86_64-linux-musl": ("musllinux_1_2_x86_64", lief.ELF.ARCH.X86_64),
    "aarch64-linux-musl": ("musllinux_1_2_aarch64", lief.ELF.ARCH.AARCH64),
    "x86_64-macos.11.0": ("macosx_11_0_x86_64", lief.MachO.Header.CPU_TYPE.X86_64),
    "aarch64-macos.11.0": ("macosx_11_0_arm64", lief.MachO.Header.CPU_TYPE.ARM64),
    "x86_64-windows-gnu": ("win_amd64", lief.PE.Header.MACHINE_TYPES.AMD64),
    "aarch64-windows-gnu": ("win_arm64", lief.PE.Header.MACHINE_TYPES.ARM64),
}
HERE = "x86_64-linux-gnu.2.17"


def build_wheel(target: str, folder: Path) -> Path:
    environment = os.environ | {"ELIZA_INFERENCE_TARGET": target}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=PACKAGE, env=environment, check=True)
    (wheel,) = folder.iterdir()
    return wheel


def installed(folder: Path, wheel: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, str(wheel)], check=True)
    return python


def run(python: Path, code: str, folder: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ELIZA_", "PYTHON"))}
    command = [str(python), "-c", code]
    result = subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
