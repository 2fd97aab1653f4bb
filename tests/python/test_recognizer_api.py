"""Constraints by choices, regular expressions and grammars, as Python sees them."""

import array
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    ClosedError,
    Constraint,
    ConstraintKind,
    ElizaError,
    FileInvalidError,
    GrammarError,
    InvalidArgumentError,
    LimitError,
    Matcher,
    Mode,
    SlotFileError,
    Status,
    Step,
    TokenTree,
    Vocabulary,
    fill_bitmaps,
    grammars,
    limits,
)

from recognizer_fixtures import (
    CONTROL,
    END,
    N_TOKENS,
    N_WORDS,
    OTHER_END,
    accept_text,
    allowed_ids,
    ids_of,
    longest_first,
    text_vocabulary,
    tokens_of,
)

IN_SPAN_AND_OVER = Step.IN_SPAN | Step.SPAN_ENDED
SEND = ["SEND", "SEND_MESSAGE", "SET"]


@pytest.fixture(scope="module")
def words() -> Vocabulary:
    return text_vocabulary()


@pytest.fixture(scope="module")
def json_constraint(words: Vocabulary) -> Constraint:
    return Constraint.lark(words, grammars.text("json"))


# ---- Choices ---------------------------------------------------------------------------------------------------------


def test_choices_come_out_in_any_tokens(words: Vocabulary) -> None:
    constraint = Constraint.choices(words, [*SEND, b"SET"])
    matcher = Matcher(constraint)
    assert allowed_ids(matcher) == tokens_of("S", "SEND", "SEND_")
    accept_text(matcher, b"S")
    assert allowed_ids(matcher) == tokens_of("E")
    accept_text(matcher, b"EN")
    accept_text(matcher, b"D")
    assert matcher.can_stop
    assert allowed_ids(matcher) == tokens_of("_") | {END}
    accept_text(matcher, b"_MESSAGE")
    assert allowed_ids(matcher) == {END}
    assert matcher.accept(END) == IN_SPAN_AND_OVER
    assert matcher.leaf is None


def test_canonical_choices_are_a_token_tree(words: Vocabulary) -> None:
    constraint = Constraint.choices(words, SEND, canonical=True)
    assert constraint.kind == ConstraintKind.TOKEN_TRIE
    assert constraint.paths == ("choices",)
    matcher = Matcher(constraint)
    assert allowed_ids(matcher) == {longest_first(name.encode())[0] for name in SEND}
    accept_text(matcher, b"SEND_MESSAGE")
    assert matcher.leaf == "SEND_MESSAGE"


def test_canonical_choices_are_spelled_by_the_tokenizer() -> None:
    vocabulary = text_vocabulary()
    seen: list[bytes] = []

    def by_bytes(text: bytes) -> list[int]:
        seen.append(text)
        return list(text)

    vocabulary.set_tokenizer(by_bytes)
    matcher = Matcher(Constraint.choices(vocabulary, SEND, canonical=True))
    assert set(seen) == {name.encode() for name in SEND}
    assert allowed_ids(matcher) == tokens_of("S")
    vocabulary.set_tokenizer(None)
    matcher = Matcher(Constraint.choices(vocabulary, SEND, canonical=True))
    assert allowed_ids(matcher) == {longest_first(name.encode())[0] for name in SEND}


def test_canonical_choices_are_utf8() -> None:
    with pytest.raises(InvalidArgumentError, match=r"choices\[1\]: byte 2 is not UTF-8"):
        Constraint.choices(text_vocabulary(), ["SET", b"SE\xffND"], canonical=True)
    assert Constraint.choices(text_vocabulary(), ["SET", b"SE\xffND"]).recognizer_info.n_states == 7  # with the root


@pytest.mark.parametrize("spelled", [b"SET", b"send", b"SEN", b"SENDS", b""])
def test_canonical_choices_in_tokens_of_another_text_are_refused(spelled: bytes) -> None:
    vocabulary = text_vocabulary()
    vocabulary.set_tokenizer(lambda text: list(spelled if text == b"SEND" else text))
    with pytest.raises(InvalidArgumentError, match=r"choices\[1\]: the tokenizer cannot spell .*SEND"):
        Constraint.choices(vocabulary, ["SET", "SEND"], canonical=True)
    vocabulary.set_tokenizer(list)
    assert Matcher(Constraint.choices(vocabulary, ["SET", "SEND"], canonical=True)).forced() == list(b"SE")


def test_choices_without_a_string_or_with_an_empty_one_are_errors(words: Vocabulary) -> None:
    for strings in ([], ["a", ""]):
        with pytest.raises(InvalidArgumentError):
            Constraint.choices(words, strings)
    with pytest.raises(InvalidArgumentError, match="not valid Unicode"):
        Constraint.choices(words, ["\ud800"])
    with pytest.raises(TypeError, match="several strings"):
        Constraint.choices(words, "abc")
    with pytest.raises(TypeError, match="got int"):
        Constraint.choices(words, [1])  # type: ignore[list-item]


# ---- Regular expressions ---------------------------------------------------------------------------------------------


def test_a_regular_expression_matches_the_whole_text(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, r"[a-c]{2,3}|é+"))
    assert allowed_ids(matcher) == tokens_of("a", "b", "c", "ab", "abc", "é", "é".encode()[:1])
    accept_text(matcher, "ab")
    assert allowed_ids(matcher) == tokens_of("a", "b", "c") | {END}
    assert matcher.accept(ord("x")) == Step.REFUSED
    accept_text(matcher, "c")
    assert allowed_ids(matcher) == {END}


def test_ignoring_case(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "SEND", ignore_case=True))
    assert allowed_ids(matcher) >= tokens_of("s", "S", "SEND")
    accept_text(matcher, "sEnD")
    assert matcher.can_stop


@pytest.mark.parametrize(
    ("pattern", "offset"), [("ab(", None), ("é(?>a)", 2), ("a++", 2), (r"(a)\1", 3), ("a{2,1}", None)]
)
def test_an_error_in_a_pattern_gives_the_byte_offset(words: Vocabulary, pattern: str, offset: int | None) -> None:
    with pytest.raises(GrammarError, match=r"^at byte \d+: ") as caught:
        Constraint.regex(words, pattern)
    assert caught.value.status == Status.GRAMMAR
    assert isinstance(caught.value, ValueError)
    if offset is not None:
        assert caught.value.message.startswith(f"at byte {offset}: ")


# ---- Grammars --------------------------------------------------------------------------------------------------------


def test_the_grammars_that_ship_compile(words: Vocabulary) -> None:
    assert grammars.names() == ("arithmetic", "c11", "function_call", "json", "lark", "python", "sql_select")
    for name in grammars.names():
        constraint = Constraint.lark(words, grammars.text(name))
        assert constraint.kind == ConstraintKind.GRAMMAR
        assert Matcher(constraint).can_stop == (name in ("lark", "python"))
    with pytest.raises(InvalidArgumentError, match="'yaml'; there are: arithmetic, c11"):
        grammars.text("yaml")


def test_a_json_text(json_constraint: Constraint) -> None:
    matcher = Matcher(json_constraint)
    accept_text(matcher, '{"abc": [12, ')
    assert not matcher.can_stop
    assert matcher.accept(ord("]")) == Step.REFUSED
    accept_text(matcher, 'true, "é日"]}')
    assert matcher.can_stop
    assert allowed_ids(matcher) == tokens_of(" ", "  ", "\t", "\n", "\r") | {END}


def test_an_error_in_a_grammar_gives_line_and_column(words: Vocabulary) -> None:
    with pytest.raises(GrammarError, match=r"^2:\d+: .*missing"):
        Constraint.lark(words, "start: other\nother: missing\n")
    with pytest.raises(GrammarError, match=r"^\d+:\d+: ") as caught:
        Constraint.lark(words, 'start: start "+" start | "1"\n%conflicts refuse\n')
    assert "+" in caught.value.message


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("%conflicts refuse\n%lexing any", "%conflicts refuse is not obeyed beside %lexing any"),
        ('%conflicts refuse\n%ignore " "\n%grammar_options {"ignore_once": true}', "ignore_once, which cut terminals"),
        ("| %json {}\n%conflicts shift", "%conflicts shift is not obeyed beside tokens or schemas"),
    ],
)
def test_a_warning_says_where_conflicts_are_followed_all_the_same(words: Vocabulary, more: str, why: str) -> None:
    warnings = Constraint.lark(words, f'start: start "+" start | "1"\n{more}').warnings
    assert any(why in warning and "every parse is followed" in warning for warning in warnings)


def test_warnings_tell_what_is_seldom_meant(words: Vocabulary) -> None:
    assert Constraint.lark(words, 'start: "a"').warnings == ()
    warnings = Constraint.lark(words, 'start: A "a"\nA: /a+/\nunused: "b"\n%lexing longest\n').warnings
    assert any("unused" in warning for warning in warnings)
    assert any("A" in warning and "a" in warning for warning in warnings if "unused" not in warning)
    without_b = Vocabulary(2, [b"a", b"c"])
    assert Constraint.lark(without_b, 'start: "a"').warnings != ()


# ---- All recognizers -------------------------------------------------------------------------------------------------


def test_sizes(words: Vocabulary, json_constraint: Constraint) -> None:
    info = json_constraint.recognizer_info
    assert info.n_terminals == 12
    assert info.n_states > 10 and info.n_parser_states > 10 and info.n_productions > 10
    assert info.automaton_bytes > 0
    assert Constraint.regex(words, "a{3}").recognizer_info.n_parser_states == 0
    assert Constraint.choices(words, SEND).kind == ConstraintKind.CHOICES
    assert Constraint.regex(words, "a").kind == ConstraintKind.REGEX
    tree = Constraint(words, TokenTree.from_names(["A"], {"A": [1]}, labels=True))
    assert tree.kind == ConstraintKind.TOKEN_TRIE
    assert tree.recognizer_info.n_states == 0
    assert tree.warnings == ()
    assert json_constraint.paths == ("",)
    with pytest.raises(InvalidArgumentError, match="recognizer_info"):
        json_constraint.info  # noqa: B018


def test_a_recognizer_needs_the_bytes_of_the_tokens() -> None:
    with pytest.raises(InvalidArgumentError, match="bytes"):
        Constraint.regex(Vocabulary(10), "a")


def test_preparing_builds_the_tables(words: Vocabulary) -> None:
    constraint = Constraint.lark(words, grammars.text("json"))
    before = constraint.recognizer_info
    constraint.prepare()
    after = constraint.recognizer_info
    assert after.n_tables > before.n_tables
    assert 0 < after.table_bytes <= limits.MASK_BYTES
    assert after.n_tables <= after.n_states


def compilations(words: Vocabulary) -> list[Callable[[Budget], object]]:
    many = [f"name{n}" for n in range(2000)]
    return [
        lambda budget: Constraint.choices(words, many, budget=budget),
        lambda budget: Constraint.regex(words, r"\w{1,64}", budget=budget),
        lambda budget: Constraint.lark(words, grammars.text("c11"), budget=budget),
    ]


@pytest.mark.parametrize("which", range(3), ids=["choices", "regex", "lark"])
def test_compiling_is_cancelled(words: Vocabulary, which: int) -> None:
    with pytest.raises(CancelledError):
        compilations(words)[which](Budget(cancel=lambda: True))
    asked: list[int] = []
    compilations(words)[which](Budget(cancel=lambda: asked.append(1)))
    assert asked


@pytest.mark.parametrize("which", range(3), ids=["choices", "regex", "lark"])
def test_what_the_cancel_callback_raises_passes_through(words: Vocabulary, which: int) -> None:
    def interrupt() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compilations(words)[which](Budget(cancel=interrupt))


@pytest.mark.parametrize("which", range(3), ids=["choices", "regex", "lark"])
def test_too_little_memory_to_compile_is_an_error(words: Vocabulary, which: int) -> None:
    with pytest.raises(LimitError):
        compilations(words)[which](Budget(bytes_max=1000))


def test_too_many_states_are_an_error(words: Vocabulary) -> None:
    with pytest.raises(LimitError):
        Constraint.regex(words, "((ab){1,1000}){1,1000}")
    with pytest.raises(LimitError):
        Constraint.regex(words, "(ab){50}", budget=Budget(states_max=50))
    assert Constraint.regex(words, "(ab){20}", budget=Budget(states_max=50)).recognizer_info.n_states <= 50


def test_a_budget_that_cannot_be_is_an_error() -> None:
    refused: list[dict[str, Any]] = [
        {"states_max": 0},
        {"bytes_max": -1},
        {"ms_max": 2**64},
        {"states_max": limits.COMPILE_STATES + 1},
    ]
    for options in refused:
        (name,) = options
        with pytest.raises(InvalidArgumentError, match=f"^{name}: "):
            Budget(**options)


# ---- Files -----------------------------------------------------------------------------------------------------------


def masks_along(constraint: Constraint, text: str) -> list[set[int]]:
    matcher = Matcher(constraint)
    masks = [allowed_ids(matcher)]
    for token in longest_first(text.encode()):
        matcher.accept(token)
        masks.append(allowed_ids(matcher))
    return masks


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ConstraintKind.CHOICES, "SEND_MESSAGE"),
        (ConstraintKind.REGEX, "ab12"),
        (ConstraintKind.GRAMMAR, '{"abc": [12, null]}'),
    ],
    ids=["choices", "regex", "grammar"],
)
def test_a_saved_constraint_is_the_same(words: Vocabulary, tmp_path: Path, kind: ConstraintKind, text: str) -> None:
    constraint = {
        ConstraintKind.CHOICES: lambda: Constraint.choices(words, SEND),
        ConstraintKind.REGEX: lambda: Constraint.regex(words, r"\w+"),
        ConstraintKind.GRAMMAR: lambda: Constraint.lark(words, grammars.text("json")),
    }[kind]()
    constraint.prepare()
    file = tmp_path / "saved"
    constraint.save(file)
    opened = Constraint.open(text_vocabulary(), file, budget=Budget(mask_bytes_max=1 << 20))
    assert opened.kind == kind
    assert opened.warnings == constraint.warnings
    assert opened.recognizer_info.n_states == constraint.recognizer_info.n_states
    assert opened.recognizer_info.n_tables == constraint.recognizer_info.n_tables
    assert masks_along(opened, text) == masks_along(constraint, text)


def test_a_constraint_for_other_tokens_is_refused(words: Vocabulary, tmp_path: Path) -> None:
    file = tmp_path / "saved"
    Constraint.regex(words, "a+").save(file)
    with pytest.raises(FileInvalidError, match="vocabulary"):
        Constraint.open(Vocabulary(2, [b"a", b"b"]), file)


def test_a_token_tree_is_not_saved(words: Vocabulary, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError):
        Constraint(words, TokenTree.from_names(["A"], {"A": [1]}, labels=True)).save(tmp_path / "saved")


def test_a_saved_vocabulary_is_the_same(words: Vocabulary, tmp_path: Path) -> None:
    file = tmp_path / "vocabulary ä"
    words.save(file)
    opened = Vocabulary.open(file)
    assert len(opened) == N_TOKENS
    assert [opened.token_bytes(token) for token in range(N_TOKENS)] == [
        words.token_bytes(token) for token in range(N_TOKENS)
    ]
    assert [opened.flags(token) for token in range(N_TOKENS)] == [words.flags(token) for token in range(N_TOKENS)]
    assert opened.info.fingerprint == words.info.fingerprint
    assert opened.info.n_nodes == words.info.n_nodes > 0
    assert masks_along(Constraint.regex(opened, r"\w+"), "ab12") == masks_along(Constraint.regex(words, r"\w+"), "ab12")


def test_damaged_files_are_refused(words: Vocabulary, tmp_path: Path) -> None:
    vocabulary_file, constraint_file = tmp_path / "vocabulary", tmp_path / "constraint"
    words.save(vocabulary_file)
    Constraint.lark(words, grammars.text("json")).save(constraint_file)
    openers: list[tuple[Path, Callable[[Path], object]]] = [
        (vocabulary_file, Vocabulary.open),
        (constraint_file, lambda file: Constraint.open(words, file)),
    ]
    for file, open_it in openers:
        sound = file.read_bytes()
        open_it(file)
        damaged = [b"", sound[: len(sound) // 2], sound[:-1], b"x" * len(sound), sound + b"\0"]
        places = range(0, len(sound), max(1, len(sound) // 50))
        damaged += [sound[:at] + bytes([sound[at] ^ 0x10]) + sound[at + 1 :] for at in places]
        for content in damaged:
            bad = tmp_path / "bad"
            bad.write_bytes(content)
            with pytest.raises(FileInvalidError):
                open_it(bad)
            bad.unlink()
        with pytest.raises(SlotFileError):
            open_it(tmp_path / "missing")
    with pytest.raises(FileInvalidError):
        Vocabulary.open(constraint_file)
    with pytest.raises(SlotFileError):
        words.save(tmp_path / "no folder" / "file")


def test_what_a_vocabulary_tells_of_itself() -> None:
    vocabulary = Vocabulary(4, [b"a", b"ab", b"a", b""])
    assert vocabulary.info.n_nodes == 0
    vocabulary.prepare()
    info = vocabulary.info
    assert (info.n_tokens, info.n_nodes, info.n_duplicates) == (4, 3, 1)
    assert (info.missing_bytes, info.longest_token) == (255, 2)
    assert info.fingerprint != Vocabulary(4, [b"a", b"ac", b"a", b""]).info.fingerprint
    with pytest.raises(InvalidArgumentError, match="bytes"):
        Vocabulary(4).prepare()


# ---- The end of a span -----------------------------------------------------------------------------------------------


def test_end_tokens_of_the_callers_choice(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "ab?"), end=[OTHER_END, CONTROL])
    accept_text(matcher, "a")
    assert allowed_ids(matcher) == tokens_of("b") | {OTHER_END, CONTROL}
    assert matcher.accept(END) == Step.REFUSED
    assert matcher.accept(CONTROL) == IN_SPAN_AND_OVER
    assert matcher.allowed() is None and matcher.bitmap() is None


def test_without_end_tokens_a_span_that_must_stop_ends_by_itself(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "abc?"), end=[])
    assert matcher.accept(ord("a")) == Step.IN_SPAN
    assert matcher.accept(ord("b")) == Step.IN_SPAN
    assert matcher.can_stop and matcher.allowed() is None
    assert matcher.clone().accept(ord("x")) == Step.SPAN_ENDED
    assert matcher.accept(ord("c")) == IN_SPAN_AND_OVER


def test_end_tokens_that_cannot_be_are_errors(words: Vocabulary) -> None:
    constraint = Constraint.regex(words, "a")
    for end in ([N_TOKENS], [-1], list(range(limits.END_TOKENS_MAX + 1))):
        with pytest.raises(ElizaError) as caught:
            Matcher(constraint, end=end)
        assert caught.value.status in (Status.INVALID_ARG, Status.LIMIT)
    with pytest.raises(InvalidArgumentError):
        Matcher(Constraint(words, TokenTree.from_names(["A"], {"A": [1]}, labels=True)), end=[2])


def test_a_recognizer_has_no_span_timeout_unless_told(words: Vocabulary) -> None:
    constraint = Constraint.regex(words, "a*")
    matcher = Matcher(constraint)
    for _ in range(limits.SPAN_TIMEOUT_TOKENS + 1):
        assert matcher.accept(ord("a")) == Step.IN_SPAN
    matcher = Matcher(constraint, span_timeout=2, end=[END])
    matcher.accept(ord("a"))
    assert matcher.accept(ord("a")) == IN_SPAN_AND_OVER | Step.TIMED_OUT


# ---- Legal tokens ----------------------------------------------------------------------------------------------------


def test_all_forms_of_the_legal_tokens_agree(json_constraint: Constraint) -> None:
    matcher = Matcher(json_constraint)
    bitmaps = 0
    for token in longest_first('{"abc日": [1, 2.5e3, {"x": false}]}'.encode()):
        legal = allowed_ids(matcher)
        assert ids_of(matcher.fill_bitmap()) == legal
        assert matcher.state.n_allowed == len(legal)
        bitmap = matcher.bitmap()
        if bitmap is not None:
            bitmaps += 1
            assert ids_of(bitmap) == legal
        masked = np.zeros(N_TOKENS, np.float32)
        matcher.mask_logits(masked)
        assert set(np.flatnonzero(masked == 0).tolist()) == legal
        assert all((matcher.clone().accept(each) != Step.REFUSED) == (each in legal) for each in range(N_TOKENS))
        assert matcher.accept(token) == Step.IN_SPAN
    assert bitmaps > 0, "inside a string nearly all tokens are legal"


def test_a_lent_bitmap_is_read_only_and_outlives_the_matcher(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "[^x]*"))
    bitmap = matcher.bitmap()
    assert bitmap is not None
    assert bitmap.dtype == np.int32 and bitmap.shape == (N_WORDS,)
    assert not bitmap.flags.writeable and not bitmap.flags.owndata
    expected = bitmap.copy()
    matcher.close()
    del matcher
    gc.collect()
    assert np.array_equal(bitmap, expected)


def test_ids_of_a_recognizer_stay_as_they_were(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.choices(words, SEND))
    first = matcher.allowed()
    assert first is not None
    expected = first.tolist()
    accept_text(matcher, "SEND_")
    assert matcher.allowed() is not None
    matcher.close()
    assert first.tolist() == expected


def test_a_bitmap_is_written_into_any_buffer(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "[a-f]+"))
    expected = allowed_ids(matcher)
    for out in (
        np.full(N_WORDS, -1, np.int32),
        np.full((1, N_WORDS), -1, np.int32),
        np.full(N_WORDS, 7, np.uint32),
        np.full(N_WORDS + 3, -1, np.int32),
        array.array("i", [-1] * N_WORDS),
        bytearray(b"\xff" * 4 * N_WORDS),
        memoryview(bytearray(4 * N_WORDS)).cast("i"),
    ):
        assert matcher.fill_bitmap(out) is out
        assert ids_of(out) == expected


def test_a_bitmap_outside_a_span_has_every_token(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "a"))
    matcher.deactivate()
    assert ids_of(matcher.fill_bitmap()) == set(range(N_TOKENS))
    tree = Matcher(Constraint(words, TokenTree.from_names(["A", "B"], {"A": [3, 4], "B": [100]}, labels=True)))
    assert ids_of(tree.fill_bitmap()) == {3, 100}
    assert tree.bitmap() is None


def test_other_buffers_for_a_bitmap_are_errors(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "a"))
    with pytest.raises(InvalidArgumentError, match=f"{N_WORDS - 1} words are fewer than the {N_WORDS}"):
        matcher.fill_bitmap(np.zeros(N_WORDS - 1, np.int32))
    with pytest.raises(TypeError, match="32-bit integers"):
        matcher.fill_bitmap(np.zeros(N_WORDS, np.int64))
    with pytest.raises((BufferError, ValueError)):
        matcher.fill_bitmap(np.zeros(2 * N_WORDS, np.int32)[::2])
    with pytest.raises(BufferError):
        matcher.fill_bitmap(bytes(4 * N_WORDS))
    with pytest.raises(TypeError):
        matcher.fill_bitmap([0] * N_WORDS)
    matcher.close()
    for call in (matcher.fill_bitmap, matcher.bitmap, matcher.forced_bytes, lambda: matcher.info):
        with pytest.raises(ClosedError):
            call()


def test_what_a_matcher_fills_again_stays_where_it_is(words: Vocabulary) -> None:
    """It would write where the array was before."""
    matcher = Matcher(Constraint.regex(words, "[ab]+"))
    out, octets, integers = np.zeros(N_WORDS, np.int32), bytearray(4 * N_WORDS), array.array("i", bytes(4 * N_WORDS))
    arrays: list[tuple[Any, Callable[[], object]]] = [
        (out, lambda: out.resize(100_000, refcheck=False)),
        (octets, lambda: octets.extend(bytes(100_000))),
        (integers, lambda: integers.extend(range(100_000))),
    ]
    for each, resize in arrays:
        for _ in range(2):
            matcher.fill_bitmap(each)
            with pytest.raises((ValueError, BufferError)):
                resize()
        assert ids_of(np.frombuffer(each, np.int32)) == allowed_ids(matcher)
    out.resize(2 * N_WORDS, refcheck=False)  # another one is filled by now
    matcher.fill_bitmap(out)
    assert ids_of(out) == allowed_ids(matcher)
    matcher.close()
    out.resize(3 * N_WORDS, refcheck=False)


@pytest.mark.parametrize("n_threads", [0, 1, 3])
def test_many_bitmaps_at_once(words: Vocabulary, json_constraint: Constraint, n_threads: int) -> None:
    matchers = [Matcher(json_constraint) for _ in range(9)]
    matchers.append(Matcher(Constraint.choices(words, SEND)))
    matchers.append(Matcher(Constraint(words, TokenTree.from_names(["A"], {"A": [3]}, labels=True))))
    text = '{"abc": [12, true]}'
    for n, matcher in enumerate(matchers[:9]):
        accept_text(matcher, text[: 2 * n])
    out = np.full((len(matchers), N_WORDS + 1), -1, np.int32)
    assert fill_bitmaps(matchers, out, n_threads) is out
    for row, matcher in zip(out, matchers, strict=True):
        assert ids_of(row) == allowed_ids(matcher)
        assert row[-1] == 0
    flat = array.array("i", [-1] * (len(matchers) * N_WORDS))
    fill_bitmaps(matchers, flat, n_threads)
    assert np.array_equal(np.array(flat).reshape(len(matchers), N_WORDS), out[:, :-1])


def test_bitmaps_that_do_not_fit_are_errors(json_constraint: Constraint) -> None:
    matchers = [Matcher(json_constraint) for _ in range(2)]
    with pytest.raises(InvalidArgumentError, match="3 rows for 2 matchers"):
        fill_bitmaps(matchers, np.zeros((3, N_WORDS), np.int32))
    with pytest.raises(InvalidArgumentError, match="2 rows of at least"):
        fill_bitmaps(matchers, np.zeros((2, N_WORDS - 1), np.int32))
    with pytest.raises(TypeError, match="32-bit integers"):
        fill_bitmaps(matchers, np.zeros((2, N_WORDS), np.int64))
    with pytest.raises(InvalidArgumentError, match="twice"):
        fill_bitmaps(matchers * 2, np.zeros((4, N_WORDS), np.int32))
    matchers[1].close()
    with pytest.raises(ClosedError):
        fill_bitmaps(matchers, np.zeros((2, N_WORDS), np.int32))
    fill_bitmaps([], np.zeros((0, N_WORDS), np.int32))


def test_one_constraint_serves_many_threads(words: Vocabulary) -> None:
    constraint = Constraint.lark(words, grammars.text("json"))
    text = '{"abc": [12, null, "é日"], "x": {"y": [true, false]}}'
    expected = masks_along(Constraint.lark(words, grammars.text("json")), text)
    found: list[list[set[int]]] = []
    threads = [threading.Thread(target=lambda: found.append(masks_along(constraint, text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_sampling_chooses_among_the_legal(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.regex(words, "[a-f]+x"), seed=3)
    logits = np.zeros(N_TOKENS, np.float32)
    logits[ord("x")] = 9
    logits[ord("e")] = 5
    assert matcher.sample(logits) == ord("e")
    drawn = {matcher.sample(np.zeros(N_TOKENS, np.float32), Mode.SAMPLED) for _ in range(300)}
    assert drawn == tokens_of(*"abcdef", "fa", "ab", "abc")


# ---- Forced bytes and tokens -----------------------------------------------------------------------------------------


def test_forced_bytes_and_tokens(words: Vocabulary) -> None:
    matcher = Matcher(Constraint.choices(words, ["null value", "null values"]))
    assert matcher.forced_bytes() == b"null value"
    forced = matcher.forced()
    spelled = b"".join(map(words.token_bytes, forced))
    assert b"null value".startswith(spelled) and spelled.startswith(b"null ")
    accept_text(matcher, b"null value")
    assert matcher.forced_bytes() == b"" and matcher.forced() == []
    accept_text(matcher, b"s")
    assert matcher.forced_bytes() == b""
    assert matcher.forced() == [END]


def test_a_forced_run_of_any_length(words: Vocabulary) -> None:
    text = "xyz" * 5000
    matcher = Matcher(Constraint.choices(words, [text]), end=[])
    assert matcher.forced_bytes() == text.encode()
    assert b"".join(map(words.token_bytes, matcher.forced())).startswith(text.encode()[:-8])
    tree = Matcher(Constraint(words, TokenTree.from_names(["A"], {"A": [97, 98]}, labels=True)))
    assert tree.forced_bytes() == b"" and tree.forced() == [97, 98]


def test_forced_tokens_are_spelled_by_the_tokenizer() -> None:
    vocabulary = text_vocabulary()
    vocabulary.set_tokenizer(lambda text: list(text))
    constraint = Constraint.choices(vocabulary, ["null and void", "null and nought"])
    del vocabulary
    gc.collect()
    forced = Matcher(constraint).forced()
    assert bytes(forced) == b"null and "[: len(forced)] and len(forced) >= 8


def test_what_the_tokenizer_raises_passes_through() -> None:
    def broken(text: bytes) -> list[int]:
        raise ZeroDivisionError(text)

    vocabulary = text_vocabulary()
    vocabulary.set_tokenizer(broken)
    matcher = Matcher(Constraint.choices(vocabulary, ["null value"]))
    with pytest.raises(ZeroDivisionError):
        matcher.forced()
    with pytest.raises(ZeroDivisionError):
        Constraint.choices(vocabulary, ["null value"], canonical=True)
    vocabulary.set_tokenizer(None)
    assert matcher.forced() != []
    vocabulary.set_tokenizer(lambda text: [None])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        matcher.clone().forced()


@pytest.mark.parametrize("pattern", [r"b", r"[^b]*"], ids=["few", "most"])
def test_logits_beyond_the_vocabulary_are_illegal(words: Vocabulary, pattern: str) -> None:
    """A model may have more logits than tokens. Few legal tokens are kept as a list, many as a bitmap."""
    matcher = Matcher(Constraint.regex(words, pattern))
    logits = np.zeros(N_TOKENS + 40, np.float32)
    logits[N_TOKENS:] = 9
    assert matcher.sample(logits) in allowed_ids(matcher)
    matcher.mask_logits(logits)
    assert set(np.flatnonzero(logits == 0).tolist()) == allowed_ids(matcher)
    assert set(logits[logits != 0].tolist()) == {-np.inf}


# ---- Matchers --------------------------------------------------------------------------------------------------------


def test_rollback_and_clones(json_constraint: Constraint) -> None:
    matcher = Matcher(json_constraint)
    tokens = longest_first(b'{"abc": [12, null]}')
    masks = []
    for token in tokens:
        masks.append(allowed_ids(matcher))
        matcher.accept(token)
    copy = matcher.clone()
    copy.accept(END)
    copy.rollback(len(tokens) + 1)
    assert allowed_ids(copy) == masks[0]
    matcher.rollback(3)
    assert allowed_ids(matcher) == masks[-3]
    for token in tokens[-3:]:
        matcher.accept(token)
    assert matcher.can_stop
    matcher.reset()
    assert allowed_ids(matcher) == masks[0]


def test_what_a_matcher_costs(json_constraint: Constraint) -> None:
    matcher = Matcher(json_constraint)
    for _ in range(3):
        matcher.reset()
        for token in longest_first(b'{"abc": [12, null, {"x": [[[["y"]]]]}]}'):
            matcher.allowed()
            matcher.accept(token)
    info = matcher.info
    assert info.mask_hits > 0
    assert 0 < info.stack_bytes <= info.retained_bytes < 64 * 1024
    assert info.history_bytes <= info.retained_bytes


def test_without_numpy_bitmaps_are_memoryviews() -> None:
    code = """
import sys
sys.modules["numpy"] = None
from eliza_inference import Constraint, Matcher, Vocabulary
vocabulary = Vocabulary(256, [bytes([byte]) for byte in range(256)], [0] * 255 + [2])
matcher = Matcher(Constraint.regex(vocabulary, "[^a-z]*"), end=[])
matcher.activate("")
filled = matcher.fill_bitmap()
print(type(filled).__name__, len(filled), filled.readonly)
matcher = Matcher(Constraint.regex(vocabulary, "[!-~]x"), end=[])
print(matcher.allowed().tolist() == list(range(0x21, 0x7F)), len(matcher.fill_bitmap()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "memoryview 8 False\nTrue 8\n"


def test_imports_come_from_a_dict_or_a_function(words: Vocabulary) -> None:
    text = '%import .parts.list (whole)\nstart: whole "!"'
    asked: list[str] = []

    def find(name: str) -> str | None:
        asked.append(name)
        return 'whole: "a"+' if name == "parts.list" else None

    for imports in ({"parts.list": 'whole: "a"+'}, find):
        assert Constraint.lark(words, text, imports=imports).kind == ConstraintKind.GRAMMAR
    assert asked == ["parts.list"]
    with pytest.raises(GrammarError, match=r"1:9: there is no grammar parts.list"):
        Constraint.lark(words, text)
    with pytest.raises(TypeError, match="imports: expected a dict or a function of a name, got int"):
        Constraint.lark(words, text, imports=1)  # type: ignore[arg-type]


def test_a_schema_by_name_is_whatever_json_schema_takes(words: Vocabulary) -> None:
    class Model:
        @staticmethod
        def model_json_schema() -> dict[str, object]:
            return {"const": "a"}

        @staticmethod
        def model_validate_json(text: str | bytes) -> object:
            raise NotImplementedError

    for schema in ({"const": "a"}, '{"const": "a"}', Model, lambda name: {"const": name}):
        imports: Any = schema if callable(schema) and schema is not Model else {"a": schema}
        matcher = Matcher(Constraint.lark(words, 'start: "<" @a ">"', imports=imports))
        assert matcher.forced_bytes() == b'<"a">'
    with pytest.raises(GrammarError, match="1:8: no document is valid against the schema"):
        Constraint.lark(words, "start: @a", imports={"a": False})
    with pytest.raises(TypeError, match=r"imports\['a'\]: expected a dict, a bool, a str"):
        Constraint.lark(words, "start: @a", imports={"a": 1})  # type: ignore[dict-item]


def test_schemas_of_a_grammar_have_a_limit(words: Vocabulary) -> None:
    def grammar(n: int) -> str:
        return "start: " + " | ".join(f'%json {{"const": {i}}}' for i in range(n))

    matcher = Matcher(Constraint.lark(words, grammar(256)))
    accept_text(matcher, b"255")
    assert matcher.can_stop
    with pytest.raises(LimitError, match=r"1:\d+: the grammar has more than 256 schemas"):
        Constraint.lark(words, grammar(257))


def test_what_gives_imports_may_fail(words: Vocabulary) -> None:
    def fail(name: str) -> str:
        raise LookupError(name)

    with pytest.raises(LookupError, match="other"):
        Constraint.lark(words, 'start: "a"\n%import other.x', imports=fail)
    number: Any = 1
    with pytest.raises(TypeError, match="imports"):
        Constraint.lark(words, 'start: "a"\n%import other.x', imports=lambda _: number)
