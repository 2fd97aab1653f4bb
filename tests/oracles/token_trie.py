"""What the library must do, written the slow and obvious way.

The oracle is the other half of a comparison: it knows nothing of the library's code, only of the rules in
`conformance/decisions.json` and the C header. Tries are dictionaries from a prefix to the tokens that follow it,
states are copied at every token, and payloads are read with Python's own JSON module and the msgpack package.

    tree = decode(payload)                        the tree of a payload, or Refusal
    constraint = Constraint(tree, vocab_size=100, model_id="")
    matcher = Matcher(constraint)
    matcher.accept(5)                             the set of step names

`Refusal.status` is the name of the status that the library must return.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgpack

PAYLOAD_BYTES_MAX = 67108864
PAYLOAD_DEPTH_MAX = 64
DESCRIPTORS_MAX = 4096
LEAVES_MAX = 1048576
LEAF_TOKENS_MAX = 4096
TOKENS_MAX = 16777216
TRIGGERS_MAX = 64
TRIGGER_TOKENS_MAX = 64
END_TOKENS_MAX = 16
NAME_BYTES_MAX = 65535
SPAN_TIMEOUT_TOKENS = 500
ROLLBACK_TOKENS_MAX = 65536

INT32_MAX = 2**31 - 1


class Refusal(Exception):
    """A call that the library must refuse, with the name of the status."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status


def malformed(why: str) -> Refusal:
    return Refusal("ELIZA_ERR_PAYLOAD", why)


def beyond(why: str) -> Refusal:
    return Refusal("ELIZA_ERR_LIMIT", why)


# ---- Payload: bytes to a tree ----------------------------------------------------------------------------------------


class Pairs(list[Any]):
    """An object of the payload: its keys and values in order, so that a repeated key can be seen."""


def decode(payload: bytes) -> Any:
    """The tree of a payload: Pairs, lists, strings, integers and whatever unknown keys hold."""
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise beyond("payload bytes")
    if not payload:
        raise malformed("empty")
    first = payload[0]
    if 0x80 <= first <= 0x8F or first in (0xDE, 0xDF):
        tree = decode_message_pack(payload)
    elif first in b"{ \t\r\n":
        tree = decode_json(payload)
    else:
        raise malformed("neither JSON nor MessagePack")
    check_depth(tree, 0)
    check_strings(tree)
    return tree


def decode_json(payload: bytes) -> Any:
    def refuse_constant(text: str) -> None:
        raise malformed(text)

    try:
        tree = json.loads(
            payload.decode("utf-8"),
            object_pairs_hook=Pairs,
            parse_int=integer,
            parse_constant=refuse_constant,
        )
    except RecursionError as error:
        raise beyond("nesting") from error
    except ValueError as error:
        raise malformed(str(error)) from error
    return tree


def integer(digits: str) -> int:
    """Python refuses to read thousands of digits; the value of such a number does not matter."""
    return int(digits) if len(digits) < 100 else INT32_MAX + 1


def decode_message_pack(payload: bytes) -> Any:
    try:
        return msgpack.unpackb(
            payload,
            object_pairs_hook=Pairs,
            ext_hook=lambda code, data: Extension(code),
            strict_map_key=False,
            timestamp=0,
        )
    except msgpack.exceptions.StackError as error:
        raise beyond("nesting") from error
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise malformed(str(error)) from error


@dataclass(frozen=True)
class Extension:
    code: int


def check_strings(tree: Any) -> None:
    """JSON can spell half of a surrogate pair, which has no UTF-8; MessagePack has keys that are not strings."""
    if isinstance(tree, str):
        if any(0xD800 <= ord(character) <= 0xDFFF for character in tree):
            raise malformed("lone surrogate")
    elif isinstance(tree, (list, tuple)):
        if isinstance(tree, Pairs) and not all(isinstance(key, str) for key, _ in tree):
            raise malformed("a key is not a string")
        for item in tree:
            check_strings(item)


def check_depth(tree: Any, above: int) -> None:
    """`above` is the number of arrays and objects around the tree."""
    if not isinstance(tree, list):
        return
    if above + 1 > PAYLOAD_DEPTH_MAX:
        raise beyond("nesting")
    for item in tree:
        values = item if isinstance(tree, Pairs) else (item,)
        for value in values:
            check_depth(value, above + 1)


# ---- Constraint: a tree to tries -------------------------------------------------------------------------------------


def field(pairs: Any, key: str, *, optional: bool = False) -> Any:
    """The value of the one pair with this key, None if an optional one is absent."""
    if not isinstance(pairs, Pairs):
        raise malformed("not an object")
    values = [value for name, value in pairs if name == key]
    if len(values) > 1:
        raise malformed(f"{key} repeated")
    if not values:
        if optional:
            return None
        raise malformed(f"{key} missing")
    if values[0] is None:
        raise malformed(f"{key} is null")
    return values[0]


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise malformed("not a string")
    if len(value.encode()) > NAME_BYTES_MAX:
        raise beyond("name bytes")
    return value


def items(value: Any, *, at_most: int) -> list[Any]:
    if not isinstance(value, list) or isinstance(value, Pairs):
        raise malformed("not an array")
    if not value:
        raise malformed("empty")
    if len(value) > at_most:
        raise beyond("items")
    return value


def token_ids(value: Any, vocab_size: int, *, at_most: int) -> tuple[int, ...]:
    ids = items(value, at_most=at_most)
    for token in ids:
        if isinstance(token, bool) or not isinstance(token, int):
            raise malformed("not an integer")
        if not 0 <= token < vocab_size:
            raise malformed("not in the vocabulary")
    return tuple(ids)


LANGUAGES = ("json_schema", "regex", "lark", "gbnf", "ebnf", "choices")


class Descriptor:
    """One set of names: `follow[prefix]` holds the tokens after a prefix, `leaves[sequence]` the index of its name."""

    def __init__(self, tree: Any, vocab_size: int) -> None:
        self.names: list[str] = []
        self.leaves: dict[tuple[int, ...], int] = {}
        self.follow: dict[tuple[int, ...], set[int]] = {}
        self.n_tokens = 0
        for index, leaf in enumerate(items(field(tree, "leaves"), at_most=LEAVES_MAX)):
            self.add_leaf(index, leaf, vocab_size)
        self.read_around(tree, vocab_size)
        for sequence in self.leaves:
            if self.follow[sequence] & self.end:
                raise malformed("an end token continues a leaf")

    def read_around(self, tree: Any, vocab_size: int) -> None:
        self.path = text(field(tree, "path"))
        trigger = field(tree, "trigger", optional=True)
        self.triggers = {
            token_ids(sequence, vocab_size, at_most=TRIGGER_TOKENS_MAX)
            for sequence in (items(trigger, at_most=TRIGGERS_MAX) if trigger is not None else ())
        }
        end = field(tree, "end", optional=True)
        self.end = set(token_ids(end, vocab_size, at_most=END_TOKENS_MAX)) if end is not None else set()

    def add_leaf(self, index: int, tree: Any, vocab_size: int) -> None:
        name = text(field(tree, "name"))
        sequence = token_ids(field(tree, "tokens"), vocab_size, at_most=LEAF_TOKENS_MAX)
        self.names.append(name)
        self.n_tokens += len(sequence)
        for length, token in enumerate(sequence):
            self.follow.setdefault(sequence[:length], set()).add(token)
        self.follow.setdefault(sequence, set())
        other = self.leaves.get(sequence)
        if other is None or name.encode() < self.names[other].encode():
            self.leaves[sequence] = index

    def continues(self, prefix: tuple[int, ...], token: int) -> bool:
        return token in self.follow[prefix]

    def is_last(self, prefix: tuple[int, ...]) -> bool:
        return not self.follow[prefix]

    def complete(self, prefix: tuple[int, ...]) -> int | None:
        """The leaf that a span of these tokens would end with."""
        return self.leaves.get(prefix)

    def told(self, prefix: tuple[int, ...]) -> int | None:
        """The leaf that is told before the span ends."""
        return self.complete(prefix)

    def is_prefix_leaf(self, prefix: tuple[int, ...]) -> bool:
        return prefix in self.leaves and bool(self.follow[prefix])

    def width(self, prefix: tuple[int, ...]) -> int:
        """How many tokens continue from here, end tokens included."""
        return len(self.follow[prefix]) + (len(self.end) if self.is_prefix_leaf(prefix) else 0)

    def legal(self, prefix: tuple[int, ...]) -> set[int] | None:
        """The tokens that may follow; None if any token may."""
        if not self.is_prefix_leaf(prefix):
            return self.follow[prefix]
        return self.follow[prefix] | self.end if self.end else None


class Part(Descriptor):
    """Texts of a language, which is an oracle such as recognizer.py; each question reads the whole text again."""

    def __init__(self, tree: Any, vocab_size: int, language: Any, token_bytes: Sequence[bytes]) -> None:
        if any(name == "leaves" for name, _ in tree):
            raise malformed("leaves and a language")
        self.read_around(tree, vocab_size)
        self.names, self.leaves, self.follow, self.n_tokens = [], {}, {(): set()}, 0
        self.language, self.token_bytes = language, token_bytes

    def text(self, span: tuple[int, ...]) -> bytes:
        return b"".join(self.token_bytes[token] for token in span)

    def state(self, span: tuple[int, ...]) -> Any:
        return self.language.take(self.language.begin(), self.text(span))

    def following(self, span: tuple[int, ...]) -> set[int]:
        return set(self.language.allowed(self.state(span), self.token_bytes))

    def can_stop(self, span: tuple[int, ...]) -> bool:
        return bool(self.language.can_stop(self.state(span)))

    def continues(self, span: tuple[int, ...], token: int) -> bool:
        return token in self.following(span) and not (token in self.end and self.can_stop(span))

    def is_last(self, span: tuple[int, ...]) -> bool:
        return self.can_stop(span) and not self.following(span)

    def complete(self, span: tuple[int, ...]) -> Any:
        return self.text(span).decode() if self.can_stop(span) else None

    def told(self, span: tuple[int, ...]) -> None:
        return None

    def legal(self, span: tuple[int, ...]) -> set[int] | None:
        if not self.can_stop(span):
            return self.following(span)
        return self.following(span) | self.end if self.end else None


class Constraint:
    """`language_of` makes an oracle of a language's key and value."""

    def __init__(
        self,
        tree: Any,
        *,
        vocab_size: int,
        model_id: str = "",
        token_bytes: Sequence[bytes] = (),
        language_of: Callable[[str, Any], Any] | None = None,
    ) -> None:
        payload_model = text(field(tree, "modelId"))
        names = field(tree, "names", optional=True)
        if names is not None and text(names) not in ("text", "labels"):
            raise malformed("names")
        descriptors = items(field(tree, "descriptors"), at_most=DESCRIPTORS_MAX)
        self.vocab_size = vocab_size
        self.descriptors: list[Descriptor] = []
        for descriptor in descriptors:
            given = [] if not isinstance(descriptor, Pairs) else [pair for pair in descriptor if pair[0] in LANGUAGES]
            if given and language_of:
                self.descriptors.append(Part(descriptor, vocab_size, language_of(*given[0]), token_bytes))
            else:
                self.descriptors.append(Descriptor(descriptor, vocab_size))
        self.check_whole()
        if model_id and payload_model and model_id != payload_model:
            raise Refusal("ELIZA_ERR_MODEL_MISMATCH", payload_model)
        if token_bytes and names != "labels":
            self.check_names(token_bytes)

    def check_names(self, token_bytes: Sequence[bytes]) -> None:
        for descriptor in self.descriptors:
            for sequence, index in descriptor.leaves.items():
                spelled = [token_bytes[token] for token in sequence]
                if all(spelled) and descriptor.names[index].encode() not in b"".join(spelled):
                    raise Refusal("ELIZA_ERR_MODEL_MISMATCH", descriptor.names[index])

    def check_whole(self) -> None:
        paths = [descriptor.path for descriptor in self.descriptors]
        if len(set(paths)) < len(paths):
            raise malformed("a path twice")
        triggers = [trigger for descriptor in self.descriptors for trigger in descriptor.triggers]
        if len(set(triggers)) < len(triggers):
            raise malformed("a trigger in two descriptors")
        if sum(len(descriptor.names) for descriptor in self.descriptors) > LEAVES_MAX:
            raise beyond("leaves")
        if sum(descriptor.n_tokens for descriptor in self.descriptors) > TOKENS_MAX:
            raise beyond("tokens")

    @property
    def longest_leaf(self) -> int:
        return max((len(sequence) for descriptor in self.descriptors for sequence in descriptor.leaves), default=0)

    def info(self) -> dict[str, int]:
        descriptors = self.descriptors
        return {
            "n_descriptors": len(descriptors),
            "n_leaves": sum(len(descriptor.leaves) for descriptor in descriptors),
            "longest_leaf_tokens": self.longest_leaf,
            "widest_node": max(descriptor.width(prefix) for descriptor in descriptors for prefix in descriptor.follow),
        }


# ---- Matcher: a walk through spans -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    descriptor: int | None = None  # None outside a span
    span: tuple[int, ...] = ()  # tokens of the open span
    free: tuple[int, ...] = ()  # tokens since the last span
    ended_with: tuple[int, int | str] | None = None  # descriptor and leaf of the last span, or its text
    to_come: tuple[int, ...] = ()  # descriptors that open one after the other
    spans_started: int = 0
    spans_ended: int = 0
    timeouts: int = 0


class Matcher:
    def __init__(self, constraint: Constraint, span_timeout: int = SPAN_TIMEOUT_TOKENS) -> None:
        if constraint.longest_leaf > span_timeout:
            raise Refusal("ELIZA_ERR_LIMIT", "a leaf is longer than the span timeout")
        self.constraint = constraint
        self.timeout = span_timeout
        self.generator = SplitMix64(0)
        self.state = State()
        self.before: list[State] = []  # the states before each accepted token
        self.reset()

    def clone(self) -> Matcher:
        copy = Matcher(self.constraint, self.constraint.longest_leaf)
        copy.timeout = self.timeout
        copy.generator = SplitMix64(self.generator.state)
        copy.state = self.state
        copy.before = list(self.before)
        return copy

    def reset(self) -> None:
        self.state = State()
        self.before = []
        if not any(descriptor.triggers for descriptor in self.constraint.descriptors):
            self.state = State(to_come=tuple(range(len(self.constraint.descriptors))))
            self.go_on()

    def set_span_timeout(self, n_tokens: int) -> None:
        if n_tokens < 1:
            raise Refusal("ELIZA_ERR_INVALID_ARG", "a timeout of no tokens")
        self.timeout = n_tokens

    def set_seed(self, seed: int) -> None:
        self.generator = SplitMix64(seed)

    # Spans

    def open(self, descriptor: int) -> None:
        self.state = replace(
            self.state, descriptor=descriptor, span=(), free=(), spans_started=self.state.spans_started + 1
        )

    def go_on(self) -> set[str]:
        """Opens the next span in order, if there is one."""
        if not self.state.to_come:
            return set()
        self.open(self.state.to_come[0])
        self.state = replace(self.state, to_come=self.state.to_come[1:])
        return {"span_started"}

    def close(self, leaf: tuple[int, int | str] | None) -> None:
        if self.state.descriptor is None:
            return
        self.state = replace(
            self.state, descriptor=None, span=(), free=(), ended_with=leaf, spans_ended=self.state.spans_ended + 1
        )

    def activate(self, path: str) -> None:
        for index, descriptor in enumerate(self.constraint.descriptors):
            if descriptor.path == path:
                self.open_alone(index)
                return
        raise Refusal("ELIZA_ERR_UNKNOWN_PATH", path)

    def open_alone(self, descriptor: int) -> None:
        self.deactivate()
        self.state = replace(self.state, ended_with=None)
        self.open(descriptor)

    def deactivate(self) -> None:
        self.close(None)
        self.state = replace(self.state, to_come=())

    # Tokens

    def accept(self, token: int) -> set[str]:
        if not 0 <= token < self.constraint.vocab_size:
            raise Refusal("ELIZA_ERR_INVALID_ARG", f"token {token}")
        legal = self.legal()
        if legal is not None and token not in legal:
            return {"refused"}
        self.before.append(self.state)
        del self.before[:-ROLLBACK_TOKENS_MAX]
        if self.state.descriptor is None:
            return self.accept_outside(token)
        return self.accept_inside(self.constraint.descriptors[self.state.descriptor], token)

    def accept_outside(self, token: int) -> set[str]:
        free = (*self.state.free, token)
        self.state = replace(self.state, free=free)
        complete = [
            (len(trigger), index)
            for index, descriptor in enumerate(self.constraint.descriptors)
            for trigger in descriptor.triggers
            if free[-len(trigger) :] == trigger
        ]
        if not complete:
            return set()
        self.open_alone(max(complete)[1])
        return {"span_started"}

    def accept_inside(self, descriptor: Descriptor, token: int) -> set[str]:
        if not descriptor.continues(self.state.span, token):
            self.close(self.closing())
            if token in descriptor.end:
                return {"in_span", "span_ended"} | self.go_on()
            return {"span_ended"} | self.accept_outside(token) | self.go_on()
        self.state = replace(self.state, span=(*self.state.span, token))
        if descriptor.is_last(self.state.span):
            self.close(self.closing())
            return {"in_span", "span_ended"} | self.go_on()
        if len(self.state.span) >= self.timeout:
            self.close(self.closing())
            self.state = replace(self.state, timeouts=self.state.timeouts + 1)
            return {"in_span", "span_ended", "timed_out"} | self.go_on()
        return {"in_span"}

    def rollback(self, n: int) -> None:
        if n > len(self.before):
            raise Refusal("ELIZA_ERR_INVALID_ARG", f"rollback of {n} tokens")
        if n:
            self.state = self.before[-n]
            del self.before[-n:]

    # What may follow

    def legal(self) -> set[int] | None:
        if self.state.descriptor is None:
            return None
        return self.constraint.descriptors[self.state.descriptor].legal(self.state.span)

    def leaf(self) -> tuple[int, int | str] | None:
        """Descriptor and index of the leaf that is complete here, or that the last span ended with."""
        if self.state.descriptor is None or not self.state.span:
            return self.state.ended_with
        index = self.constraint.descriptors[self.state.descriptor].told(self.state.span)
        return None if index is None else (self.state.descriptor, index)

    def closing(self) -> tuple[int, int | str] | None:
        """What the open span would end with."""
        assert self.state.descriptor is not None
        index = self.constraint.descriptors[self.state.descriptor].complete(self.state.span)
        return None if index is None else (self.state.descriptor, index)

    def forced(self) -> list[int]:
        """Follows single legal tokens on a copy until there is a choice, a place to stop, or no span, into the spans
        that follow in order."""
        ahead = self.clone()
        run: list[int] = []
        while not ahead.can_stop():
            legal = ahead.legal()
            assert legal is not None
            if len(legal) != 1:
                break
            run.append(min(legal))
            ahead.accept(run[-1])
        return run

    def can_stop(self) -> bool:
        return (
            self.state.descriptor is None
            or self.constraint.descriptors[self.state.descriptor].complete(self.state.span) is not None
        )

    def look(self) -> dict[str, Any]:
        """The state, with the keys of `expect` in the conformance cases."""
        legal, leaf = self.legal(), self.leaf()
        return {
            "active": self.state.descriptor is not None,
            "descriptor": -1 if self.state.descriptor is None else self.state.descriptor,
            "can_stop": self.can_stop(),
            "constrained": legal is not None,
            "allowed": "all" if legal is None else sorted(legal),
            "forced": self.forced(),
            "leaf": None if leaf is None else self.name_of(*leaf),
            "span_tokens": len(self.state.span),
            "spans_started": self.state.spans_started,
            "spans_ended": self.state.spans_ended,
            "timeouts": self.state.timeouts,
            "illegal": 0,
        }

    def name_of(self, descriptor: int, leaf: int | str) -> str:
        return leaf if isinstance(leaf, str) else self.constraint.descriptors[descriptor].names[leaf]

    # Choosing

    def kept(self, n_logits: int) -> list[int] | str:
        """The ids that a mask leaves, or "all"."""
        if n_logits < self.constraint.vocab_size:
            raise Refusal("ELIZA_ERR_INVALID_ARG", f"{n_logits} logits")
        legal = self.legal()
        return "all" if legal is None else sorted(legal)

    def candidates(self, logits: list[float]) -> list[tuple[int, float]]:
        """The legal ids in ascending order with their logits, all equal if none is above -inf."""
        legal = self.legal()
        ids = range(self.constraint.vocab_size) if legal is None else sorted(legal)
        pairs = [(token, -math.inf if math.isnan(logits[token]) else logits[token]) for token in ids]
        if all(logit == -math.inf for _, logit in pairs):
            return [(token, 0.0) for token, _ in pairs]
        return pairs

    def sample(self, logits: list[float], mode: int, temperature: float = 1.0, top_p: float = 1.0) -> set[int]:
        """The tokens that may be chosen: one, unless rounding decides.

        The library's exponential is good to about seven digits, so a draw nearer than that to the
        border of two tokens may go either way; and so may the order of two shares that are as near.
        """
        if len(logits) < self.constraint.vocab_size:
            raise Refusal("ELIZA_ERR_INVALID_ARG", f"{len(logits)} logits")
        if mode not in (0, 1):
            raise Refusal("ELIZA_ERR_INVALID_ARG", f"mode {mode}")
        pairs = self.candidates(logits)
        best = max(pairs, key=lambda pair: (pair[1], -pair[0]))
        if mode == 0 or temperature <= 0 or len(pairs) == 1:
            return {best[0]}
        shares = probabilities(pairs, temperature)
        draw = self.generator.unit()
        if 0 < top_p < 1 and has_near_shares(shares):
            return {token for token, share in shares if share > 0}
        chosen = set()
        for kept in nuclei(shares, top_p):
            chosen |= at(kept, draw)
        return chosen


class SplitMix64:
    """Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014)."""

    MASK = 2**64 - 1

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & self.MASK
        return mixed ^ (mixed >> 31)

    def unit(self) -> float:
        """Uniform in [0, 1): the upper 53 bits."""
        return (self.next() >> 11) / 2**53


BORDER = 1e-5


def probabilities(pairs: list[tuple[int, float]], temperature: float) -> list[tuple[int, float]]:
    """Softmax at a temperature, in the order of the pairs. Infinities share everything."""
    top = max(logit for _, logit in pairs)
    weights = [1.0 if logit == top else math.exp((logit - top) / temperature) for _, logit in pairs]
    if math.inf in (top, temperature):
        weights = [float(logit == top if top == math.inf else logit > -math.inf) for _, logit in pairs]
    total = math.fsum(weights)
    return [(token, weight / total) for (token, _), weight in zip(pairs, weights, strict=True)]


def has_near_shares(shares: list[tuple[int, float]]) -> bool:
    """Whether two shares differ, but not by more than rounding may."""
    values = sorted(share for _, share in shares)
    return any(low < high < low * (1 + BORDER) for low, high in itertools.pairwise(values))


def nuclei(shares: list[tuple[int, float]], top_p: float) -> list[list[tuple[int, float]]]:
    """What top-p leaves: the most likely tokens, as few as reach it, in this order, of equal ones
    the smaller id first. Two answers where the sum is as good as top_p."""
    if top_p >= 1 or top_p <= 0:
        return [shares]
    ordered = sorted(shares, key=lambda share: (-share[1], share[0]))
    found = []
    for count in range(1, len(ordered) + 1):
        mass = math.fsum(share for _, share in ordered[:count])
        if mass >= top_p - BORDER or count == len(ordered):
            found.append(ordered[:count])
        if mass >= top_p + BORDER:
            break
    return found


def at(shares: list[tuple[int, float]], draw: float) -> set[int]:
    """The tokens at a point of [0, 1) that the shares divide among them."""
    target = draw * math.fsum(share for _, share in shares)
    found, start = set(), 0.0
    for token, share in shares:
        if share > 0 and start - BORDER <= target < start + share + BORDER:
            found.add(token)
        start += share
    return found
