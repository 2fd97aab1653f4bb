"""Running steps: many with a line for each and their output in build/logs, or one with its output shown."""

import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import NoReturn

from runner.step import ROOT, Counts, Step, tool

LOGS = ROOT / "build" / "logs"
STEP_SECONDS_MAX = 1200
LOG_TAIL_LINES = 60
PROGRESS_SECONDS = 30


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
    """Runs steps, prints a line for each and what is running every PROGRESS_SECONDS, and stops the process at the first
    that fails."""

    def __init__(self) -> None:
        self.total = Counts()
        self.started = time.monotonic()
        self.failure: tuple[Path, str] | None = None
        self.lock = threading.Lock()
        self.running: dict[str, float] = {}
        LOGS.mkdir(parents=True, exist_ok=True)

    def run(self, step: Step) -> None:
        self.run_side_by_side([[step]])

    def run_side_by_side(self, rows: Sequence[Sequence[Step]]) -> None:
        """Each row's steps one after the other, and as many rows at a time as there are processors. Once a step has
        failed no other begins."""

        def run_row(row: Sequence[Step]) -> None:
            for step in row:
                if self.failure is None:
                    said = self._run(step)
                    print(f"{step.name:<32}{said}", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = {pool.submit(run_row, row) for row in rows}
            while waiting:
                done, waiting = wait(waiting, PROGRESS_SECONDS)
                for row in done:
                    row.result()
                if not done:
                    self._print_progress()
        self._stop_if_failed()

    def _print_progress(self) -> None:
        now = time.monotonic()
        running = [f"{name} ({now - started:.0f} s)" for name, started in list(self.running.items())]
        print(f"... {', '.join(running)}", flush=True)

    def _run(self, step: Step) -> str:
        """What there is to say of it."""
        if is_done(step):
            return "unchanged"
        log = LOGS / (re.sub(r"\W+", "-", step.name.lower()) + ".log")
        started = self.running[step.name] = time.monotonic()
        problem = run_commands(step, log)
        seconds = time.monotonic() - started
        del self.running[step.name]
        with self.lock:
            counts = self._count(step, log, problem)
            if problem is None and counts is not None and (counts.failed or not counts.passed):
                problem = "tests failed" if counts.failed else "no test ran"
            if problem is not None and self.failure is None:
                self.failure = log, problem
        if problem is None and step.done is not None:
            step.done.write_text(fingerprint(step.inputs))
        return f"{'FAILED' if problem else 'ok':<8}{seconds:7.1f} s  {counts or ''}".rstrip()

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

    def _stop_if_failed(self) -> None:
        if self.failure is None:
            return
        log, problem = self.failure
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
