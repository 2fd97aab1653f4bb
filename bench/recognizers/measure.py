"""Runs the measurements: a process for each library on each case, and this library from C beside it."""

import json
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from eliza_inference import TokenFlag

from bench import native
from bench.paths import ROOT
from bench.recognizers import cases, notations, vocabularies
from bench.recognizers.case import Case
from bench.recognizers.vocabularies import TokenTable

PASSES = 9
SECONDS = {"ours": 20.0, "llguidance": 45.0, "XGrammar": 15.0, "llama.cpp": 6.0}
"""For the passes over a case's documents: as many as begin within it, and of the first one what fits."""
LIMITS = {"ours": 120.0, "llguidance": 75.0, "XGrammar": 150.0, "llama.cpp": 30.0}
"""For all that a library does with a case; it is then ended."""

Plan = dict[str, dict[str, tuple[str, ...]]]
"""By vocabulary and case, the libraries that take it."""

PLAN: Plan = {
    "o200k": {
        "choices-30": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "choices-5000": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "choices-100000": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "choices-1000000": ("ours",),
        "letters": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "date-time": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "email": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "json": ("ours", "llguidance", "XGrammar", "llama.cpp"),
        "c11": ("ours", "llguidance", "XGrammar", "llama.cpp"),
    },
    "llama3": {
        "email": ("ours", "llguidance", "XGrammar"),
        "json": ("ours", "llguidance", "XGrammar"),
        "c11": ("ours", "llguidance"),
    },
}
"""Which libraries take which case with which vocabulary. A million choices are left to this library: see the
compile times of the others with 100,000."""


@dataclass
class Measured:
    """What one library did with one case. Fields are None where it was ended, or failed, before."""

    subject: str
    case: str
    vocabulary: str
    n_positions: int
    figures: dict[str, Any] = field(default_factory=dict)
    """As the worker tells them: bytes, us per position, us per compile, passes."""
    failure: str | None = None
    """Why there is no more."""

    def samples(self, name: str) -> list[float]:
        found: list[float] = self.figures.get(name, [])
        return found

    @property
    def is_complete(self) -> bool:
        return len(self.samples("warm_us")) == self.n_positions

    @property
    def is_warm(self) -> bool:
        """More than one pass over all positions."""
        return self.is_complete and self.figures.get("passes", 0) > 1


@dataclass
class Native:
    """This library from C, as bench/native/masks.c prints it: ns and bytes."""

    case: str
    vocabulary: str
    figures: dict[str, Any]


@dataclass
class Results:
    peers: list[Measured]
    """This library through Python among them."""
    native: list[Native]

    def find(self, subject: str, case: str, vocabulary: str = "o200k") -> Measured | None:
        keys = (subject, case, vocabulary)
        return next((each for each in self.peers if (each.subject, each.case, each.vocabulary) == keys), None)

    def find_native(self, case: str, vocabulary: str = "o200k") -> dict[str, Any] | None:
        return next((each.figures for each in self.native if (each.case, each.vocabulary) == (case, vocabulary)), None)


@dataclass(frozen=True)
class Selection:
    """Parts of the plan; empty is all."""

    cases: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    plan: Plan = field(default_factory=lambda: PLAN)

    def steps(self) -> Iterator[tuple[str, str, str]]:
        """Vocabulary, case, subject: case by case, so that libraries that are compared run one after the other."""
        for vocabulary, planned in self.plan.items():
            for case, subjects in planned.items():
                for subject in subjects:
                    if (
                        vocabulary in (self.vocabularies or self.plan)
                        and case in (self.cases or planned)
                        and subject in (self.subjects or subjects)
                    ):
                        yield vocabulary, case, subject


def collect(selection: Selection, passes: int, announce: Callable[[str], None]) -> Results:
    """Measures what is selected. `announce` is told what is measured next."""
    tables = {name: vocabularies.load(name) for name in dict.fromkeys(step[0] for step in selection.steps())}
    results = Results([], [])
    for vocabulary, name, subject in selection.steps():
        announce(f"{vocabulary}: {name}: {subject}")
        case, table = cases.load(name), tables[vocabulary]
        if subject == "ours":
            results.native += _from_c(case, table, passes)
        n_positions = sum(len(table.encode(text)) for text in case.documents)
        results.peers.append(_measure(subject, name, vocabulary, n_positions, passes))
    return results


def _measure(subject: str, case: str, vocabulary: str, n_positions: int, passes: int) -> Measured:
    measured = Measured(subject, case, vocabulary, n_positions)
    command = [sys.executable, "-m", "bench.recognizers.worker", subject, case, vocabulary]
    with tempfile.TemporaryFile("w+") as told, tempfile.TemporaryFile("w+") as errors:
        try:
            done = subprocess.run(
                [*command, str(SECONDS[subject]), str(passes)],
                cwd=ROOT,
                stdout=told,
                stderr=errors,
                timeout=LIMITS[subject],
            )
        except subprocess.TimeoutExpired:
            measured.failure = f"ended after {LIMITS[subject]:.0f} s"
        else:
            if done.returncode != 0:
                errors.seek(0)
                measured.failure = (errors.read().strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        told.seek(0)
        for line in told.read().splitlines():
            if line.endswith("}"):
                measured.figures |= json.loads(line)
    return measured


def _from_c(case: Case, vocabulary: TokenTable, passes: int) -> list[Native]:
    """None if the library fails: the row from Python tells how."""
    try:
        return [from_c(case, vocabulary, passes)]
    except subprocess.CalledProcessError:
        return []


def from_c(case: Case, vocabulary: TokenTable, passes: int) -> Native:
    """This library through its C functions."""
    with tempfile.TemporaryDirectory() as folder:
        files = write_inputs(case, vocabulary, Path(folder))
        found = native.run("masks", files.vocabulary, files.kind, files.definition, files.documents, passes, folder)
    return Native(case.name, vocabulary.name, found)


@dataclass(frozen=True)
class InputFiles:
    """What the harnesses in C read; bench/native/languages.h says how."""

    vocabulary: Path
    kind: str
    definition: Path
    documents: Path


def write_inputs(case: Case, vocabulary: TokenTable, folder: Path) -> InputFiles:
    kind, text = _definition(case)
    files = InputFiles(folder / "vocabulary", kind, folder / "definition", folder / "documents")
    files.vocabulary.write_bytes(vocabulary_bytes(vocabulary))
    files.definition.write_text(text, encoding="utf-8")
    files.documents.write_bytes(documents_bytes(vocabulary, case.documents))
    return files


def _definition(case: Case) -> tuple[str, str]:
    if case.choices is not None:
        return "choices", "".join(each + "\n" for each in case.choices)
    if case.pattern is not None:
        return "regex", case.pattern
    if case.schema is not None:
        return "schema", case.schema
    for notation in ("tags", "lark", "gbnf"):
        if notation in case.sources:
            return notation, case.sources[notation]
    assert case.grammar is not None
    return "lark", notations.read_grammar(case.grammar)


def vocabulary_bytes(vocabulary: TokenTable) -> bytes:
    pieces = vocabulary.all_pieces
    flags = bytearray(vocabulary.n_tokens)
    for token in vocabulary.special.values():
        flags[token] = TokenFlag.SPECIAL
    flags[vocabulary.end] = TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION
    offsets = array("Q", accumulate(map(len, pieces), initial=0)).tobytes()
    return array("I", [vocabulary.n_tokens]).tobytes() + offsets + bytes(flags) + b"".join(pieces)


def documents_bytes(vocabulary: TokenTable, documents: list[str]) -> bytes:
    encoded = [vocabulary.encode(document) for document in documents]
    return b"".join(array("i", [len(tokens), *tokens]).tobytes() for tokens in encoded)


def quantiles(samples: list[float]) -> tuple[float, float, float, float]:
    """p50, p90, p99 and the most."""
    p50, p90, p99, most = np.percentile(samples, [50, 90, 99, 100])
    return float(p50), float(p90), float(p99), float(most)
