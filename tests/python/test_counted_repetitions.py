"""Repetitions that are counted, not unrolled into states: of regular expressions and of terminals, against Python's
`re` and against the same expression in a form that is unrolled. Seeds are fixed."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from eliza_inference import Constraint, LimitError, Matcher, Step, Vocabulary

from parameter_texts import goes

PIECES = ["ab", "aaaaaaaa", "éé", "a" * 90, "b;", "a;", ";b", "aé;", "<p>", "</p>", "a</p>", "</", "\U0001f600"]

# Each with one that is unrolled, since two repetitions have no fixed length together.
SAME: list[tuple[str, str]] = [
    ("[^<]{0,200}", "[^<]{0,100}[^<]{0,100}"),
    ("[^<]{150,200}", "[^<]{100,120}[^<]{50,80}"),
    ("<p>[aé]{2,180}</p>", "<p>[aé]{1,90}[aé]{1,90}</p>"),
    ("(a|b){70}", "(a|b){0,0}(ab|aa|bb|ba){35}"),
    ("(?:x[ab]{0,170}|)y?", "(?:x[ab]{0,80}[ab]{0,90}|)y?"),
    (";[a-z]{170,190};", ";[a-z]{0,0}[a-z]{100,110}[a-z]{70,80};"),
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)] + [piece.encode() for piece in PIECES]
    return Vocabulary(len(tokens) + 1, [*tokens, b"</s>"], [0] * len(tokens) + [2])


def is_match(pattern: str, text: bytes) -> bool:
    try:
        return re.fullmatch(pattern, text.decode()) is not None
    except UnicodeDecodeError:
        return False


# Grammars: what comes before the terminal, it, the same unrolled, and what comes after it.
GRAMMARS: list[tuple[str, str, str, str]] = [
    ('start: "<p>" T "</p>"', "[^<]{0,200}", "[^<]{0,100}[^<]{0,100}", ""),
    ('start: T (";" T)*', "[ab]{1,170}", "[ab]{1,90}[ab]{0,80}", ""),
    ('start: "<p>" T T "</p>" | T', "[ab]{1,170}", "[ab]{1,90}[ab]{0,80}", ""),  # where one ends is open
    ('start: T | "aa" ";"', "[ab]{1,170}", "[ab]{1,90}[ab]{0,80}", ""),  # maximal munch counts
    ('start: T ("b;")? ', "[a]{1,170}", "[a]{1,90}[a]{0,80}", '%ignore " "'),
    ('start: ("<p>" T "</p>")+', "[^<]{2,170}", "[^<]{1,90}[^<]{1,80}", "%ignore /[ ]+/"),
    ('start: ("<p>" T "</p>")+', "[^<]{2,170}", "[^<]{1,90}[^<]{1,80}", "%lexing any"),
    ('start: "x" T "ab"', "[ab]{2,170}", "[ab]{1,90}[ab]{1,80}", "%lexing any"),
]


@pytest.mark.parametrize(("counted", "unrolled"), SAME)
def test_masks_are_those_of_states(vocabulary: Vocabulary, counted: str, unrolled: str) -> None:
    constraints = Constraint.regex(vocabulary, counted), Constraint.regex(vocabulary, unrolled)
    for text, can_stop in compare(*constraints, Random(len(counted))):
        assert can_stop == is_match(counted, text)


@pytest.mark.parametrize(("rule", "counted", "unrolled", "more"), GRAMMARS)
def test_masks_of_terminals_are_those_of_states(
    vocabulary: Vocabulary, rule: str, counted: str, unrolled: str, more: str
) -> None:
    made = [Constraint.lark(vocabulary, f"{rule}\nT: /{pattern}/\n{more}") for pattern in (counted, unrolled)]
    assert compare(made[0], made[1], Random(len(rule)))


def compare(counted: Constraint, unrolled: Constraint, random: Random) -> list[tuple[bytes, bool]]:
    """Texts by chance, and whether they may end."""
    texts = []
    for _ in range(8):
        one, other = Matcher(counted), Matcher(unrolled)
        text = b""
        for _ in range(random.choice([12, 60, 320, 320])):
            mask, expected = one.allowed(), other.allowed()
            if mask is None or expected is None:
                break
            assert np.array_equal(mask, expected)
            assert one.can_stop == other.can_stop
            assert one.forced_bytes() == other.forced_bytes()
            texts.append((text, one.can_stop))
            legal = [token for token in mask.tolist() if token < 256 + len(PIECES)]
            if not legal:
                break
            letters = [token for token in legal if token in (97, 98)] or legal
            token = random.choice(letters if random.random() < 0.8 else legal)
            text += PIECES[token - 256].encode() if token >= 256 else bytes([token])
            assert Step.REFUSED not in one.accept(token)
            other.accept(token)
    assert any(can_stop for _, can_stop in texts)
    return texts


def test_ten_thousand_and_a_million(vocabulary: Vocabulary, tmp_path: Path) -> None:
    long = 256 + PIECES.index("a" * 90)
    Constraint.regex(vocabulary, "[^<]{10,10000}").save(tmp_path / "saved")
    for constraint in Constraint.regex(vocabulary, "[^<]{10,10000}"), Constraint.open(vocabulary, tmp_path / "saved"):
        matcher = Matcher(constraint)
        assert goes(matcher, list(b"aaaaaaaaa")) and not matcher.can_stop
        assert goes(matcher, [long] * 111)
        assert matcher.can_stop and not goes(matcher.clone(), [97, 97])
        matcher.rollback(1)
        assert (
            goes(matcher, list("é".encode() * 90)) and not goes(matcher.clone(), [long]) and not goes(matcher, [98, 98])
        )
    grammar = 'start: "<p>" /[^<]{0,10000}/ "</p>"'
    Constraint.lark(vocabulary, grammar).save(tmp_path / "grammar")
    for constraint in Constraint.lark(vocabulary, grammar), Constraint.open(vocabulary, tmp_path / "grammar"):
        matcher = Matcher(constraint)
        assert goes(matcher, list(b"<p>")) and matcher.accept_tokens([long] * 111) and goes(matcher, [97] * 10)
        assert not goes(matcher.clone(), [97]) and goes(matcher, list(b"</p>")) and matcher.can_stop
    matcher = Matcher(Constraint.regex(vocabulary, "a{1000000}"))
    assert matcher.accept_tokens([long] * 11_111) and not matcher.can_stop
    assert goes(matcher, [97] * 10) and matcher.can_stop
    tags = {"tags": [{"begin": "<p>", "regex": "[^<]{0,1000}", "end": "</p>"}]}
    matcher = Matcher(Constraint.tags(vocabulary, tags))
    assert goes(matcher, list(b"<p>")) and goes(matcher, [long] * 11 + [97] * 10)
    assert not goes(matcher.clone(), [97]) and goes(matcher, list(b"</p>"))


def test_a_hundred_thousand_tokens_are_counted(vocabulary: Vocabulary) -> None:
    constraint = Constraint.lark(vocabulary, 'start: "x" t "y;"\nt[max_tokens=100000]: /[a-z]*/')
    assert not constraint.warnings
    matcher = Matcher(constraint)
    assert matcher.accept_tokens([*b"x", *b"a" * 99_999])
    for _ in range(2):
        assert goes(matcher.clone(), list(b"ay;"))
        assert not goes(matcher.clone(), list(b"aa"))
        matcher.accept(97)
        matcher.rollback(1)
    for limit, rule in [(1_000_000, "/[a-z]*/"), (32_767, '"a"+ "b"')]:
        grammar = f'start: "x" t "y;"\nt[max_tokens=%d]: {rule}'
        assert not Constraint.lark(vocabulary, grammar % limit).warnings
        assert "so many are not counted" in Constraint.lark(vocabulary, grammar % (limit + 1)).warnings[0]
    with pytest.raises(LimitError, match="max_tokens 1000000 is too large for a lexer of 1"):
        Constraint.lark(vocabulary, 'start: "x" t\nt[max_tokens=1000000]: /[a-z]*|A{600}B{600}/')
