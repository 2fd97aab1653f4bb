"""The TypeScript package in Node.js with koffi, on the native library: its own tests, and as it is installed."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from web.conftest import BINDING, BUN, ROOT, TOOLS, environment

# What needs bun itself: bun:ffi, bun as a child or a worker that runs TypeScript, a server.
BOUND_TO_BUN = {"examples", "host-loader", "library", "readme", "tokenizer-client", "workers"}

MACHINE = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
NODES = {"installed": "node", "newest": str(TOOLS / f"node-linux-{MACHINE}" / "bin" / "node")}

LOADS = """
import { hasSymbols, loadLibrary } from "eliza-inference";
const library = loadLibrary();
console.log(JSON.stringify([library.path, hasSymbols(library, "eliza_inference_create")]));
"""


@pytest.fixture(scope="module")
def library() -> Path:
    return Path(os.environ["ELIZA_INFERENCE_LIBRARY"])


@pytest.fixture(scope="module")
def programs() -> list[str]:
    """The tests of bindings-ts as programs for Node.js, in a folder from where they find the files of this one."""
    files = [path for path in sorted((BINDING / "test").glob("*.test.ts")) if path.stem[:-5] not in BOUND_TO_BUN]
    output = ROOT / "build" / "node-tests"
    shutil.rmtree(output, ignore_errors=True)
    script = Path(__file__).parent / "bundle-tests.mjs"
    subprocess.run([*BUN, script, output, *files], check=True)
    return [str(output / f"{path.stem}.mjs") for path in files]


@pytest.mark.parametrize("node", NODES)
def test_the_tests_of_the_binding_pass(node: str, programs: list[str]) -> None:
    variables = {**os.environ, "NODE_PATH": str(BINDING / "node_modules")}
    command = [NODES[node], "--expose-gc", "--test", "--test-reporter=tap", *programs]
    result = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert result.returncode == 0, "\n".join(re.findall(r"not ok .*\n(?:.*\n){20}", result.stdout))
    counts = dict(re.findall(r"^# (\w+) (\d+)$", result.stdout, re.MULTILINE))
    assert int(counts["pass"]) > 2000
    assert [counts[name] for name in ("fail", "skipped", "todo")] == ["0", "0", "0"]


@pytest.fixture
def native_app(installed: Path, library: Path, tmp_path: Path) -> Path:
    """A program that has koffi installed, and the package with the library of this platform."""
    folder = tmp_path / "app"
    shutil.copytree(installed, folder)
    for name in ("koffi", "@koromix"):
        (folder / "node_modules" / name).symlink_to(BINDING / "node_modules" / name)
    package = folder / "node_modules" / "@eliza-inference" / f"linux-{MACHINE}"
    package.mkdir(parents=True)
    shutil.copy(library, package)
    (folder / "loads.mjs").write_text(LOADS, encoding="utf-8")
    return folder


def test_koffi_makes_the_library_native(native_app: Path) -> None:
    packaged = native_app / "node_modules" / "@eliza-inference" / f"linux-{MACHINE}" / "libelizainference.so"
    assert loaded(native_app) == [str(packaged), True]
    (native_app / "node_modules" / "koffi").unlink()
    module = native_app / "node_modules" / "eliza-inference" / "dist" / "elizainference.wasm"
    assert loaded(native_app) == [str(module), False]


def test_the_variable_chooses_the_library(native_app: Path, library: Path) -> None:
    assert loaded(native_app, ELIZA_INFERENCE_LIBRARY=str(library)) == [str(library), True]
    module = native_app / "node_modules" / "eliza-inference" / "dist" / "elizainference.wasm"
    assert loaded(native_app, ELIZA_INFERENCE_LIBRARY=str(module)) == [str(module), False]


def test_without_koffi_a_native_library_is_refused_with_what_to_do(installed: Path, library: Path) -> None:
    # Node.js quotes the whole line of a bundle before a message that nobody catches, and may not write all of it.
    call = (
        f"try {{ loadLibrary({json.dumps(str(library))}) }} catch (error) {{ console.error(error.message); throw 1 }}"
    )
    code = f'import {{ loadLibrary }} from "eliza-inference"; {call}'
    result = run(installed, "--input-type=module", "--eval", code)
    assert result.returncode != 0
    assert "the package koffi (3.x) must be installed" in result.stderr


def test_the_example_runs_a_model(native_app: Path) -> None:
    shutil.copy(ROOT / "examples" / "node" / "router.mjs", native_app)
    (native_app / "tests").symlink_to(ROOT / "tests")
    result = run(native_app, "router.mjs", ELIZA_INFERENCE_LLAMA=os.environ["ELIZA_INFERENCE_LLAMA"])
    assert (result.stdout, result.stderr) == ("SET_TIMER\n", "")


@pytest.fixture(scope="module")
def from_a_checkout(module: Path, library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder in which the packages that docs/install.md makes of a checkout were installed, and koffi."""
    build = tmp_path_factory.mktemp("zig-out")
    shutil.copytree(module.parent, build / "wasm")
    (build / "lib").mkdir()
    shutil.copy(library, build / "lib" / "libelizainference.so")
    packages = tmp_path_factory.mktemp("npm")
    subprocess.run(["node", "scripts/package.mjs", build, packages], cwd=BINDING, check=True)
    folder = tmp_path_factory.mktemp("empty")
    archives = sorted(map(str, packages.glob("*.tgz")))
    assert len(archives) == 2
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", *archives]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)
    for name in ("koffi", "@koromix"):
        (folder / "node_modules" / name).symlink_to(BINDING / "node_modules" / name)
    return folder


def test_packages_of_a_checkout_run_natively_in_an_empty_folder(from_a_checkout: Path) -> None:
    (from_a_checkout / "loads.mjs").write_text(LOADS, encoding="utf-8")
    packaged = from_a_checkout / "node_modules" / "@eliza-inference" / f"linux-{MACHINE}" / "libelizainference.so"
    assert loaded(from_a_checkout) == [str(packaged), True]


def test_an_error_that_nobody_catches_shows_the_line_that_threw_it(from_a_checkout: Path) -> None:
    code = 'import { Vocabulary } from "eliza-inference"; new Vocabulary(0);'
    result = run(from_a_checkout, "--input-type=module", "--eval", code)
    assert "config.n_tokens is less than 1" in result.stderr and len(result.stderr) < 5000
    mapped = run(from_a_checkout, "--enable-source-maps", "--input-type=module", "--eval", code)
    assert "node_modules/eliza-inference/src/vocabulary.ts:" in mapped.stderr


def loaded(folder: Path, **variables: str) -> list[object]:
    result = run(folder, "loads.mjs", **variables)
    assert result.returncode == 0, result.stderr
    found: list[object] = json.loads(result.stdout)
    return found


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *words], cwd=folder, env=environment() | variables, capture_output=True, text=True)
