"""Runs the libraries side by side on the same problems, each in a process of its own."""

import functools
import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bench.maskbench.data import Problem
from bench.paths import ROOT
from bench.recognizers import vocabularies
from bench.recognizers.vocabularies import TokenTable

LIBRARIES = ("ours", "ours, any order", "llguidance", "XGrammar")
SMALL_GROUPS = {"XGrammar": ("BFCL", "JME", "Handwritten", "Synthesized")}
"""What takes too long on other schemas runs on these alone."""
SECONDS = 60
"""For one problem; the process is then ended, and a new one continues."""


@dataclass(frozen=True)
class Outcome:
    """What one library did with one problem."""

    problem: Problem
    answer: dict[str, Any]
    """As the worker tells it."""

    @property
    def refusal(self) -> str | None:
        """Why there is no constraint, or no answer."""
        reason: str | None = self.answer.get("refusal")
        return reason

    @property
    def mask_ns(self) -> list[int]:
        return [ns for text in self.answer.get("ns", []) for ns in text]

    @property
    def warm_ns(self) -> list[int]:
        """The same, of the first text a second time."""
        return [ns for text in self.answer.get("warm_ns", []) for ns in text]

    @property
    def valid_refused(self) -> list[int]:
        """The indices of the valid instances that are refused."""
        return self._wrong(is_valid=True)

    @property
    def invalid_taken(self) -> list[int]:
        return self._wrong(is_valid=False)

    def least(self, again: "Outcome") -> "Outcome":
        """With each time the shorter one of two runs; of one that was disturbed or refused, the other's."""
        if self.refusal is not None or again.refusal is not None:
            return again if self.refusal is not None else self
        shorter = {key: list(map(_shorter, self.answer[key], again.answer[key])) for key in ("ns", "warm_ns")}
        shorter["compile_ns"] = min(self.answer["compile_ns"], again.answer["compile_ns"])
        return Outcome(self.problem, {**self.answer, **shorter})

    @property
    def passes(self) -> bool:
        return self.refusal is None and not self.valid_refused and not self.invalid_taken

    def refused_at(self, index: int) -> str:
        """An instance's text up to the token that is refused, which is marked."""
        tokens = len(self.answer["ns"][index])
        table = _vocabulary()
        ids = table.encode(self.problem.instances[index].text)
        pieces = table.all_pieces
        before, at = b"".join(pieces[each] for each in ids[: tokens - 1]), pieces[ids[tokens - 1]]
        return before.decode(errors="replace") + "<<" + at.decode(errors="replace") + ">>"

    def _wrong(self, is_valid: bool) -> list[int]:
        if self.refusal is not None:
            return []
        return [
            index
            for index, (instance, is_taken) in enumerate(zip(self.problem.instances, self.answer["taken"], strict=True))
            if instance.is_valid == is_valid and is_taken != is_valid
        ]


@dataclass
class Results:
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    """By library, in the order of the problems."""
    at_start: dict[str, dict[str, int]] = field(default_factory=dict)
    """What each library's process told before the first problem: bytes that were `resident` and `allocated`."""
    pair_ns: dict[str, int] = field(default_factory=dict)
    """What a pair of the clock's readings cost in each library's process; no figure has it in it."""

    def of(self, libraries: Iterable[str]) -> "Results":
        """What these libraries did."""
        chosen = {name: self.outcomes[name] for name in libraries if name in self.outcomes}
        return Results(
            chosen,
            {name: self.at_start[name] for name in chosen},
            {name: self.pair_ns[name] for name in chosen},
        )

    def shared(self) -> "Results":
        """What was done with the problems that all libraries were given."""
        names = set.intersection(*({each.problem.name for each in outcomes} for outcomes in self.outcomes.values()))
        chosen = {
            library: [each for each in outcomes if each.problem.name in names]
            for library, outcomes in self.outcomes.items()
        }
        return Results(chosen, self.at_start, self.pair_ns)

    def taken_by_all(self) -> "Results":
        """What was done with the problems for which all libraries have a constraint."""
        everyone = list(zip(*self.shared().outcomes.values(), strict=True))
        kept = [outcomes for outcomes in everyone if all(each.refusal is None for each in outcomes)]
        chosen = {library: [outcomes[i] for outcomes in kept] for i, library in enumerate(self.outcomes)}
        return Results(chosen, self.at_start, self.pair_ns)


def collect(problems: list[Problem], libraries: Iterable[str], runs: int, advance: Callable[[], None]) -> Results:
    """The least times of so many runs, each in processes of its own."""
    libraries = list(libraries)
    results = _run(problems, libraries, advance)
    for _ in range(1, runs):
        libraries.reverse()
        again = _run(problems, libraries, advance)
        for name, outcomes in results.outcomes.items():
            results.outcomes[name] = [a.least(b) for a, b in zip(outcomes, again.outcomes[name], strict=True)]
    return results


def _run(problems: Iterable[Problem], libraries: Iterable[str], advance: Callable[[], None]) -> Results:
    """One problem after the other; who goes first changes each time."""
    vocabulary = _vocabulary()
    workers = {name: Worker(name) for name in libraries}
    results = Results(
        {name: [] for name in workers},
        {name: each.told for name, each in workers.items()},
        {name: each.told["pair_ns"] for name, each in workers.items()},
    )
    try:
        for number, problem in enumerate(problems):
            texts = [vocabulary.encode(instance.text) for instance in problem.instances]
            request = json.dumps([problem.schema, texts])
            for name in list(workers) if number % 2 == 0 else reversed(workers):
                if problem.group not in SMALL_GROUPS.get(name, (problem.group,)):
                    continue
                answer = workers[name].ask(request)
                results.outcomes[name].append(Outcome(problem, answer))
            advance()
    finally:
        for worker in workers.values():
            worker.close()
    return results


def _shorter(times: list[int], again: list[int]) -> list[int]:
    return list(map(min, times, again))


@functools.cache
def _vocabulary() -> TokenTable:
    return vocabularies.load("llama3")


class Worker:
    """A process that is started again where it does not answer."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._start()

    def ask(self, request: str) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            return self._read(SECONDS)
        except TimeoutError:
            failure = f"no answer within {SECONDS} s"
        except EOFError:
            self._errors.seek(0)
            failure = (self._errors.read().strip().splitlines() or ["no answer"])[-1]
            failure = f"ended with {self._process.wait()}: {failure}"
        self.close()
        self._start()
        return {"refusal": failure}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed by close
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.maskbench.worker", self._library],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )
        self.told: dict[str, int] = self._read(600)

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            raise TimeoutError
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        return answer
