"""Searches that take long are stopped: by a constraint's own budget, by a stream's, by whoever cancels."""

import threading
import time
from collections.abc import Callable

import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    Constraint,
    InvalidArgumentError,
    LimitError,
    Matcher,
    Model,
    Step,
    StopReason,
    Stream,
    Vocabulary,
)

from recognizer_fixtures import text_vocabulary

# Its forced tokens take two million steps to find, which are cut then.
LONG = 'start: "a"~65000 | "a"~65000 "b"'

OpenStream = Callable[..., Stream]


def test_a_call_beyond_mask_ms_max_fails_and_leaves_the_matcher_as_it_was() -> None:
    vocabulary = text_vocabulary()
    bounded = Matcher(Constraint.lark(vocabulary, LONG, budget=Budget(mask_ms_max=1)))
    other = Matcher(Constraint.lark(vocabulary, LONG))
    for _ in range(2):
        with pytest.raises(LimitError, match="mask_ms_max"):
            bounded.forced()
        with pytest.raises(LimitError, match="mask_ms_max"):
            bounded.clone().forced()
    for matcher in (bounded, other):
        matcher.accept(ord("a"))
    assert list(bounded.allowed() or []) == list(other.allowed() or [])
    assert bounded.state == other.state
    assert len(other.forced()) > 100


@pytest.mark.parametrize("ask", [Matcher.forced_bytes, Matcher.forced, Matcher.allowed])
def test_each_call_has_its_own_time(ask: Callable[[Matcher], object]) -> None:
    matcher = Matcher(Constraint.regex(text_vocabulary(), "a{300}", budget=Budget(mask_ms_max=100)))
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        ask(matcher)


def test_mask_ms_max_is_at_least_1() -> None:
    with pytest.raises(InvalidArgumentError, match="mask_ms_max"):
        Budget(mask_ms_max=0)


def test_a_time_budget_ends_a_stream_within_a_search(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream()
    stream.prefill(model.tokenize("User:"))
    stream.set_constraint(Constraint.lark(model.vocabulary, LONG))
    stream.set_time_budget_ms(2)
    assert stream.generate(max_tokens=3) == ""
    assert [stream.stop_reason] == [StopReason.TIME_BUDGET]
    stream.set_time_budget_ms(0)
    assert set(stream.generate(max_tokens=3)) == {"a"}
    assert [stream.stop_reason] == [StopReason.MAX_TOKENS]


def test_a_stream_is_cancelled_within_a_search(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream()
    stream.prefill(model.tokenize("User:"))
    stream.set_constraint(Constraint.lark(model.vocabulary, LONG))
    thread = threading.Thread(target=stream.cancel)
    thread.start()
    with pytest.raises(CancelledError):
        while True:
            stream.generate(max_tokens=1)
    thread.join()
    stream.reset()
    stream.prefill(model.tokenize("User:"))
    assert set(stream.generate(max_tokens=3)) == {"a"}


def test_canonical_choices_keep_to_their_budget() -> None:
    vocabulary = text_vocabulary()
    names = [f"name {number}" for number in range(1000)]

    def choices(**budget: object) -> Constraint:
        return Constraint.choices(vocabulary, names, canonical=True, budget=Budget(**budget))  # type: ignore[arg-type]

    with pytest.raises(CancelledError):
        choices(cancel=lambda: True)
    with pytest.raises(LimitError, match="choices as tokens"):
        choices(bytes_max=2000)
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    choices(cancel=count)
    assert asked >= len(names)


def of_schema(vocabulary: Vocabulary, budget: Budget) -> Constraint:
    return Constraint.json_schema(vocabulary, {"type": "object"}, budget=budget)


def of_grammar(vocabulary: Vocabulary, budget: Budget) -> Constraint:
    return Constraint.lark(vocabulary, 'start: %json {"type": "object"}', budget=budget)


@pytest.mark.parametrize("make", [of_schema, of_grammar])
def test_what_a_schema_keeps_of_texts_is_bounded_by_mask_bytes_max(make: Callable[..., Constraint]) -> None:
    constraint = make(text_vocabulary(), Budget(mask_bytes_max=2**20))
    before = constraint.recognizer_info.automaton_bytes
    first = Matcher(constraint)
    for byte in b'{"first":1}':
        assert Step.REFUSED not in first.accept(byte)
    with pytest.raises(LimitError):
        for number in range(10_000):
            matcher, n_accepted = Matcher(constraint), 0
            for byte in f'{{"key {number}":1,"and {number}":2}}'.encode():
                assert Step.REFUSED not in matcher.accept(byte)
                n_accepted += 1
    matcher.rollback(n_accepted)
    with pytest.raises(InvalidArgumentError):
        matcher.rollback(1)
    assert number > 100
    assert constraint.recognizer_info.automaton_bytes - before < 2 * 2**20
    again = Matcher(constraint)
    for byte in b'{"first":1}':  # what was met before continues
        assert Step.REFUSED not in again.accept(byte)
    assert again.can_stop == first.can_stop
