"""The machines that a released library runs on here: this one, and others through emulators.

The Android libraries run as they are shipped, their own code and their own relocations; what stands
in for Android's C library is `libc.so` and `libdl.so` with its names and its symbol version, each
function a jump to that of glibc.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import lief

from release.conftest import Release

NATIVE_TESTS = Path(__file__).resolve().parents[1] / "native"
ZIG = [sys.executable, "-m", "ziglang"]
WINE = next((path for path in ("/usr/bin/wine64", "/usr/lib/wine/wine64") if Path(path).exists()), "wine64")
# Without pointer authentication, which costs nothing on a processor, and most of the time here.
QEMU_ARM64 = ["qemu-aarch64-static", "-cpu", "cortex-a72", "-L", "/usr/aarch64-linux-gnu"]
QEMU_ARM = ["qemu-arm-static", "-L", "/usr/arm-linux-gnueabihf"]


@dataclass(frozen=True)
class Machine:
    name: str
    library: str
    """In the release."""
    triple: str
    """Of the programs that load the library."""
    runner: list[str] = field(default_factory=list)
    jump: str = ""
    """Android: the instruction that jumps to a function."""
    assembly_head: str = ""


ANDROID = "android/jniLibs"
MACHINES = [
    Machine("linux-x64", "lib/linux-x64/libelizainference.so", "x86_64-linux-gnu.2.17"),
    Machine("linux-x64-musl", "lib/linux-x64-musl/libelizainference.so", "x86_64-linux-musl"),
    Machine("linux-arm64", "lib/linux-arm64/libelizainference.so", "aarch64-linux-gnu.2.17", QEMU_ARM64),
    Machine("win32-x64", "lib/win32-x64/elizainference.dll", "x86_64-windows-gnu", [WINE]),
    Machine("android-x86_64", f"{ANDROID}/x86_64/libelizainference.so", "x86_64-linux-gnu.2.17", [], "jmp {}@PLT"),
    Machine(
        "android-arm64-v8a", f"{ANDROID}/arm64-v8a/libelizainference.so", "aarch64-linux-gnu.2.17", QEMU_ARM64, "b {}"
    ),
    Machine(
        "android-armeabi-v7a",
        f"{ANDROID}/armeabi-v7a/libelizainference.so",
        "arm-linux-gnueabihf.2.17",
        QEMU_ARM,
        "b {}",
        ".eabi_attribute 28, 1\n",  # or glibc's loader takes it for another calling convention
    ),
]


class Programs:
    """Compiles programs against a released library and runs them on the machine."""

    def __init__(self, machine: Machine, release: Release, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        self.library = release.folder / machine.library
        self.search = [self.library.parent]
        if machine.jump:
            self.search.append(self._forwarders())

    def compile(self, name: str, *sources: Path) -> Path:
        program = self.folder / (f"{name}.exe" if "windows" in self.machine.triple else name)
        include = [f"-I{NATIVE_TESTS}", f"-I{NATIVE_TESTS.parents[1] / 'native' / 'include'}"]
        linked = self.library.with_suffix(".lib") if self.library.suffix == ".dll" else self.library
        command = [*ZIG, "cc", "-target", self.machine.triple, "-O1", "-std=c11", "-w", *include, *map(str, sources)]
        # The musl of Zig is linked into programs unless they ask for the system's.
        command += ["-dynamic"] if "musl" in self.machine.triple else []
        command += ["-Wl,--allow-shlib-undefined"] if self.machine.jump else []
        subprocess.run([*command, str(linked), "-lm", "-lpthread", "-o", str(program)], check=True)
        return program

    def run(self, program: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ELIZA_")}
        command = [*self.machine.runner]
        if self.machine.runner == [WINE]:
            wine = {
                "WINEPREFIX": str(self.folder / "wine"),
                "WINEDEBUG": "-all",
                "WINEPATH": f"Z:{self.library.parent}",
            }
            environment |= wine | variables
        else:
            variables = {"LD_LIBRARY_PATH": ":".join(map(str, self.search)), **variables}
            if command:  # the emulator's own libraries are this machine's
                command += [part for name, value in variables.items() for part in ("-E", f"{name}={value}")]
            else:
                environment |= variables
        command += [str(program), *arguments]
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True)

    def _forwarders(self) -> Path:
        """Android's C library: each name that the library imports, as a jump to glibc."""
        folder = self.folder / "bionic"
        folder.mkdir()
        elf = lief.ELF.parse(self.library)
        assert elf is not None
        text = self.machine.assembly_head + ".text\n"
        for name in sorted({str(symbol.name) for symbol in elf.imported_symbols if symbol.name}):
            target = {"__errno": "__errno_location"}.get(name, name)
            text += f".globl to_{name}\n.type to_{name}, STT_FUNC\nto_{name}: {self.machine.jump.format(target)}\n"
            text += f".symver to_{name}, {name}@LIBC\n"
        (folder / "forward.s").write_text(text)
        (folder / "version.map").write_text("LIBC {};\n")
        for name in ("libc.so", "libdl.so"):
            options = [f"-Wl,-soname,{name}", f"-Wl,--version-script={folder / 'version.map'}"]
            command = [
                *ZIG,
                "cc",
                "-target",
                self.machine.triple,
                "-shared",
                "-fPIC",
                str(folder / "forward.s"),
                *options,
            ]
            subprocess.run([*command, "-o", str(folder / name)], check=True)
        return folder
