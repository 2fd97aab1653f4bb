"""Running steps: many with a line for each and their output in build/logs, or one with its output shown."""

import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from runner.step import ROOT, Counts, Step, tool

LOGS = ROOT / "build" / "logs"
STEP_SECONDS_MAX = 1200
LOG_TAIL_LINES = 60


def is_done(step: Step) -> bool:
    """A step of the set-up that need not be run again."""
    if step.done is None or step.always:
        return False
    return step.done.is_file() and step.done.read_text() == fingerprint(step.inputs)


def show(steps: list[Step], arguments: list[str]) -> NoReturn:
    """Runs steps with their output shown, and exits as the first that fails does. The last command gets `arguments`."""
    commands = [(step.folder, command) for step in steps for command in step.commands]
    for i, (folder, command) in enumerate(commands):
        last = arguments if i == len(commands) - 1 else []
        done = subprocess.run([tool(command[0]), *command[1:], *last], cwd=folder)
        if done.returncode != 0:
            sys.exit(done.returncode)
    sys.exit(0)


class Runner:
    """Runs steps, prints a line for each, and stops the process at the first that fails."""

    def __init__(self) -> None:
        self.total = Counts()
        self.started = time.monotonic()
        LOGS.mkdir(parents=True, exist_ok=True)

    def run(self, step: Step) -> None:
        print(f"{step.name:<32}", end="", flush=True)
        if is_done(step):
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
                    [tool(command[0]), *command[1:]],
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
