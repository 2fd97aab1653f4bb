"""One generation, free or constrained, in tokens."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from types import TracebackType
from typing import NamedTuple

from eliza_inference._arguments import (
    UINT32_MAX,
    UINT64_MAX,
    instance,
    integer,
    mode_number,
    number,
    utf8,
)
from eliza_inference._callbacks import keep_error
from eliza_inference._closing import Closing
from eliza_inference._constants import constant
from eliza_inference._described import Described
from eliza_inference._library import CData, call, create, ffi, lent_text, lib, new_struct
from eliza_inference._named import NamedInt
from eliza_inference._threads import in_thread
from eliza_inference._tokenizers import watching_tokenizer
from eliza_inference.constraint import Constraint, ConstraintKind, Payload, payload_bytes
from eliza_inference.errors import (
    BusyError,
    ClosedError,
    ElizaError,
    InvalidArgumentError,
    PayloadError,
    StateError,
    Status,
    busy_reason,
    error_from_status,
)
from eliza_inference.matcher import Mode, SpanState, span_state
from eliza_inference.span_config import SpanConfig

__all__ = ["Span", "StopReason", "StreamStats", "StreamStep", "TokenCallback", "TokenStream"]

TokenCallback = Callable[[int, str], bool | None]
"""Receives a token id and its text; True stops the generation. If the output ends inside a character, a last
call with the id -1 brings U+FFFD in its place."""


class StopReason(NamedInt):
    """Why the last step was final."""

    NONE = constant("ELIZA_STOP_NONE")
    """It was not final: the generation has not ended."""
    END_OF_GENERATION = constant("ELIZA_STOP_END_OF_GENERATION")
    MAX_TOKENS = constant("ELIZA_STOP_MAX_TOKENS")
    SPAN_END = constant("ELIZA_STOP_SPAN_END")
    CALLBACK = constant("ELIZA_STOP_CALLBACK")
    TIME_BUDGET = constant("ELIZA_STOP_TIME_BUDGET")
    CANCELLED = constant("ELIZA_STOP_CANCELLED")
    CONTEXT_FULL = constant("ELIZA_STOP_CONTEXT_FULL")


class StreamStep(NamedTuple):
    """What one step emitted."""

    tokens: tuple[int, ...]
    text: str
    """Whole characters; an incomplete one comes with a later step."""
    done: bool
    """True for the final step: `Stream.stop_reason` says why."""


@dataclass(frozen=True, slots=True)
class StreamStats:
    """Counters of a stream since it was opened or reset.

    - `grammar_off`: whether the grammar was switched off, by a tree's token that it refuses or by a
      restored slot.
    - `prefill_passes`: forward passes of the model for prompts.
    - `forward_passes`: forward passes of the model for output tokens.
    - `decoded_tokens`: tokens in all of these passes, drafted ones included.
    - `emitted_tokens`: tokens that came out.
    - `sampled_tokens`: emitted tokens that were chosen from logits.
    - `forced_tokens`: the other emitted tokens, which needed no logits.
    - `constrained_steps`: choices inside a span, including the one that ends the generation.
    - `skipped_candidates`: the illegal tokens of the vocabulary, summed over the constrained steps.
    - `fallbacks`: constrained steps in which no legal logit was above -inf.
    - `grammar_rejections`: free tokens that the grammar refused, so that it had to check all candidates.
    - `sample_ns`: nanoseconds spent choosing tokens, forced ones included.
    - `decode_ns`: nanoseconds spent in the model.
    - `context_tokens`: tokens in the KV cache.
    - `pending_tokens`: tokens accepted but not yet decoded.
    - `drafted_tokens`: tokens that were drafted.
    - `accepted_drafts`: drafted tokens that came out.
    - `saved_passes`: choices that took no pass, since a draft had left the logits.
    - `drafter_passes`: forward passes of the drafting model.
    """

    grammar_off: bool
    prefill_passes: int
    forward_passes: int
    decoded_tokens: int
    emitted_tokens: int
    sampled_tokens: int
    forced_tokens: int
    constrained_steps: int
    skipped_candidates: int
    fallbacks: int
    grammar_rejections: int
    sample_ns: int
    decode_ns: int
    context_tokens: int
    pending_tokens: int
    drafted_tokens: int
    accepted_drafts: int
    saved_passes: int
    drafter_passes: int


class TokenStream(Closing):
    """What a `Stream` does with tokens alone: it does not know its model."""

    def __init__(self, context: CData, config: Mapping[str, int | float | bytes]) -> None:
        struct, strings = ffi.new("eliza_llm_stream_config_t *"), []
        for name, value in config.items():
            if isinstance(value, bytes):
                strings.append(ffi.new("char[]", value))
                setattr(struct, name, strings[-1])
            else:
                setattr(struct, name, value)
        handle = create(lib.eliza_inference_llm_stream_open, context, struct)
        self._handle = ffi.gc(handle, lib.eliza_inference_llm_stream_close)
        self._constraint: Constraint | None = None
        self._lending = threading.RLock()
        """Held while what the stream lends is read, and while it is closed."""
        self._stops_at_span_end = False

    # Output

    def step(self, *, max_tokens: int = 32, max_text_bytes: int = 1024) -> StreamStep:
        """Takes one step: at most one forward pass, one chosen token, the forced tokens around it and those that were
        drafted rightly, at most `max_tokens` in all.

        A step ends with the token that starts or ends a span. A token whose text does not fit
        `max_text_bytes` bytes (at least 5) comes with the next step; if it does not fit a whole step, its
        text comes in parts, in steps without tokens. Raises `CancelledError` after `cancel`.
        """
        max_tokens, max_text_bytes = integer("max_tokens", max_tokens), integer("max_text_bytes", max_text_bytes)
        tokens, count = ffi.new("int32_t[]", max_tokens), ffi.new("size_t *")
        text = ffi.new("char[]", max_text_bytes)
        status = self._call(
            lib.eliza_inference_llm_stream_next,
            tokens,
            max_tokens,
            count,
            text,
            max_text_bytes,
            ffi.NULL,
            ffi.NULL,
        )
        return StreamStep(tuple(ffi.unpack(tokens, count[0])), ffi.string(text).decode(), status == 1)

    def __iter__(self) -> Iterator[StreamStep]:
        """Yields steps up to and including the final one, even if that is empty."""
        done = False
        while not done:
            step = self.step()
            done = step.done
            yield step

    async def __aiter__(self) -> AsyncIterator[StreamStep]:
        """Yields steps as iterating does, each taken in a thread, so that other tasks continue meanwhile.

        If the task is cancelled, so is the stream (see `cancel`), and the task ends when its step has.
        """
        done = False
        while not done:
            step = await in_thread(self.step, self.cancel)
            done = step.done
            yield step

    def generate(self, on_token: TokenCallback | None = None, *, max_tokens: int = 0) -> str:
        """Generates until the end, or until `max_tokens` tokens came out (0: as many as the stream was opened
        with), and returns the text.

        `on_token` receives each token id and its text. It stops the generation by returning True, or by
        raising, in which case `generate` raises the same. Raises `CancelledError` after `cancel`.
        """
        max_tokens = integer("max_tokens", max_tokens)
        run = _Run(on_token)
        user_data = ffi.new_handle(run)
        try:
            self._call(lib.eliza_inference_llm_stream_generate, max_tokens, _on_token, user_data)
        finally:
            if run.error is not None:
                raise run.error
        return "".join(run.text)

    def cancel(self) -> None:
        """Makes the running step and all later ones raise `CancelledError` until `reset`. Any thread may call
        it."""
        self._check(lib.eliza_inference_llm_stream_cancel(self._handle))

    def reset(self, keep: int = 0) -> int:
        """Empties the KV cache, but for the first `keep` tokens, and goes back to the state right after opening.
        Returns how many tokens it kept: `keep`, or all if there are fewer. The settings stay, and so does a token
        tree or constraint, which starts over."""
        return self._check(lib.eliza_inference_llm_stream_reset_keep(self._handle, integer("keep", keep)))

    @property
    def stop_reason(self) -> StopReason:
        """Why the last step was final. A finished stream continues with `prefill`, `set_token_trie`, `activate` or
        `generate`; after the end of generation, with `prefill` alone."""
        return StopReason(self._check(lib.eliza_inference_llm_stream_stop_reason(self._handle)))

    @property
    def stats(self) -> StreamStats:
        """Counters since the stream was opened or reset."""
        stats = new_struct("eliza_llm_stream_stats_t")
        self._check(lib.eliza_inference_llm_stream_stats(self._handle, stats))
        values = {field.name: getattr(stats, field.name) for field in fields(StreamStats)}
        return StreamStats(**values | {"grammar_off": bool(stats.grammar_off)})

    # Constraint

    def choose(self, constraint: Payload | Constraint, *, path: str | None = None, mode: Mode = Mode.SAMPLED) -> str:
        """Generates one name of a token tree, or one text that a recognizer accepts, and returns it: `span`
        and `generate` in one. `path` and `mode` are as for these. If a text ends the generation, call
        `prefill` to continue.

        `StateError` if the generation ended before the name or text was complete, as by `max_tokens`; the
        error's `text` is what came out.
        """
        is_text = isinstance(constraint, Constraint) and constraint.kind != ConstraintKind.TOKEN_TRIE
        with self.span(constraint, path=path, mode=mode) as span:
            text = self.generate()
            reason, can_stop = self.stop_reason, self.state.can_stop
        chosen = (text if can_stop else None) if is_text else span.leaf
        if chosen is None:
            what = "text" if is_text else "name"
            remedy = "; call prefill to continue" if reason == StopReason.END_OF_GENERATION else ""
            error = StateError(f"no {what} was complete when the generation ended: {reason.name}{remedy}")
            error.text = text
            raise error
        return chosen

    def span(
        self,
        constraint: Payload | Constraint,
        *,
        path: str | None = None,
        mode: Mode = Mode.SAMPLED,
        end: Iterable[int] | None = None,
        span_timeout: int | None = None,
        prefill: str | bytes = b"",
    ) -> Span:
        """A context manager in which a token tree or a constraint restricts the output, which stops at the
        end of a span.

            with stream.span(tree, path="action") as span:
                stream.generate()
            print(span.leaf)

        `path` opens the span of that descriptor; without it, the span of a recognizer opens by itself, and
        so do those of a tree without triggers, one after the other. `mode` is as for `set_token_trie`; `end`,
        `span_timeout` and `prefill` are as for `set_constraint`, and for a `Constraint` only. After the context
        nothing constrains the stream. Spans do not nest.
        """
        if isinstance(constraint, Constraint):
            chosen = constraint
            return Span(
                self,
                path,
                lambda: self.set_constraint(chosen, mode, end=end, span_timeout=span_timeout, prefill=prefill),
                self.clear_constraint,
            )
        if end is not None or span_timeout is not None or prefill:
            what = "end, span_timeout and prefill are for a Constraint"
            raise InvalidArgumentError(f"{what}; a token tree has its own end tokens")
        tree = constraint
        if isinstance(tree, str) and not tree.lstrip().startswith("{"):
            raise PayloadError(f"expected a token tree in JSON, got {tree[:40]!r} (model.token_tree([...]) makes one)")
        return Span(self, path, lambda: self.set_token_trie(tree, mode), self.clear_token_trie)

    def set_token_trie(self, tree: Payload, mode: Mode = Mode.SAMPLED) -> None:
        """Constrains the stream by a token tree, in place of what constrains it now. If it fails, nothing
        changes.

        `Mode.SAMPLED` applies the stream's temperature (0 or less: greedy), top-p and seed to the legal tokens
        alone; `Mode.GREEDY` takes the likeliest of them whatever the temperature. Raises what `Constraint` raises
        for a tree.
        """
        payload = payload_bytes(tree)
        data = ffi.from_buffer("char[]", payload)
        self._check(lib.eliza_inference_set_token_trie(self._handle, data, len(payload), mode_number(mode)))
        self._constraint = None

    def clear_token_trie(self) -> None:
        """Removes the token tree. The stream's grammar, if it has one, is in force again."""
        self._check(lib.eliza_inference_clear_token_trie(self._handle))
        self._constraint = None

    def set_constraint(
        self,
        constraint: Constraint,
        mode: Mode = Mode.SAMPLED,
        *,
        end: Iterable[int] | None = None,
        span_timeout: int | None = None,
        prefill: str | bytes = b"",
    ) -> None:
        """Constrains the stream by any constraint, in place of what constrains it now. If it fails, nothing
        changes.

        The constraint's vocabulary must be that of the model: as many tokens and, for a recognizer, the
        same bytes (else `ModelMismatchError`). `mode` is as for `set_token_trie`, `end` and `prefill` as for
        a `Matcher`: with a prompt that `Vocabulary.heal` cut, the text has the end of the prompt first.
        `span_timeout` is in tokens; None: the stream's own for a token tree, none for a recognizer.
        """
        instance("constraint", constraint, Constraint)
        config = SpanConfig(end, span_timeout, prefill)
        mode_id = mode_number(mode)
        self._check(lib.eliza_inference_set_constraint(self._handle, constraint._handle, mode_id, config.pointer))
        # Its vocabulary may have a tokenizer, which must live as long as it is called.
        self._constraint = constraint

    def clear_constraint(self) -> None:
        """Removes what constrains the stream, be it a constraint or a token tree. The stream's grammar, if it
        has one, is in force again."""
        self._check(lib.eliza_inference_clear_constraint(self._handle))
        self._constraint = None

    def activate(self, path: str) -> None:
        """Opens a span at the descriptor with this path ("" in a recognizer); an open span starts over.
        `UnknownPathError`, which lists the known paths, if there is none; `StateError` if nothing constrains
        the stream."""
        encoded = utf8("path", path)
        self._check(lib.eliza_inference_llm_stream_activate(self._handle, encoded, len(encoded)))

    @property
    def state(self) -> SpanState:
        """The span and its counters. Without a constraint, numbers are 0, indices -1 and flags False."""
        state = new_struct("eliza_span_state_t")
        self._check(lib.eliza_inference_llm_stream_state(self._handle, state))
        return span_state(state)

    @property
    def leaf(self) -> str | None:
        """The name that is complete here, or, outside a span, the name or the text of a `TokenTreePart` that the last
        span ended with; None if there is none, and in a recognizer."""
        name, length = ffi.new("const char **"), ffi.new("size_t *")
        with self._lending:
            self._check(lib.eliza_inference_llm_stream_leaf(self._handle, name, length))
            return lent_text(name[0], length[0])

    # Settings, in force from the next token on

    def set_seed(self, seed: int) -> None:
        """Sets the state, of 64 bits, of the generator that tokens are drawn from (at first 0)."""
        self._check(lib.eliza_inference_llm_stream_set_seed(self._handle, integer("seed", seed, 0, UINT64_MAX)))

    def set_sampling(self, *, temperature: float, top_p: float = 1.0) -> None:
        """Sets the temperature (0 or less: greedy) and top-p (1 or more, or 0 or less: off)."""
        sampling = new_struct("eliza_sampling_t")
        sampling.temperature, sampling.top_p = number("temperature", temperature), number("top_p", top_p)
        self._check(lib.eliza_inference_llm_stream_set_sampling(self._handle, sampling))

    def set_time_budget_ms(self, milliseconds: int) -> None:
        """Bounds the wall-clock time from the first step after a prompt; 0: no bound."""
        milliseconds = integer("milliseconds", milliseconds, 0, UINT64_MAX)
        self._check(lib.eliza_inference_llm_stream_set_time_budget_ms(self._handle, milliseconds))

    def set_span_timeout(self, n_tokens: int) -> None:
        """Sets the number of tokens, at least 1, after which a token tree's span that has not ended is given up.
        A constraint that was set with a `span_timeout` of its own keeps it."""
        n_tokens = integer("n_tokens", n_tokens, 0, UINT32_MAX)
        self._check(lib.eliza_inference_llm_stream_set_span_timeout(self._handle, n_tokens))

    def set_stop_at_span_end(self, on: bool) -> None:
        """Sets whether the step that ends a span is final (at first it is not)."""
        self._check(lib.eliza_inference_llm_stream_set_stop_at_span_end(self._handle, on))
        self._stops_at_span_end = on

    def set_skip_ahead(self, on: bool) -> None:
        """Sets whether forced tokens are decoded together (at first they are)."""
        self._check(lib.eliza_inference_llm_stream_set_skip_ahead(self._handle, on))

    def set_threads(self, n_threads: int) -> None:
        """Sets the number of CPU threads of the model, from 1 to 512."""
        self._check(lib.eliza_inference_llm_stream_set_threads(self._handle, integer("n_threads", n_threads)))

    # Slots

    def save(self, path: str | os.PathLike[str]) -> None:
        """Decodes pending tokens, then writes the tokens and the KV cache to a slot file. `SlotFileError` if it
        cannot be written."""
        self._call(lib.eliza_inference_llm_stream_save_slot, os.fsencode(path))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Reads what `save` wrote. Removes what constrains the stream, and switches the grammar off. After a
        failure (`SlotFileError`, `ModelMismatchError`) the stream is empty and usable."""
        self._call(lib.eliza_inference_llm_stream_restore_slot, os.fsencode(path))

    def close(self) -> None:
        """Frees the stream. A second call does nothing; other calls then raise `ClosedError`. `BusyError` while a call
        on it runs, in another thread or as the one that calls back; `cancel` ends such a call."""
        with self._lending:
            if not self._handle:
                return
            lib.eliza_inference_llm_stream_close(self._handle)  # does nothing while a call runs
            status = lib.eliza_inference_llm_stream_stop_reason(self._handle)
            if status == Status.BUSY:
                raise BusyError("another thread is using the stream")
            if status != Status.CLOSED:
                raise BusyError("the stream cannot be closed inside a callback of a call on it")
            self._handle = ffi.NULL

    @property
    def _is_open(self) -> bool:
        return bool(self._handle)

    def _call(self, function: Callable[..., int], *arguments: object) -> int:
        if not self._handle:
            raise ClosedError("the stream is closed")
        return watching_tokenizer(call, function, self._handle, *arguments)

    def _check(self, status: int) -> int:
        if status < 0:
            raise self._error(status)
        return status

    def _error(self, status: int) -> ElizaError:
        with self._lending:
            if not self._handle:
                return ClosedError("the stream is closed")
            message = ffi.string(lib.eliza_inference_llm_stream_last_error(self._handle)).decode("utf-8", "replace")
        return error_from_status(status, busy_reason("stream", message) if status == Status.BUSY else message)


class Span(Described):
    """The context manager that `Stream.span` returns."""

    def __init__(
        self, stream: TokenStream, path: str | None, set_constraint: Callable[[], None], clear: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._path = path
        self._set_constraint = set_constraint
        self._clear = clear
        self._leaf: str | None = None
        self._entered = False

    @property
    def leaf(self) -> str | None:
        """The name that came out, after the context too; None until there is one, and for a recognizer."""
        return self._stream.leaf if self._entered else self._leaf

    def __enter__(self) -> Span:
        stream = self._stream
        self._set_constraint()
        try:
            if self._path is not None:
                stream.activate(self._path)
            self._stopped_before = stream._stops_at_span_end
            stream.set_stop_at_span_end(True)
        except BaseException:
            self._clear()
            raise
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        if not self._stream._is_open:
            return
        self._leaf = self._stream.leaf
        self._clear()
        self._stream.set_stop_at_span_end(self._stopped_before)

    def _describe(self) -> str:
        return f"of {self._stream}"


class _Run:
    """What the C callback of `Stream.generate` works on."""

    def __init__(self, on_token: TokenCallback | None) -> None:
        self.on_token = on_token
        self.text: list[str] = []
        self.error: BaseException | None = None

    def receive(self, token: int, text: str) -> bool:
        self.text.append(text)
        return self.on_token is not None and bool(self.on_token(token, text))


@ffi.callback("eliza_llm_token_callback", error=1, onerror=keep_error)  # type: ignore[untyped-decorator]
def _on_token(token: int, text: CData, user_data: CData) -> int:
    run: _Run = ffi.from_handle(user_data)
    try:
        return run.receive(token, ffi.string(text).decode())
    except BaseException as error:  # KeyboardInterrupt too: it must pass through C to the caller
        run.error = error
        return 1
