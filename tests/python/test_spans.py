"""Streams constrained by a token tree."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from eliza_inference import (
    Constraint,
    InvalidArgumentError,
    LimitError,
    Mode,
    Model,
    ModelMismatchError,
    PayloadError,
    StateError,
    StopReason,
    Stream,
    TokenTree,
    UnknownPathError,
    trie_cache_stats,
)

from conftest import MODEL_FILE, PROMPT, TESTS

OpenStream = Callable[..., Stream]


def held_out(n: int) -> list[tuple[str, str]]:
    lines = (TESTS / "models" / "heldout.tsv").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("\t") for line in lines[:: len(lines) // n])
    return [(message, action) for message, _, action in pairs]


def prefilled(open_stream: OpenStream, message: str = "remind me to water the plants", **options: object) -> Stream:
    stream = open_stream(**options)
    stream.prefill(PROMPT.format(message))
    return stream


def test_choose_gives_one_of_the_names(stream: Stream, action_tree: TokenTree) -> None:
    assert stream.choose(action_tree) == "SEND_REMINDER"
    assert stream.stop_reason == StopReason.SPAN_END


@pytest.mark.parametrize("mode", list(Mode))
def test_only_allowed_names_come_out_whatever_the_model_would_rather_say(
    open_stream: OpenStream, model: Model, actions: list[str], mode: Mode
) -> None:
    few = actions[1::3]
    tree = model.token_tree(few)
    stream = open_stream(temperature=1.5, seed=5)
    for message, _ in held_out(20):
        stream.reset()
        stream.prefill(PROMPT.format(message))
        assert stream.choose(tree, mode=mode) in few


def test_a_span_has_a_path_and_ends_by_itself(stream: Stream, model: Model, actions: list[str]) -> None:
    tree = model.token_tree(actions) + model.token_tree(["high", "low"], path="parameters.priority")
    with stream.span(tree, path="parameters.priority") as span:
        assert stream.state.descriptor == 1
        assert span.leaf is None
        text = stream.generate()
        assert span.leaf is not None
    assert text == f" {span.leaf}"
    assert span.leaf in ("high", "low")
    assert stream.state.descriptor == -1 and not stream.state.active
    assert stream.leaf is None, "no tree is set any more"


def test_after_a_span_the_output_is_free_and_goes_on(stream: Stream, action_tree: TokenTree) -> None:
    with stream.span(action_tree):
        assert stream.generate() == " SEND_REMINDER"
    assert stream.generate() == ""
    assert stream.stop_reason == StopReason.END_OF_GENERATION


@pytest.mark.parametrize("before", [True, False])
def test_a_span_restores_the_setting_that_it_changes(stream: Stream, model: Model, before: bool) -> None:
    stream.set_stop_at_span_end(before)
    with stream.span(model.token_tree(["MUTE_ROOM"])):
        pass
    stream.set_token_trie(model.token_tree(["NONE"]))
    stream.generate(max_tokens=8)
    assert (stream.stop_reason == StopReason.SPAN_END) == before


def test_a_span_that_fails_to_open_leaves_the_stream_as_it_was(stream: Stream, action_tree: TokenTree) -> None:
    with pytest.raises(UnknownPathError, match='"nope"; known: "action"'), stream.span(action_tree, path="nope"):
        pass
    assert not stream.state.active
    assert stream.generate() == " SEND_REMINDER"
    assert stream.stop_reason == StopReason.END_OF_GENERATION


def test_a_span_is_cleared_when_its_body_fails(stream: Stream, action_tree: TokenTree) -> None:
    with pytest.raises(ZeroDivisionError), stream.span(action_tree):
        1 / 0  # noqa: B018
    assert not stream.state.active


def test_a_stream_may_be_closed_inside_a_span(stream: Stream, action_tree: TokenTree) -> None:
    with stream.span(action_tree) as span:
        stream.close()
    assert span.leaf is None


def test_choose_without_a_complete_name_is_an_error(open_stream: OpenStream, action_tree: TokenTree) -> None:
    stream = prefilled(open_stream, max_tokens=1)
    with pytest.raises(StateError, match="MAX_TOKENS"):
        stream.choose(action_tree)


@pytest.mark.parametrize("other", [["NONE"], None, 5, {"NONE": [1]}])
def test_what_is_no_token_tree_is_an_error_that_says_how_to_make_one(stream: Stream, other: Any) -> None:
    for call in (stream.choose, stream.set_token_trie):
        with pytest.raises(TypeError, match=rf"Model\.token_tree.*got (None|{type(other).__name__})$"):
            call(other)
    assert not stream.state.active


# Decision 1


def test_decision_01_activating_again_starts_the_span_over(stream: Stream, action_tree: TokenTree) -> None:
    stream.set_token_trie(action_tree)
    stream.set_stop_at_span_end(True)
    assert stream.generate() == " SEND_REMINDER"
    stream.activate("action")
    assert stream.generate().startswith(" ")
    assert stream.state.spans_ended == 2


# Decision 2


def test_decision_02_an_end_token_closes_a_name_that_begins_another(stream: Stream, model: Model) -> None:
    tree = model.token_tree(["SEND_REMINDER", "SEND_REMINDER_NOW", "NONE"])
    with stream.span(tree) as span:
        assert stream.generate() == " SEND_REMINDER"
    assert span.leaf == "SEND_REMINDER"
    assert stream.stop_reason == StopReason.END_OF_GENERATION, "the end token of the tree is the model's own"


# Decision 3


def test_decision_03_a_step_ends_with_the_token_that_starts_a_span(stream: Stream, model: Model) -> None:
    first, *_ = model.tokenize(" SEND_REMINDER")
    stream.set_token_trie(model.token_tree(["REMINDER", "MESSAGE"], prefix="_", trigger=[[first]]))
    step = stream.step()
    assert step.tokens == (first,)
    assert stream.state.active


# Decision 5


def test_decision_05_greedy_ignores_the_temperature_of_the_stream(
    open_stream: OpenStream, action_tree: TokenTree
) -> None:
    stream = open_stream(temperature=50.0)
    for seed in range(5):
        stream.reset()
        stream.set_seed(seed)
        stream.prefill(PROMPT.format("remind me to water the plants"))
        assert stream.choose(action_tree, mode=Mode.GREEDY) == "SEND_REMINDER"


def test_decision_05_sampled_draws_among_the_names_by_the_seed(open_stream: OpenStream, action_tree: TokenTree) -> None:
    stream = open_stream(temperature=50.0)

    def draw(seed: int) -> str:
        stream.reset()
        stream.set_seed(seed)
        stream.prefill(PROMPT.format("remind me to water the plants"))
        return stream.choose(action_tree, mode=Mode.SAMPLED)

    draws = [draw(seed) for seed in range(20)]
    assert draws == [draw(seed) for seed in range(20)]
    assert len(set(draws)) > 5


def test_decision_05_without_a_mode_the_temperature_of_the_stream_decides(
    open_stream: OpenStream, model: Model, action_tree: TokenTree
) -> None:
    stream = open_stream(temperature=50.0)
    pattern = Constraint.regex(model.vocabulary, " [A-Z]{6}")

    def draws(constraint: TokenTree | Constraint, temperature: float) -> set[str]:
        found = set()
        for seed in range(20):
            stream.reset()
            stream.set_seed(seed)
            stream.set_sampling(temperature=temperature)
            stream.prefill(PROMPT.format("remind me to water the plants"))
            found.add(stream.choose(constraint))
        return found

    for constraint in (action_tree, pattern):
        assert len(draws(constraint, 50.0)) > 5
        assert len(draws(constraint, 0.0)) == len(draws(constraint, -1.0)) == 1


def test_decision_05_penalties_do_not_choose_inside_a_span(open_stream: OpenStream, action_tree: TokenTree) -> None:
    stream = prefilled(open_stream, repeat_penalty=1000.0)
    stream.prefill("SEND_REMINDER\nAction:")
    expected = prefilled(open_stream)
    expected.prefill("SEND_REMINDER\nAction:")
    assert stream.choose(action_tree) == expected.choose(action_tree)


def test_decision_05_another_mode_is_an_error(stream: Stream, action_tree: TokenTree) -> None:
    with pytest.raises(InvalidArgumentError, match="mode"):
        stream.set_token_trie(action_tree, 2)  # type: ignore[arg-type]


# Decision 6


def test_decision_06_skipping_ahead_changes_the_passes_and_not_the_names(
    open_stream: OpenStream, action_tree: TokenTree
) -> None:
    messages = [message for message, _ in held_out(20)]

    def answers(skip_ahead: bool) -> tuple[list[str], int]:
        stream = open_stream(skip_ahead=skip_ahead)
        names, passes = [], 0
        for message in messages:
            stream.reset()
            stream.prefill(PROMPT.format(message))
            names.append(stream.choose(action_tree))
            passes += stream.stats.forward_passes
        return names, passes

    skipped, passes_skipped = answers(True)
    stepped, passes_stepped = answers(False)
    assert skipped == stepped
    assert passes_skipped < passes_stepped


def test_decision_06_what_follows_a_name_is_as_if_it_had_been_decoded_token_by_token(
    open_stream: OpenStream, action_tree: TokenTree
) -> None:
    texts = []
    for skip_ahead in (True, False):
        stream = prefilled(open_stream, skip_ahead=skip_ahead)
        stream.choose(action_tree)
        stream.prefill("\n" + PROMPT.format("mute the dev room"), add_special=False)
        texts.append(stream.generate())
    assert texts[0] == texts[1]


def test_decision_06_skipped_candidates_are_counted(stream: Stream, model: Model, action_tree: TokenTree) -> None:
    stream.choose(action_tree)
    stats = stream.stats
    n_vocab = len(model.vocabulary)
    assert 0 < stats.constrained_steps < stats.emitted_tokens
    assert stats.constrained_steps * (n_vocab - 30) <= stats.skipped_candidates < stats.constrained_steps * n_vocab
    assert stats.fallbacks == 0


# Decisions 7, 8 and 10: payloads


def test_decision_07_both_formats_constrain_alike(stream: Stream, action_tree: TokenTree) -> None:
    assert stream.choose(action_tree.to_msgpack()) == "SEND_REMINDER"
    stream.reset()
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert stream.choose(action_tree.to_json()) == "SEND_REMINDER"


def test_decision_08_a_tree_for_another_model_is_refused(stream: Stream, model: Model) -> None:
    names = ["NONE"]
    other = TokenTree.from_names(names, model.tokenize, prefix=" ", model_id="other")
    with pytest.raises(ModelMismatchError, match='"other"'):
        stream.set_token_trie(other)
    unknown = TokenTree.from_names(names, model.tokenize, prefix=" ")
    assert stream.choose(unknown) == "NONE"


def test_decision_08_a_model_without_an_id_gives_its_trees_the_fingerprint_of_its_vocabulary(stream: Stream) -> None:
    with Model(MODEL_FILE) as unnamed:
        tree = unnamed.token_tree(["NONE"])
        fingerprint = f"{unnamed.vocabulary.info.fingerprint:016x}"
    assert tree.model_id == f"vocabulary:{fingerprint}"
    assert stream.choose(tree) == "NONE", "the stream's model has an id"
    other = replace(tree, model_id="vocabulary:0123456789abcdef")
    with pytest.raises(ModelMismatchError, match=f"0123456789abcdef, the model's is {fingerprint}"):
        stream.set_token_trie(other)


def test_decision_10_setting_the_same_tree_again_is_a_cache_hit(stream: Stream, action_tree: TokenTree) -> None:
    stream.set_token_trie(action_tree)
    before = trie_cache_stats()
    stream.set_token_trie(action_tree)
    after = trie_cache_stats()
    assert (after.hits, after.misses) == (before.hits + 1, before.misses)


def test_decision_10_what_depends_on_the_stream_is_checked_on_a_hit_too(stream: Stream, model: Model) -> None:
    tree = model.token_tree(["SUMMARIZE_CONVERSATION"])
    stream.set_token_trie(tree)
    stream.set_span_timeout(2)
    with pytest.raises(LimitError):
        stream.set_token_trie(tree)


# Decision 9


def test_decision_09_a_span_that_does_not_end_is_given_up(
    stream: Stream, model: Model, action_tree: TokenTree, caplog: pytest.LogCaptureFixture
) -> None:
    stream.set_token_trie(action_tree)
    stream.set_span_timeout(2)
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        stream.generate()
    assert stream.state.timeouts == 1
    assert not stream.state.active
    assert caplog.records


def test_decision_09_the_timeout_of_a_constraint_is_its_own(
    stream: Stream, model: Model, action_tree: TokenTree
) -> None:
    short = Constraint(model.vocabulary, model.token_tree(["NONE"]))
    stream.set_constraint(short, span_timeout=short.info.longest_leaf_tokens)
    assert stream.choose(action_tree) == "SEND_REMINDER", "the stream's own timeout is what it was"


def test_decision_09_a_constraint_with_a_timeout_is_not_given_up_by_that_of_the_stream(
    open_stream: OpenStream, model: Model, action_tree: TokenTree
) -> None:
    stream = prefilled(open_stream, span_timeout=2)
    constraint = Constraint(model.vocabulary, action_tree)
    with pytest.raises(LimitError):
        stream.set_constraint(constraint)
    with stream.span(constraint, span_timeout=100) as span:
        stream.generate()
    assert span.leaf == "SEND_REMINDER"
    with pytest.raises(LimitError):
        stream.set_constraint(constraint)


# Decision 11: the grammar


GRAMMAR = 'root ::= " SEND_" ("MESSAGE" | "REMINDER") " to " [a-z]+'


def test_decision_11_a_name_that_the_grammar_refuses_switches_it_off(
    open_stream: OpenStream, model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    stream = prefilled(open_stream, grammar=GRAMMAR)
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        assert stream.choose(model.token_tree(["MUTE_ROOM"])) == "MUTE_ROOM"
    assert stream.stats.grammar_off
    assert any("grammar" in record.message for record in caplog.records)
    assert not stream.generate().startswith(" to ")
    stream.reset()
    assert not stream.stats.grammar_off


def test_a_tree_that_is_set_while_a_token_waits_for_room_is_served(open_stream: OpenStream, model: Model) -> None:
    stream = prefilled(open_stream)
    stream.set_stop_at_span_end(True)
    stream.set_token_trie(model.token_tree(["SEARCH_WEB"]))
    step = stream.step(max_text_bytes=5)
    while stream.state.active:
        step = stream.step(max_text_bytes=5)
    assert not step.done  # the last token waits for room
    stream.set_token_trie(model.token_tree(["NONE"]))
    rest = "".join(each.text for each in stream)
    assert rest.endswith(" NONE")
    assert stream.leaf == "NONE"


def test_a_leaf_that_goes_on_after_the_end_of_generation_is_refused(stream: Stream, model: Model) -> None:
    (end, *_) = model.vocabulary.end_of_generation_tokens()
    name = model.tokenize(" NONE")
    with pytest.raises(PayloadError, match="ends the generation"):
        stream.set_token_trie(TokenTree.from_names(["A"], {"A": [*name, end, *name]}, labels=True))
    stream.set_token_trie(TokenTree.from_names(["A"], {"A": [*name, end]}, labels=True))
    assert stream.generate() == " NONE"
    assert stream.leaf == "A"
