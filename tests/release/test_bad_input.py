"""Files that cannot be used: each is an error that says what is wrong and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from release.conftest import ROOT, Release
from release.wheels import run

LIBRARY_ERROR = """
from eliza_inference import LibraryError, library_version
try:
    print("loaded", library_version())
except LibraryError as error:
    print(error)
"""

LLAMA_ERROR = """
import sys
from eliza_inference import ElizaError, load_llama
try:
    print("loaded", load_llama(sys.argv[1] if len(sys.argv) > 1 else None))
except ElizaError as error:
    print(error)
"""

UNKNOWN_LAYOUT = """
#include <string.h>
struct params {{ char bytes[{size}]; }};
{functions}
"""


@pytest.mark.parametrize(
    ("library", "told"),
    [
        (
            "lib/linux-arm64/libelizainference.so",
            "it is for Linux arm64, this process is Linux x86_64: install the package",
        ),
        ("lib/darwin-x64/libelizainference.dylib", "it is for macOS x86_64, this process is Linux x86_64"),
        ("lib/win32-x64/elizainference.dll", "it is for Windows x86_64, this process is Linux x86_64"),
        ("nothing.so", "install the package again, or set ELIZA_INFERENCE_LIBRARY"),
    ],
    ids=["another processor", "macOS", "Windows", "missing"],
)
def test_a_library_for_elsewhere(clean_python: Path, release: Release, tmp_path: Path, library: str, told: str) -> None:
    path = release.folder / library
    message = run(clean_python, LIBRARY_ERROR, tmp_path, ELIZA_INFERENCE_LIBRARY=str(path))
    assert message.startswith(f"{path}: not a usable libelizainference: ")
    assert told in message


def test_an_older_library_serves_what_it_has(clean_python: Path, release: Release, tmp_path: Path) -> None:
    path = tmp_path / "libelizainference.so"
    path.write_bytes(without(release.folder / "lib/linux-x64/libelizainference.so", b"eliza_inference_matcher_forced"))
    code = """
from eliza_inference import Constraint, LibraryError, Matcher, TokenTree, Vocabulary
matcher = Matcher(Constraint(Vocabulary(9), TokenTree.from_names(["A"], {"A": [3, 4]})))
print(list(matcher.allowed()))
try:
    matcher.forced()
except LibraryError as error:
    print(error)
"""
    output = run(clean_python, code, tmp_path, ELIZA_INFERENCE_LIBRARY=str(path))
    assert output == f"[3]\n{path}: this build has no function eliza_inference_matcher_forced"


def test_a_library_that_may_not_be_executed(clean_python: Path, release: Release, tmp_path: Path) -> None:
    """In a file system of its own that is mounted noexec."""
    folder = tmp_path / "noexec"
    folder.mkdir()
    script = f"""
mount -t tmpfs -o noexec none {folder} || exit 99
cp {release.folder}/lib/linux-x64/libelizainference.so {folder}/
exec {clean_python} -c '{LIBRARY_ERROR}'
"""
    environment = os.environ | {"ELIZA_INFERENCE_LIBRARY": str(folder / "libelizainference.so")}
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=environment, capture_output=True, text=True)
    if result.returncode == 99 or "unshare" in result.stderr:
        pytest.skip("this machine lets nobody mount")
    assert "not mounted noexec" in result.stdout, result.stdout + result.stderr
    assert str(folder) in result.stdout


def test_no_libllama(clean_python: Path, tmp_path: Path) -> None:
    message = run(clean_python, LLAMA_ERROR, tmp_path)
    assert "libllama" in message and "ELIZA_INFERENCE_LLAMA" in message
    assert not message.startswith("loaded")


def test_a_libllama_for_another_processor(clean_python: Path, tmp_path: Path) -> None:
    package = ROOT / "tests" / "llama" / "node_modules" / "@node-llama-cpp" / "linux-arm64"
    path = next(package.glob("bins/*/libllama.*so*"))
    message = run(clean_python, LLAMA_ERROR, tmp_path, ELIZA_INFERENCE_LLAMA=str(path))
    assert f"{path} cannot be loaded: " in message
    assert "it is for another processor or system: install the one for linux x86_64" in message


def test_a_libllama_that_lacks_functions(clean_python: Path, tmp_path: Path) -> None:
    path = compile_libllama(tmp_path, "int llama_model_load_from_file(void) { return 0; }")
    message = run(clean_python, LLAMA_ERROR, tmp_path, ELIZA_INFERENCE_LLAMA=str(path))
    assert f"{path} has no function " in message
    assert "supported are llama.cpp b7347, " in message


def test_a_libllama_of_another_version(clean_python: Path, llama: Path, tmp_path: Path) -> None:
    """Every function is there, and the parameters have another size than in any known version."""
    names = sorted(llama_functions())
    functions = [f"int {name}(void) {{ return 0; }}" for name in names if not name.endswith("_default_params")]
    defaults = [name for name in names if name.endswith("_default_params")]
    functions += [
        f"struct params {name}(void) {{ struct params p; memset(&p, 7, sizeof p); return p; }}" for name in defaults
    ]
    functions += ['const char *llama_version(void) { return "99.0"; }'] if "llama_version" not in names else []
    source = UNKNOWN_LAYOUT.format(size=448, functions="\n".join(functions))
    source = source.replace(
        "int llama_version(void) { return 0; }", 'const char *llama_version(void) { return "99.0"; }'
    )
    path = compile_libllama(tmp_path, source)
    message = run(clean_python, LLAMA_ERROR, tmp_path, ELIZA_INFERENCE_LLAMA=str(path))
    assert f"{path} (version 99.0) has a struct layout that is not known" in message
    assert "supported are llama.cpp b7347, " in message


def without(library: Path, name: bytes) -> bytes:
    """The library as if it did not export the function: another name at its place in the string table."""
    content = library.read_bytes()
    at = content.index(b"\0" + name + b"\0") + 1
    return content[:at] + b"x" * len(name) + content[at + len(name) :]


def llama_functions() -> set[str]:
    """The fields of the table that the library fills from libllama."""
    import re

    text = (ROOT / "native" / "src" / "shell" / "llama" / "api.zig").read_text("utf-8")
    return set(re.findall(r"^\s+(llama_\w+|ggml_\w+): (?!\?)", text, re.MULTILINE))


def compile_libllama(folder: Path, source: str) -> Path:
    file = folder / "llama.c"
    file.write_text(source)
    path = folder / "libllama.so"
    command = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-w", str(file), "-o", str(path)]
    subprocess.run(command, check=True)
    return path
