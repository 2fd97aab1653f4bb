"""Grammars in GBNF, token by token, against the oracle: grammars by chance, and some that people write. Seeds are
fixed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Matcher, Step, TokenFlag, Vocabulary

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


def test_repetitions_of_a_repetition() -> None:
    """Those by `*`, `+` and `?` are one, however many there are; others have a limit."""
    vocabulary = Vocabulary(3, [b"a", b"b", b"</s>"], [0, 0, TokenFlag.END_OF_GENERATION])
    for operators, counts in (("+" * 100_000, {1, 2, 3}), ("?" * 100_000, {0, 1}), ("+?", {0, 1, 2, 3}), ("{2}+", {2})):
        matcher = Matcher(Constraint.gbnf(vocabulary, f'root ::= "a"{operators}'))
        found = set()
        for n in range(4):
            found |= {n} if matcher.can_stop else set()
            if Step.REFUSED in matcher.accept(0):
                break
        assert found == counts, operators[:5]
    with pytest.raises(LimitError, match=r"^1:25: "):
        Constraint.gbnf(vocabulary, 'root ::= "a"' + "{2}" * 6)


@pytest.mark.parametrize("last", ['""', '"" | ""', '("a"{0})?', '""*'])
def test_empty_rules_that_many_ways_lead_to(last: str) -> None:
    """40, of which each leads to the next one twice: 2**40 ways."""
    vocabulary = Vocabulary(3, [b"a", b"b", b"</s>"], [0, 0, TokenFlag.END_OF_GENERATION])
    for form in ("r{0} | r{0}", "r{0} r{0}", "(r{0} | r{0}) r{0}", "r{0}? | r{0}*"):
        rules = "".join(f"r{number} ::= {form.format(number + 1)}\n" for number in range(40))
        matcher = Matcher(Constraint.gbnf(vocabulary, f'root ::= r0 x\nx ::= "a" x "b" | "b"\n{rules}r40 ::= {last}\n'))
        for token in (0, 0, 1, 1, 1):
            assert not matcher.can_stop
            assert Step.REFUSED not in matcher.accept(token)
        assert matcher.can_stop


N_NAMING = 200
LITERAL_OR_ELSE = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|#[^\n]*')
"""A literal, a class, or a comment."""


def test_named_tokens_by_chance() -> None:
    """Some literals of grammars by chance become tokens, and any tokens but some."""
    for seed in range(N_NAMING):
        random = Random(f"named tokens {seed}")
        pieces = random_cases.tokens(random, 30, random_cases.GBNF_SAMPLES)
        texts = [*pieces, b"", b"", b"", b""]
        special, unused, end = len(pieces) + 1, len(pieces) + 2, len(pieces) + 3
        flags = [0] * len(pieces) + [0, TokenFlag.SPECIAL, TokenFlag.UNUSED, TokenFlag.END_OF_GENERATION]
        vocabulary = Vocabulary(len(texts), [*pieces, b"", b"<x>", b"a", b"</s>"], [int(one) for one in flags])

        def name(found: re.Match[str], random: Random = random, n: int = special) -> str:
            is_kept = not found[0].startswith('"') or "\\" in found[0] or random.random() < 0.5
            return found[0] if is_kept else f"{random.choice(['', '', '!'])}<[{random.randint(0, n)}]>"

        text = LITERAL_OR_ELSE.sub(name, random_cases.gbnf(random))
        recognizer = gbnf.Recognizer(gbnf.read(text))
        try:
            matcher = Matcher(Constraint.gbnf(vocabulary, text))
        except GrammarError as error:
            assert not recognizer.parser.rules.get("root"), f"seed {seed}: {error}\n{text}"
            continue
        state = recognizer.begin()
        for _ in range(6):
            ordinary = [n for n in range(len(texts)) if n not in (unused, end)]
            expected = {n: after for n in ordinary if (after := recognizer.take_token(state, n, texts[n]))}
            allowed = matcher.allowed()
            assert allowed is not None
            can_stop = recognizer.can_stop(state)
            assert matcher.can_stop == can_stop
            assert allowed.tolist() == [*expected, *([end] if can_stop else [])], f"seed {seed}\n{text}"
            if not expected:
                break
            token = random.choice(list(expected))
            assert Step.REFUSED not in matcher.accept(token)
            state = expected[token]


@pytest.mark.parametrize(("least", "most"), [(0, 70_000), (2, 69_888), (70_001, 70_002)])
def test_counts_that_no_automaton_has_room_for(least: int, most: int) -> None:
    tokens = [b"ab", b"ab" * 1000, b"a", b"b", b"c", b""]
    vocabulary = Vocabulary(6, tokens, [0] * 5 + [int(TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION)])
    for text in (f'root ::= Regex("(ab){{{least},{most}}}c")', f'root ::= r "c"\nr ::= ("ab"){{{least},{most}}}'):
        matcher = Matcher(Constraint.gbnf(vocabulary, text, ebnf=True))
        for count in (0, least - 1, least, least + 1, most - 1, most, most + 1):
            if count < 0:
                continue
            matcher.reset()
            taken = all(Step.REFUSED not in matcher.accept(1) for _ in range(count // 1000))
            taken = taken and all(Step.REFUSED not in matcher.accept(0) for _ in range(count % 1000))
            assert taken == (count <= most), (text, count)
            if taken:
                assert (Step.REFUSED not in matcher.accept(4)) == (least <= count), (text, count)
