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
from oracles.rule_limits import RuleLimits, Symbol, Use
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
            spelled = self.tokens.text[token]
            assert spelled.startswith(found) or found.startswith(spelled), (
                f"{self.where}: {found!r} is forced, not {spelled!r}"
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


class RandomRules:
    """Rules of single characters and of each other, of which no one leads to itself at the left."""

    def __init__(self, random: Random) -> None:
        n_rules = random.randint(2, 4)
        self.limits = {n: random.randint(1, 3) for n in range(n_rules) if random.random() < 0.6}
        self.skips = random.random() < 0.3
        self.rules: list[list[list[Symbol]]] = [
            [[random.choice("abc")], *(self._alternative(random, n, n_rules) for _ in range(random.randint(1, 3)))]
            for n in range(n_rules)
        ]
        names = ["start", *(f"r{n}" for n in range(1, n_rules))]
        lines = []
        for name, alternatives, n in zip(names, self.rules, range(n_rules), strict=True):
            limit = f"[max_tokens={self.limits[n]}]" if n in self.limits else ""
            # Parentheses, so that none is a terminal alone.
            shown = [" ".join(self._shown(names, symbol) for symbol in symbols) for symbols in alternatives]
            lines.append(f"{name}{limit}: {' | '.join(f'({one})' if one else '' for one in shown)}")
        self.lark = "\n".join([*lines, '%ignore " "'] if self.skips else lines)

    @staticmethod
    def _alternative(random: Random, rule: int, n_rules: int) -> list[Symbol]:
        symbols: list[Symbol] = []
        has_character = False
        for _ in range(random.randint(0, 3)):
            first = 0 if has_character else rule + 1
            if first < n_rules and random.random() < 0.6:
                symbols.append(Use(random.randrange(first, n_rules), random.random() < 0.1))
            else:
                symbols.append(random.choice("abc"))
                has_character = True
        return symbols

    @staticmethod
    def _shown(names: list[str], symbol: Symbol) -> str:
        if isinstance(symbol, Use):
            return names[symbol.rule] + "*" * symbol.repeats
        return f'"{symbol}"'


@pytest.mark.parametrize("block", range(0, N_GRAMMARS // 2, BLOCK))
def test_rules_by_chance(block: int, tmp_path: Path) -> None:
    for seed in range(block, block + BLOCK):
        random = Random(f"rules {seed}")
        grammar = RandomRules(random)
        tokens = Tokens([token.encode() for token in TOKENS])
        constraint = Constraint.lark(tokens.vocabulary, grammar.lark)
        assert "max_tokens" not in "".join(constraint.warnings), grammar.lark
        if seed % 20 == 0:
            constraint.save(tmp_path / "saved")
            constraint = Constraint.open(tokens.vocabulary, tmp_path / "saved")
        recognizer = RuleLimits(grammar.rules, grammar.limits, skips=grammar.skips)
        for _ in range(3):
            try:
                Walked(constraint, recognizer, tokens).at_random(random, 8)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{grammar.lark}") from error


def test_so_many_rules_are_counted() -> None:
    tokens = Tokens([b"a", b"b"])
    for n in (128, 129):
        rules = "\n".join(f'r{i}[max_tokens=1]: "a" "b" "{i}"' for i in range(n))
        constraint = Constraint.lark(tokens.vocabulary, f"start: {' | '.join(f'r{i}' for i in range(n))}\n{rules}")
        warnings = [warning for warning in constraint.warnings if "max_tokens" in warning]
        assert warnings == ["130:6: max_tokens of r128 is not enforced: there are too many"][: n - 128]


@pytest.mark.parametrize(
    ("grammar", "why"),
    [
        ('start: r\nr[max_tokens=1]: "a" "b"\n%lexing longest', "lexemes are the longest"),
        ('start: r\nr[max_tokens=1]: "a" "b"\n%conflicts shift', "conflicts are not followed"),
        ('start: r\nr[max_tokens=1]: "a" [r] "+"\n%left "+"', "conflicts are not followed"),
        ('start: r\nr[max_tokens=1]: "a" /b(?=c)/ "c"', "terminals are cut, by what is around them or for ignore_once"),
        ('start: r\nr[max_tokens=1]: x "a" | "b"\nx: ["c"] r "d"', "it can begin with itself"),
    ],
)
def test_where_rules_are_not_counted(grammar: str, why: str) -> None:
    tokens = Tokens([b"a", b"b"])
    assert f"2:3: max_tokens of r is not enforced: {why}" in Constraint.lark(tokens.vocabulary, grammar).warnings


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


def test_masks_do_not_depend_on_when_a_rule_began() -> None:
    tokens = Tokens([b"a", b"b", b"."])
    constraint = Constraint.lark(tokens.vocabulary, 'start: text "."\ntext[max_tokens=400]: ("a" | "b" "a")+')
    matcher = Matcher(constraint)
    for n in range(400):
        assert 0 in legal(matcher)
        matcher.accept((0, 1, 0)[n % 3])
    assert legal(matcher) == [2]
    assert matcher.info.mask_misses <= 8


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
