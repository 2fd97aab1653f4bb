"""Python threads that share what may be shared: a vocabulary, constraints of every kind, a model. Each call of the
library lets other threads run (cffi releases the interpreter's lock), so that they meet in it; native/threads_test.c
looks for races without Python. On an interpreter without that lock they meet everywhere."""

from __future__ import annotations

import copy
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    Constraint,
    Matcher,
    Model,
    Step,
    StopReason,
    TokenFlag,
    TokenTree,
    Vocabulary,
    fill_bitmaps,
    set_trie_cache_limit,
    trie_cache_stats,
)

from conftest import PROMPT

N_THREADS = 16
STEPS = 24
WORDS = ["the ", "set ", "timer", '": ', '", "', '{"', "name", "tags", "red", "true", "12", "</call>", "<call>", "and "]
N_TOKENS = 256 + len(WORDS) + 1
END = N_TOKENS - 1
N_WORDS = (N_TOKENS + 31) // 32

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z ]+$"},
        "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "uniqueItems": True},
        "id": {"type": "integer", "maximum": 250},
    },
    "required": ["name"],
}
MAKERS: dict[str, Callable[[Vocabulary, Budget], Constraint]] = {
    "token tree": lambda vocabulary, _: Constraint(
        vocabulary, TokenTree.from_names(["A", "AB", "C"], {"A": [97], "AB": [97, 98], "C": [256, 257]}, labels=True)
    ),
    "choices": lambda vocabulary, budget: Constraint.choices(
        vocabulary, ["set the timer", "set a timer", "no"], budget=budget
    ),
    "regex": lambda vocabulary, budget: Constraint.regex(vocabulary, r"(?:the |set |[a-z]{3}\d)+", budget=budget),
    "lark": lambda vocabulary, budget: Constraint.lark(
        vocabulary, 'start: "[" [start ("," start)*] "]" | WORD\nWORD: /[a-z]+/\n%ignore / +/\n', budget=budget
    ),
    "lark, ambiguous": lambda vocabulary, budget: Constraint.lark(
        vocabulary, 'start: e\ne: e "+" e | e e | "(" e ")" | /[a-z]{1,3}/\n', budget=budget
    ),
    "gbnf": lambda vocabulary, budget: Constraint.gbnf(
        vocabulary, 'root ::= s\ns ::= s s | "(" s ")" | [a-z]{1,3} " "\n', budget=budget
    ),
    "schema": lambda vocabulary, budget: Constraint.json_schema(vocabulary, SCHEMA, budget=budget),
    "tags": lambda vocabulary, budget: Constraint.tags(
        vocabulary, {"tags": [{"begin": "<call>", "json_schema": SCHEMA, "end": "</call>"}]}, budget=budget
    ),
}


def new_vocabulary() -> Vocabulary:
    texts = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
    return Vocabulary(N_TOKENS, texts, [TokenFlag(0)] * END + [TokenFlag.END_OF_GENERATION])


Walk = list[tuple[np.ndarray, int]]
"""Bitmaps, each with the token that was taken after it."""


def record(constraint: Constraint, seed: str) -> Walk:
    random, matcher, walk = Random(seed), Matcher(constraint), []
    for _ in range(STEPS):
        bitmap = matcher.fill_bitmap()
        allowed = np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little"))
        token = int(random.choice([int(each) for each in allowed if each != END] or [END]))
        walk.append((bitmap, token))
        if token == END:
            break
        assert Step.REFUSED not in matcher.accept(token)
    return walk


def follow(constraint: Constraint, walk: Walk, random: Random) -> None:
    """Along a record, with copies, ways back and batches on the way."""
    matcher, at, detours, out = Matcher(constraint), 0, 4, np.empty(N_WORDS, np.int32)
    while True:
        assert np.array_equal(matcher.fill_bitmap(out), walk[at][0])
        choice = random.randrange(12) if detours > 0 else 12
        detours -= choice < 3
        if choice == 0:
            back = random.randrange(at + 1)
            matcher.rollback(back)
            at -= back
        elif choice == 1:
            matcher = copy.copy(matcher)
        elif choice == 2:
            rows = np.empty((3, N_WORDS), np.int32)
            fill_bitmaps([matcher, matcher.clone(), matcher.clone()], rows, n_threads=2)
            assert all(np.array_equal(row, walk[at][0]) for row in rows)
        else:
            if walk[at][1] == END or at + 1 == len(walk):
                return
            matcher.accept(walk[at][1])
            at += 1


@pytest.fixture
def eager_switches() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run_threads(work: Callable[[int], object], n: int = N_THREADS) -> None:
    """Runs all at once, and raises the first of what they raise."""
    errors: list[BaseException] = []
    start = threading.Barrier(n)

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.usefixtures("eager_switches")
@pytest.mark.parametrize("mask_bytes", [1, 20_000, None])
def test_threads_see_what_one_alone_sees(mask_bytes: int | None, tmp_path: Path) -> None:
    alone = new_vocabulary()
    walks = {name: [record(make(alone, Budget()), f"{name} {n}") for n in range(3)] for name, make in MAKERS.items()}
    vocabulary, budget = new_vocabulary(), Budget(mask_bytes_max=mask_bytes)
    shared = {name: make(vocabulary, budget) for name, make in MAKERS.items()}

    def work(number: int) -> None:
        random = Random(number)
        for job in range(10):
            name = random.choice(list(MAKERS))
            walk = random.choice(walks[name])
            match random.randrange(6):
                case 0:
                    follow(MAKERS[name](vocabulary, budget), walk, random)
                case 1 if name != "token tree":
                    file = tmp_path / f"{number}-{job}"
                    shared[name].save(file)
                    follow(Constraint.open(vocabulary, file), walk, random)
                case 2:
                    shared[name] = MAKERS[name](vocabulary, budget)  # the one before goes with its last matcher
                case 3:
                    shared[name].prepare()
                    assert vocabulary.info.n_tokens == N_TOKENS
                    set_trie_cache_limit(random.choice([1000, 1 << 25]))
                    assert trie_cache_stats().entries >= 0
                case _:
                    follow(shared[name], walk, random)

    try:
        run_threads(work)
    finally:
        set_trie_cache_limit(1 << 25)
    gc.collect()


@pytest.mark.usefixtures("eager_switches")
def test_threads_compile_and_cancel() -> None:
    vocabulary = new_vocabulary()
    expected = record(MAKERS["lark"](vocabulary, Budget()), "lark 0")

    def work(number: int) -> None:
        left = number

        def cancel() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        try:
            constraint = MAKERS["lark"](vocabulary, Budget(cancel=cancel))
        except CancelledError:
            assert left < 0
        else:
            follow(constraint, expected, Random(number))

    run_threads(work)


@pytest.mark.usefixtures("eager_switches")
def test_threads_share_a_model(model: Model) -> None:
    """Each with a stream of its own, of which some are cancelled by another thread."""
    constraint = Constraint.json_schema(
        model.vocabulary, {"type": "array", "items": {"type": "integer"}, "minItems": 9}
    )
    prompt = model.tokenize(PROMPT.format("set a timer"))

    def generate(stop_after: int | None) -> list[int]:
        tokens: list[int] = []
        with model.stream(context_size=256, threads=1, max_tokens=40) as stream:
            stream.set_constraint(constraint)
            stream.prefill(prompt)
            canceller = threading.Thread(target=stream.cancel)
            try:
                for chunk in stream:
                    tokens += chunk.tokens
                    if stop_after is not None and len(tokens) >= stop_after and not canceller.ident:
                        canceller.start()
            except CancelledError:
                assert stop_after is not None and stream.stop_reason == StopReason.CANCELLED
            if canceller.ident:
                canceller.join()
        return tokens

    expected = generate(None)
    assert len(expected) == 40

    def work(number: int) -> None:
        tokens = generate(None if number % 2 else number)
        assert tokens == expected[: len(tokens)]
        assert number % 2 == 0 or tokens == expected

    run_threads(work, 8)
