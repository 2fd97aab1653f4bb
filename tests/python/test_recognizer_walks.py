"""No dead ends: after any allowed tokens a way to a whole text is left, and the recognizer takes it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError, Matcher, Step, Vocabulary

from recognizer_fixtures import listed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import random_cases, samples
from oracles.completion import Completion
from oracles.lark_text import recognizer_of
from oracles.recognizer import Recognizer

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
            allowed = listed(matcher)
            # Longer tokens are few among so many bytes.
            longer = [token for token in allowed if token > 255 and token != end]
            pool = longer if longer and random.random() < 0.8 else [token for token in allowed if token != end]
            assert pool, f"nothing can follow {written!r}"
            token = pool[random.randrange(len(pool))]
            assert matcher.accept(token) == Step.IN_SPAN
            written += tokens[token]
        state = recognizer.take(recognizer.begin(), written)
        assert state is not None, f"allowed, but not by the oracle: {written!r}"
        rest = completion.of(state)
        assert all(matcher.accept(byte) == Step.IN_SPAN for byte in rest), f"{written!r} does not take {rest!r}"
        assert matcher.can_stop, f"{written + rest!r} cannot stop"
        assert matcher.accept(end) == Step.IN_SPAN | Step.SPAN_ENDED


# Warnings of terminals that stand in each other's way, which only a dead end may follow from.
UNSOUND = re.compile("can take in")

STATES_SEARCHED = 4000


def test_random_grammars_have_no_dead_ends_unless_warned() -> None:
    """Where the shortest spellings run into each other, other ways out are searched."""
    octets = sorted({byte for sample in random_cases.SAMPLES for byte in sample.encode()})
    vocabulary = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])
    n_walks = n_unknown = 0
    for seed in range(600):
        random = Random(f"grammar {seed}")
        grammar = random_cases.grammar(random)
        try:
            constraint = Constraint.lark(vocabulary, grammar.text)
        except GrammarError:
            continue
        if any(UNSOUND.search(warning) for warning in constraint.warnings):
            continue
        completion = Completion(grammar.recognizer)
        for _ in range(4):
            matcher, written = Matcher(constraint), b""
            for _ in range(random.randint(0, TOKENS_MOST)):
                allowed = set(listed(matcher)).intersection(octets)
                if not allowed:
                    break
                byte = random.choice(sorted(allowed))
                assert matcher.accept(byte) == Step.IN_SPAN
                written += bytes([byte])
            rest = way_out(grammar.recognizer, completion, written, octets)
            n_walks += 1
            if rest is None:
                n_unknown += 1
                continue
            assert all(matcher.accept(byte) == Step.IN_SPAN for byte in rest), f"seed {seed}: {written!r} {rest!r}"
            assert matcher.can_stop, f"seed {seed}: {written!r} {rest!r}"
    assert n_walks > 800 and n_unknown < 0.01 * n_walks


def way_out(recognizer: Recognizer, completion: Completion, written: bytes, octets: list[int]) -> bytes | None:
    """A text after which all is complete; None if none was found among many; AssertionError if there is none."""
    state = recognizer.take(recognizer.begin(), written)
    assert state is not None
    try:
        return completion.of(state)
    except AssertionError:
        found = [(state, b"")]
        seen = {state}
        for state, text in found:  # which grows meanwhile
            if recognizer.can_stop(state):
                return text
            if len(seen) > STATES_SEARCHED:
                return None
            for byte in octets:
                after = recognizer.take(state, bytes([byte]))
                if after is not None and after not in seen:
                    seen.add(after)
                    found.append((after, text + bytes([byte])))
        raise


def test_there_are_ten_thousand_walks() -> None:
    assert sum(WALKS.values()) == 10_000
