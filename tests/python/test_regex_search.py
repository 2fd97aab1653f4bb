"""Patterns that match anywhere in a text, against Python's `re.search`. Seeds are fixed."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from random import Random

from eliza_inference import Constraint, GrammarError, Matcher, Step, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import random_cases

N_PATTERNS = 200
LETTERS = "abé"
TEXTS = ["".join(letters) for n in range(4) for letters in itertools.product(LETTERS, repeat=n)]
BYTES = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])


def pattern(random: Random) -> str:
    branches = [
        random_cases.regex(random, 2, ["a", "b", "é", "[ab]", "[^a]", "."]) for _ in range(random.randint(1, 3))
    ]
    anchored = [random.choice(["", "^"]) + branch + random.choice(["", "$"]) for branch in branches]
    return random.choice(["{}", "({})", "^({})", "({})$"]).format("|".join(anchored))


def test_patterns_by_chance() -> None:
    n_found = 0
    for seed in range(N_PATTERNS):
        text = pattern(Random(f"search {seed}"))
        found = [bool(re.search(text, one)) for one in TEXTS]
        try:
            matcher = Matcher(Constraint.regex(BYTES, text, search=True))
        except GrammarError as error:
            assert "no text matches" in str(error), text
            assert not any(found), text
            continue
        for one, expected in zip(TEXTS, found, strict=True):
            matcher.reset()
            is_taken = all(Step.REFUSED not in matcher.accept(byte) for byte in one.encode())
            assert (is_taken and matcher.can_stop) == expected, (text, one)
        n_found += any(found) and not all(found)
    assert n_found > N_PATTERNS / 4
