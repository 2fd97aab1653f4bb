"""What one call costs from Python and from bun, beside a call that does nothing."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from eliza_inference import Constraint, Matcher, Vocabulary
from eliza_inference._library import ffi, lib

from bench import payloads
from bench.figures import Figure, figure
from bench.paths import BENCH, ROOT, library

N_VOCABULARY = 128_256
ROUNDS = 400
ACCEPTED = payloads.LONG_TOKENS - 1
"""Tokens of a round: the long leaf, up to the token that would end the span."""


@dataclass(frozen=True, slots=True)
class CallFigures:
    language: str
    accept_ns: Figure
    """`Matcher.accept` of a legal token."""
    floor_ns: Figure
    """The same native function with a NULL handle, called without the binding's class."""


def python_calls() -> CallFigures:
    tree = payloads.steps(N_VOCABULARY)
    matcher = Matcher(Constraint(Vocabulary(N_VOCABULARY), tree))
    token = tree.descriptors[-1].leaves[0].tokens[0]

    def accept_round() -> int:
        accept = matcher.accept
        started = time.thread_time_ns()
        for _ in range(ACCEPTED):
            accept(token)
        return time.thread_time_ns() - started

    def floor_round() -> int:
        accept, nothing = lib.eliza_inference_matcher_accept, ffi.NULL
        started = time.thread_time_ns()
        for _ in range(ACCEPTED):
            accept(nothing, token)
        return time.thread_time_ns() - started

    return CallFigures(
        "Python", _rounds(lambda: matcher.activate("long"), accept_round), _rounds(lambda: None, floor_round)
    )


def bun_calls() -> CallFigures:
    payload = payloads.write_json(payloads.steps(N_VOCABULARY), f"steps-{N_VOCABULARY}")
    command = ["node", ROOT / "bindings-ts" / "scripts" / "bun.mjs", BENCH / "bun" / "calls.ts"]
    arguments = [payload, N_VOCABULARY, ROUNDS, ACCEPTED]
    environment = os.environ | {"ELIZA_INFERENCE_LIBRARY": str(library())}
    done = subprocess.run(
        [str(part) for part in [*command, *arguments]], env=environment, stdout=subprocess.PIPE, check=True
    )
    samples = json.loads(done.stdout)
    return CallFigures("bun", figure(samples["accept_ns"]), figure(samples["floor_ns"]))


def _rounds(prepare: Callable[[], None], run: Callable[[], int]) -> Figure:
    """Nanoseconds of the thread per call; a sample is the mean of a round."""
    samples = []
    for _ in range(ROUNDS):
        prepare()
        samples.append(run() / ACCEPTED)
    return figure(samples)
