"""Everything that a constraint can be used for, with a JSON Schema: streams, spans, samplers, batches, budgets."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    Constraint,
    LimitError,
    Matcher,
    Mode,
    Model,
    Step,
    StopReason,
    Stream,
    Vocabulary,
    fill_bitmaps,
)

from conftest import PROMPT
from json_schema_texts import END, byte_vocabulary

Json = Any
OpenStream = Callable[..., Stream]

CALL: Json = {
    "type": "object",
    "properties": {
        "name": {"enum": ["SET_TIMER", "SEND_REMINDER", "PLAY_MUSIC"]},
        "minutes": {"type": "integer", "minimum": 1, "maximum": 90},
        "tags": {"type": "array", "items": {"enum": ["home", "work"]}, "maxItems": 2},
    },
    "required": ["name", "minutes", "tags"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def call(model: Model) -> Constraint:
    return Constraint.json_schema(model.vocabulary, CALL, space="compact")


def check(text: str) -> None:
    jsonschema.validate(json.loads(text), CALL)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_stream_writes_documents(open_stream: OpenStream, call: Constraint, mode: Mode) -> None:
    stream = open_stream(temperature=1.5, seed=3)
    texts = set()
    for message in ("remind me to water the plants", "play some music", "set a timer", "hello"):
        stream.reset()
        stream.prefill(PROMPT.format(message))
        stream.set_constraint(call, mode)
        texts.add(stream.generate())
        assert stream.stop_reason == StopReason.END_OF_GENERATION
    for text in texts:
        check(text)
    assert len(texts) > 1


def test_step_by_step_is_the_same_as_at_once(open_stream: OpenStream, call: Constraint) -> None:
    texts = []
    for at_once in (True, False):
        stream = open_stream()
        stream.prefill(PROMPT.format("set a timer"))
        stream.set_constraint(call)
        texts.append(stream.generate() if at_once else "".join(step.text for step in stream))
    assert texts[0] == texts[1]
    check(texts[0])


def test_choose_gives_the_document(stream: Stream, call: Constraint) -> None:
    text = stream.choose(call)
    check(text)
    assert call.parse(text) == json.loads(text)
    assert not stream.state.active


def test_keys_and_brackets_cost_no_forward_pass(open_stream: OpenStream, call: Constraint) -> None:
    texts, passes = [], []
    for skip_ahead in (False, True):
        stream = open_stream(skip_ahead=skip_ahead)
        stream.prefill(PROMPT.format("set a timer"))
        stream.set_constraint(call)
        texts.append(stream.generate())
        passes.append(stream.stats.forward_passes)
        assert stream.stats.sampled_tokens + stream.stats.forced_tokens == stream.stats.emitted_tokens
    assert texts[0] == texts[1]
    assert passes[1] < passes[0] / 2
    assert passes[1] < stream.stats.emitted_tokens / 2


def test_a_document_is_a_span_in_a_free_text(stream: Stream, call: Constraint) -> None:
    with stream.span(call, end=[]) as span:
        text = stream.generate()
        assert stream.stop_reason == StopReason.SPAN_END
        assert span.leaf is None
    check(text)
    assert not stream.state.active
    stream.generate()
    assert stream.stop_reason == StopReason.END_OF_GENERATION  # type: ignore[comparison-overlap]


def test_a_stream_goes_on_after_a_bound_in_the_middle(open_stream: OpenStream, call: Constraint) -> None:
    stream = open_stream()
    stream.prefill(PROMPT.format("set a timer"))
    stream.set_constraint(call)
    text = stream.generate(max_tokens=5)
    assert stream.stop_reason == StopReason.MAX_TOKENS
    check(text + stream.generate())


def walk(matcher: Matcher, rng: random.Random, n: int) -> list[int]:
    """Up to n legal tokens, not the end."""
    tokens: list[int] = []
    for _ in range(n):
        allowed = matcher.allowed()
        assert allowed is not None
        others = [int(token) for token in allowed if token != END]
        if not others:
            break
        tokens.append(rng.choice(others))
        assert Step.REFUSED not in matcher.accept(tokens[-1])
    return tokens


def bits(matcher: Matcher) -> list[int]:
    return [int(word) for word in np.frombuffer(matcher.fill_bitmap(), np.int32)]


def test_rollback_and_clones_give_the_masks_of_before() -> None:
    constraint = Constraint.json_schema(byte_vocabulary(), CALL)
    rng = random.Random(5)
    for _ in range(20):
        matcher = Matcher(constraint)
        masks = [bits(matcher)]
        tokens = []
        while step := walk(matcher, rng, 1):
            tokens += step
            masks.append(bits(matcher))
        clone = matcher.clone()
        back = rng.randrange(len(tokens) + 1)
        matcher.rollback(back)
        assert bits(matcher) == masks[len(tokens) - back]
        assert bits(clone) == masks[-1]
        for token in tokens[len(tokens) - back :]:
            matcher.accept(token)
        assert bits(matcher) == masks[-1]


def test_a_batch_gives_the_bitmap_of_each() -> None:
    vocabulary = byte_vocabulary()
    schemas: list[Json] = [CALL, True, {"type": "string", "pattern": "^a+$"}, {"type": "array", "uniqueItems": False}]
    rng = random.Random(6)
    matchers = [Matcher(Constraint.json_schema(vocabulary, schema)) for schema in schemas * 8]
    for matcher in matchers:
        walk(matcher, rng, rng.randrange(12))
    n_words = (END + 1 + 31) // 32
    for threads in (1, 4):
        out = np.zeros((len(matchers), n_words), np.int32)
        fill_bitmaps(matchers, out, n_threads=threads)
        assert [list(map(int, row)) for row in out] == [bits(matcher) for matcher in matchers]


def test_threads_share_a_constraint() -> None:
    constraint = Constraint.json_schema(byte_vocabulary(), CALL)
    expected = [walk(Matcher(constraint), random.Random(seed), 60) for seed in range(6)]
    found: dict[int, list[int]] = {}
    shared = Constraint.json_schema(byte_vocabulary(), CALL)

    def run(seed: int) -> None:
        found[seed] = walk(Matcher(shared), random.Random(seed), 60)

    threads = [threading.Thread(target=run, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(6)] == expected


WIDE: Json = {"type": "object", "properties": {f"key {n}": {"enum": [n, str(n)]} for n in range(20_000)}}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    made = byte_vocabulary()
    made.prepare()
    return made


def test_a_callback_cancels_compiling(vocabulary: Vocabulary) -> None:
    calls = 0

    def cancel() -> bool:
        nonlocal calls
        calls += 1
        return calls == 3

    with pytest.raises(CancelledError, match="cancelled while building the schema"):
        Constraint.json_schema(vocabulary, WIDE, budget=Budget(cancel=cancel))
    assert calls == 3


def test_what_a_callback_raises_comes_through(vocabulary: Vocabulary) -> None:
    def cancel() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Constraint.json_schema(vocabulary, WIDE, budget=Budget(cancel=cancel))


@pytest.mark.parametrize(
    ("budget", "message"),
    [(Budget(bytes_max=10_000), "needs more than 10000 bytes"), (Budget(ms_max=1), "takes longer than ms_max")],
)
def test_a_budget_bounds_compiling(vocabulary: Vocabulary, budget: Budget, message: str) -> None:
    schema = {"anyOf": [WIDE, {"items": WIDE}, {"items": {"items": WIDE}}]}
    with pytest.raises(LimitError, match=message):
        Constraint.json_schema(vocabulary, json.dumps(schema), budget=budget)


def test_a_budget_bounds_opening(vocabulary: Vocabulary, tmp_path: Any) -> None:
    Constraint.json_schema(vocabulary, CALL).save(tmp_path / "saved")
    opened = Constraint.open(vocabulary, tmp_path / "saved", budget=Budget(mask_bytes_max=1))
    assert walk(Matcher(opened), random.Random(1), 60) == walk(
        Matcher(Constraint.json_schema(vocabulary, CALL)), random.Random(1), 60
    )
