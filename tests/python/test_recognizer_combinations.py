"""Intersections and complements in terminals against Python's `re`. Seeds are fixed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError, Matcher, Step, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import combination, random_cases
from recognizer_walk import Tokens, Walk

BLOCK = 50  # cases of one test
N_TREES = 1000
N_FORMULAS = 60

BYTES = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])
TEXTS = ["".join(letters) for length in range(5) for letters in product("abé", repeat=length)]


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(matcher.accept(byte) == Step.IN_SPAN for byte in text.encode()) and matcher.can_stop


@pytest.mark.parametrize("block", range(0, N_TREES, BLOCK))
def test_all_short_texts(block: int) -> None:
    """Of trees within trees."""
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        tree = random_cases.combination(Random(f"combination {seed}"))
        expected = [text for text in TEXTS if combination.matches(tree, text)]
        case = f"seed {seed}: {tree.notation}"
        try:
            constraint = Constraint.lark(BYTES, f"start: T\nT: {tree.notation}")
        except GrammarError as error:
            assert error.message == NOTHING and not expected, case
            continue
        assert [text for text in TEXTS if accepts(constraint, text)] == expected, case
        n_compiled += 1
    assert n_compiled >= 0.5 * BLOCK


def test_lazy_rules_have_the_shortest_texts() -> None:
    """Those that match, and of which no beginning does."""
    n_compiled = 0
    for seed in range(BLOCK):
        tree = random_cases.combination(Random(f"combination {seed}"))
        matching = {text for text in TEXTS if combination.matches(tree, text)}
        expected = [
            text for text in TEXTS if text in matching and not any(text[:n] in matching for n in range(len(text)))
        ]
        try:
            constraint = Constraint.lark(BYTES, f"start: t\nt[lazy]: {tree.notation}")
        except GrammarError:
            assert not expected, f"seed {seed}: {tree.notation}"
            continue
        assert [text for text in TEXTS if accepts(constraint, text)] == expected, f"seed {seed}: {tree.notation}"
        n_compiled += 1
    assert n_compiled >= 0.5 * BLOCK


def test_parts_of_texts() -> None:
    """Chunks that repeat, that begin alike, and that are empty."""
    for seed in range(BLOCK):
        random = Random(f"chunks {seed}")
        chunks = ["".join(random.choices("ab", k=random.randint(0, 3))) for _ in range(random.randint(0, 6))]
        ends = range(len(chunks) + 1)
        parts = {"".join(chunks[first:end]) for first in ends for end in ends}
        constraint = Constraint.lark(BYTES, f'start: %regex {{"substring_chunks": {json.dumps(chunks)}}}')
        others = {part + more for part in parts for more in "ab"} | {part[1:] for part in parts}
        for text in parts | others:
            assert accepts(constraint, text) == (text in parts), f"{chunks}: {text}"


NOTHING = "2:1: T matches no text, so rule start can never end"

FORMULAS: dict[str, Callable[..., bool]] = {
    "{} & {}": lambda a, b: a and b,
    "~{}": lambda a: not a,
    "{} & ~{}": lambda a, b: a and not b,
    "~{} & {}": lambda a, b: b and not a,
    "~({} | {})": lambda a, b: not (a or b),
    "~(~{} & {})": lambda a, b: a or not b,
    "{} & {} | ~{} & {}": lambda a, b, c, d: (a and b) or (not c and d),
    "{} & ~{} & ~{}": lambda a, b, c: a and not b and not c,
}


@pytest.mark.parametrize("block", range(0, N_FORMULAS, 20))
def test_masks(block: int) -> None:
    """No token leads into a dead end, and no other is kept out; tokens may end within a character."""
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"formula {seed}")
        formula, holds = random.choice(list(FORMULAS.items()))
        regexes = [random_cases.regex(random) for _ in range(formula.count("{}"))]
        matches_empty = holds(*(bool(re.fullmatch(regex, "")) for regex in regexes))
        terminal = formula.format(*("/" + regex.replace("/", "\\/") + "/" for regex in regexes))
        grammar = f"start: {'[T]' if matches_empty else 'T'}\nT: ({terminal}) & /.+/s"
        recognizer = combination.recognizer_of(regexes, holds, matches_empty=matches_empty)
        tokens = Tokens(random_cases.tokens(random, 60))
        is_nothing = not recognizer.lexer.reachable(recognizer.lexer.start)
        try:
            constraint = Constraint.lark(tokens.vocabulary, grammar)
        except GrammarError as error:
            assert is_nothing and error.message == NOTHING, f"seed {seed}: {grammar}"
            continue
        assert not is_nothing, f"seed {seed}: {grammar}"
        try:
            Walk(constraint, recognizer, tokens).at_random(random, 6)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{grammar}") from error
        n_compiled += 1
    assert n_compiled >= 0.5 * BLOCK
