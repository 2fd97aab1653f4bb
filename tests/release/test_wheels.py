"""The Python packages, built from one machine, installed in clean environments and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import lief
import pytest

from release.conftest import LEGAL, MODEL, ROOT, Release
from release.wheels import PACKAGE, PLATFORMS, installed, run

LIBRARY = re.compile(r"eliza_inference/native/(lib)?elizainference\.(so|dylib|dll)")
RESIDENT_BYTES_MAX = 3_000_000

SMOKE = """
import eliza_inference
from eliza_inference import Constraint, Matcher, TokenTree, Vocabulary
NAMES = {"REPLY": [5, 6], "STOP": [7]}
matcher = Matcher(Constraint(Vocabulary(100), TokenTree.from_names(NAMES, NAMES)))
assert list(matcher.allowed()) == [5, 7], matcher.allowed()
matcher.accept(5)
assert list(matcher.forced()) == [6]
matcher.accept(6)
assert matcher.leaf == "REPLY"
print(eliza_inference.__file__)
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=PACKAGE, check=True)
    (archive,) = folder.iterdir()
    return archive


@pytest.mark.parametrize("target", list(PLATFORMS))
def test_a_wheel_holds_the_library_of_its_platform(wheels: dict[str, Path], release: Release, target: str) -> None:
    wheel = wheels[target]
    tag, machine = PLATFORMS[target]
    assert wheel.name == f"eliza_inference-{version()}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (library,) = filter(LIBRARY.fullmatch, names)
        binary = lief.parse(archive.read(library))
        [shipped] = [file for file in release.libraries().values() if file.target == target]
        assert archive.read(library) == shipped.path.read_bytes(), "its symbols are those of the release"
        assert {name: archive.read(f"eliza_inference/licenses/{name}") for name in LEGAL} == LEGAL
        assert "License-Expression: MIT" in metadata(archive)
        assert not any(name.endswith((".pyc", ".pdb", ".zig")) for name in names)
    assert machine_of(binary) == machine


@pytest.mark.parametrize("target", [target for target in PLATFORMS if "linux-gnu" in target])
def test_auditwheel_finds_nothing_wrong(wheels: dict[str, Path], target: str) -> None:
    command = [sys.executable, "-m", "auditwheel", "show", str(wheels[target])]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    text = " ".join(result.stdout.split())
    assert f'is consistent with the following platform tag: "{PLATFORMS[target][0].split(".")[0]}"' in text, text


@pytest.mark.parametrize("target", [target for target in PLATFORMS if "linux-musl" in target])
def test_a_musl_wheel_needs_musl_alone(wheels: dict[str, Path], target: str) -> None:
    """What auditwheel asks for, which takes the glibc of this machine for a damaged musl."""
    with zipfile.ZipFile(wheels[target]) as archive:
        elf = lief.parse(archive.read("eliza_inference/native/libelizainference.so"))
    assert isinstance(elf, lief.ELF.Binary)
    assert elf.libraries == ["libc.so"]
    assert not list(elf.symbols_version_requirement)


def test_the_wheel_works_in_a_clean_environment(clean_python: Path, tmp_path: Path) -> None:
    location = run(clean_python, SMOKE, tmp_path)
    assert "site-packages" in location and str(ROOT) not in location


def test_the_wheel_answers_with_the_model_that_it_brings(clean_python: Path, llama: Path, tmp_path: Path) -> None:
    code = f"""
from eliza_inference import Model
with Model({str(MODEL)!r}) as model, model.stream() as stream:
    stream.prefill("User: set a timer for ten minutes\\nAction:")
    print(stream.choose(model.token_tree(["REPLY", "SET_TIMER"])))
"""
    assert run(clean_python, code, tmp_path, ELIZA_INFERENCE_LLAMA=str(llama)) == "SET_TIMER"


def test_importing_brings_nothing_that_was_not_asked_for(clean_python: Path, tmp_path: Path) -> None:
    """What an app imports at its start: neither the extras nor the native library's users."""
    code = """
import sys
before = set(sys.modules)
import eliza_inference
extras = {"numpy", "msgpack", "click", "rich", "asyncio", "typing_extensions", "unittest", "http", "ssl"}
print(sorted(extras & {name.partition(".")[0] for name in set(sys.modules) - before}))
"""
    assert run(clean_python, code, tmp_path) == "[]"


def test_loading_takes_little_memory(clean_python: Path, tmp_path: Path) -> None:
    """Of the library alone, by the mappings that opening it adds."""
    code = """
import ctypes, sys
from pathlib import Path
import importlib.util
folder = Path(importlib.util.find_spec("eliza_inference").origin).parent
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = resident()
library = ctypes.CDLL(str(folder / "native" / "libelizainference.so"))
library.eliza_inference_version()
print(resident() - before)
"""
    assert int(run(clean_python, code, tmp_path)) <= RESIDENT_BYTES_MAX


def test_a_source_archive_brings_the_licences(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        folder = sdist.name.removesuffix(".tar.gz")
        for name, text in LEGAL.items():
            file = archive.extractfile(f"{folder}/{name}")
            assert file is not None and file.read() == text


def test_a_source_archive_builds_without_a_network(
    sdist: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """With the build requirements installed: those of this environment."""
    wheelhouse = tmp_path / "built"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "-w", wheelhouse, sdist], check=True)
    (wheel,) = wheelhouse.iterdir()
    assert wheel.name.startswith(f"eliza_inference-{version()}-py3-none-")
    python = installed(tmp_path_factory.mktemp("from-source"), wheel)
    assert "site-packages" in run(python, SMOKE, tmp_path)


def test_an_unknown_target_is_an_error_that_names_those_that_are_known() -> None:
    environment = os.environ | {"ELIZA_INFERENCE_TARGET": "sparc-linux"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    result = subprocess.run(command, cwd=PACKAGE, env=environment, capture_output=True, text=True)
    assert result.returncode != 0
    assert "no native library can be built for sparc-linux; supported: x86_64-linux-gnu.2.17, " in result.stderr


def machine_of(binary: object) -> object:
    if isinstance(binary, lief.ELF.Binary):
        return binary.header.machine_type
    if isinstance(binary, lief.MachO.Binary):
        return binary.header.cpu_type
    assert isinstance(binary, lief.PE.Binary)
    return binary.header.machine


def metadata(wheel: zipfile.ZipFile) -> list[str]:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return wheel.read(name).decode("utf-8").splitlines()


def version() -> str:
    found = re.search(r'\.version = "([^"]+)"', (ROOT / "build.zig.zon").read_text("utf-8"))
    assert found is not None
    return found[1]
