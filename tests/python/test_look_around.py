"""Look-around in terminals and regular expressions, against Python's `re`. Seeds are fixed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError, Matcher, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles.look_around import RandomGrammar, random_pattern, texts

N_CASES = 100
BLOCK = 50
VOCABULARY = Vocabulary(4, [b"a", b"b", b" ", b""], [0, 0, 0, 3])
TOKEN = {"a": 0, "b": 1, " ": 2}
LENGTH = 3
LONGER = 7  # what can continue is whole within this


def outcomes(constraint: Constraint | None) -> tuple[set[str], set[str]]:
    """The texts up to `LENGTH` that can continue, and those that are whole."""
    if constraint is None:
        return set(), set()
    going, whole = set(), set()
    matcher = Matcher(constraint)

    def walk(text: str) -> None:
        going.add(text)
        if matcher.can_stop:
            whole.add(text)
        if len(text) == LENGTH:
            return
        allowed = matcher.allowed()
        for letter, token in TOKEN.items():
            if allowed is None or token in allowed:
                assert matcher.accept(token).name != "REFUSED"
                walk(text + letter)
                matcher.rollback(1)

    walk("")
    return going, whole


def expected(whole: set[str]) -> tuple[set[str], set[str]]:
    going = {text[:n] for text in whole for n in range(len(text) + 1)}
    return {text for text in going if len(text) <= LENGTH}, {text for text in whole if len(text) <= LENGTH}


def compiled(make: object, *arguments: object) -> Constraint | None:
    """None: no text is in the language."""
    try:
        return make(VOCABULARY, *arguments)  # type: ignore[operator, no-any-return]
    except GrammarError as error:
        assert "can never end" in str(error) or "no text" in str(error) or "matches no" in str(error), error
        return None


@pytest.mark.parametrize("block", range(0, N_CASES, BLOCK))
def test_terminals(block: int) -> None:
    for seed in range(block, block + BLOCK):
        grammar = RandomGrammar(Random(seed))
        whole = {text for text in texts(LONGER) if grammar.accepts(text)}
        assert outcomes(compiled(Constraint.lark, grammar.text)) == expected(whole), (seed, grammar.text)


@pytest.mark.parametrize("block", range(0, N_CASES, BLOCK))
def test_regular_expressions(block: int) -> None:
    for seed in range(block, block + BLOCK):
        pattern = random_pattern(Random(seed))
        # Before 3.14, Python's \B is never true of the empty text.
        matches = re.compile(pattern.replace(r"\B", r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))")).fullmatch
        whole = {text for text in texts(LONGER) if matches(text)}
        assert outcomes(compiled(Constraint.regex, pattern)) == expected(whole), (seed, pattern)
