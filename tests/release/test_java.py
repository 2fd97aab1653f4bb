"""The Java API on a desktop JVM, against the real library, libllama and the shipped model."""

from __future__ import annotations

import os
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from examples import expected_output, run
from release.conftest import LEGAL, MODEL, ROOT, Release

JAVA_8_CLASS_VERSION = 52


@pytest.fixture(scope="module")
def jar(release: Release) -> Path:
    return release.folder / "android" / f"elizainference-{release.version}.jar"


def run_java(jar: Path, classes: Path, options: list[str], arguments: list[Path]) -> subprocess.CompletedProcess[str]:
    command = ["java", "-Xcheck:jni", *options, "-cp", f"{jar}:{classes}", "BridgeTest", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def classes(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    source = Path(__file__).parent / "java" / "BridgeTest.java"
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-cp", jar, "-d", folder, source], check=True)
    return folder


def test_the_bridge_works_and_java_finds_nothing_wrong_with_it(
    jar: Path, classes: Path, prefix: Path, llama: Path
) -> None:
    bridge = prefix / "lib" / "libelizainference_jni.so"
    result = run_java(jar, classes, [f"-Deliza.inference.jni={bridge}"], [llama, MODEL])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "java: 28 passed, 0 failed" in result.stdout
    assert "WARNING" not in result.stdout + result.stderr  # of -Xcheck:jni: exceptions not looked at, references kept
    assert "FATAL" not in result.stdout + result.stderr


ROUTER = ROOT / "examples" / "kotlin" / "Router.kt"
ACTIVITY = ROOT / "examples" / "android" / "RouterActivity.kt"


@pytest.fixture(scope="module")
def kotlin(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of the examples in Kotlin, with stand-ins for the few classes of Android that one of them uses: no
    registry has Android's own."""
    compiler = ROOT / "tests" / "kotlin" / "node_modules" / "kotlin-compiler"
    classes, android = tmp_path_factory.mktemp("kotlin"), tmp_path_factory.mktemp("android")
    run("javac", "-Xlint:all", "-Werror", "-d", android, *(Path(__file__).parent / "android").rglob("*.java"))
    needed = os.pathsep.join(map(str, [jar, android]))
    run("bash", compiler / "bin" / "kotlinc", "-Werror", "-cp", needed, ROUTER, ACTIVITY, "-d", classes)
    return os.pathsep.join(map(str, [needed, classes, compiler / "lib" / "kotlin-stdlib.jar"]))


def test_the_example_in_kotlin_prints_what_it_says(kotlin: str, prefix: Path, llama: Path) -> None:
    bridge = prefix / "lib" / "libelizainference_jni.so"
    output = run("java", "-Xcheck:jni", f"-Deliza.inference.jni={bridge}", "-cp", kotlin, "RouterKt", llama, MODEL)
    assert output == expected_output(ROUTER.read_text("utf-8"))


def test_the_android_activity_shows_what_it_says(kotlin: str, prefix: Path, llama: Path, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").symlink_to(MODEL)
    for file in llama.parent.iterdir():
        (tmp_path / ("libllama.so" if file == llama else file.name)).symlink_to(file)
    bridge = prefix / "lib" / "libelizainference_jni.so"
    properties = [f"-Deliza.inference.jni={bridge}", f"-Djava.library.path={tmp_path}", f"-Dfiles={tmp_path}"]
    program = ["android.app.Activity", "eliza.example.RouterActivity"]
    output = run("java", "-Xcheck:jni", *properties, "-cp", kotlin, *program)
    assert output == expected_output(ACTIVITY.read_text("utf-8"))


@pytest.mark.parametrize("case", ["missing", "of another processor"])
def test_a_bridge_that_cannot_be_loaded_is_an_error_that_says_what_to_do(
    jar: Path, classes: Path, release: Release, llama: Path, case: str
) -> None:
    path = release.folder / "android" / "jniLibs" / "arm64-v8a" / "libelizainference_jni.so"
    options = [] if case == "missing" else [f"-Deliza.inference.jni={path}"]
    result = run_java(jar, classes, options, [llama, MODEL])
    assert result.returncode != 0
    assert "eliza.inference.ElizaException: the native library cannot be loaded" in result.stderr
    assert "jniLibs/<abi>/" in result.stderr
    assert "eliza.inference.jni" in result.stderr


def test_the_classes_are_java_8_and_the_same_for_each_build(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
        assert "eliza/inference/Stream.class" in names
        for entry in archive.infolist():
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
            if entry.filename.endswith(".class"):
                magic, _, major = struct.unpack(">IHH", archive.read(entry)[:8])
                assert (magic, major) == (0xCAFEBABE, JAVA_8_CLASS_VERSION), entry.filename


def test_the_classes_bring_the_licences(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        assert {name: archive.read(f"META-INF/{name}") for name in LEGAL} == LEGAL
