"""The masks of recognizers, token by token, against the oracle: on the grammars that ship, on small grammars, regular
expressions and choices by chance. Seeds are fixed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from eliza_inference import (
    Budget,
    Constraint,
    ElizaError,
    GrammarError,
    Matcher,
    Step,
    Vocabulary,
    fill_bitmaps,
)

from recognizer_fixtures import listed
from recognizer_walk import Tokens, Walk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import lr1, random_cases, samples
from oracles.all_ways import AllWays
from oracles.by_place import ByPlace
from oracles.dead_ends import has_dead_end
from oracles.lark_text import recognizer_of
from oracles.recognizer import Recognizer, of_regex
from oracles.skipped_once import LEXINGS, Lexing, SkippedOnce

N_GRAMMARS = 600  # of which about half are LR(1)
N_REGEXES = 300
N_PRECEDENCES = 30
PRECEDENCE_TOKENS = 6
BLOCK = 50  # cases of one test
SKIP_ONCE = '%grammar_options {"ignore_once": true}'
SKIPPED_ONCE_TOKENS = ["a", "b", "#", "\n", " ", "ab", "#a", " a", "\n#", "b\n", "a #b", "##", " \n", "é"]

MANY_TOKENS_WALKS = 3
MANY_TOKENS_POSITIONS = 6


# ---- The grammars that ship ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=samples.GOOD)
def shipped(request: pytest.FixtureRequest) -> tuple[str, Constraint, Recognizer, Tokens]:
    name = request.param
    pieces = [word for text in samples.GOOD[name] for word in re.findall(r"\w+|\s+|[^\w\s]+", text)] + [" ", "\n", "x"]
    tokens = Tokens(random_cases.tokens(Random(name), 240, pieces))
    text = samples.text_of(name)
    return name, Constraint.lark(tokens.vocabulary, text), recognizer_of(text), tokens


def test_shipped_grammars_have_no_warnings(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    warnings = [warning for warning in shipped[1].warnings if "byte" not in warning]
    assert warnings == []


def test_shipped_grammars_along_their_texts(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    name, constraint, recognizer, tokens = shipped
    random = Random(name)
    for text in samples.GOOD[name]:
        walk = Walk(constraint, recognizer, tokens)
        rest = text.encode()
        while rest:
            if random.random() < 0.4:
                walk.check()
            candidates = [n for n, token in enumerate(tokens.text) if token and rest.startswith(token)]
            token = random.choice(candidates)
            walk.take(token)
            rest = rest[len(tokens.text[token]) :]
        walk.check()
        assert walk.matcher.can_stop
        walk.roll_back(random)
        walk.check()
        assert walk.matcher.clone().forced_bytes() == walk.matcher.forced_bytes()


def test_shipped_grammars_by_chance(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    name, constraint, recognizer, tokens = shipped
    for seed in range(6):
        Walk(constraint, recognizer, tokens).at_random(Random(f"{name} {seed}"), 8)


@pytest.mark.parametrize("name", samples.GOOD)
def test_shipped_grammars_with_many_tokens(name: str) -> None:
    """So many that sets of tokens are kept as bitmaps; and with tables for all, for none, and for some."""
    random = Random(f"many tokens {name}")
    text = samples.text_of(name)
    pieces = [word for sample in samples.GOOD[name] for word in re.findall(r"\w+|\s+|[^\w\s]+", sample)] + [" ", "\n"]
    letters = [
        "".join(random.choices("abcdefghijklmnopqrstuvwxyz_0123456789", k=random.randint(1, 6))) for _ in range(400)
    ]
    tokens = Tokens(random_cases.tokens(random, 12_000, pieces + letters))
    recognizer = recognizer_of(text)
    budgets = [None, Budget(mask_bytes_max=1), Budget(mask_bytes_max=300_000), None]
    constraints = [Constraint.lark(tokens.vocabulary, text, budget=budget) for budget in budgets]
    constraints[-1].prepare()
    for _ in range(MANY_TOKENS_WALKS):
        walks = [Walk(constraint, recognizer, tokens) for constraint in constraints]
        for _ in range(MANY_TOKENS_POSITIONS):
            allowed = walks[0].check()
            mask = walks[0].matcher.fill_bitmap().tolist()
            assert all(walk.matcher.fill_bitmap().tolist() == mask for walk in walks), walks[0].where
            token = random.choice([n for n in allowed if len(tokens.text[n]) > 2] or allowed)
            for walk in walks:
                walk.take(token)


@pytest.mark.parametrize("kept", ["nothing is kept", "everything is prepared", "saved and mapped"])
def test_shipped_grammars_however_much_is_kept(
    shipped: tuple[str, Constraint, Recognizer, Tokens], kept: str, tmp_path: Path
) -> None:
    name, _, recognizer, tokens = shipped
    budget = Budget(mask_bytes_max=1) if kept == "nothing is kept" else None
    constraint = Constraint.lark(tokens.vocabulary, samples.text_of(name), budget=budget)
    if kept != "nothing is kept":
        constraint.prepare()
    if kept == "saved and mapped":
        constraint.save(tmp_path / "constraint")
        constraint = Constraint.open(tokens.vocabulary, tmp_path / "constraint")
    for seed in range(3):
        Walk(constraint, recognizer, tokens).at_random(Random(f"{name} {seed}"), 6)
    if kept == "nothing is kept":
        assert constraint.recognizer_info.n_masks == 0


def test_shipped_grammars_refuse_other_texts(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    name, constraint, _, _ = shipped
    single = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])
    constraint = Constraint.lark(single, samples.text_of(name))
    for text in samples.BAD[name]:
        matcher = Matcher(constraint)
        taken = all(matcher.accept(byte) == Step.IN_SPAN for byte in text.encode())
        assert not (taken and matcher.can_stop), text


def test_masks_found_by_many_threads(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    """Nothing was kept before, so that the threads build the tables against each other."""
    name, known, _, tokens = shipped
    text, random = samples.text_of(name), Random(name)
    for _ in range(4):
        constraint = Constraint.lark(tokens.vocabulary, text)
        matchers, expected = [], []
        for _ in range(24):
            fresh, old = Matcher(constraint), Matcher(known)
            for _ in range(random.randint(0, 10)):
                allowed = [token for token in listed(old) if token != tokens.end]
                token = random.choice(allowed)
                assert fresh.accept(token) == old.accept(token) == Step.IN_SPAN
            matchers.append(fresh)
            expected.append(old.fill_bitmap().tolist())
        bitmaps = np.zeros((len(matchers), len(expected[0])), np.int32)
        fill_bitmaps(matchers, bitmaps, 4)
        assert bitmaps.tolist() == expected


DECLARED = """
%left "+" "-"
%left "*" "/" "%"
%nonassoc SIGN
%right "^"
start: start "+" start | start "-" start | start "*" start | start "/" start | start "%" start | start "^" start
     | "-" start %prec SIGN | "+" start %prec SIGN | NUMBER | NAME | NAME "(" [start ("," start)*] ")" | "(" start ")"
"""


def test_declared_precedence_leaves_the_same_texts() -> None:
    """Arithmetic in one ambiguous rule is arithmetic in many rules."""
    text = samples.text_of("arithmetic")
    rules, terminals = text[: text.index("NUMBER:")], text[text.index("NUMBER:") :]
    random = Random("precedence")
    pieces = [word for sample in samples.GOOD["arithmetic"] for word in re.findall(r"\w+|\s+|[^\w\s]+", sample)]
    tokens = Tokens(random_cases.tokens(random, 200, pieces))
    declared = Constraint.lark(tokens.vocabulary, DECLARED + terminals)
    recognizer = recognizer_of(rules + terminals)
    for _ in range(10):
        Walk(declared, recognizer, tokens).at_random(random, 10)


@pytest.mark.parametrize("seed", range(N_PRECEDENCES))
def test_declared_precedence_holds_in_a_grammar_with_conflicts(seed: int) -> None:
    """Operators by chance: what is read in two ways, and lexemes that end anywhere, leave the texts of LR(1)."""
    text, operators = random_cases.operators(Random(f"precedence {seed}"))
    pieces = [b"x", b"(", b")", *(one.encode() for one in operators)]
    joined = [a + b for a in pieces for b in pieces]
    tokens = [*pieces, *joined, b"</s>"]
    vocabulary = Vocabulary(len(tokens), tokens, [0] * (len(tokens) - 1) + [2])
    plain = Constraint.lark(vocabulary, f'{text}\natom: "x"')
    assert not [warning for warning in plain.warnings if "byte" not in warning]
    others = [
        Constraint.lark(vocabulary, f'{text}\natom: first | second\nfirst: "x"\nsecond: "x"'),
        Constraint.lark(vocabulary, f'%lexing any\n{text}\natom: "x"'),
    ]
    paths: list[list[int]] = [[]]
    for path in paths:
        matchers = [Matcher(constraint) for constraint in (plain, *others)]
        for matcher in matchers:
            assert all(matcher.accept(token) == Step.IN_SPAN for token in path), (text, path)
        masks = [listed(matcher) for matcher in matchers]
        assert masks[1:] == masks[:1] * len(others), (text, b"".join(tokens[token] for token in path))
        for matcher in matchers[1:]:
            taken = [token for token in range(len(tokens)) if matcher.clone().accept(token) == Step.IN_SPAN]
            assert taken == [token for token in masks[0] if token != len(tokens) - 1], (text, path)
        if len(path) < PRECEDENCE_TOKENS:
            paths += [[*path, token] for token in masks[0] if token < len(pieces)]


# ---- By chance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", range(0, N_GRAMMARS, BLOCK))
def test_grammars(block: int) -> None:
    """Those that are LR(1) compile, and no others."""
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"grammar {seed}")
        grammar = random_cases.grammar(random)
        tokens = Tokens(random_cases.tokens(random, 70))
        parser = grammar.recognizer.parser
        sound = bool(parser.rules.get("start")) and lr1.is_lr1(parser)
        try:
            constraint = Constraint.lark(tokens.vocabulary, grammar.text)
        except GrammarError as error:
            assert not sound, f"seed {seed}: {error}\n{grammar.text}"
            assert re.match(r"\d+:\d+: ", error.message)
            continue
        assert sound, f"seed {seed}: not LR(1), but compiled\n{grammar.text}"
        try:
            Walk(constraint, grammar.recognizer, tokens).at_random(random, 7)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{grammar.text}") from error
        n_compiled += 1
    assert n_compiled >= 0.4 * BLOCK


@pytest.mark.parametrize("block", range(0, N_GRAMMARS // 3, BLOCK))
def test_grammars_by_place(block: int) -> None:
    """All compile in which some text is: ambiguous, cyclic and left-recursive ones too."""
    for seed in range(block, block + BLOCK):
        random = Random(f"grammar with contextual lexing {seed}")
        grammar = random_cases.grammar_by_place(random)
        tokens = Tokens(random_cases.tokens(random, 70))
        try:
            constraint = Constraint.lark(tokens.vocabulary, grammar.text)
        except GrammarError as error:
            assert not grammar.recognizer.parser.rules.get("start"), f"seed {seed}: {error}\n{grammar.text}"
            continue
        try:
            Walk(constraint, grammar.recognizer, tokens).at_random(random, 7)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{grammar.text}") from error


def test_what_is_skipped_and_goes_on_with_what_follows_is_no_dead_end() -> None:
    n_compared = 0
    for seed in range(BLOCK):
        random = Random(f"skipped with contextual lexing {seed}")
        text, terminals, productions = random_cases.two_skipped(random)
        n_compared += is_as_the_oracle_has_it(random, text, ByPlace(terminals, productions, "start"))
    assert n_compared > BLOCK // 2


def test_what_is_skipped_and_goes_on_with_a_document_is_no_dead_end() -> None:
    n_compared = 0
    for seed in range(2 * BLOCK):
        random = Random(f"skipped before documents {seed}")
        text, terminals, productions = random_cases.two_skipped(random, documents=True)
        recognizer = ByPlace(terminals, productions, "start")
        n_compared += is_as_the_oracle_has_it(random, text, recognizer, letters="12")
    assert n_compared > BLOCK


@pytest.mark.parametrize("lexing", LEXINGS)
def test_two_kinds_are_skipped_once(lexing: Lexing) -> None:
    """Where one kind alone would separate lexemes from each other, it does not after the other one."""
    for seed in range(BLOCK):
        random = Random(f"skipped once {seed}")
        text, terminals, productions = random_cases.two_skipped(random)
        recognizer = SkippedOnce(terminals, productions, "start", lexing)
        text = f"{SKIP_ONCE}\n%lexing {lexing}\n{text}"
        is_as_the_oracle_has_it(random, text, recognizer, may_be_dead=lexing == "longest")


@pytest.mark.parametrize("lexing", ["contextual", "any"])
def test_of_two_kinds_one_is_skipped_once(lexing: Lexing) -> None:
    """That of a grammar within the other one."""
    for seed in range(BLOCK):
        random = Random(f"one is ignored once {seed}")
        text, terminals, productions = random_cases.two_skipped(random)
        once, often = (number for number, terminal in enumerate(terminals) if terminal.skip)
        if lexing == "contextual" and terminals[once].regex[:2] == terminals[often].regex[:2]:
            continue  # some text is both: such ways are judged together
        ignored = f"{terminals[once].name}: /{terminals[once].regex}/\n%ignore {terminals[once].name}\n"
        assert ignored in text
        outer = text.replace(ignored, "").replace("start:", f"%lexing {lexing}\nstart: nested body\nbody:", 1)
        text = f'{outer}\nnested: %lark {{\n{SKIP_ONCE}\nstart: ""\n{ignored}}}\n'
        recognizer = SkippedOnce(terminals, productions, "start", lexing, frozenset([often]))
        is_as_the_oracle_has_it(random, text, recognizer)


def test_look_around_that_is_always_true_says_nothing() -> None:
    """What is ignored is a part of the rules then, but separates as usual."""
    for seed in range(BLOCK):
        random = Random(f"always true {seed}")
        text, terminals, productions = random_cases.two_skipped(random)
        text = re.sub(r"^(T0): /(.*)/$", lambda found: f"{found[1]}: /({found[2]})(?!c)/", text, flags=re.MULTILINE)
        skipped = frozenset(number for number, terminal in enumerate(terminals) if terminal.skip)
        is_as_the_oracle_has_it(random, text, SkippedOnce(terminals, productions, "start", "contextual", skipped))


def is_as_the_oracle_has_it(
    random: Random, text: str, recognizer: AllWays, *, may_be_dead: bool = False, letters: str = "ab"
) -> bool:
    """Asserts that masks are, and that there is no dead end; false if no text is in the language."""
    tokens = Tokens([token.translate(str.maketrans("ab", letters)).encode() for token in SKIPPED_ONCE_TOKENS])
    try:
        constraint = Constraint.lark(tokens.vocabulary, text)
    except GrammarError as error:
        assert "can never end" in str(error), f"{error}\n{text}"
        return False
    assert may_be_dead or not has_dead_end(recognizer, f"{letters}# \n".encode()), text
    try:
        for _ in range(3):
            Walk(constraint, recognizer, tokens).at_random(random, 8)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{text}") from error
    return True


@pytest.mark.parametrize("block", range(0, N_REGEXES, BLOCK))
def test_regexes(block: int) -> None:
    """Also against Python's `re`: whole texts, and what the text so far is."""
    for seed in range(block, block + BLOCK):
        random = Random(f"regex {seed}")
        pattern = random_cases.regex(random)
        tokens = Tokens(random_cases.tokens(random, 60))
        compiled = re.compile(pattern)
        try:
            constraint = Constraint.regex(tokens.vocabulary, pattern)
            walk = Walk(constraint, of_regex(pattern), tokens)
            walk.at_random(random, 6)
            assert walk.matcher.can_stop == matches(compiled, walk)
            for text in ("".join(random.choices("abc1é.\n _-🦉", k=random.randint(0, 6))) for _ in range(20)):
                assert takes(constraint, tokens, text) == bool(compiled.fullmatch(text)), repr(text)
        except (AssertionError, ElizaError) as error:
            raise AssertionError(f"seed {seed}: {pattern!r}: {error}") from error


def matches(compiled: re.Pattern[str], walk: Walk) -> bool:
    text = b"".join(walk.tokens.text[token] for token in walk.taken)
    try:
        return bool(compiled.fullmatch(text.decode()))
    except UnicodeDecodeError:
        return False


def takes(constraint: Constraint, tokens: Tokens, text: str) -> bool:
    """Byte by byte."""
    matcher = Matcher(constraint)
    for byte in text.encode():
        token = bytes([byte])
        if token not in tokens.text or matcher.accept(tokens.text.index(token)) != Step.IN_SPAN:
            return False
    return matcher.can_stop


@pytest.mark.parametrize("seed", range(40))
def test_choices(seed: int) -> None:
    random = Random(f"choices {seed}")
    tokens = Tokens(random_cases.tokens(random, 60))
    words = [
        "".join(random.choices(random_cases.SAMPLES, k=random.randint(1, 4))) for _ in range(random.randint(1, 40))
    ]
    constraint = Constraint.choices(tokens.vocabulary, words)
    recognizer = of_regex("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
    for _ in range(4):
        Walk(constraint, recognizer, tokens).at_random(random, 6)


def test_states_are_told_apart(shipped: tuple[str, Constraint, Recognizer, Tokens]) -> None:
    """Many matchers on one constraint do not disturb each other, nor what it keeps for all of them."""
    name, constraint, recognizer, tokens = shipped
    random = Random(name)
    walks = [Walk(constraint, recognizer, tokens) for _ in range(5)]
    for _ in range(20):
        walk = random.choice(walks)
        if allowed := walk.check():
            walk.take(random.choice(allowed))
