"""Rules with `max_tokens`, token by token, against the oracle: all by chance. Seeds are fixed."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, GrammarError, Matcher

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles.parser import Production
from oracles.recognizer import Terminal
from oracles.token_limits import Limited
from recognizer_walk import Tokens, Walk

N_GRAMMARS = 800
BLOCK = 200  # cases of one test
PATTERNS = ["a+", "[ab]*a", "ab?", "(ab)+c?", "[abc]+", "b", "c", "[ab]+c", "a{3}|b", "a(bc)*", "aaaa"]
TOKENS = ["a", "b", "c", " ", "ab", "aa", "abc", "ca", "bb", "aab", "ac", "b "]


class Walked(Walk):
    """What is forced depends on where tokens end, which the other oracles do not know."""

    def check(self) -> list[int]:
        text = super().check()
        assert text or self.matcher.can_stop, f"{self.where}: a dead end"
        return text

    def check_forced(self) -> None:
        found = self.matcher.forced_bytes()
        assert not (found and self.matcher.can_stop), self.where
        for token in self.recognizer.allowed(self.states[-1], self.tokens.text):
            spelt = self.tokens.text[token]
            assert spelt.startswith(found) or found.startswith(spelt), (
                f"{self.where}: {found!r} is forced, not {spelt!r}"
            )


class RandomGrammar:
    """The same grammar for both. One rule, which leads to itself at the left, and has no conflicts: there is one stack
    for each way to cut a text, and the oracle, which knows nothing else, ends lexemes at the same places."""

    def __init__(self, random: Random) -> None:
        patterns = random.sample(PATTERNS, random.randint(2, 4))
        self.limits = {n: random.randint(1, 3) for n in range(len(patterns)) if random.random() < 0.6}
        self.terminals = [Terminal(f"t{n}", pattern) for n, pattern in enumerate(patterns)]
        names = [f"t{n}" if n in self.limits else f"T{n}" for n in range(len(patterns))]
        self.productions: list[Production] = []
        alternatives = []
        for _ in range(random.randint(1, 4)):
            symbols: list[str | int] = [random.randrange(len(patterns)) for _ in range(random.randint(1, 3))]
            if random.random() < 0.5:
                symbols.insert(0, "start")
            self.productions.append(Production("start", tuple(symbols)))
            alternatives.append(" ".join(names[one] if isinstance(one, int) else one for one in symbols))
        lines = [f"start: {' | '.join(alternatives)}"]
        for n, pattern in enumerate(patterns):
            limit = f"[max_tokens={self.limits[n]}]" if n in self.limits else ""
            lines.append(f"{names[n]}{limit}: /{pattern}/")
        if random.random() < 0.3:
            self.terminals.append(Terminal("SPACE", " +", skip=True))
            lines.append("%ignore / +/")
        self.lark = "\n".join(lines)


@pytest.mark.parametrize("block", range(0, N_GRAMMARS, BLOCK))
def test_grammars_by_chance(block: int, tmp_path: Path) -> None:
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"limits {seed}")
        grammar = RandomGrammar(random)
        tokens = Tokens([token.encode() for token in TOKENS])
        try:
            Constraint.lark(tokens.vocabulary, f"{grammar.lark}\n%conflicts refuse")
        except GrammarError:
            continue
        constraint = Constraint.lark(tokens.vocabulary, grammar.lark)
        if seed % 20 == 0:
            constraint.save(tmp_path / "saved")
            constraint = Constraint.open(tokens.vocabulary, tmp_path / "saved")
        recognizer = Limited(grammar.terminals, grammar.productions, "start", grammar.limits)
        for _ in range(3):
            try:
                Walked(constraint, recognizer, tokens).at_random(random, 8)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{grammar.lark}") from error
        n_compiled += 1
    assert n_compiled >= 0.2 * BLOCK


def test_masks_are_kept_however_many_tokens_came() -> None:
    """Masks depend on whether a limit is reached, not on how many tokens are left."""
    tokens = Tokens([b"a", b"b", b"."])
    constraint = Constraint.lark(tokens.vocabulary, 'start: text "."\ntext[max_tokens=400]: /[ab]+/')
    matcher = Matcher(constraint)
    for n in range(400):
        assert (legal(matcher) == [0, 1, 2]) == (n > 0)
        matcher.accept(n % 2)
    assert legal(matcher) == [2]
    assert matcher.info.mask_misses <= 5


def test_a_healed_token_counts() -> None:
    tokens = Tokens([b"x", b"xa", b"a", b"."])
    constraint = Constraint.lark(tokens.vocabulary, 'start: text "."\ntext[max_tokens=2]: /a+/')
    matcher = Matcher(constraint, prefill=b"x")
    for token in (1, 2):
        matcher.accept(token)
    assert legal(matcher) == [3]


def legal(matcher: Matcher) -> list[int]:
    tokens = matcher.allowed()
    assert tokens is not None
    return [int(token) for token in tokens]
