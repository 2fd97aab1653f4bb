"""Where one output stands in a constraint, and the choice among the legal tokens."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from eliza_inference._constants import constant
from eliza_inference._library import CData, call, ffi, lent_text, lib, new_struct
from eliza_inference.constraint import Constraint
from eliza_inference.errors import ClosedError, ElizaError, InvalidArgumentError, error_from_status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Matcher", "Mode", "SpanState", "Step"]


class Step(IntFlag):
    """What an accepted token did. A token outside any span that starts none gives `Step.NONE`."""

    NONE = 0
    IN_SPAN = constant("ELIZA_STEP_IN_SPAN")
    """The token belongs to a span (an end token included)."""
    SPAN_ENDED = constant("ELIZA_STEP_SPAN_ENDED")
    """A span is over: after this token, or before it if not IN_SPAN."""
    SPAN_STARTED = constant("ELIZA_STEP_SPAN_STARTED")
    """A trigger fired: a span is open after this token."""
    TIMED_OUT = constant("ELIZA_STEP_TIMED_OUT")
    """The span reached its timeout (with SPAN_ENDED)."""
    REFUSED = constant("ELIZA_STEP_REFUSED")
    """Not allowed here: nothing changed."""


class Mode(IntEnum):
    """How a token is chosen among the legal ones."""

    GREEDY = constant("ELIZA_MODE_GREEDY")
    """The highest logit, of equal ones the smallest id."""
    SAMPLED = constant("ELIZA_MODE_SAMPLED")
    """Temperature, then top-p, over the legal tokens; then a draw."""


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
    """Legal next tokens if constrained, else 0."""
    span_tokens: int
    """Tokens accepted in the open span."""
    leaf_descriptor: int
    """Descriptor of `leaf`, or -1."""
    leaf: int
    """Index in the tree of the leaf that is complete here, or, outside a span, that the last span
    ended with; -1: none."""
    spans_started: int
    spans_ended: int
    """Timeouts, deactivations and restarts of an open span included."""
    timeouts: int
    illegal: int
    """Spans that an illegal token ended; a matcher refuses such tokens instead."""


class Matcher:
    """The cheap, mutable state of one output. Belongs to one thread at a time.

    With one descriptor and no trigger the span is open at once; otherwise it is opened by `activate`
    or by a trigger. `seed` is the state of the generator that `sample` draws from, and
    `span_timeout` the number of tokens after which a span that did not end is given up (500 by
    default; at least 1). A leaf longer than that is a `LimitError`.
    """

    __slots__ = ("_accept", "_constraint", "_handle")

    _handle: CData

    def __init__(self, constraint: Constraint, *, seed: int = 0, span_timeout: int | None = None) -> None:
        out = ffi.new("eliza_matcher **")
        if span_timeout is not None and span_timeout < 1:
            raise InvalidArgumentError("span_timeout: at least 1 token")
        call(lib.eliza_inference_matcher_create, constraint._handle, span_timeout or 0, out)
        self._adopt(constraint, out[0])
        if seed:
            self.set_seed(seed)

    def accept(self, token: int) -> Step:
        """Takes one token. A token that is not legal here is refused (`Step.REFUSED`), and nothing
        changes; one outside the vocabulary is an `InvalidArgumentError`."""
        result: int = self._accept(self._handle, token)
        if result < 0:
            raise self._error(result)
        return _STEPS[result]

    def rollback(self, n_tokens: int = 1) -> None:
        """Takes back the last accepted tokens with all that they did; at most what was accepted
        since the last `reset`, and at most `limits.ROLLBACK_TOKENS_MAX`."""
        self._check(lib.eliza_inference_matcher_rollback(self._handle, n_tokens))

    def reset(self) -> None:
        """Back to the state right after creation, counters included. Seed and timeout stay."""
        self._check(lib.eliza_inference_matcher_reset(self._handle))

    def clone(self) -> Matcher:
        """An independent copy: position, rollback history and generator."""
        out = ffi.new("eliza_matcher **")
        self._check(lib.eliza_inference_matcher_clone(self._handle, out))
        copy = Matcher.__new__(Matcher)
        copy._adopt(self._constraint, out[0])
        return copy

    def activate(self, path: str) -> None:
        """Opens a span at the descriptor with this path; an open span starts over. An unknown path
        is an `UnknownPathError` that lists the known ones."""
        encoded = path.encode()
        self._check(lib.eliza_inference_matcher_activate(self._handle, encoded, len(encoded)))

    def deactivate(self) -> None:
        """Ends an open span without a leaf; triggers go on."""
        self._check(lib.eliza_inference_matcher_deactivate(self._handle))

    def allowed(self) -> npt.NDArray[np.int32] | None:
        """The legal next tokens, ascending, or None if every token is.

        The array is read-only and lends the library's memory, which it keeps alive. Without numpy
        it is a `memoryview` of 32-bit integers.
        """
        ids, count = ffi.new("const int32_t **"), ffi.new("size_t *")
        if self._check(lib.eliza_inference_matcher_allowed(self._handle, ids, count)) == _ALLOWED_ALL:
            return None
        # The ids live as long as the constraint: the view holds the pointer, and that the constraint.
        pointer = ffi.gc(ids[0], self._constraint._keep)
        view = memoryview(ffi.buffer(pointer, count[0] * 4)).toreadonly().cast("i")
        try:
            import numpy as np
        except ImportError:
            return view  # type: ignore[return-value]
        return np.asarray(view)

    def forced(self) -> list[int]:
        """The tokens that must follow: a run in which each step has one legal token and no choice
        to stop. Empty if there is a choice."""
        capacity = 32
        count = ffi.new("size_t *")
        while True:
            tokens = ffi.new("int32_t[]", capacity)
            self._check(lib.eliza_inference_matcher_forced(self._handle, tokens, capacity, count))
            if count[0] <= capacity:
                return list(ffi.unpack(tokens, count[0]))
            capacity = count[0]

    @property
    def can_stop(self) -> bool:
        """Whether the output may stop here: outside a span, or at a complete leaf."""
        return self._check(lib.eliza_inference_matcher_can_stop(self._handle)) == 1

    def mask_logits(self, logits: Any) -> None:
        """Writes -inf to every logit that is not legal, in place; nothing if everything is allowed.

        `logits` is a writable, contiguous, one-dimensional array of 32-bit floats (numpy or any
        other with the buffer protocol), at least as long as the vocabulary. What is beyond the
        vocabulary is masked too.
        """
        lent = _float_array(logits, writable=True)
        self._check(lib.eliza_inference_matcher_mask_logits(self._handle, lent, len(lent)))

    def sample(self, logits: Any, mode: Mode = Mode.GREEDY, *, temperature: float = 1.0, top_p: float = 1.0) -> int:
        """Chooses among the legal tokens; does not accept.

        `logits` is as for `mask_logits`, and is not written to. NaN counts as -inf; if no legal
        token is above -inf, they count as equal. `temperature` (0 or less: greedy) and `top_p` (1
        or more: off) act in `Mode.SAMPLED` alone. The same logits and seed give the same tokens on
        every platform.
        """
        lent = _float_array(logits, writable=False)
        sampling = new_struct("eliza_sampling_t")
        sampling.mode, sampling.temperature, sampling.top_p = mode, temperature, top_p
        token = ffi.new("int32_t *")
        self._check(lib.eliza_inference_matcher_sample(self._handle, lent, len(lent), sampling, token))
        return int(token[0])

    def set_seed(self, seed: int) -> None:
        """Sets the state of the generator that `sample` draws from."""
        self._check(lib.eliza_inference_matcher_set_seed(self._handle, seed))

    def set_span_timeout(self, n_tokens: int) -> None:
        """Changes the span timeout; at least 1. In force at once: the leaves are not checked again."""
        self._check(lib.eliza_inference_matcher_set_span_timeout(self._handle, n_tokens))

    @property
    def state(self) -> SpanState:
        """The span and its counters."""
        state = new_struct("eliza_span_state_t")
        self._check(lib.eliza_inference_matcher_state(self._handle, state))
        return span_state(state)

    @property
    def leaf(self) -> str | None:
        """The name that is complete here, or, outside a span, that the last span ended with."""
        name, length = ffi.new("const char **"), ffi.new("size_t *")
        self._check(lib.eliza_inference_matcher_leaf(self._handle, name, length))
        return lent_text(name[0], length[0])

    def close(self) -> None:
        """Frees the matcher now rather than with the last reference to it; twice does nothing."""
        handle, self._handle = self._handle, ffi.NULL
        if handle:
            ffi.release(handle)

    def __enter__(self) -> Matcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _adopt(self, constraint: Constraint, handle: CData) -> None:
        self._constraint = constraint
        self._handle = ffi.gc(handle, lib.eliza_inference_matcher_free)
        # The one call of a hot loop: bound here, so that it costs a single look-up.
        self._accept = lib.eliza_inference_matcher_accept

    def _check(self, status: int) -> int:
        if status < 0:
            raise self._error(status)
        return status

    def _error(self, status: int) -> ElizaError:
        if not self._handle:
            return ClosedError("the matcher is closed")
        message = ffi.string(lib.eliza_inference_matcher_last_error(self._handle)).decode("utf-8", "replace")
        return error_from_status(status, message)


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

# Indexed by the bits: making a Step costs more than the call itself.
_STEPS = tuple(Step(bits) for bits in range(2 * Step.REFUSED))


def _float_array(logits: Any, *, writable: bool) -> CData:
    """Lends an array of 32-bit floats to the library, without a copy."""
    view = memoryview(logits)
    if view.format != "f" or view.ndim != 1 or not view.contiguous:
        raise TypeError(
            f"logits: expected a contiguous 1-d array of 32-bit floats, "
            f"got format {view.format!r} with shape {view.shape}"
        )
    return ffi.from_buffer("float[]", view, require_writable=writable)
