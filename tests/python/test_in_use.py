"""A second call on an object whose call runs in another thread: refused, and all is as it was. The first call provably
runs: it stands still in a callback."""

from __future__ import annotations

import gc
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from eliza_inference import (
    Budget,
    BusyError,
    CancelledError,
    ClosedError,
    Constraint,
    ElizaError,
    Matcher,
    Mode,
    Model,
    Step,
    StopReason,
    Stream,
    Vocabulary,
    fill_bitmaps,
)
from eliza_inference.matcher import mask_rows

from recognizer_fixtures import text_vocabulary

OpenStream = Callable[..., Stream]
Calls = dict[str, Callable[[], object]]


class Pause:
    """Called in a callback, it waits until the block of `meanwhile` is over."""

    def __init__(self) -> None:
        self._reached, self._over = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._reached.set()
        assert self._over.wait(60)

    @contextmanager
    def meanwhile(self, call: Callable[[], Any]) -> Iterator[list[Any]]:
        """Calls in another thread. Gives a list, which has the result afterwards."""
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(call()))
        thread.start()
        assert self._reached.wait(60)
        try:
            yield results
        finally:
            self._over.set()
            thread.join()


def refuse_all(what: str, calls: Calls) -> None:
    for name, call in calls.items():
        with pytest.raises(BusyError) as raised:
            call()
            pytest.fail(f"{name} is not refused")
        assert f"another thread is using the {what}" in str(raised.value), name


def pausing_vocabulary(pause: Pause) -> Vocabulary:
    vocabulary = text_vocabulary()

    def tokenize(text: bytes) -> list[int]:
        pause()
        return list(text)

    vocabulary.set_tokenizer(tokenize)
    return vocabulary


def test_a_matcher_in_another_thread() -> None:
    pause = Pause()
    vocabulary = pausing_vocabulary(pause)
    constraint = Constraint.regex(vocabulary, "abcabc[xy]")
    matcher, other = Matcher(constraint), Matcher(constraint)
    logits = array("f", [0.0] * len(vocabulary))
    out = array("i", [0] * (2 * matcher._n_words))
    with pause.meanwhile(matcher.forced) as forced:
        refuse_all(
            "matcher",
            {
                "accept": lambda: matcher.accept(ord("a")),
                "accept_tokens": lambda: matcher.accept_tokens([ord("a")]),
                "activate": lambda: matcher.activate(""),
                "allowed": matcher.allowed,
                "bitmap": matcher.bitmap,
                "can_stop": lambda: matcher.can_stop,
                "clone": matcher.clone,
                "close": matcher.close,
                "deactivate": matcher.deactivate,
                "fill_bitmap": matcher.fill_bitmap,
                "forced": matcher.forced,
                "forced_bytes": matcher.forced_bytes,
                "info": lambda: matcher.info,
                "leaf": lambda: matcher.leaf,
                "mask_logits": lambda: matcher.mask_logits(logits),
                "mask_rows": lambda: mask_rows([other, matcher], [0, 0], logits.buffer_info()[0], "float32", 300, 300),
                "reset": matcher.reset,
                "rollback": lambda: matcher.rollback(0),
                "sample": lambda: matcher.sample(logits),
                "set_seed": lambda: matcher.set_seed(1),
                "set_span_timeout": lambda: matcher.set_span_timeout(1),
                "state": lambda: matcher.state,
            },
        )
        with pytest.raises(BusyError, match="one of the matchers is in use"):
            fill_bitmaps([other, matcher], out)
        fill_bitmaps([other], out)  # which the batch has not left in use
        assert other.accept(ord("a")) == Step.IN_SPAN
    assert bytes(forced[0]) == b"abcabc"
    assert not any(logits)
    assert matcher.accept(ord("a")) == Step.IN_SPAN
    matcher.close()
    with pytest.raises(ClosedError):
        matcher.accept(ord("b"))


def stream_calls(stream: Stream, constraint: Constraint) -> Calls:
    return {
        "activate": lambda: stream.activate(""),
        "clear_constraint": stream.clear_constraint,
        "clear_token_trie": stream.clear_token_trie,
        "close": stream.close,
        "generate": stream.generate,
        "leaf": lambda: stream.leaf,
        "prefill": lambda: stream.prefill([1]),
        "reset": stream.reset,
        "restore": lambda: stream.restore("/nonexistent/slot"),
        "save": lambda: stream.save("/nonexistent/slot"),
        "set_constraint": lambda: stream.set_constraint(constraint),
        "set_sampling": lambda: stream.set_sampling(temperature=0.5),
        "set_seed": lambda: stream.set_seed(1),
        "set_skip_ahead": lambda: stream.set_skip_ahead(True),
        "set_span_timeout": lambda: stream.set_span_timeout(1),
        "set_stop_at_span_end": lambda: stream.set_stop_at_span_end(True),
        "set_threads": lambda: stream.set_threads(1),
        "set_time_budget_ms": lambda: stream.set_time_budget_ms(1),
        "span": lambda: stream.span(constraint).__enter__(),
        "state": lambda: stream.state,
        "stats": lambda: stream.stats,
        "step": stream.step,
        "stop_reason": lambda: stream.stop_reason,
    }


def test_a_stream_in_a_token_callback_in_another_thread(open_stream: OpenStream, model: Model) -> None:
    """Its own thread may change what comes next there; another may not."""
    pause = Pause()
    stream = open_stream()
    constraint = Constraint.regex(model.vocabulary, "timer")
    stream.prefill("User:")

    def on_token(_token: int, _text: str) -> bool:
        pause()
        stream.set_seed(3)
        return True

    with pause.meanwhile(lambda: stream.generate(on_token)) as text:
        refuse_all("stream", stream_calls(stream, constraint))
    assert text[0]
    assert stream.stop_reason == StopReason.CALLBACK
    stream.close()
    with pytest.raises(ClosedError):
        stream.step()


def test_a_stream_that_tokenizes_in_another_thread_can_be_cancelled(open_stream: OpenStream, model: Model) -> None:
    pause = Pause()
    vocabulary = Vocabulary.from_model(model)

    def tokenize(_text: bytes) -> list[int]:
        pause()
        return model.tokenize("timer")

    vocabulary.set_tokenizer(tokenize)
    constraint = Constraint.regex(vocabulary, "timer")
    stream = open_stream()
    stream.set_constraint(constraint)
    stream.prefill("User:")
    cancelled: list[str] = []

    def generate() -> None:
        try:
            stream.generate()
        except CancelledError as error:
            cancelled.append(str(error))

    with pause.meanwhile(generate):
        refuse_all("stream", stream_calls(stream, constraint))
        stream.cancel()
    assert len(cancelled) == 1
    stream.reset()
    stream.close()


def test_any_number_of_threads_uses_a_vocabulary_and_a_constraint() -> None:
    """A compile that stands still keeps nobody from what it uses, nor does it lose that."""
    pause = Pause()
    vocabulary = text_vocabulary()
    constraint = Constraint.regex(vocabulary, "[ab]+")

    def cancel() -> bool:
        pause()
        return False

    with pause.meanwhile(lambda: Constraint.regex(vocabulary, "[ab]{1,200}", budget=Budget(cancel=cancel))) as made:
        second = Constraint.json_schema(vocabulary, {"type": "integer"})
        assert len(vocabulary) == vocabulary.info.n_tokens
        for each in (constraint, second):
            assert Matcher(each).allowed() is not None
            assert each.recognizer_info.n_masks >= 0
        del constraint, second
        gc.collect()
    assert Matcher(made[0]).accept(ord("a")) == Step.IN_SPAN


def test_a_model_is_closed_while_another_thread_uses_it(model: Model) -> None:
    opened = Model(model._path)
    started = threading.Event()
    ended: list[type[Exception]] = []

    def use() -> None:
        started.set()
        try:
            while True:
                opened.tokenize("set a timer")
                opened.embed("a")
        except ElizaError as error:
            ended.append(type(error))

    thread = threading.Thread(target=use)
    thread.start()
    assert started.wait(60)
    opened.close()
    thread.join()
    assert ended == [ClosedError]


def test_two_threads_at_will_on_one_matcher() -> None:
    """What is refused changes nothing, whatever the other thread does."""
    vocabulary = text_vocabulary()
    matcher = Matcher(Constraint.json_schema(vocabulary, {"type": "object"}))
    logits = array("f", [0.0] * len(vocabulary))
    refused: list[str] = []

    def use(seed: int) -> None:
        random = Random(seed)
        for _ in range(4000):
            try:
                mode = Mode.SAMPLED if random.random() < 0.5 else Mode.GREEDY
                matcher.accept(matcher.sample(logits, mode=mode))
                if random.random() < 0.1:
                    matcher.rollback(1)
                if random.random() < 0.02:
                    matcher.reset()
                matcher.forced_bytes()
                matcher.fill_bitmap()
                matcher.allowed()
                assert matcher.leaf is None
            except BusyError as error:
                refused.append(str(error))
            except ElizaError:
                pass  # by what the other thread has done in between

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(refused) <= {"another thread is using the matcher"}
    matcher.reset()
    assert matcher.accept(ord("{")) == Step.IN_SPAN


def test_a_matcher_is_closed_while_another_thread_uses_it() -> None:
    constraint = Constraint.json_schema(text_vocabulary(), {"type": "object"})
    for _ in range(100):
        matcher = Matcher(constraint)
        started = threading.Event()
        ended: list[type[Exception]] = []
        thread = threading.Thread(target=_use_until_closed, args=(matcher, started, ended))
        thread.start()
        assert started.wait(60)
        while True:
            try:
                matcher.close()
                break
            except BusyError as error:
                assert "another thread" in str(error)
        thread.join()
        assert ended == [ClosedError]


def _use_until_closed(matcher: Matcher, started: threading.Event, ended: list[type[Exception]]) -> None:
    started.set()
    while not ended:
        try:
            matcher.fill_bitmap()
            matcher.accept(ord("{"))
            matcher.reset()
        except BusyError:
            pass  # it is being closed
        except ElizaError as error:
            ended.append(type(error))
