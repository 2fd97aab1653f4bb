"""Streams constrained by recognizers."""

import json
import re
from collections.abc import Callable

import pytest
from eliza_inference import (
    Constraint,
    InvalidArgumentError,
    Matcher,
    Mode,
    Model,
    ModelMismatchError,
    StateError,
    StopReason,
    Stream,
    TokenTree,
    Vocabulary,
    grammars,
)

from conftest import PROMPT

OpenStream = Callable[..., Stream]


@pytest.fixture(scope="module")
def call_of_an_action(model: Model, actions: list[str]) -> Constraint:
    names = " | ".join(f'"{name}"' for name in actions)
    return Constraint.lark(model.vocabulary, f'start: " " NAME "(" NUMBER ")"\nNAME: {names}\nNUMBER: /[0-9]{{1,3}}/\n')


def test_a_regular_expression_constrains_a_stream(stream: Stream, model: Model) -> None:
    constraint = Constraint.regex(model.vocabulary, " SET_[A-Z]{2,9}!")
    stream.set_constraint(constraint)
    text = stream.generate(max_tokens=40)
    assert re.fullmatch(" SET_[A-Z]{2,9}!", text)
    assert stream.stop_reason == StopReason.END_OF_GENERATION
    stats = stream.stats
    assert stats.constrained_steps > 0 and stats.forced_tokens > 0
    assert stats.sampled_tokens + stats.forced_tokens == stats.emitted_tokens


@pytest.mark.parametrize("mode", list(Mode))
def test_a_grammar_constrains_a_stream(
    open_stream: OpenStream, call_of_an_action: Constraint, actions: list[str], mode: Mode
) -> None:
    stream = open_stream(temperature=1.0, seed=7)
    for message in ("remind me to water the plants", "play some music", "set a timer"):
        stream.reset()
        stream.prefill(PROMPT.format(message))
        stream.set_constraint(call_of_an_action, mode)
        found = re.fullmatch(r" (\w+)\(\d{1,3}\)", stream.generate())
        assert found and found[1] in actions


def test_skip_ahead_changes_passes_and_not_the_text(open_stream: OpenStream, call_of_an_action: Constraint) -> None:
    texts, passes = [], []
    for skip_ahead in (False, True):
        stream = open_stream(skip_ahead=skip_ahead)
        stream.prefill(PROMPT.format("remind me to water the plants"))
        stream.set_constraint(call_of_an_action)
        texts.append(stream.generate())
        passes.append(stream.stats.forward_passes)
    assert texts[0] == texts[1]
    assert passes[1] < passes[0]


def test_a_span_ends_and_the_stream_is_free_again(stream: Stream, model: Model) -> None:
    constraint = Constraint.choices(model.vocabulary, [" PLAY_MUSIC", " SET_TIMER"])
    with stream.span(constraint, end=[]) as span:
        text = stream.generate()
        assert stream.stop_reason == StopReason.SPAN_END
        assert span.leaf is None
    assert text in (" PLAY_MUSIC", " SET_TIMER")
    assert not stream.state.active
    stream.generate()
    assert stream.stop_reason == StopReason.END_OF_GENERATION  # type: ignore[comparison-overlap]


def test_choose_gives_the_text_of_a_recognizer(stream: Stream, model: Model, call_of_an_action: Constraint) -> None:
    text = stream.choose(call_of_an_action)
    assert re.fullmatch(r" SEND_REMINDER\(\d{1,3}\)", text)
    assert not stream.state.active
    stream.prefill(PROMPT.format("play some music"))
    assert stream.choose(Constraint.choices(model.vocabulary, [" PLAY_MUSIC", " SET_TIMER"])) == " PLAY_MUSIC"


def test_choose_gives_the_name_of_a_compiled_tree(stream: Stream, model: Model, action_tree: TokenTree) -> None:
    assert stream.choose(Constraint(model.vocabulary, action_tree)) == "SEND_REMINDER"


def test_choose_stops_at_a_bound_only_where_the_text_is_complete(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream(max_tokens=2)
    stream.prefill(PROMPT.format("remind me to water the plants"))
    with pytest.raises(StateError, match="no text was complete when the generation ended: MAX_TOKENS") as raised:
        stream.choose(Constraint.regex(model.vocabulary, "[ab]{3}"))
    assert re.fullmatch("[ab]{1,2}", raised.value.text or "")
    assert re.fullmatch("[ab]+", stream.choose(Constraint.regex(model.vocabulary, "[ab]+")))


def test_choose_after_the_end_of_the_generation_says_how_to_go_on(stream: Stream, model: Model) -> None:
    letter = Constraint.regex(model.vocabulary, "a")
    assert stream.choose(letter) == "a"
    with pytest.raises(StateError, match="END_OF_GENERATION; call prefill to continue"):
        stream.choose(letter)
    stream.prefill("b")
    assert stream.choose(letter) == "a"


def test_a_constraint_from_a_token_tree(stream: Stream, model: Model, action_tree: TokenTree) -> None:
    with stream.span(Constraint(model.vocabulary, action_tree)) as span:
        stream.generate()
    assert span.leaf == "SEND_REMINDER"
    with pytest.raises(InvalidArgumentError, match="end tokens"):
        stream.span(action_tree, end=[1])


def test_a_constraint_for_another_vocabulary_is_refused(stream: Stream, model: Model) -> None:
    vocabulary = model.vocabulary
    same_number = Vocabulary(len(vocabulary), [b"a"] * len(vocabulary))
    for other in (same_number, Vocabulary(256, [bytes([byte]) for byte in range(256)])):
        with pytest.raises(ModelMismatchError):
            stream.set_constraint(Constraint.regex(other, "a+"))
    assert not stream.state.active


def test_the_model_has_a_tokenizer_for_forced_tokens(model: Model) -> None:
    matcher = Matcher(Constraint.choices(model.vocabulary, [" SEND_REMINDER"]))
    expected = model.tokenize(" SEND_REMINDER")
    forced = matcher.forced()
    assert forced == expected[: len(forced)] and len(forced) >= len(expected) - 1


def test_a_tokenizer_that_raises_stops_the_step(stream: Stream, model: Model) -> None:
    def broken(text: bytes) -> list[int]:
        raise ZeroDivisionError(text)

    vocabulary = Vocabulary.from_model(model)
    vocabulary.set_tokenizer(broken)
    stream.set_constraint(Constraint.choices(vocabulary, [" SEND_REMINDER", " SEND_REMINDERS"]))
    with pytest.raises(ZeroDivisionError):
        stream.generate()


def test_shipped_grammars_constrain_a_model(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream(temperature=1.0, seed=2)
    constraint = Constraint.lark(model.vocabulary, grammars.text("json"))
    complete = 0
    for message in ("one", "two", "three", "four"):
        stream.reset()
        stream.prefill(PROMPT.format(message))
        stream.set_constraint(constraint, Mode.SAMPLED)
        text = stream.generate(max_tokens=120)
        if stream.stop_reason == StopReason.END_OF_GENERATION:
            json.loads(text)
            complete += 1
    assert complete > 0
