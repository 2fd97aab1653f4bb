"""Callbacks that use what calls them: refused while the call continues, and all is as it was afterwards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from eliza_inference import (
    BusyError,
    Constraint,
    Matcher,
    Model,
    Step,
    Stream,
    TokenTree,
    Vocabulary,
)

from recognizer_fixtures import text_vocabulary

OpenStream = Callable[..., Stream]


def refuse_all(calls: dict[str, Callable[[], object]]) -> None:
    for name, call in calls.items():
        with pytest.raises(BusyError):
            call()
            pytest.fail(f"{name} is not refused")


def test_a_tokenizer_cannot_use_the_matcher_that_asks_it() -> None:
    vocabulary = text_vocabulary()
    constraint = Constraint.regex(vocabulary, "abcabc[xy]")
    matcher = Matcher(constraint)
    asked = 0

    def tokenize(text: bytes) -> list[int]:
        nonlocal asked
        asked += 1
        refuse_all(
            {
                "accept": lambda: matcher.accept(ord("a")),
                "allowed": matcher.allowed,
                "clone": matcher.clone,
                "close": matcher.close,
                "forced": matcher.forced,
                "reset": matcher.reset,
                "state": lambda: matcher.state,
            }
        )
        assert Matcher(constraint).allowed() is not None  # another may be used
        return list(text)

    vocabulary.set_tokenizer(tokenize)
    assert bytes(matcher.forced()) == b"abcabc"
    assert asked == 1
    assert matcher.accept(ord("a")) == Step.IN_SPAN
    matcher.close()


def test_a_tokenizer_cannot_use_the_stream_that_asks_it(open_stream: OpenStream, model: Model) -> None:
    vocabulary = Vocabulary.from_model(model)
    stream = open_stream()
    asked = 0

    def tokenize(_text: bytes) -> list[int]:
        nonlocal asked
        asked += 1
        refuse_all(
            {
                "prefill": lambda: stream.prefill([1]),
                "step": stream.step,
                "generate": stream.generate,
                "reset": stream.reset,
                "set_seed": lambda: stream.set_seed(1),
                "set_constraint": lambda: stream.set_constraint(stream_constraint),
                "clear_constraint": stream.clear_constraint,
                "state": lambda: stream.state,
                "close": stream.close,
            }
        )
        assert stream.stop_reason is not None
        return model.tokenize("timer")

    vocabulary.set_tokenizer(tokenize)
    stream_constraint = Constraint.regex(vocabulary, "timer")
    for run in (stream.step, stream.generate):
        stream.reset()
        stream.set_constraint(stream_constraint)
        stream.prefill(model.tokenize("User:"))
        run()
    assert asked >= 2
    assert stream.stats.forced_tokens > 0
    stream.close()


@pytest.fixture
def on_log() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Has a function called for each message."""
    logger = logging.getLogger("eliza_inference")
    handlers: list[logging.Handler] = []

    def add(function: Callable[[], None]) -> None:
        class Handler(logging.Handler):
            def emit(self, _record: logging.LogRecord) -> None:
                function()

        handlers.append(Handler())
        logger.addHandler(handlers[-1])

    yield add
    for handler in handlers:
        logger.removeHandler(handler)


def test_what_receives_a_message_cannot_use_what_logs(
    on_log: Callable[[Callable[[], None]], None], model: Model, vocabulary: Vocabulary
) -> None:
    matcher = Matcher(Constraint(vocabulary, TokenTree.from_names(["A"], {"A": [1, 2, 3]})), span_timeout=3)
    matcher.set_span_timeout(2)
    refused: list[str] = []

    def use_all() -> None:
        try:
            refuse_all(
                {
                    "matcher": matcher.reset,
                    "close": matcher.close,
                    "model": lambda: model.embed("a"),
                    "vocabulary": lambda: Vocabulary.from_model(model),
                }
            )
            refused.append("all")
        except BaseException as error:
            refused.append(repr(error))

    on_log(use_all)
    matcher.accept(1)
    assert Step.TIMED_OUT in matcher.accept(2)
    assert refused == ["all"]
    matcher.reset()
    assert model.embed("a") is not None
