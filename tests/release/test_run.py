"""The released libraries, run: every conformance case, and a model where there is a libllama."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from release.conftest import MODEL, ROOT, Release
from release.machines import MACHINES, NATIVE_TESTS, Machine, Programs

MADE_UP_ANSWER = "SEND_MAIL after 1 pass\n"


@pytest.fixture(scope="module", params=MACHINES, ids=lambda machine: machine.name)
def programs(request: pytest.FixtureRequest, release: Release, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    machine: Machine = request.param
    return Programs(machine, release, tmp_path_factory.mktemp(machine.name))


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("cases") / "cases.c"
    subprocess.run([sys.executable, NATIVE_TESTS / "generate.py", output], check=True)
    return output


def test_the_example_of_the_readme(programs: Programs) -> None:
    result = programs.run(programs.compile("example", ROOT / "examples" / "c" / "router.c"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.replace("\r", "") == MADE_UP_ANSWER


def test_every_conformance_case(programs: Programs, cases: Path) -> None:
    result = programs.run(programs.compile("conformance", NATIVE_TESTS / "conformance.c", cases))
    assert result.returncode == 0, result.stderr
    passed = re.search(r"conformance: (\d+) checks passed, 0 failed", result.stdout)
    assert passed is not None and int(passed[1]) > 15000, result.stdout


def test_paths_may_have_any_characters(programs: Programs) -> None:
    """On Windows, too, whatever its code page: files, and the path of libllama in the environment."""
    folder = programs.folder / "Łódź 東京"
    folder.mkdir()
    other = folder / programs.library.name
    other.symlink_to(programs.library)
    path = f"Z:{other}" if other.suffix == ".dll" else str(other)
    program = programs.compile("paths", Path(__file__).parent / "paths.c")
    result = programs.run(program, ELIZA_INFERENCE_LLAMA=path, LC_ALL="C.UTF-8")
    assert result.returncode == 0, result.stdout + result.stderr
    if programs.machine.name != "android-armeabi-v7a":  # with 32 bits there is no libllama at all
        assert f"{path} is not libllama: it has no llama_model_load_from_file" in result.stdout
    assert (programs.folder / "vocabulary Łódź 東.bin").is_file()


def test_the_recognizers_at_the_c_boundary(programs: Programs) -> None:
    result = programs.run(programs.compile("recognizer_test", NATIVE_TESTS / "recognizer_test.c"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r", 0 failed", result.stdout), result.stdout


def test_without_libllama_every_function_returns(programs: Programs) -> None:
    result = programs.run(programs.compile("abi_test", NATIVE_TESTS / "abi_test.c"))
    if programs.machine.name == "android-armeabi-v7a":
        # With 32 bits every libllama is refused, whatever its path: one check expects a complaint about a path.
        assert re.search(r"abi without a model: \d+ checks passed, 1 failed", result.stdout), result.stdout
        assert "is -6, expected -2" in result.stderr
        return
    assert result.returncode == 0, result.stdout + result.stderr


# There is a libllama for glibc on both processors, and the Android libraries run beside it.
WITH_LIBLLAMA = [machine for machine in MACHINES if re.match(r"(x86_64|aarch64)-linux-gnu", machine.triple)]


@pytest.mark.parametrize("programs", WITH_LIBLLAMA, ids=lambda machine: machine.name, indirect=True)
def test_a_model_answers_with_libllama(programs: Programs) -> None:
    """The functions of the stream, with the libllama for the same processor."""
    processor = "arm64" if programs.machine.triple.startswith("aarch64") else "x64"
    package = ROOT / "tests" / "llama" / "node_modules" / "@node-llama-cpp" / f"linux-{processor}"
    libllama = next(package.glob("bins/*/libllama.*so*"))
    program = programs.compile("abi_test", NATIVE_TESTS / "abi_test.c")
    paths = ":".join(map(str, [*programs.search, libllama.parent]))
    result = programs.run(program, str(MODEL), ELIZA_INFERENCE_LLAMA=str(libllama), LD_LIBRARY_PATH=paths)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"abi: \d+ checks passed, 0 failed", result.stdout), result.stdout
