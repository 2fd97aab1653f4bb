"""Bad and huge input to recognizers: a status with a message that says what and where, within the budget, and
everything stays usable. The messages themselves are in the conformance cases."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    Constraint,
    ElizaError,
    GrammarError,
    LimitError,
    Matcher,
    Step,
    Vocabulary,
)

from recognizer_fixtures import listed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import random_cases, samples

BYTES = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])

MB = 1_000_000


def lark(grammar: str, budget: Budget | None = None) -> Constraint:
    return Constraint.lark(BYTES, grammar, budget=budget)


def regex(pattern: str, budget: Budget | None = None) -> Constraint:
    return Constraint.regex(BYTES, pattern, budget=budget)


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(matcher.accept(byte) == Step.IN_SPAN for byte in text.encode()) and matcher.can_stop


# ---- Size ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{1,1000}){1,1000}",
        "((a{100}){100}){100}",
        "(((((a{2,}){2,}){2,}){50}){50}){50}",
        "a{2000000}",
        ".*a.{20}",
        "(.*a.*b.*c.*d.*e.*f.*g.*){9}",
        "(\\w{1,500}){1,500}",
        "(a?){60000}(b?){60000}",
        "(" * 400_000 + "a" + ")" * 400_000,
        "(a|" * 200_000 + "b" + ")" * 200_000,
        "|".join(f"a{n}b" for n in range(100_000)),
        "[" + "".join(chr(n) for n in range(0x10000, 0x30000, 2)) + "]{1,1000}",
        "x" * 1_048_577,
    ],
    ids=lambda pattern: pattern[:24] + f" {len(pattern)}",
)
@pytest.mark.parametrize("bytes_max", [None, 4 * MB])
def test_bombs_of_regular_expressions_are_refused_in_time(pattern: str, bytes_max: int | None) -> None:
    """By their size, long before this deadline; which a slow machine may meet."""
    try:
        regex(pattern, Budget(ms_max=60_000, bytes_max=bytes_max))
    except (LimitError, GrammarError) as error:
        assert "ms_max" not in error.message
    assert accepts(regex("a+"), "aaa")


TOO_LARGE: dict[str, Callable[[], str]] = {
    "one string": lambda: 'start: "' + "a" * 10 * MB + '"',
    "one regular expression": lambda: "start: /" + "a" * 10 * MB + "/",
    "one class": lambda: "start: /[" + "ab" * 5 * MB + "]{1,60000}/",
    "many strings": lambda: "start: " + " | ".join(f'"{n}"' for n in range(MB)),
    "many rules in a row": lambda: (
        "start: r0\n" + "".join(f'r{n}: "a" r{n + 1}\n' for n in range(500_000)) + 'r500000: "b"'
    ),
    "many rules, each one another": lambda: (
        "start: r0\n" + "".join(f"r{n}: r{n + 1}\n" for n in range(500_000)) + 'r500000: "b"'
    ),
    "many rules that nobody uses": lambda: 'start: "a"\n' + "".join(f'r{n}: "b"\n' for n in range(600_000)),
    "many terminals": lambda: "start: T0\n" + "".join(f'T{n}: "t{n}"\n' for n in range(500_000)),
    "terminals in a row": lambda: "start: T0\n" + "".join(f"T{n}: T{n + 1}\n" for n in range(500_000)) + 'T500000: "b"',
    "terminals that double": lambda: (
        "start: T0\n" + "".join(f"T{n}: T{n + 1} T{n + 1}\n" for n in range(64)) + 'T64: "b"'
    ),
    "rules that double": lambda: "start: r0\n" + "".join(f"r{n}: r{n + 1} r{n + 1}\n" for n in range(64)) + 'r64: "b"',
    "groups in groups": lambda: "start: " + "(" * 5 * MB + '"a"' + ")" * 5 * MB,
    "groups that do not end": lambda: "start: " + "(" * 10 * MB,
    "options in options": lambda: "start: " + "[" * 100_000 + '"a"' + "]" * 100_000,
    "many options": lambda: "start: " + '"a"? "b" ' * 500_000,
    "repeats of repeats": lambda: 'start: (("a"~1..1000)~1..1000)~1..1000',
    "a long repeat": lambda: 'start: "a"~1000000000',
    "an intersection of many": lambda: "start: T\nT: " + "& ~/a/" * MB + '"b"',
    "complements in complements": lambda: "start: T\nT: " + "~(" * MB + '"b"',
    "complements of complements": lambda: "start: T\nT: " + "~" * 10 * MB + '"b"',
    "complements in a row": lambda: (
        "start: T0\n" + "".join(f"T{n}: ~T{n + 1} & /.+/\n" for n in range(500_000)) + 'T500000: "b"'
    ),
    "complements in a row, the last first": lambda: (
        "start: T0\nT3000: /b/\n" + "".join(f"T{n}: ~T{n + 1} & /.+/\n" for n in reversed(range(3000)))
    ),
    "an intersection that multiplies": lambda: "start: T\nT: " + " & ".join(f"/.*a.{{{n}}}b.*/" for n in range(40)),
    "one long rule": lambda: "start: " + '"a" ' * 2 * MB,
    "a long comment": lambda: 'start: "a" //' + "x" * 10 * MB,
    "long names": lambda: f'start: {"n" * 5 * MB}\n{"n" * 5 * MB}: "a"',
    "blank lines": lambda: "\n" * 10 * MB + 'start: "a"',
    "an error at the end": lambda: 'start: "a"\n' * MB,
    "only zeros": lambda: "\0" * 10 * MB,
    "not ASCII": lambda: "é" * 5 * MB,
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_huge_grammars_end(name: str) -> None:
    """They compile, or are refused for what they are; not for the time that it takes."""
    try:
        lark(TOO_LARGE[name](), Budget(ms_max=60_000))
    except (GrammarError, LimitError) as error:
        assert "ms_max" not in error.message
        assert len(error.message) < 1000
        assert isinstance(error, LimitError) or re.match(r"\d+:\d+: ", error.message)
    assert accepts(lark('start: "a"'), "a")


def test_budgets() -> None:
    c11 = samples.text_of("c11")
    for budget in (Budget(states_max=50), Budget(bytes_max=10_000)):
        with pytest.raises(LimitError, match="needs more than"):
            lark(c11, budget)
    with pytest.raises(LimitError, match="ms_max"):
        regex("\\w{1,100}", Budget(ms_max=1))
    with pytest.raises(CancelledError):
        lark(c11, Budget(cancel=lambda: True))

    def fail() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lark(c11, Budget(cancel=fail))
    assert accepts(lark(c11), "int x;")


# ---- Nonsense --------------------------------------------------------------------------------------------------------


def test_mutated_grammars_are_refused_with_a_place() -> None:
    random = Random("mutated grammars")
    texts = [samples.text_of(name) for name in ("json", "arithmetic", "function_call")]
    texts += [random_cases.grammar(random).text for _ in range(40)]
    texts.append(
        'start: (A | "b"~2..3)* [x] %prec A\nx: /a/i "b"i -> c\nA.2: B+ "c"\nB: "0".."9" & ~/5/\n'
        "%left A\n%ignore /\\s/\n"
    )
    n_compiled = 0
    for _ in range(1500):
        try:
            lark(
                mutated(random, random.choice(texts), ':|&()[]{}?*+~.->"/\\%#@\n \t0aA_é\0'), Budget(bytes_max=64 * MB)
            )
            n_compiled += 1
        except GrammarError as error:
            assert re.match(r"\d+:\d+: .", error.message), error.message
        except LimitError:
            pass
    assert n_compiled > 40


def test_mutated_patterns_are_refused_with_a_place() -> None:
    random = Random("mutated patterns")
    n_compiled = 0
    for _ in range(3000):
        pattern = mutated(random, random_cases.regex(random), "()[]{}?*+|\\^$.-,:=!<>&~#PpxuU019azi é\n\0")
        try:
            regex(pattern, Budget(bytes_max=64 * MB))
            n_compiled += 1
        except GrammarError as error:
            place = re.match(r"at byte (\d+): .|no text matches", error.message)
            assert place, error.message
            assert place[1] is None or int(place[1]) <= len(pattern.encode())
        except LimitError:
            pass
    assert n_compiled > 500


def mutated(random: Random, text: str, characters: str) -> str:
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(text) + 1)
        piece = "".join(random.choices(characters, k=random.randint(0, 3)))
        text = text[:place] + piece + text[place + random.randint(0, 3) :]
    return text


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    from eliza_inference._library import ffi, lib

    for function in (lib.eliza_inference_constraint_create_lark,):
        out, error = ffi.new("eliza_constraint **"), ffi.new("char **")
        text = b'start: "\xff"'
        assert function(BYTES._handle, text, len(text), ffi.NULL, out, error) < 0
        assert re.match(r"1:\d+: ", ffi.string(error[0]).decode())
        lib.eliza_inference_free_string(error[0])


# ---- Vocabularies ----------------------------------------------------------------------------------------------------


def test_a_vocabulary_with_long_tokens() -> None:
    tokens = [b"a" * 4096, b"a" * 4095 + b"b", bytes(range(256)) * 16, b'"' + b"x" * 4094 + b'"', b" " * 4096, b"</s>"]
    vocabulary = Vocabulary(len(tokens), tokens, [0] * 5 + [2])
    matcher = Matcher(Constraint.regex(vocabulary, "a*b"))
    assert listed(matcher) == [0, 1]
    for _ in range(100):
        assert matcher.accept(0) == Step.IN_SPAN
    assert matcher.accept(1) == Step.IN_SPAN and matcher.can_stop
    json = Matcher(Constraint.lark(vocabulary, samples.text_of("json")))
    assert listed(json) == [3, 4]
    assert json.accept(4) == Step.IN_SPAN and json.accept(2) == Step.REFUSED and json.accept(3) == Step.IN_SPAN
    assert listed(json) == [4, 5]


def test_a_vocabulary_without_bytes_is_refused() -> None:
    with pytest.raises(ElizaError, match="bytes"):
        Constraint.regex(Vocabulary(10), "a")


def test_a_vocabulary_of_tokens_that_no_text_has() -> None:
    vocabulary = Vocabulary(3, [b"a", b"", b"b"], [1, 0, 4])
    matcher = Matcher(Constraint.regex(vocabulary, "[ab]"), end=[])
    assert listed(matcher) == []
    assert [matcher.accept(token) for token in range(3)] == [Step.REFUSED] * 3
    assert not matcher.can_stop
    with pytest.raises(ElizaError, match="no token"):
        matcher.sample(array("f", [0.0, 0.0, 0.0]))


def test_refused_tokens_leave_no_trace() -> None:
    matcher = Matcher(lark(samples.text_of("c11")))
    for byte in b"void f(void) { x = (a":
        matcher.accept(byte)
    before, memory = matcher.fill_bitmap().tolist(), matcher.info.retained_bytes
    accept, token = matcher.accept, ord("]")
    for _ in range(200_000):
        accept(token)
    assert matcher.fill_bitmap().tolist() == before
    assert matcher.info.retained_bytes == memory
    assert matcher.accept(ord(")")) == Step.IN_SPAN
