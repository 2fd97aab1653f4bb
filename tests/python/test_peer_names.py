"""What users of other engines look for on a matcher: names, batches, drafts, masks, copies."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from eliza_inference import (
    ClosedError,
    Constraint,
    InvalidArgumentError,
    Matcher,
    Model,
    Vocabulary,
    apply_bitmaps,
    fill_bitmaps,
    fill_draft_bitmaps,
)
from eliza_inference._described import Described

N_TOKENS = 257
END = 256
N_WORDS = 9


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    """The words of 1 to 3 letters a or b, or a number."""
    pieces = [bytes([byte]) for byte in range(256)] + [b""]
    vocabulary = Vocabulary(N_TOKENS, token_bytes=pieces, flags=[0] * 256 + [2])
    return Constraint.regex(vocabulary, "[ab]{1,3}|[0-9]+")


def legal(matcher: Matcher) -> list[int]:
    allowed = matcher.allowed()
    return list(range(N_TOKENS)) if allowed is None else [int(token) for token in allowed]


def bits(row: Any) -> list[int]:
    return [int(token) for token in np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))]


def test_a_step_has_no_truth_value(constraint: Constraint) -> None:
    matcher = Matcher(constraint)
    for token in (ord("x"), ord("a")):
        with pytest.raises(TypeError, match=r"Step\.REFUSED in step"):
            assert matcher.accept(token)


def test_all_tokens_are_accepted_or_none(constraint: Constraint) -> None:
    matcher = Matcher(constraint)
    assert matcher.accept_tokens(b"a")
    before = legal(matcher)
    assert not matcher.accept_tokens(b"b1")
    assert legal(matcher) == before
    assert matcher.accept_tokens([])
    assert not matcher.is_terminated()
    assert matcher.accept_tokens([*b"ba", END])
    assert matcher.is_terminated()
    matcher.rollback()
    assert not matcher.is_terminated()


def test_validating_counts_and_changes_nothing(constraint: Constraint) -> None:
    matcher = Matcher(constraint)
    matcher.accept(ord("a"))
    before = legal(matcher)
    assert [matcher.validate_tokens(tokens) for tokens in (b"", b"ab", b"abb", b"1", [*b"b", END])] == [0, 2, 2, 0, 2]
    assert legal(matcher) == before


def test_rows_of_a_batch(constraint: Constraint) -> None:
    matchers = [Matcher(constraint) for _ in range(3)]
    matchers[1].accept(ord("a"))
    matchers[2].accept(ord("7"))
    out = np.full((5, N_WORDS), 7, np.int32)
    assert fill_bitmaps(matchers, out, rows=[4, 0, 2]) is out
    assert [bits(out[row]) for row in (4, 0, 2)] == [legal(matcher) for matcher in matchers]
    assert (out[[1, 3]] == 7).all()
    assert (fill_bitmaps([], np.full((2, N_WORDS), 7, np.int32), rows=[]) == 7).all()
    with pytest.raises(InvalidArgumentError, match="rows: 1 for 3 matchers"):
        fill_bitmaps(matchers, out, rows=[0])
    with pytest.raises(InvalidArgumentError, match=r"rows\[2\]: 5 is outside 0\.\.4"):
        fill_bitmaps(matchers, out, rows=[0, 1, 5])


@pytest.mark.parametrize(
    ("text", "parents"),
    [
        (b"aba", None),
        (b"a1b", None),
        (b"ab1b", [0, 1, 0, 3]),
        (b"1a2b", [0, 0, 1, 2]),
        (b"x1a", [0, 1, 0]),
        (b"", None),
    ],
)
def test_rows_of_a_draft(constraint: Constraint, text: bytes, parents: list[int] | None) -> None:
    matcher = Matcher(constraint)
    out = np.zeros((len(text) + 2, N_WORDS), np.int32)
    fill_draft_bitmaps(matcher, text, out, parents=parents)
    paths = [b""]
    for token, parent in zip(text, parents or range(len(text)), strict=True):
        paths.append(paths[parent] + bytes([token]))
    for row, path in enumerate(paths):
        alone = Matcher(constraint)
        if alone.accept_tokens(path):
            assert bits(out[row]) == legal(alone)
        else:
            assert (out[row] == -1).all()
    assert not out[len(paths) :].any()
    assert legal(matcher) == legal(Matcher(constraint))


def test_drafts_that_make_no_sense(constraint: Constraint) -> None:
    matcher, out = Matcher(constraint), np.zeros((3, N_WORDS), np.int32)
    with pytest.raises(InvalidArgumentError, match="3 rows for a draft of 3 tokens"):
        fill_draft_bitmaps(matcher, b"aaa", out)
    with pytest.raises(InvalidArgumentError, match="parents: 1 for 2 tokens"):
        fill_draft_bitmaps(matcher, b"ab", out, parents=[0])
    with pytest.raises(InvalidArgumentError, match=r"parents\[0\]: 1 is outside 0\.\.0"):
        fill_draft_bitmaps(matcher, b"ab", out, parents=[1, 1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("width", [N_TOKENS - 7, N_TOKENS, 320])
def test_logits_of_every_float_type_are_masked(constraint: Constraint, dtype: Any, width: int) -> None:
    matcher = Matcher(constraint)
    matcher.accept(ord("a"))
    logits = np.arange(2 * width, dtype=dtype).reshape(2, width)
    expected = np.full(width, -np.inf, dtype)
    kept = [token for token in legal(matcher) if token < width]
    expected[kept] = logits[0, kept]
    matcher.apply_bitmap(logits[0])
    assert logits[0].tolist() == expected.tolist()
    assert np.isfinite(logits[1]).all()
    rows = np.stack([matcher.fill_bitmap(), np.full(N_WORDS, -1, np.int32)])
    apply_bitmaps(logits, rows)
    assert np.isfinite(logits[1, : 32 * N_WORDS]).all()


def test_logits_that_do_not_fit(constraint: Constraint) -> None:
    bitmap = Matcher(constraint).fill_bitmap()
    with pytest.raises(InvalidArgumentError, match=r"bitmaps: \[\] rows for logits of the shape \[2, 257\]"):
        apply_bitmaps(np.zeros((2, N_TOKENS)), bitmap)
    with pytest.raises(TypeError, match="floats of 16, 32 or 64 bits, got int64"):
        apply_bitmaps(np.zeros(N_TOKENS, np.int64), bitmap)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_goes_its_own_way(constraint: Constraint, duplicate: Any) -> None:
    matcher = Matcher(constraint)
    matcher.accept(ord("a"))
    other = duplicate(matcher)
    assert other.accept_tokens(b"ba")
    assert legal(matcher) != legal(other)
    other.rollback(2)
    assert legal(matcher) == legal(other)
    assert duplicate(constraint) is constraint
    assert duplicate(constraint.vocabulary) is constraint.vocabulary
    assert duplicate([matcher])[0] is matcher if duplicate is copy.copy else duplicate([matcher])[0] is not matcher


def test_nothing_is_pickled_and_no_stream_copied(constraint: Constraint, model: Model) -> None:
    with model.stream(context_size=32, threads=1) as stream:
        span = stream.span(constraint)
        handles = [Matcher(constraint), constraint, constraint.vocabulary, model, stream, span]
        for each in handles:
            refused = pytest.raises(TypeError, match=f"a {type(each).__name__} lies in the library's memory")
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with refused:
                    pickle.dumps(each, protocol)
            if each in handles[3:]:
                for duplicate in (copy.copy, copy.deepcopy):
                    with refused:
                        duplicate(each)
        stream.prefill([1])  # all are as they were
    known = {base for each in handles for base in type(each).__mro__}
    assert set(classes_with_handles()) <= known, "a new class of handles has no test here"


def classes_with_handles() -> list[type]:
    found = [Described]
    for one in found:
        found += one.__subclasses__()
    return [one for one in found if one.__module__.startswith("eliza_inference.")]


def test_a_copy_of_a_closed_matcher_is_an_error(constraint: Constraint) -> None:
    matcher = Matcher(constraint)
    matcher.close()
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(ClosedError):
            duplicate(matcher)
