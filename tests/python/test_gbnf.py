"""Grammars in GBNF, token by token, against the oracle: grammars by chance, and some that people write. Seeds are
fixed."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import gbnf, random_cases
from recognizer_walk import Tokens, Walk

N_GRAMMARS = 600
BLOCK = 50  # cases of one test


@pytest.mark.parametrize("block", range(0, N_GRAMMARS, BLOCK))
def test_grammars_by_chance(block: int) -> None:
    """Any grammar compiles, unless it has no text."""
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"gbnf {seed}")
        text = random_cases.gbnf(random)
        tokens = Tokens(random_cases.tokens(random, 60, random_cases.GBNF_SAMPLES))
        recognizer = gbnf.Recognizer(gbnf.read(text))
        try:
            constraint = Constraint.gbnf(tokens.vocabulary, text)
        except GrammarError as error:
            assert not recognizer.parser.rules.get("root"), f"seed {seed}: {error}\n{text}"
            continue
        try:
            Walk(constraint, recognizer, tokens).at_random(random, 7)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{text}") from error
        n_compiled += 1
    assert n_compiled >= 0.4 * BLOCK
