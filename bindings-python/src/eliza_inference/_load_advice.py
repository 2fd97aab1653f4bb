"""What to do about a library that cannot be loaded: the system's message rarely says it."""

from __future__ import annotations

import platform
import re
import struct
import sys
from pathlib import Path

_ELF_MACHINES = {3: "x86", 40: "arm", 62: "x86_64", 183: "arm64"}
_MACHO_PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_PE_MACHINES = {0x8664: "x86_64", 0xAA64: "arm64"}

_NOT_EXECUTABLE = re.compile(
    "failed to map segment|operation not permitted|code signature|not valid for use in process", re.IGNORECASE
)


def load_advice(path: Path, message: str) -> str:
    """A remark for the end of the error message; "" if there is nothing to say."""
    found, here = _platform_of(path), _this_platform()
    if found is not None and found != here:
        return f" (it is for {found}, this process is {here}: install the package for this platform)"
    if _NOT_EXECUTABLE.search(message):
        return (
            " (the system does not let this process execute it: put it in a folder that is not mounted noexec,"
            " and allow the process to map executable pages)"
        )
    if not path.exists():
        return " (install the package again, or set ELIZA_INFERENCE_LIBRARY to the path of the library)"
    return ""


def _this_platform() -> str:
    system = {"win32": "Windows", "darwin": "macOS"}.get(sys.platform, "Linux")
    machine = platform.machine().lower()
    processor = {"amd64": "x86_64", "aarch64": "arm64", "i386": "x86", "i686": "x86"}.get(machine, machine)
    if processor.startswith("arm") and processor != "arm64":
        processor = "arm"
    if processor == "x86_64" and struct.calcsize("P") == 4:
        processor = "x86"
    return f"{system} {processor}"


def _platform_of(path: Path) -> str | None:
    """ "Linux arm64" and the like, from the start of the file; None if it cannot be told."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return None
    if len(start) < 64:
        return None
    if start[:4] == b"\x7fELF":
        return _named("Linux", _ELF_MACHINES, struct.unpack_from("<H", start, 18)[0])
    if start[:4] == b"\xcf\xfa\xed\xfe":
        return _named("macOS", _MACHO_PROCESSORS, struct.unpack_from("<I", start, 4)[0])
    if start[:2] == b"MZ":
        header = struct.unpack_from("<I", start, 60)[0]
        if header + 6 <= len(start):
            return _named("Windows", _PE_MACHINES, struct.unpack_from("<H", start, header + 4)[0])
    return None


def _named(system: str, processors: dict[int, str], value: int) -> str:
    return f"{system} {processors.get(value, 'of another processor')}"
