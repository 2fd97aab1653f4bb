"""Free generation: steps, callbacks, every way to end, cancelling, settings."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from eliza_inference import (
    BusyError,
    CancelledError,
    ClosedError,
    ContextFullError,
    InvalidArgumentError,
    LlamaInfo,
    Model,
    StopReason,
    Stream,
    TokenTree,
)
from eliza_inference._library import ffi, lib

from conftest import MODEL_FILE, PROMPT

OpenStream = Callable[..., Stream]

ENDLESS = 'root ::= "ab" root'
"""A grammar whose output never ends."""


@pytest.fixture
def endless(open_stream: OpenStream) -> Stream:
    stream = open_stream(grammar=ENDLESS)
    stream.prefill(PROMPT.format("hello"))
    return stream


def test_iteration_gives_what_generate_gives(stream: Stream, model: Model) -> None:
    steps = list(stream)
    text = "".join(step.text for step in steps)
    assert text == " SEND_REMINDER"
    assert model.detokenize([token for step in steps for token in step.tokens]) == text
    assert [step.done for step in steps] == [False] * (len(steps) - 1) + [True]


def test_the_callback_gets_every_token_and_its_text(stream: Stream, model: Model) -> None:
    received: list[tuple[int, str]] = []
    text = stream.generate(lambda token, piece: received.append((token, piece)))
    assert text == "".join(piece for _, piece in received)
    assert model.detokenize([token for token, _ in received]) == text
    assert stream.stats.emitted_tokens == len(received)


def test_a_prompt_begins_with_the_special_tokens_of_the_model_once(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream()
    assert stream.prefill("User: hello") == len(model.tokenize("User: hello", add_special=True))
    assert stream.prefill("\nAction:") == len(model.tokenize("\nAction:"))


# Decision 9: every way to end.


def test_decision_09_the_time_budget_ends_a_run(endless: Stream) -> None:
    endless.set_time_budget_ms(20)
    received = []

    def use_up_the_budget(token: int, _text: str) -> None:
        received.append(token)
        start = time.monotonic()
        while time.monotonic() - start < 0.03:
            pass

    endless.generate(use_up_the_budget)
    assert len(received) == 1
    assert endless.stop_reason == StopReason.TIME_BUDGET


def test_the_token_of_thinking_can_be_barred(open_stream: OpenStream, model: Model) -> None:
    """At a high temperature nearly all tokens are as likely: 1 of 640 thinks."""
    (think,) = model.tokenize("<think>", parse_special=True)
    (begin,) = model.tokenize("<|begin|>", parse_special=True)
    n_begin = 0
    seen = {False: 0, True: 0}
    for barred in seen:
        for seed in range(1, 7):
            stream = open_stream(max_tokens=240, temperature=1e6, seed=seed, disable_thinking=barred)
            for _ in range(4):
                stream.reset()
                stream.prefill("User: hello\nAction:")
                steps = list(stream)
                seen[barred] += sum(token == think for step in steps for token in step.tokens)
                n_begin += sum(token == begin for step in steps for token in step.tokens)
                assert "<|begin|>" not in "".join(step.text for step in steps)
    assert seen[False] > 0 and seen[True] == 0
    assert n_begin > 0, "a control token, which has no text"


def test_decision_09_a_context_holds_as_many_tokens_as_it_was_asked_for(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream(context_size=32, grammar=ENDLESS)
    tokens = (model.tokenize("word " * 40))[:33]
    with pytest.raises(ContextFullError, match="33 tokens do not fit the context of 32"):
        stream.prefill(tokens)
    stream.prefill(tokens[:31])
    with pytest.raises(ContextFullError, match="2 tokens do not fit the context of 32"):
        stream.prefill(tokens[:2])
    assert sum(len(step.tokens) for step in stream) == 1
    assert stream.stop_reason == StopReason.CONTEXT_FULL
    stream.reset()
    stream.prefill(tokens[:32])
    assert not [token for step in stream for token in step.tokens]
    assert stream.stop_reason == StopReason.CONTEXT_FULL


# Decision 12: text.


@pytest.mark.parametrize("max_text_bytes", [5, 6, 8, 1024])
def test_decision_12_no_token_is_lost_when_the_text_does_not_fit(
    stream: Stream, model: Model, max_text_bytes: int
) -> None:
    steps, done = [], False
    while not done:
        steps.append(stream.step(max_text_bytes=max_text_bytes))
        done = steps[-1].done
    assert all(len(step.text.encode()) < max_text_bytes for step in steps)
    assert "".join(step.text for step in steps) == " SEND_REMINDER"
    assert model.detokenize([token for step in steps for token in step.tokens]) == " SEND_REMINDER"


def test_decision_12_characters_are_whole(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream(grammar='root ::= "😀€é" root', max_tokens=40)
    stream.prefill(PROMPT.format("hello"))
    steps = list(stream)
    tokens = [token for step in steps for token in step.tokens]
    assert len(tokens) > len("".join(step.text for step in steps)), "the characters should take several tokens each"
    complete = "".join(step.text for step in steps).removesuffix("�")
    assert ("😀€é" * 40).startswith(complete)
    assert model.detokenize(tokens).startswith(complete)


# Decision 14: threads and re-entrancy.


def test_decision_14_cancel_from_another_thread(endless: Stream) -> None:
    started = threading.Event()

    def cancel() -> None:
        started.wait()
        endless.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()

    def run_on_after_the_context(_token: int, _text: str) -> None:
        started.set()
        thread.join()

    with pytest.raises(CancelledError):
        endless.generate(run_on_after_the_context)
    assert endless.stop_reason == StopReason.CANCELLED
    for call in (endless.generate, endless.step, lambda: endless.prefill("more")):
        with pytest.raises(CancelledError):
            call()
    endless.reset()
    endless.prefill(PROMPT.format("hello"))
    assert endless.generate(max_tokens=1)


def test_a_stream_cannot_be_closed_inside_a_callback(stream: Stream) -> None:
    def close(_token: int, _text: str) -> None:
        with pytest.raises(BusyError):
            stream.close()

    assert stream.generate(close) == " SEND_REMINDER"


def test_an_exception_in_the_callback_reaches_the_caller(endless: Stream) -> None:
    def fail(_token: int, _text: str) -> None:
        raise KeyError("of the caller")

    with pytest.raises(KeyError, match="of the caller"):
        endless.generate(fail)
    assert endless.stop_reason == StopReason.CALLBACK
    assert endless.generate(max_tokens=1)


def test_streams_run_side_by_side(open_stream: OpenStream) -> None:
    answers: dict[str, str] = {}

    def route(message: str) -> None:
        with open_stream() as stream:
            for _ in range(5):
                stream.reset()
                stream.prefill(PROMPT.format(message))
                answers[message] = stream.generate()

    threads = [
        threading.Thread(target=route, args=(each,)) for each in ("remind me to water the plants", "mute the dev room")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {"remind me to water the plants": " SEND_REMINDER", "mute the dev room": " MUTE_ROOM"}


# Settings


def test_draws_repeat_with_the_seed(open_stream: OpenStream) -> None:
    def texts(seed: int) -> list[str]:
        stream = open_stream(temperature=3.0, seed=seed, max_tokens=16)
        results = []
        for _ in range(3):
            stream.reset()
            stream.prefill(PROMPT.format("hello"))
            results.append(stream.generate())
        return results

    first = texts(7)
    assert first == texts(7)
    assert len(set(first)) == 1, "a reset goes back to the seed"
    assert first != texts(8)


@pytest.mark.parametrize(
    "options", [{"temperature": 0.0}, {"temperature": 2.0, "top_k": 1}, {"temperature": 2.0, "top_p": 1e-6}]
)
def test_settings_that_leave_only_the_likeliest_token(open_stream: OpenStream, options: dict[str, float]) -> None:
    stream = open_stream(**options)
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert stream.generate() == " SEND_REMINDER"


def test_top_p_is_off_at_0_and_less_and_at_1_and_more(open_stream: OpenStream) -> None:
    def text(top_p: float) -> str:
        stream = open_stream(temperature=5.0, top_p=top_p, seed=5, max_tokens=12)
        stream.prefill(PROMPT.format("hello"))
        return stream.generate()

    assert text(1.0) == text(1.5) == text(0.0) == text(-1.0) != text(0.3)


def test_sampling_can_be_changed_on_the_way(stream: Stream) -> None:
    stream.set_sampling(temperature=5.0)
    stream.set_seed(3)
    assert stream.generate(max_tokens=16) != " SEND_REMINDER"
    stream.reset()
    stream.prefill(PROMPT.format("remind me to water the plants"))
    stream.set_sampling(temperature=0.0)
    assert stream.generate() == " SEND_REMINDER"


def test_a_repeat_penalty_breaks_repetition(open_stream: OpenStream) -> None:
    def n_distinct(penalty: float) -> int:
        stream = open_stream(grammar="root ::= [a-z]+", repeat_penalty=penalty, max_tokens=8)
        stream.prefill(PROMPT.format("hello"))
        return len({token for step in stream for token in step.tokens})

    assert n_distinct(1.0) < 8
    assert n_distinct(100.0) == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache_type_k": "q9_9"}, "cache_type_k"),
        ({"grammar": "root ::= ("}, "grammar"),
        ({"grammar": 'other ::= "a"'}, "root"),
        ({"threads": 0}, "threads"),
        ({"span_timeout": 0}, "timeout"),
    ],
)
def test_a_bad_setting_is_an_error_that_names_it(
    open_stream: OpenStream, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        open_stream(**options)


def test_the_environment_asks_for_llamas_sampler(open_stream: OpenStream, monkeypatch: pytest.MonkeyPatch) -> None:
    left_recursive = 'root ::= root "ab" | "ab"'
    open_stream(grammar=left_recursive)
    monkeypatch.setenv("ELIZA_INFERENCE_GRAMMAR", "llama")
    with pytest.raises(
        InvalidArgumentError, match="gbnf_grammar is not a grammar"
    ):  # llama.cpp takes no left recursion
        open_stream(grammar=left_recursive)
    stream = open_stream(grammar='root ::= " SEND" "_REMINDER"?')
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert stream.generate() == " SEND_REMINDER"


@pytest.mark.parametrize("cache_type", ["f32", "q8_0"])
def test_other_cache_types_answer_alike(open_stream: OpenStream, cache_type: str) -> None:
    stream = open_stream(cache_type_k=cache_type, cache_type_v=cache_type)
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert stream.generate() == " SEND_REMINDER"


@pytest.mark.parametrize("bounds", [{}, {"draft_min": 1}, {"draft_max": 4}, {"draft_min": -1, "draft_max": 4}])
def test_decision_16_a_stream_without_bounds_for_drafts_does_not_draft(model: Model, bounds: dict[str, int]) -> None:
    with Stream(model, {"mtp_drafter_path": b"drafter.gguf", "max_tokens": 8, **bounds}) as stream:
        stream.prefill("User: hello\nAction:")
        stream.generate()
        assert stream.stats.drafted_tokens == 0


def test_counters(stream: Stream) -> None:
    stream.generate()
    stats = stream.stats
    assert stats.prefill_passes == 1
    assert stats.sampled_tokens == stats.emitted_tokens, "the end of generation is chosen, not emitted"
    assert stats.forward_passes == stats.emitted_tokens
    assert stats.forced_tokens == stats.constrained_steps == 0
    assert stats.decode_ns > 0


def test_reset_can_keep_the_beginning_of_the_context(open_stream: OpenStream, model: Model) -> None:
    stream = open_stream()
    beginning = model.tokenize("User: remind me to", add_special=True)
    stream.prefill(beginning)
    stream.prefill(" mute the room\nAction:")
    stream.generate()
    assert stream.reset(keep=len(beginning)) == len(beginning)
    assert stream.stats.context_tokens == len(beginning)
    stream.prefill(model.tokenize(" water the plants\nAction:"))
    assert stream.generate() == " SEND_REMINDER"
    stream.reset()
    stream.prefill(beginning)
    assert stream.reset(keep=10_000) == len(beginning)


# Life


def test_a_closed_stream_says_so(stream: Stream, action_tree: TokenTree) -> None:
    with stream:
        stream.generate()
    stream.close()
    calls: list[Callable[[], object]] = [
        stream.step, stream.generate, stream.reset, stream.cancel, stream.clear_token_trie,
        lambda: stream.prefill([1]), lambda: stream.stop_reason, lambda: stream.stats, lambda: stream.state,
        lambda: stream.leaf, lambda: stream.set_token_trie(action_tree), lambda: stream.set_seed(1),
        lambda: stream.choose(action_tree), lambda: stream.save("slot"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ClosedError, match="the stream is closed"):
            call()


def test_a_stale_handle_is_told_by_the_library(model: Model) -> None:
    stream = model.stream(context_size=64)
    handle = ffi.cast("EliLlmStream *", stream._handle)
    stream.close()
    assert lib.eliza_inference_llm_stream_cancel(handle) == ffi.integer_const("ELIZA_ERR_CLOSED")


def test_a_forgotten_stream_is_freed(model: Model) -> None:
    for _ in range(50):
        model.stream(context_size=64)
    gc.collect()


def test_a_program_may_end_with_everything_open(llama: LlamaInfo) -> None:
    code = """
import sys
from eliza_inference import Model, load_llama
load_llama(sys.argv[1])
model = Model(sys.argv[2])
stream = model.stream(context_size=64)
stream.set_token_trie(model.token_tree(["NONE"]))
stream.prefill("User: hello")
print(stream.generate())
"""
    command = [sys.executable, "-X", "dev", "-c", code, llama.path, str(MODEL_FILE)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(" NONE")


def test_a_time_budget_that_a_callback_sets_acts_at_once(endless: Stream) -> None:
    endless.generate(lambda _token, _text: endless.set_time_budget_ms(1))
    assert endless.stop_reason == StopReason.TIME_BUDGET


def test_more_threads_than_ggml_can_start_are_refused(stream: Stream) -> None:
    for n_threads in (0, 513, 2**31 - 1):
        with pytest.raises(InvalidArgumentError, match="n_threads"):
            stream.set_threads(n_threads)
    assert stream.generate() == " SEND_REMINDER"


@pytest.mark.parametrize("temperature", [1e-45, 1e-38, 1e-30])
def test_a_temperature_near_zero_takes_the_likeliest_token(open_stream: OpenStream, temperature: float) -> None:
    stream = open_stream(temperature=temperature)
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert stream.generate() == " SEND_REMINDER"


def test_half_a_character_does_not_come_with_the_next_answer(open_stream: OpenStream, model: Model) -> None:
    emoji = model.tokenize("\N{GRINNING FACE}")
    assert len(emoji) > 1
    stream = open_stream()
    stream.prefill(PROMPT.format("hello"))
    stream.set_token_trie(TokenTree.from_names(["\N{GRINNING FACE}"], model.tokenize))
    stream.generate(lambda _token, _text: True)
    stream.clear_token_trie()
    stream.prefill(PROMPT.format("remind me to water the plants"))
    assert not stream.generate().startswith("\N{REPLACEMENT CHARACTER}")
