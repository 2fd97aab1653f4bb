"""The npm packages, installed in a clean folder and used by bun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from release.conftest import LEGAL, MODEL, ROOT, Release

BINDING = ROOT / "bindings-ts"

SMOKE = """
import { Constraint, Matcher, Vocabulary, buildTokenTreeDescriptor, loadLibrary } from "eliza-inference";
const names = new Map([["REPLY", [5, 6]], ["STOP", [7]]]);
const action = buildTokenTreeDescriptor("action", [...names.keys()], names)!;
const constraint = new Constraint(new Vocabulary(100), { modelId: "", descriptors: [action] });
using matcher = new Matcher(constraint);
matcher.accept(5);
matcher.accept(6);
console.log(matcher.leaf, loadLibrary().path);
"""


@pytest.fixture(scope="module")
def packages(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run(["node", "scripts/package.mjs", release.folder, folder], cwd=BINDING, check=True)
    return folder


@pytest.fixture(scope="module")
def installed(packages: Path, release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the binding and the package of this platform."""
    folder = tmp_path_factory.mktemp("app")
    archives = [f"eliza-inference-{release.version}.tgz", f"eliza-inference-linux-x64-{release.version}.tgz"]
    install(folder, *(packages / name for name in archives))
    return folder


ANDROID = {"arm64-v8a": "arm64", "armeabi-v7a": "arm", "x86_64": "x64"}


def test_there_is_a_package_for_each_library(packages: Path, release: Release) -> None:
    main = description(packages / f"eliza-inference-{release.version}.tgz")
    assert main["version"] == release.version
    for path in release.libraries():
        *_, folder, library = path.split("/")
        platform = f"android-{ANDROID[folder]}" if path.startswith("android/") else folder
        os_name, cpu, *musl = platform.split("-")
        archive = packages / f"eliza-inference-{platform}-{release.version}.tgz"
        package = description(archive)
        assert content(archive, library) == (release.folder / path).read_bytes()
        assert (package["os"], package["cpu"]) == ([os_name], [cpu])
        assert package.get("libc") == ([*musl, "glibc"][:1] if os_name == "linux" else None)
        assert main["optionalDependencies"][package["name"]] == package["version"] == release.version
    assert len(main["optionalDependencies"]) == 11


def test_the_build_of_an_android_app_finds_the_archive_on_any_platform(packages: Path, release: Release) -> None:
    package = packages / f"eliza-inference-android-{release.version}.tgz"
    assert not {"os", "cpu", "libc"} & description(package).keys()
    folder = f"maven/eliza/inference/elizainference/{release.version}"
    for name in (f"elizainference-{release.version}.{ending}" for ending in ("aar", "pom")):
        assert content(package, f"{folder}/{name}") == (release.folder / folder / name).read_bytes()


def test_every_package_brings_the_licences(packages: Path) -> None:
    archives = list(packages.glob("*.tgz"))
    assert len(archives) == 13
    for archive in archives:
        assert {name: content(archive, name) for name in LEGAL} == LEGAL, archive.name
        assert description(archive)["license"] == "MIT", archive.name


def test_the_packages_work_in_a_clean_folder(installed: Path) -> None:
    leaf, path = bun(installed, SMOKE).split()
    assert leaf == "REPLY"
    assert path == str(installed / "node_modules/@eliza-inference/linux-x64/libelizainference.so")


def test_the_packages_answer_with_a_model(installed: Path, llama: Path) -> None:
    code = f"""
import {{ Model }} from "eliza-inference";
using model = new Model({json.dumps(str(MODEL))});
using stream = model.stream();
stream.prefill("User: set a timer for ten minutes\\nAction:");
console.log(stream.choose(model.tokenTree(["REPLY", "SET_TIMER"])));
"""
    assert bun(installed, code, ELIZA_INFERENCE_LLAMA=str(llama)) == "SET_TIMER"


def test_a_missing_platform_package_is_an_error_that_names_it(
    packages: Path, release: Release, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("without")
    install(folder, packages / f"eliza-inference-{release.version}.tgz")
    error = bun_fails(folder, SMOKE)
    assert "install the package @eliza-inference/linux-x64" in error
    assert "ELIZA_INFERENCE_LIBRARY" in error


@pytest.mark.parametrize("case", ["of another processor", "of another platform", "no library"])
def test_a_library_that_cannot_be_loaded_is_an_error_that_says_why(
    installed: Path, release: Release, tmp_path: Path, case: str
) -> None:
    path = tmp_path / "libelizainference.so"
    if case == "of another processor":
        shutil.copy(release.folder / "lib/linux-arm64/libelizainference.so", path)
    elif case == "of another platform":
        shutil.copy(release.folder / "lib/darwin-arm64/libelizainference.dylib", path)
    else:
        path.write_text("not a library")
    error = bun_fails(installed, SMOKE, ELIZA_INFERENCE_LIBRARY=str(path))
    assert str(path) in error
    expected = {
        "of another processor": "it is for Linux arm64, this process is Linux x64: use the file for this platform",
        "of another platform": "it is for macOS arm64",
        "no library": "is not a libelizainference",
    }
    assert expected[case] in error


def test_the_library_of_the_process_is_found_by_its_name(installed: Path, release: Release) -> None:
    """As in an app on Android, which has loaded it before."""
    path = release.folder / "lib" / "linux-x64" / "libelizainference.so"
    code = f"""
import {{ dlopen }} from "bun:ffi";
import {{ loadAospStreamingLlmBinding, loadLibrary }} from "eliza-inference";
dlopen({json.dumps(str(path))}, {{ eliza_inference_version: {{ args: [], returns: "cstring" }} }});
const binding = loadAospStreamingLlmBinding(loadLibrary("libelizainference.so"))!;
console.log(typeof binding.llmStreamSetTokenTrie, typeof binding.llmStreamClearTokenTrie);
"""
    assert bun(installed, code) == "function function"


def install(folder: Path, *archives: Path) -> None:
    (folder / "package.json").write_text('{"name": "app", "private": true, "type": "module"}')
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *map(str, archives)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def description(archive: Path) -> dict[str, Any]:
    return dict(json.loads(content(archive, "package.json")))


def content(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as files:
        file = files.extractfile(f"package/{name}")
        assert file is not None
        return file.read()


def bun(folder: Path, code: str, **variables: str) -> str:
    result = run(folder, code, variables)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def bun_fails(folder: Path, code: str, **variables: str) -> str:
    result = run(folder, code, variables)
    assert result.returncode != 0, result.stdout
    return result.stderr


def run(folder: Path, code: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "test.ts").write_text(code)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ELIZA_")}
    command = ["node", str(BINDING / "scripts" / "bun.mjs"), "test.ts"]
    return subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True)
