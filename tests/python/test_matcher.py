"""Matchers on logits of any engine."""

import array
import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from eliza_inference import (
    ClosedError,
    Constraint,
    InvalidArgumentError,
    Matcher,
    Mode,
    Step,
    TokenTree,
    UnknownPathError,
    Vocabulary,
    fill_bitmaps,
)

from recognizer_fixtures import listed

NAMES = {"REPLY": [5, 6], "SEND": [7, 8, 9, 10], "SET": [7, 8, 20]}


@pytest.fixture
def constraint(vocabulary: Vocabulary) -> Constraint:
    return Constraint(vocabulary, TokenTree.from_names(NAMES, NAMES))


@pytest.fixture
def matcher(constraint: Constraint) -> Matcher:
    return Matcher(constraint)


def test_a_name_from_its_first_token_to_its_last(matcher: Matcher) -> None:
    assert not matcher.can_stop
    assert listed(matcher) == [5, 7]
    assert matcher.accept(7) == Step.IN_SPAN
    assert matcher.forced() == [8]
    assert matcher.accept(8) == Step.IN_SPAN
    assert matcher.forced() == []
    assert matcher.accept(9) == Step.IN_SPAN
    assert matcher.leaf is None
    assert matcher.accept(10) == Step.IN_SPAN | Step.SPAN_ENDED
    assert matcher.leaf == "SEND"
    assert matcher.allowed() is None
    assert matcher.can_stop


def test_an_illegal_token_is_refused_and_changes_nothing(matcher: Matcher) -> None:
    before = matcher.state
    assert matcher.accept(6) == Step.REFUSED
    assert matcher.state == before


@pytest.mark.parametrize("token", [-1, 100])
def test_a_token_outside_the_vocabulary_is_an_error(matcher: Matcher, token: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"token {token} is outside 0..99"):
        matcher.accept(token)
    assert matcher.accept(5) == Step.IN_SPAN


def test_numpy_integers_are_tokens(matcher: Matcher) -> None:
    allowed = matcher.allowed()
    assert allowed is not None
    assert matcher.accept(allowed[0]) == Step.IN_SPAN


def test_rollback_takes_back_the_end_of_a_span(matcher: Matcher) -> None:
    start = matcher.state
    matcher.accept(5)
    matcher.accept(6)
    matcher.rollback(2)
    assert matcher.state == start
    with pytest.raises(InvalidArgumentError, match="cannot take back 1 token"):
        matcher.rollback()


def test_a_clone_goes_its_own_way(matcher: Matcher) -> None:
    matcher.accept(7)
    copy = matcher.clone()
    matcher.close()
    copy.accept(8)
    assert listed(copy) == [9, 20]
    copy.rollback(2)
    assert listed(copy) == [5, 7]


def test_reset_goes_back_to_the_beginning(matcher: Matcher) -> None:
    fresh = matcher.state
    matcher.accept(5)
    matcher.accept(6)
    matcher.reset()
    assert matcher.state == fresh


def test_activation_by_path(vocabulary: Vocabulary) -> None:
    tokens = {"A": [1], "B": [2]}
    tree = TokenTree.from_names(["A"], tokens) + TokenTree.from_names(["B"], tokens, path="unit")
    matcher = Matcher(Constraint(vocabulary, tree))
    assert listed(matcher) == [1]
    matcher.activate("unit")
    assert listed(matcher) == [2]
    assert matcher.state.descriptor == 1
    matcher.deactivate()
    assert matcher.allowed() is None
    with pytest.raises(UnknownPathError, match='"nope"; known: "action", "unit"') as caught:
        matcher.activate("nope")
    assert isinstance(caught.value, LookupError)


def test_a_span_timeout(constraint: Constraint) -> None:
    matcher = Matcher(constraint, span_timeout=4)
    matcher.set_span_timeout(1)
    assert matcher.accept(7) == Step.IN_SPAN | Step.SPAN_ENDED | Step.TIMED_OUT
    assert matcher.state.timeouts == 1
    with pytest.raises(InvalidArgumentError):
        matcher.set_span_timeout(0)


def test_a_forced_run_of_any_length(vocabulary: Vocabulary) -> None:
    long = [token % 100 for token in range(400)]
    matcher = Matcher(Constraint(vocabulary, TokenTree.from_names(["LONG"], {"LONG": long})))
    assert matcher.forced() == long


def test_the_allowed_array_lends_memory_that_it_keeps_alive(vocabulary: Vocabulary) -> None:
    wide = {f"{token:03}": [token] for token in range(0, 100, 2)}
    allowed = Matcher(Constraint(vocabulary, TokenTree.from_names(wide, wide))).allowed()
    assert allowed is not None
    assert allowed.dtype == np.int32
    assert not allowed.flags.writeable and not allowed.flags.owndata
    gc.collect()
    assert allowed.tolist() == list(range(0, 100, 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda matcher, few: matcher.mask_logits(few),
        lambda matcher, few: matcher.sample(few),
        lambda matcher, few: matcher.fill_bitmap(memoryview(bytearray(64)).cast("i")) and matcher.accept(-1),
        lambda matcher, few: fill_bitmaps([matcher, matcher.clone()], memoryview(bytearray(128)).cast("i"), -1),
    ],
)
@pytest.mark.parametrize(
    "few", [np.zeros(3, np.float32), array.array("f", [0, 0, 0]), memoryview(bytearray(12)).cast("f")]
)
def test_an_error_that_is_kept_is_collected(matcher: Matcher, call: Callable[[Matcher, Any], object], few: Any) -> None:
    """Its frames are a cycle then, with what the call was given: collecting what was still lent crashed."""

    def keep() -> None:
        kept = [matcher]
        try:
            call(matcher, few)
        except (InvalidArgumentError, OverflowError, ValueError) as error:
            kept.append(error)  # type: ignore[arg-type]
        assert len(kept) == 2

    keep()
    gc.collect()


@pytest.mark.parametrize("few", [np.zeros(8, np.int32), array.array("i", [0] * 8), memoryview(bytearray(32)).cast("i")])
def test_a_matcher_that_is_part_of_a_cycle_is_collected(constraint: Constraint, few: Any) -> None:
    cycle: list[Any] = [Matcher(constraint)]
    cycle.append(cycle)
    for _ in range(2):
        cycle[0].fill_bitmap(few)
    del cycle
    gc.collect()
    assert any(few)


def test_a_mask_is_written_in_place(matcher: Matcher) -> None:
    logits = np.arange(110, dtype=np.float32)
    matcher.mask_logits(logits)
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [5, 7]
    assert logits[7] == 7


def test_a_mask_outside_a_span_changes_nothing(matcher: Matcher) -> None:
    matcher.deactivate()
    logits = np.arange(100, dtype=np.float32)
    matcher.mask_logits(logits)
    assert logits.tolist() == list(range(100))


def test_any_buffer_of_floats_will_do(matcher: Matcher) -> None:
    logits = array.array("f", range(100))
    assert matcher.sample(logits) == 7
    matcher.mask_logits(logits)
    assert logits[7] == 7 and logits[8] == -math.inf


@pytest.mark.parametrize(
    "logits",
    [np.zeros(100), np.zeros((10, 10), np.float32), np.zeros(100, np.int32)],
    ids=["float64", "two dimensions", "integers"],
)
def test_other_arrays_are_errors(matcher: Matcher, logits: np.ndarray) -> None:
    with pytest.raises(TypeError, match="expected a contiguous 1-d array of 32-bit floats"):
        matcher.sample(logits)


def test_an_array_with_gaps_is_an_error(matcher: Matcher) -> None:
    logits = np.zeros(200, np.float32)[::2]
    for use in (matcher.sample, matcher.mask_logits):
        with pytest.raises(BufferError, match=r"^logits: expected a contiguous array, got one with gaps$"):
            use(logits)


def test_a_read_only_array_can_be_sampled_but_not_masked(matcher: Matcher) -> None:
    logits = np.zeros(100, np.float32)
    logits.flags.writeable = False
    assert matcher.sample(logits) == 5
    with pytest.raises(BufferError):
        matcher.mask_logits(logits)


def test_too_few_logits_are_an_error(matcher: Matcher) -> None:
    with pytest.raises(InvalidArgumentError, match="99 logits are fewer than the 100 tokens"):
        matcher.sample(np.zeros(99, np.float32))


def test_greedy_takes_the_highest_legal_logit(matcher: Matcher) -> None:
    logits = np.zeros(100, np.float32)
    logits[50] = 9
    logits[7] = 1
    assert matcher.sample(logits) == 7
    assert matcher.sample(logits, Mode.SAMPLED, temperature=0) == 7


def test_draws_repeat_with_the_seed_and_differ_without(constraint: Constraint) -> None:
    logits = np.zeros(100, np.float32)

    def draws(seed: int) -> list[int]:
        matcher = Matcher(constraint, seed=seed)
        return [matcher.sample(logits, Mode.SAMPLED) for _ in range(64)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert set(draws(1)) == {5, 7}


def test_top_p_leaves_the_likeliest(matcher: Matcher) -> None:
    logits = np.zeros(100, np.float32)
    logits[7] = 5
    assert {matcher.sample(logits, Mode.SAMPLED, top_p=0.5) for _ in range(64)} == {7}


def test_an_unknown_mode_is_an_error(matcher: Matcher) -> None:
    with pytest.raises(InvalidArgumentError, match="mode"):
        matcher.sample(np.zeros(100, np.float32), 2)  # type: ignore[arg-type]


def test_a_closed_matcher_says_so(matcher: Matcher) -> None:
    with matcher:
        matcher.accept(5)
    matcher.close()
    for call in (
        lambda: matcher.accept(5),
        matcher.allowed,
        matcher.forced,
        matcher.reset,
        matcher.clone,
        lambda: matcher.state,
    ):
        with pytest.raises(ClosedError, match="the matcher is closed"):
            call()
