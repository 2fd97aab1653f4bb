"""The tests that a mutant meets: which of them come by which mutant, and running those, the quickest first."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from chosen_tests import CHOSEN_VARIABLE, RECORD_VARIABLE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "mutation"
TREE = WORK / "tree"
REACHED = WORK / "reached"
REACHED_BYTES = 1 << 16
"""As `switch.zig` has it."""
LOG = WORK / "tests.log"
NAMED = re.compile(r"^(?:failed: |FAILED |ERROR )(\S.*?)(?: - .*)?$", re.MULTILINE)
"""Tests that fail, as Zig's programs and pytest say it."""
ZIG = [sys.executable, "-m", "ziglang"]

RUNGS = ("zig", "c", "python")
ZIG_PROGRAMS = ("message", "engine", "shell", "conformance")
C_PROGRAMS = ("conformance", "recognizer_test", "abi_test", "oom_test")
MEMORY_BYTES_MAX = 6 << 30
WALL_SECONDS_MAX = 1200


@dataclass(frozen=True)
class Test:
    rung: str
    program: str
    name: str
    """What its runner calls it."""
    title: str
    seconds: float
    """Of the processor."""
    reached: frozenset[int]


def build(mode: str) -> str | None:
    """Of the copy: the tests and the library. What the compiler says if it finds something wrong."""
    command = [*ZIG, "build", "tests", "install", f"-Doptimize={mode}", "-Dstrip=false", "--prefix", str(WORK / mode)]
    runner = "-Dtest-runner=tests/mutation/test_runner.zig"
    done = subprocess.run([*command, runner], cwd=TREE, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


class Ladder:
    """All tests, in the order in which a mutant meets them."""

    def __init__(self, seconds: float, python: list[str]) -> None:
        """Runs every test once, with no mutant; of Python those in these files and folders. Of each rung a mutant meets
        those that begin within so many seconds."""
        self.seconds = seconds
        tests: list[Test] = []
        for program in ZIG_PROGRAMS:
            tests += _record_zig(program)
        tests += [_record_c(program) for program in C_PROGRAMS]
        tests += _record_python(python)
        self.tests = sorted(tests, key=lambda test: test.seconds)

    def climb(self, mutant: int, rung: str) -> tuple[bool, str]:
        """Whether a test comes by the mutant, and which kills it."""
        met = [test for test in self.tests if test.rung == rung and mutant in test.reached]
        killer = self._killer(met, mutant, "safe")
        if met and not killer and rung == "zig":
            # What one test finds and the process keeps, another may look at.
            programs = {test.program for test in met}
            killer = self._killer([test for test in self.tests if test.program in programs], mutant, "safe")
        return bool(met), killer

    def climb_all(self, neighbours: Iterable[int]) -> str:
        """For a build with one mutant in it: the tests that come by one of the neighbours."""
        near = set(neighbours)
        for rung in RUNGS:
            killer = self._killer([t for t in self.tests if t.rung == rung and near & t.reached], 0, "debug")
            if killer:
                return killer
        return ""

    def _killer(self, tests: list[Test], mutant: int, mode: str) -> str:
        begins = accumulate((test.seconds for test in tests), initial=0.0)
        tests = [test for test, begin in zip(tests, begins, strict=False) if begin < self.seconds]
        for program in dict.fromkeys(test.program for test in tests):
            killer = _run([test for test in tests if test.program == program], mutant, mode)
            if killer:
                return killer
        return ""


def _run(tests: list[Test], mutant: int, mode: str) -> str:
    """Runs tests of one program until one fails: its title, or nothing."""
    first = tests[0]
    environment = {"ELIZA_MUTANT": str(mutant)}
    seconds = 20 + 10 * sum(test.seconds for test in tests) * (1 if mode == "safe" else 6)
    if first.rung == "zig":
        command = [str(WORK / mode / "tests" / first.program), *(test.name for test in tests)]
        failed = _process(command, TREE, environment, seconds)
    elif first.rung == "c":
        failed = _process(_c_command(first.program, mode), ROOT, environment, seconds)
    else:
        failed = _run_python(tests, environment, seconds, mode)
    if not failed:
        return ""
    named = NAMED.findall(LOG.read_text("utf-8", errors="replace"))
    return f"{first.program}: {named[0] if named else failed}"


def _run_python(tests: list[Test], environment: dict[str, str], seconds: float, mode: str) -> str:
    """A test that fails is run again without the mutant: it must hold then."""
    left = tests
    while left:
        failed = _process(_python_command(left), ROOT, environment | _python_environment(mode, left), seconds)
        if not failed:
            return ""
        names = NAMED.findall(LOG.read_text("utf-8", errors="replace"))
        alone = [test for test in left if test.name in names]
        log = LOG.read_bytes()
        again = _process(_python_command(alone), ROOT, _python_environment(mode, alone), seconds)
        LOG.write_bytes(log)
        if not alone or mode != "safe" or not again:
            return failed
        left = left[left.index(alone[-1]) + 1 :]
    return ""


def _process(command: list[str], cwd: Path, environment: dict[str, str], seconds: float) -> str:
    """Says how it failed, or nothing. Its output is in LOG."""
    variables = os.environ | {"ELIZA_MUTANTS_REACHED": str(REACHED)} | environment

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with LOG.open("wb") as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=limit,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(WALL_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return "no end"
    if code == 0:
        return ""
    return {-24: "no end", -9: "no end"}.get(code, f"signal {-code}" if code < 0 else f"exit code {code}")


# ---- Recording -------------------------------------------------------------------------------------------------------


def _recording(run: Callable[[], str]) -> tuple[str, float, frozenset[int]]:
    REACHED.write_bytes(bytes(REACHED_BYTES))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    failed = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return failed, seconds, frozenset(i for i, byte in enumerate(REACHED.read_bytes()) if byte)


def _record_zig(program: str) -> list[Test]:
    tests = []
    command = [str(WORK / "safe" / "tests" / program)]
    failed, _, _ = _recording(lambda: _process(command, TREE, {}, 3600))
    if failed:
        sys.exit(f"{program} fails without a mutant: {failed}, see {LOG}")
    for line in LOG.read_text("utf-8", errors="replace").splitlines():
        if line.startswith("record "):
            head, _, reached = line.partition("|")
            _, number, microseconds, passed, title = head.strip().split(" ", 4)
            if passed != "passed":
                sys.exit(f"{title} fails without a mutant")
            numbers = frozenset(map(int, reached.split()))
            tests.append(Test("zig", program, number, title, int(microseconds) / 1e6, numbers))
    return tests


def _record_c(program: str) -> Test:
    failed, seconds, reached = _recording(lambda: _process(_c_command(program, "safe"), ROOT, {}, 3600))
    if failed:
        sys.exit(f"{program} fails without a mutant: {failed}, see {LOG}")
    return Test("c", f"c {program}", program, program, seconds, reached)


def _record_python(paths: list[str]) -> list[Test]:
    """Those that fail, such as what is not there on this machine, are left out."""
    lines = WORK / "python.jsonl"
    lines.unlink(missing_ok=True)
    environment = {RECORD_VARIABLE: str(lines)} | _python_environment("safe", [])
    _recording(lambda: _process([*PYTEST, *paths], ROOT, environment, 7200))
    records = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    return [
        Test("python", "python", r["name"], r["name"], r["seconds"], frozenset(r["reached"]))
        for r in records
        if r["passed"]
    ]


# ---- Programs --------------------------------------------------------------------------------------------------------

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "chosen_tests", "-p", "no:cacheprovider"]


def library(mode: str) -> Path:
    return WORK / mode / "lib" / "libelizainference.so"


def _c_command(program: str, mode: str) -> list[str]:
    name, folder = program.removeprefix("c "), WORK / f"c-{mode}"
    return [sys.executable, str(HERE / "c_program.py"), name, str(library(mode)), str(folder)]


def _python_command(tests: list[Test]) -> list[str]:
    files = dict.fromkeys(test.name.partition("::")[0] for test in tests)
    return [*PYTEST, "-x", *files]


def _python_environment(mode: str, tests: list[Test]) -> dict[str, str]:
    environment = {"ELIZA_INFERENCE_LIBRARY": str(library(mode)), "PYTHONPATH": str(HERE)}
    if tests:
        chosen = WORK / "chosen"
        chosen.write_text("\n".join(test.name for test in tests), "utf-8")
        environment[CHOSEN_VARIABLE] = str(chosen)
    return environment
