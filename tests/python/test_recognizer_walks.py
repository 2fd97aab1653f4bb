"""No dead ends: after any allowed tokens a way to a whole text is left, and the recognizer takes it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, Matcher, Step, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import random_cases, samples
from oracles.completion import Completion
from oracles.lark_text import recognizer_of

WALKS = {"json": 3000, "arithmetic": 2000, "function_call": 2000, "sql_select": 1500, "c11": 1500}
TOKENS_MOST = 12


@pytest.mark.parametrize("name", WALKS)
def test_random_walks_reach_acceptance(name: str) -> None:
    """The way out is the oracle's, which knows the grammar and not the library."""
    random = Random(name)
    single = [bytes([byte]) for byte in range(256)]
    pieces = [word for text in samples.GOOD[name] for word in re.findall(r"\w+|\s+|[^\w\s]+", text)]
    tokens = single + random_cases.tokens(random, 300, pieces) + [b"</s>"]
    end = len(tokens) - 1
    text = samples.text_of(name)
    constraint = Constraint.lark(Vocabulary(len(tokens), tokens, [0] * end + [2]), text)
    recognizer = recognizer_of(text)
    completion = Completion(recognizer)
    for _ in range(WALKS[name]):
        matcher, written = Matcher(constraint), b""
        for _ in range(random.randint(1, TOKENS_MOST)):
            allowed = matcher.allowed()
            # Longer tokens are few among so many bytes.
            longer = allowed[(allowed > 255) & (allowed != end)]
            pool = longer if len(longer) and random.random() < 0.8 else allowed[allowed != end]
            assert len(pool), f"nothing can follow {written!r}"
            token = int(pool[random.randrange(len(pool))])
            assert matcher.accept(token) == Step.IN_SPAN
            written += tokens[token]
        state = recognizer.take(recognizer.begin(), written)
        assert state is not None, f"allowed, but not by the oracle: {written!r}"
        rest = completion.of(state)
        assert all(matcher.accept(byte) == Step.IN_SPAN for byte in rest), f"{written!r} does not take {rest!r}"
        assert matcher.can_stop, f"{written + rest!r} cannot stop"
        assert matcher.accept(end) == Step.IN_SPAN | Step.SPAN_ENDED


def test_there_are_ten_thousand_walks() -> None:
    assert sum(WALKS.values()) == 10_000
