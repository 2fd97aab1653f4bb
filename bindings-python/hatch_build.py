"""Builds the native library and the cffi declarations into the wheel, tagged py3-none-<platform>.

The wheel is for this machine, or for the one of TARGETS that ELIZA_INFERENCE_TARGET names.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGE = "eliza_inference"

# Zig target -> (wheel tag, file that the build installs). The oldest system that a wheel runs on
# is decided here and nowhere else.
TARGETS = {
    "x86_64-linux-gnu.2.17": ("manylinux_2_17_x86_64.manylinux2014_x86_64", "lib/libelizainference.so"),
    "aarch64-linux-gnu.2.17": ("manylinux_2_17_aarch64.manylinux2014_aarch64", "lib/libelizainference.so"),
    "x86_64-linux-musl": ("musllinux_1_2_x86_64", "lib/libelizainference.so"),
    "aarch64-linux-musl": ("musllinux_1_2_aarch64", "lib/libelizainference.so"),
    "x86_64-macos.11.0": ("macosx_11_0_x86_64", "lib/libelizainference.dylib"),
    "aarch64-macos.11.0": ("macosx_11_0_arm64", "lib/libelizainference.dylib"),
    "x86_64-windows-gnu": ("win_amd64", "bin/elizainference.dll"),
    "aarch64-windows-gnu": ("win_arm64", "bin/elizainference.dll"),
}

# What the demo runs on, from the tests' model.
DEMO_DATA = ("eliza-router.gguf", "actions.txt", "heldout.tsv")


# What a source archive takes from the folder above this one.
SOURCES = ("build.zig", "build.zig.zon", "native", *(f"tests/models/{name}" for name in DEMO_DATA))
LEGAL = ("LICENSE", "THIRD_PARTY.md")


def project_folder(here: Path) -> Path:
    """The native sources lie beside this folder in the repository, and inside it in a source archive."""
    return here if (here / "build.zig.zon").is_file() else here.parent


class VersionHook(MetadataHookInterface):
    """The one version number is that of the native library."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (project_folder(Path(self.root)) / "build.zig.zon").read_text(encoding="utf-8")
        found = re.search(r'\.version = "([^"]+)"', text)
        if found is None:
            raise RuntimeError("build.zig.zon names no version")
        metadata["version"] = found[1]


def host_target() -> str:
    """The Zig target of the machine that builds."""
    machine = platform.machine().lower()
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if sys.platform == "linux":
        return f"{arch}-linux-" + ("gnu.2.17" if platform.libc_ver()[0] == "glibc" else "musl")
    return {"darwin": f"{arch}-macos.11.0", "win32": f"{arch}-windows-gnu"}.get(sys.platform, sys.platform)


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles with the `ziglang` wheel: no compiler is needed on the machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds what the build makes to the wheel, or to the source folder for an editable install."""
        here = Path(self.root)
        project = project_folder(here)
        if self.target_name == "sdist":
            build_data["force_include"] |= {str(project / name): name for name in (*SOURCES, *LEGAL)}
            return
        target = os.environ.get("ELIZA_INFERENCE_TARGET") or host_target()
        if target not in TARGETS:
            raise RuntimeError(f"no native library can be built for {target}; supported: {', '.join(TARGETS)}")
        tag, installed = TARGETS[target]
        prefix = here / "build" / target

        self._run("-m", "ziglang", "build", "-Doptimize=fast", f"-Dtarget={target}", "--prefix", prefix, cwd=project)
        manifest = project / "native" / "abi" / "manifest.json"
        self._run(here / "declarations.py", manifest, prefix / "_abi.py", cwd=here)

        library = prefix / installed
        contents = {library.resolve(): f"native/{library.name}", prefix / "_abi.py": "_abi.py"}
        contents |= {project / "tests" / "models" / name: f"data/{name}" for name in DEMO_DATA}
        grammars = sorted((project / "native" / "grammars").glob("*.lark"))
        contents |= {grammar: f"data/grammars/{grammar.name}" for grammar in grammars}
        templates = project / "native" / "templates" / "tool_calls.json"
        contents |= {templates: f"data/templates/{templates.name}"}
        contents |= {project / name: f"licenses/{name}" for name in LEGAL}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        for source, name in contents.items():
            if version == "editable":
                destination = here / "src" / PACKAGE / name
                destination.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, destination)
            else:
                build_data["force_include"][str(source)] = f"{PACKAGE}/{name}"

    def _run(self, *arguments: str | Path, cwd: Path) -> None:
        command = [sys.executable, *map(str, arguments)]
        self.app.display_info(" ".join(command))
        subprocess.run(command, cwd=cwd, check=True)
