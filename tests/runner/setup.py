"""What must be installed before anything runs. A part that is there and unchanged is ignored."""

import os
import platform
import shutil
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from runner.step import PYTHON, ROOT, TESTS, VENV, Step

DEMO = ("python", "libllama", "package")
ALL = (
    *DEMO,
    *(
        "typescript",
        "suites",
        "transformers",
        "hosts",
        "web",
        "site",
        "docs",
        "valgrind",
        "fuzz",
        "kotlin",
        "rust",
        "release",
    ),
)

BINDING = ROOT / "bindings-python"
PIP = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install"]

# What the installed package holds beside the Python files, which are used where they lie, and the native library.
PACKAGE_FILES = (
    *(BINDING / name for name in ("pyproject.toml", "hatch_build.py", "declarations.py")),
    *(ROOT / name for name in ("build.zig.zon", "native/abi/manifest.json", "LICENSE", "THIRD_PARTY.md")),
    *sorted((ROOT / "native" / "grammars").glob("*.lark")),
    ROOT / "native" / "templates" / "tool_calls.json",
)

# Debian's package -> programs and files that show that it is there.
VALGRIND_PACKAGES = {"valgrind": ["valgrind"]}
FUZZ_PACKAGES = {"clang": ["clang"], "libclang-rt-dev": ["/usr/share/doc/libclang-rt-dev"]}
WEB_PACKAGES = {"chromium": ["chromium"], "firefox-esr": ["firefox-esr"]}
RUST_PACKAGES = {"cargo": ["cargo"], "rustc": ["rustc"], "gcc": ["cc"]}
RELEASE_PACKAGES = {
    "cmake": ["cmake"],
    "gcc": ["cc"],
    "make": ["make"],
    "pkg-config": ["pkg-config"],
    "default-jdk-headless": ["javac", "java"],
    "qemu-user-static": ["qemu-aarch64-static", "qemu-arm-static"],
    "libc6-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libc.so.6"],
    "libstdc++6-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libstdc++.so.6"],
    "libgomp1-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libgomp.so.1"],
    "libc6-armhf-cross": ["/usr/arm-linux-gnueabihf/lib/libc.so.6"],
    "musl": ["/lib/ld-musl-x86_64.so.1"],
    "wine64": ["/usr/lib/wine/wine64"],
    "llvm": ["dsymutil", "llvm-symbolizer", "llvm-pdbutil"],
    "gdb": ["gdb"],
}


def setup_steps(needs: Collection[str], native_too: bool = False) -> list[Step]:
    """The parts of ALL that are needed; with `native_too` the package's native library is made again if its sources
    changed, which takes asking Zig."""
    requirements = TESTS / "requirements.txt"
    parts = {
        "python": Step(
            "Python packages",
            [[sys.executable, "-m", "venv", "--clear", str(VENV)], [*PIP, "--no-deps", "-r", str(requirements)]],
            inputs=(requirements,),
            done=VENV / ".installed",
        ),
        "libllama": _npm_packages("libllama", TESTS / "llama", [sys.executable, "locate.py"]),
        # Editable, so that a change of a Python file needs nothing. What it builds and runs with is there already.
        "package": Step(
            "package and native library",
            [[*PIP, "--no-build-isolation", "--no-deps", "--editable", str(BINDING)]],
            inputs=PACKAGE_FILES,
            done=VENV / ".package",
            always=native_too,
        ),
        "typescript": _npm_packages("TypeScript packages", ROOT / "bindings-ts"),
        "suites": _suites(TESTS / "suites"),
        "hosts": _target(
            "SGLang and vLLM", TESTS / "hosts" / "requirements.txt", ROOT / "build" / "hosts", "--no-compile"
        ),
        "llama-cpp-python": _llama_cpp_python(
            TESTS / "llama_cpp_python" / "requirements.txt", ROOT / "build" / "llama-cpp-python"
        ),
        "kotlin": _npm_packages("Kotlin", TESTS / "kotlin"),
        "web": _npm_packages("Web packages", TESTS / "web"),
        "site": _npm_packages("Packages of the page", ROOT / "site"),
        "docs": _target("MkDocs", ROOT / "site" / "docs" / "requirements.txt", ROOT / "build" / "mkdocs"),
        # Torch alone is ten times as large as all that is installed anyway.
        "transformers": _target(
            "transformers, torch, Outlines",
            TESTS / "transformers" / "requirements.txt",
            ROOT / "build" / "transformers",
        ),
    }
    system = _system_packages(needs)
    return [*(step for name, step in parts.items() if name in needs), *([system] if system else [])]


def native_library(mode: str) -> tuple[Step, Path]:
    """Builds the library for the tests of one step, and says where it is then."""
    prefix = ROOT / "build" / mode
    build = [PYTHON, "-m", "ziglang", "build", f"-Doptimize={mode}", "--prefix", str(prefix)]
    files = {"win32": "bin/elizainference.dll", "darwin": "lib/libelizainference.dylib"}
    return Step("native library", [build]), prefix / files.get(sys.platform, "lib/libelizainference.so")


def has_valgrind_tests() -> bool:
    return sys.platform == "linux"


def has_fuzz_tests() -> bool:
    """The library is instrumented for one kind of machine."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def has_web_tests() -> bool:
    """The browsers come from Debian."""
    return sys.platform == "linux"


def has_rust_tests() -> bool:
    """The compiler comes from Debian, unless there is one."""
    return sys.platform == "linux"


def has_release_tests() -> bool:
    """A release is built and emulated on one kind of machine."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _npm_packages(name: str, folder: Path, *checks: list[str]) -> Step:
    return Step(
        name,
        [["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], *checks],
        folder=folder,
        inputs=(folder / "package-lock.json",),
        done=folder / "node_modules" / ".installed",
    )


def _suites(folder: Path) -> Step:
    """From npm, and one that lies in the sources of a Python package."""
    requirements = folder / "requirements.txt"
    sources = ["download", "--no-deps", "--no-binary", "jsonschema", "--dest", "sources", "-r", str(requirements)]
    packages = _npm_packages("Test suites", folder)
    return replace(
        packages, commands=[*packages.commands, [*PIP[:-1], *sources]], inputs=(*packages.inputs, requirements)
    )


def _target(name: str, requirements: Path, folder: Path, *options: str) -> Step:
    """Packages in a folder of their own, beside what is installed anyway."""
    install = [*PIP, "--no-deps", "--upgrade", "--target", str(folder), *options, "-r", str(requirements)]
    return Step(name, [install], inputs=(requirements,), done=folder / ".installed")


LLAMA_CPP_PYTHON = "llama-cpp-python==0.3.36"
# For any machine, and quick to compile: it is to be right, not fast.
LLAMA_CPP_OPTIONS = ["GGML_NATIVE=OFF", "GGML_OPENMP=OFF", "LLAVA_BUILD=OFF", "CMAKE_CXX_FLAGS_RELEASE=-O0"]


def _llama_cpp_python(requirements: Path, folder: Path) -> Step:
    """From its sources, which are all that there is of it: they build a libllama of their own."""
    install = [*PIP, "--no-deps", "--upgrade", "--target", str(folder)]
    options = " ".join(f"-D{option}" for option in LLAMA_CPP_OPTIONS)
    build = ["env", f"PYTHONPATH={folder}", f"CMAKE_ARGS={options}", *install, "--no-build-isolation", LLAMA_CPP_PYTHON]
    commands = [[*install, "-r", str(requirements)], build]
    return Step("llama-cpp-python", commands, inputs=(requirements, Path(__file__)), done=folder / ".installed")


def _system_packages(needs: Collection[str]) -> Step | None:
    """What the tests use and this machine lacks."""
    wanted: dict[str, list[str]] = {}
    if "valgrind" in needs and has_valgrind_tests():
        wanted |= VALGRIND_PACKAGES
    if "fuzz" in needs and has_fuzz_tests():
        wanted |= FUZZ_PACKAGES
    if "web" in needs and has_web_tests():
        wanted |= WEB_PACKAGES
    if "rust" in needs and has_rust_tests():
        wanted |= RUST_PACKAGES
    if "release" in needs and has_release_tests():
        wanted |= RELEASE_PACKAGES
    missing = [package for package, files in wanted.items() if not all(map(_is_there, files))]
    if not missing:
        return None
    if os.geteuid() != 0:
        sys.exit(f"some tools are not installed; on Debian: apt-get install {' '.join(missing)}")
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    return Step("System packages", [["apt-get", "update"], install])


def _is_there(file: str) -> bool:
    return shutil.which(file) is not None or Path(file).exists()
