"""The state of one output under a constraint: legal tokens, masks, sampling, rollback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, overload
from weakref import ref

from eliza_inference._arguments import UINT32_MAX, UINT64_MAX, floats, instance, integer, mode_number, number, utf8
from eliza_inference._bitmap import Bitmap, empty_bitmap, int32_array, lend_bitmap, set_bits
from eliza_inference._closing import Closing
from eliza_inference._constants import constant
from eliza_inference._library import CData, call, ffi, kept_alive_by, lent_text, lib, new_struct
from eliza_inference._logits import apply_bitmaps
from eliza_inference._named import NamedFlag, NamedInt
from eliza_inference._tokenizers import watching_tokenizer
from eliza_inference.constraint import Constraint, ConstraintKind
from eliza_inference.errors import ClosedError, ElizaError, Status, busy_reason, error_from_status
from eliza_inference.span_config import SpanConfig

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Matcher", "MatcherInfo", "Mode", "SpanState", "Step"]


class Step(NamedFlag):
    """What a token did. A token outside any span that starts none gives `Step.NONE`.

    A step has no truth value, which would be read as "accepted" and is none of the flags: ask
    `Step.REFUSED in step`, or call `Matcher.accept_tokens`.
    """

    NONE = 0
    IN_SPAN = constant("ELIZA_STEP_IN_SPAN")
    """The token belongs to a span (an end token included)."""
    SPAN_ENDED = constant("ELIZA_STEP_SPAN_ENDED")
    """A span ended: with this token, or, without IN_SPAN, before it. Until another span opens, every token is
    legal (`allowed` is None) and gives NONE."""
    SPAN_STARTED = constant("ELIZA_STEP_SPAN_STARTED")
    """A span is open after this token: a trigger fired, or it is the next in order."""
    TIMED_OUT = constant("ELIZA_STEP_TIMED_OUT")
    """The span reached its timeout (with SPAN_ENDED)."""
    REFUSED = constant("ELIZA_STEP_REFUSED")
    """The token is not legal here; nothing changed."""

    def __bool__(self) -> bool:
        raise TypeError("a Step has no truth value: ask `Step.REFUSED in step`, or call accept_tokens")


class Mode(NamedInt):
    """How a token is chosen among the legal ones."""

    GREEDY = constant("ELIZA_MODE_GREEDY")
    """The highest logit; among equal ones, the smallest id."""
    SAMPLED = constant("ELIZA_MODE_SAMPLED")
    """A draw from the legal tokens, after temperature and then top-p."""


class SpanState(NamedTuple):
    """The span of a matcher or of a stream."""

    active: bool
    descriptor: int
    """Index of the active descriptor, -1 outside a span."""
    can_stop: bool
    """True outside a span and where a leaf is complete."""
    constrained: bool
    """True if the next token is restricted."""
    n_allowed: int
    """The number of legal next tokens if constrained, else 0."""
    span_tokens: int
    """Tokens accepted in the open span."""
    leaf_descriptor: int
    """Descriptor of `leaf`, or of the text that the last span ended with; or -1."""
    leaf: int
    """Index, in the tree, of the leaf that is complete here, or, outside a span, of the one that the last
    span ended with; -1 if there is none, or a text."""
    spans_started: int
    spans_ended: int
    """Including timeouts, deactivations and restarts of an open span."""
    timeouts: int
    illegal: int
    """Spans ended by an illegal token; always 0 in a matcher, which refuses such tokens."""


class MatcherInfo(NamedTuple):
    """The memory of a matcher, and how often it found a mask ready."""

    retained_bytes: int
    """Memory kept in all, the next two included."""
    history_bytes: int
    """Memory of the rollback history."""
    stack_bytes: int
    """Memory of the parser's stacks."""
    mask_hits: int
    """Masks that were ready."""
    mask_misses: int
    """Masks that had to be computed."""


class Matcher(Closing):
    """The state of one output: cheap to make, and used by one thread at a time. While a call on it runs, another one,
    `close` included, is a `BusyError` and changes nothing. Keeps the constraint alive.

    A recognizer's span is open from the start. The spans of a token tree without triggers open one after the
    other, in their order; others are opened by a trigger, or any by `activate`. `seed` is the state of the generator
    that `sample` draws from. `span_timeout` is the number of tokens after which a span that has not ended
    is given up (at least 1; None: 500 for a token tree, no timeout for a recognizer). A leaf longer than
    that is a `LimitError`.

    `end` is for recognizers, since a token tree has its own: the tokens, at most `limits.END_TOKENS_MAX`,
    that are legal exactly where the text is complete, and that close the span. None: the vocabulary's
    end-of-generation tokens. Empty: a span that cannot continue ends by itself; where it may stop, every
    token is legal once, and either continues the text or ends the span before it. A vocabulary without
    end-of-generation tokens needs one or the other.

    `prefill`, for recognizers too, is what the first tokens spell before the text begins, at most
    `limits.PREFILL_BYTES_MAX` bytes: the end of a prompt, which `Vocabulary.heal` took back.

    A context manager: `close` frees it.
    """

    __slots__ = ("_accept", "_constraint", "_fill", "_filled", "_handle", "_n_words")

    _handle: CData
    _filled: tuple[Any, CData, int, object]

    def __init__(
        self,
        constraint: Constraint,
        *,
        seed: int = 0,
        span_timeout: int | None = None,
        end: Iterable[int] | None = None,
        prefill: str | bytes = b"",
    ) -> None:
        instance("constraint", constraint, Constraint)
        if span_timeout is not None:
            span_timeout = integer("span_timeout", span_timeout, 1, UINT32_MAX)
        out = ffi.new("eliza_matcher **")
        if end is None and not prefill:
            call(lib.eliza_inference_matcher_create, constraint._handle, span_timeout or 0, out)
        else:
            config = SpanConfig(end, span_timeout, prefill)
            call(lib.eliza_inference_matcher_create_span, constraint._handle, config.pointer, out)
        self._adopt(constraint, out[0])
        if seed:
            self.set_seed(seed)

    def accept(self, token: int) -> Step:
        """Moves on by one token, and says what it did. A token that is not legal here is refused
        (`Step.REFUSED`) and changes nothing; an id outside the vocabulary is an `InvalidArgumentError`."""
        try:
            result: int = self._accept(self._handle, token)
        except (TypeError, OverflowError):
            integer("token", token, 0, len(self._constraint.vocabulary) - 1)
            raise
        if result < 0:
            raise self._error(result)
        return _STEPS[result]

    def accept_tokens(self, tokens: Iterable[int]) -> bool:
        """Moves on by all of these tokens; True if each is legal. If one is not, False, and nothing changed but that
        the oldest tokens of a history of `limits.ROLLBACK_TOKENS_MAX` are forgotten."""
        for n_accepted, token in enumerate(tokens):
            if Step.REFUSED in self.accept(token):
                self.rollback(n_accepted)
                return False
        return True

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many of these tokens, from the first on, are legal one after the other. Nothing changes."""
        with self.clone() as probe:
            return sum(1 for _ in takewhile(lambda token: Step.REFUSED not in probe.accept(token), tokens))

    def is_terminated(self) -> bool:
        """Whether a span has ended and none is open: nothing is constrained any more, unless a trigger or
        `activate` opens another."""
        state = self.state
        return not state.active and state.spans_ended > 0

    def rollback(self, n_tokens: int = 1) -> None:
        """Undoes the last `n_tokens` accepted tokens and all that they did, counters included.

        `InvalidArgumentError` for more than were accepted since the last `reset`, and for more than
        `limits.ROLLBACK_TOKENS_MAX`; nothing changed then.
        """
        try:
            self._check(lib.eliza_inference_matcher_rollback(self._handle, n_tokens))
        except (TypeError, OverflowError):
            integer("n_tokens", n_tokens)
            raise

    def reset(self) -> None:
        """Goes back to the state right after creation, counters included; seed and timeout stay."""
        self._check(lib.eliza_inference_matcher_reset(self._handle))

    def clone(self) -> Matcher:
        """An independent copy, with the same position, rollback history and generator."""
        out = ffi.new("eliza_matcher **")
        self._check(lib.eliza_inference_matcher_clone(self._handle, out))
        copy = Matcher.__new__(Matcher)
        copy._adopt(self._constraint, out[0])
        return copy

    def __copy__(self) -> Matcher:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Matcher:
        return self.clone()

    def activate(self, path: str) -> None:
        """Opens a span at the descriptor with this path ("" in a recognizer); an open span starts over.
        `UnknownPathError`, which lists the known paths, if there is none."""
        encoded = utf8("path", path)
        self._check(lib.eliza_inference_matcher_activate(self._handle, encoded, len(encoded)))

    def deactivate(self) -> None:
        """Ends an open span without a leaf. Triggers stay in force."""
        self._check(lib.eliza_inference_matcher_deactivate(self._handle))

    def allowed(self) -> npt.NDArray[np.int32] | None:
        """The legal next tokens, ascending, or None if every token is.

        The array, `int32[n]`, is read-only. For a token tree it views the library's memory and keeps that
        alive; for a recognizer it is a copy, and where `bitmap` gives one, `bitmap` costs less. Without
        numpy it is a `memoryview`.
        """
        ids, count = ffi.new("const int32_t **"), ffi.new("size_t *")
        form = self._check(lib.eliza_inference_matcher_allowed(self._handle, ids, count))
        if form == _ALLOWED_ALL:
            return None
        if form == _ALLOWED_BITMAP:
            return set_bits(self.fill_bitmap())  # a copy, since the next call may be another thread's
        if self._constraint.kind == ConstraintKind.TOKEN_TRIE:
            # The ids live as long as the constraint.
            return int32_array(ffi.buffer(kept_alive_by(self._constraint, ids[0]), count[0] * 4))
        return int32_array(ffi.buffer(ids[0], count[0] * 4)[:])

    def bitmap(self) -> npt.NDArray[np.int32] | None:
        """The legal next tokens as a bitmap, without a copy, if that is their natural form; else None, and
        `allowed` gives them.

        The array is `int32[ceil(n_tokens / 32)]`: bit `i % 32` of word `i // 32` is token `i`. It is
        read-only and views the matcher's memory: read it before the next call that changes the matcher.
        Without numpy it is a `memoryview`.
        """
        words, count = ffi.new("const int32_t **"), ffi.new("size_t *")
        if self._check(lib.eliza_inference_matcher_bitmap(self._handle, words, count)) != _ALLOWED_BITMAP:
            return None
        return int32_array(ffi.buffer(kept_alive_by(self._handle, words[0]), count[0] * 4))

    @overload
    def fill_bitmap(self, out: None = None) -> npt.NDArray[np.int32]: ...
    @overload
    def fill_bitmap(self, out: Bitmap) -> Bitmap: ...
    def fill_bitmap(self, out: Any = None) -> Any:
        """Writes the legal next tokens to `out` as a bitmap (see `bitmap`), whatever their natural form, and
        returns `out`.

        `out` is a writable, contiguous array of 32-bit integers (numpy or any other with the buffer
        protocol) of at least `ceil(n_tokens / 32)` words; words beyond that become 0. The matcher holds
        on to it, so that filling it again costs less, and it cannot be resized until another one is filled or the
        matcher closed. None makes a new one.
        """
        filled, words, n_words, _ = self._filled
        if out is None or out is not filled:
            if out is None or isinstance(out, memoryview):
                return self._fill_once(empty_bitmap(self._n_words) if out is None else out)
            words = lend_bitmap(out, self._n_words)
            n_words = len(words)
            self._filled = out, words, n_words, _kept_in_place(out)
        status = self._fill(self._handle, words, n_words)
        if status < 0:
            raise self._error(status)
        return out

    def _fill_once(self, out: Any) -> Any:
        with lend_bitmap(out, self._n_words) as words:
            status = self._fill(self._handle, words, len(words))
        if status < 0:
            raise self._error(status)
        return out

    def forced(self) -> list[int]:
        """The forced tokens: those that must follow; empty if there is a choice.

        In a token tree: the run of steps in which one token is legal and the output may not stop. In a
        recognizer: the tokens that the vocabulary's tokenizer gives for `forced_bytes`, without the last ones
        if a longer token could still take their place, and the end token where it alone is legal. Raises
        what the tokenizer raises.
        """
        function = lib.eliza_inference_matcher_forced
        tokens, count = watching_tokenizer(self._fill_growing, function, "int32_t[]", 32)
        return list(ffi.unpack(tokens, count))

    def forced_bytes(self) -> bytes:
        """The bytes that must follow in a recognizer: before each, no other byte is possible and the text
        may not stop. At most `limits.FORCED_BYTES_MAX`, and fewer if long searches are needed to find them; b""
        if there is a choice, and always in a token tree."""
        run, count = self._fill_growing(lib.eliza_inference_matcher_forced_bytes, "uint8_t[]", 256)
        return bytes(ffi.buffer(run, count))

    @property
    def can_stop(self) -> bool:
        """Whether the output may stop here: outside a span, at a complete leaf, or where the text
        is complete."""
        return self._check(lib.eliza_inference_matcher_can_stop(self._handle)) == 1

    def mask_logits(self, logits: Any) -> None:
        """Writes -inf to the logit of every token that is not legal, in place; changes nothing if every
        token is legal.

        `logits` is a writable, contiguous, one-dimensional array of 32-bit floats (numpy or any
        other with the buffer protocol), at least as long as the vocabulary. Logits beyond the
        vocabulary are masked too.
        """
        with _float_array(logits, writable=True) as lent:
            self._check(lib.eliza_inference_matcher_mask_logits(self._handle, lent, len(lent)))

    def apply_bitmap(self, logits: Any) -> None:
        """Writes -inf to the logit of every token that is not legal, in place, and of every one beyond the
        vocabulary. `logits` is one row as `apply_bitmaps` takes them: of numpy or torch, in any float type."""
        apply_bitmaps(logits, self.fill_bitmap())

    def sample(self, logits: Any, mode: Mode = Mode.GREEDY, *, temperature: float = 1.0, top_p: float = 1.0) -> int:
        """Chooses one of the legal tokens, and returns it without accepting it.

        `logits` is as for `mask_logits`, but is only read. NaN counts as -inf; if no legal token is
        above -inf, all of them count as equal. `temperature` (0 or less: greedy) and `top_p` (1 or
        more, or 0 or less: off) apply to `Mode.SAMPLED` alone. The same logits and seed give the same
        tokens on every platform.
        """
        sampling = new_struct("eliza_sampling_t")
        try:
            sampling.mode, sampling.temperature, sampling.top_p = mode, temperature, top_p
        except (TypeError, OverflowError):
            mode_number(mode)
            number("temperature", temperature)
            number("top_p", top_p)
            raise
        token = ffi.new("int32_t *")
        with _float_array(logits, writable=False) as lent:
            self._check(lib.eliza_inference_matcher_sample(self._handle, lent, len(lent), sampling, token))
        return int(token[0])

    def set_seed(self, seed: int) -> None:
        """Sets the state, of 64 bits, of the generator that `sample` draws from."""
        seed = integer("seed", seed, 0, UINT64_MAX)
        self._check(lib.eliza_inference_matcher_set_seed(self._handle, seed))

    def set_span_timeout(self, n_tokens: int) -> None:
        """Changes the span timeout, at least 1, with effect on an open span. The lengths of the leaves are not
        checked again."""
        n_tokens = integer("n_tokens", n_tokens, 0, UINT32_MAX)
        self._check(lib.eliza_inference_matcher_set_span_timeout(self._handle, n_tokens))

    @property
    def state(self) -> SpanState:
        """The span and its counters."""
        state = new_struct("eliza_span_state_t")
        self._check(lib.eliza_inference_matcher_state(self._handle, state))
        return span_state(state)

    @property
    def leaf(self) -> str | None:
        """The name that is complete here, or, outside a span, the name or the text of a `TokenTreePart` that the last
        span ended with; None if there is none, and in a recognizer."""
        if not self._constraint._has_parts:
            return self._lent_leaf()  # names live as long as the constraint
        with self.clone() as own:  # a text lives until the next call, which may be another thread's
            return own._lent_leaf()

    @property
    def info(self) -> MatcherInfo:
        """Memory, and how often a mask was ready."""
        info = new_struct("eliza_matcher_info_t")
        self._check(lib.eliza_inference_matcher_info(self._handle, info))
        return MatcherInfo(info.retained_bytes, info.history_bytes, info.stack_bytes, info.mask_hits, info.mask_misses)

    def close(self) -> None:
        """Frees the matcher now rather than with its last reference. A second call does nothing; other calls
        then raise `ClosedError`. A lent `bitmap` stays readable. `BusyError` while a call on it runs, in another
        thread or as the one that calls back."""
        status = lib.eliza_inference_matcher_rollback(self._handle, 0)
        if status == Status.BUSY:
            raise self._error(status)
        # The last reference frees the matcher: an array that was lent has one, and so has each call of another thread
        # that has begun meanwhile.
        self._handle = ffi.NULL
        self._filled = None, None, 0, None

    def _describe(self) -> str:
        return f"of {self._constraint}{'' if self._handle else ', closed'}"

    def _adopt(self, constraint: Constraint, handle: CData) -> None:
        self._constraint = constraint
        self._handle = ffi.gc(handle, lib.eliza_inference_matcher_free)
        self._filled = None, None, 0, None
        self._n_words = constraint._n_words
        # The shortest calls of a hot loop: bound here, so that each costs a single look-up.
        self._accept = lib.eliza_inference_matcher_accept
        self._fill = lib.eliza_inference_matcher_fill_bitmap

    def _lent_leaf(self) -> str | None:
        name, length = ffi.new("const char **"), ffi.new("size_t *")
        self._check(lib.eliza_inference_matcher_leaf(self._handle, name, length))
        return lent_text(name[0], length[0])

    def _fill_growing(self, function: Callable[..., int], array: str, capacity: int) -> tuple[CData, int]:
        """Calls a function that tells the length it needs; the array that it filled, and the length."""
        count = ffi.new("size_t *")
        while True:
            filled = ffi.new(array, capacity)
            self._check(function(self._handle, filled, capacity, count))
            if count[0] <= capacity:
                return filled, count[0]
            capacity = count[0]

    def _check(self, status: int) -> int:
        if status < 0:
            raise self._error(status)
        return status

    def _error(self, status: int) -> ElizaError:
        handle = self._handle  # which keeps the message alive
        if not handle:
            return ClosedError("the matcher is closed")
        message = ffi.string(lib.eliza_inference_matcher_last_error(handle)).decode("utf-8", "replace")
        return error_from_status(status, busy_reason("matcher", message) if status == Status.BUSY else message)


def span_state(state: CData) -> SpanState:
    """Copies a `eliza_span_state_t`."""
    return SpanState(
        active=bool(state.active),
        descriptor=state.descriptor,
        can_stop=bool(state.can_stop),
        constrained=bool(state.constrained),
        n_allowed=state.n_allowed,
        span_tokens=state.span_tokens,
        leaf_descriptor=state.leaf_descriptor,
        leaf=state.leaf,
        spans_started=state.spans_started,
        spans_ended=state.spans_ended,
        timeouts=state.timeouts,
        illegal=state.illegal,
    )


_ALLOWED_ALL = constant("ELIZA_ALLOWED_ALL")
_ALLOWED_BITMAP = constant("ELIZA_ALLOWED_BITMAP")


_FLOATS = {
    "float32": constant("ELIZA_LOGITS_F32"),
    "float16": constant("ELIZA_LOGITS_F16"),
    "bfloat16": constant("ELIZA_LOGITS_BF16"),
    "float64": constant("ELIZA_LOGITS_F64"),
}


def mask_rows(
    matchers: Sequence[Matcher], rows: Sequence[int], address: int, dtype: str, n_logits: int, stride: int
) -> None:
    """Writes -inf to the logits that are not legal for a matcher, and to those beyond the vocabulary, in its row of
    `n_logits` floats, at least as many as the vocabulary has tokens. Row i begins `i * stride` floats behind `address`.
    Masks that are not ready are computed first, in several threads. If one fails, nothing is written."""
    if dtype not in _FLOATS:
        raise TypeError(f"logits: expected floats of 16, 32 or 64 bits, got {dtype}")
    handles, logits = [each._handle for each in matchers], ffi.cast("void *", address)
    mask = lib.eliza_inference_matcher_mask_rows
    status = mask(handles, len(handles), logits, _FLOATS[dtype], n_logits, stride, rows, 0)
    if status < 0:
        for matcher in matchers:
            matcher.fill_bitmap()  # fails where its mask does, and says why
        raise matchers[0]._error(status)


# Indexed by the bits: making a Step costs more than the call itself.
_STEPS = tuple(Step(bits) for bits in range(2 * Step.REFUSED))


def _kept_in_place(out: Any) -> object:
    """Makes numpy refuse to resize the array: it looks for weak references, not for lent memory. Other arrays refuse by
    themselves while they are lent."""
    try:
        return ref(out)
    except TypeError:
        return None


def _float_array(logits: Any, *, writable: bool) -> CData:
    """Lends an array of 32-bit floats to the library, without a copy, while the block of a `with` lasts: a view that
    is lent must not be found by the collector of cycles, as in the frames of a kept exception. It crashes then."""
    return ffi.from_buffer("float[]", floats("logits", logits, writable=writable))
