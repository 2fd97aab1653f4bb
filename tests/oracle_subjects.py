"""The oracles as subjects of a conformance case (see tests/subjects.py), as far as they know it.

They show what they know of the state, do not look at messages, and refuse a case of which they know nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from lark.exceptions import LarkError

from conformance_cases import Run, logits_of, octets, shipped_grammars, tokens_of, tokens_of_bytes, vocab_size
from oracles import gbnf, lark_text, recognizer, tags, token_trie
from oracles.by_place import ByPlace
from oracles.prefilled import Prefilled

FORCED_BYTES_MAX = 65536
END_OF_GENERATION = 2
LOOK_AROUND = re.compile(r"\(\?<?[=!]|\\[bB]")
LAZY = re.compile(r"/.*[*+?}]\?.*/|_STRING_")
COMBINED = re.compile(r" & |~[/\"(]")

# Beyond these an oracle, which is slow, is not asked.
PAYLOAD_BYTES_MAX = 16 * 2**20
STEPS_MAX = 1000


class NotKnown(Exception):
    """No oracle can read the case."""


def oracle_of(run: Run) -> TokenTrieOracle | RecognizerOracle:
    """The oracle for a case, in its first state. Raises NotKnown, or the refusal of a payload."""
    if run.way != "compiled":
        raise NotKnown("another way to come by what is compiled")
    oracle = TokenTrieOracle if "token_trie" in run.data["constraint"] else RecognizerOracle
    for step in run.data.get("steps", []):
        if not hasattr(oracle, step["do"]):
            raise NotKnown(f"a step to {step['do']}")
    return oracle(run)


# ---- Token tries -----------------------------------------------------------------------------------------------------


class TokenTrieOracle:
    def __init__(self, run: Run) -> None:
        data = run.data
        payload = octets(data["constraint"]["token_trie"])
        if len(payload) > PAYLOAD_BYTES_MAX:
            raise NotKnown("a large payload")
        if re.search(rb"vocabulary:[0-9a-fA-F]{16}", payload):
            raise NotKnown("the fingerprint of a vocabulary")
        self.vocab_size = vocab_size(data["vocabulary"])
        vocabulary = tokens_of(data["vocabulary"]) if "tokens" in data["vocabulary"] else []
        self.constraint = token_trie.Constraint(
            token_trie.decode(payload),
            vocab_size=self.vocab_size,
            model_id=data["vocabulary"].get("model_id", ""),
            token_bytes=[b"" if flags else piece for piece, flags in vocabulary],
            language_of=lambda key, value: part_of(data, key, value),
        )
        self.matcher = token_trie.Matcher(self.constraint, data.get("span_timeout") or token_trie.SPAN_TIMEOUT_TOKENS)

    @staticmethod
    def check_error(error: Exception, expected: dict[str, str]) -> None:
        assert isinstance(error, token_trie.Refusal)
        assert error.status == expected["status"]

    def info(self) -> dict[str, Any]:
        return self.constraint.info() | {"kind": "token_trie", "warnings": []}

    def look(self) -> dict[str, Any]:
        look = self.matcher.look()
        if not any(isinstance(descriptor, token_trie.Part) for descriptor in self.constraint.descriptors):
            return look | {"forced_bytes": b""}
        return {key: value for key, value in look.items() if key != "forced"}  # runs end where a text begins

    # The verbs

    def accept(self, token: int, result: Sequence[str] = ()) -> None:
        assert self.matcher.accept(token) == set(result)

    def text(self, text: str) -> None:
        for byte in text.encode():
            self.accept(byte, ["in_span"])

    def rollback(self, n: int) -> None:
        self.matcher.rollback(n)

    def activate(self, path: str) -> None:
        self.matcher.activate(path)

    def deactivate(self) -> None:
        self.matcher.deactivate()

    def reset(self) -> None:
        self.matcher.reset()

    def clone(self) -> TokenTrieOracle:
        copy = object.__new__(TokenTrieOracle)
        copy.__dict__.update(self.__dict__, matcher=self.matcher.clone())
        return copy

    def set_span_timeout(self, n: int) -> None:
        self.matcher.set_span_timeout(n)

    def set_seed(self, seed: int) -> None:
        self.matcher.set_seed(seed)

    def mask(self, logits: Any, fill: Any, n: int | None = None, kept: Any = None) -> None:
        assert self.kept(self.vocab_size if n is None else n) == kept

    def sample(
        self,
        logits: dict[str, Any],
        fill: Any,
        mode: int,
        n: int | None = None,
        tokens: Sequence[int] = (-1,),
        **settings: float,
    ) -> None:
        array = np.array(logits_of(logits, fill, self.vocab_size if n is None else n), dtype=np.float32).tolist()
        rounded = {key: float(np.float32(value)) for key, value in settings.items()}
        drawn = [self.matcher.sample(array, mode, **rounded) for _ in tokens]
        assert drawn == [{token} for token in tokens]

    # For the tests against the library, and the verbs

    def kept(self, n_logits: int) -> list[int] | str:
        return self.matcher.kept(n_logits)


def part_of(data: dict[str, Any], key: str, value: Any) -> Any:
    """The oracle of a descriptor's language."""
    if data.keys() & {"error", "info"}:
        raise NotKnown("what is wrong with a language, or a warning")
    if isinstance(value, token_trie.Pairs):
        raise NotKnown("a schema")
    return recognizer_of({{"lark": "grammar"}.get(key, key): value})


# ---- Recognizers -----------------------------------------------------------------------------------------------------


class RecognizerOracle:
    """Knows no counters but one, and cannot tell which calls fail."""

    check_error = None

    def __init__(self, run: Run) -> None:
        data = run.data
        if not data.keys() & {"expect", "steps"} or longest_text(data) > STEPS_MAX:
            raise NotKnown("what fails, is only about warnings, or takes long")
        if "mask_ms_max" in data.get("budget", {}):
            raise NotKnown("how long a search takes")
        vocabulary = tokens_of(data["vocabulary"])
        self.token_of_byte = tokens_of_bytes(data["vocabulary"])
        self.tokens = [b"" if flags else piece for piece, flags in vocabulary]
        self.recognizer = recognizer_of(data["constraint"])
        if "prefill" in data:
            self.recognizer = Prefilled(self.recognizer, octets(data["prefill"]))
        self.end = data.get("end", [token for token, (_, flags) in enumerate(vocabulary) if flags & END_OF_GENERATION])
        self.ends_by_itself = self.end == []
        self.timeout = data.get("span_timeout", 0)
        self.history: list[Any] = []
        self.open()

    def open(self) -> None:
        self.state = self.recognizer.begin()
        self.active, self.span_tokens = True, 0

    def info(self) -> dict[str, Any]:
        return {}

    def look(self) -> dict[str, Any]:
        can_stop = not self.active or self.recognizer.can_stop(self.state)
        allowed: Any = "all"
        if self.active and not (self.ends_by_itself and can_stop):
            allowed = sorted({*self.recognizer.allowed(self.state, self.tokens), *(self.end if can_stop else [])})
        return {
            "active": self.active,
            "descriptor": 0 if self.active else -1,
            "can_stop": can_stop,
            "constrained": allowed != "all",
            "allowed": allowed,
            "span_tokens": self.span_tokens,
            "forced_bytes": self.forced_bytes(),
        }

    def forced_bytes(self) -> bytes:
        """At each byte no other could follow, and the text could not stop."""
        if not self.active:
            return b""
        state, run = self.state, b""
        while len(run) < FORCED_BYTES_MAX and not self.recognizer.can_stop(state):
            after = {byte: self.recognizer.take(state, bytes([byte])) for byte in range(256)}
            possible = [byte for byte, one in after.items() if one]
            if len(possible) != 1:
                break
            run += bytes(possible)
            state = after[possible[0]]
        return run

    # The verbs

    def accept(self, token: int, result: Sequence[str]) -> None:
        assert self.step(token) == set(result)
        if not self.active:
            self.span_tokens = 0

    def text(self, text: str, count: int = 1) -> None:
        for byte in text.encode() * count:
            self.accept(self.token_of_byte[byte], ["in_span"])

    def rollback(self, n: int) -> None:
        if n:
            self.state, self.active, self.span_tokens = self.history[-n]
            del self.history[-n:]

    def activate(self, path: str) -> None:
        if isinstance(self.recognizer, Prefilled):
            self.recognizer = self.recognizer.language
        self.open()

    def deactivate(self) -> None:
        self.active, self.span_tokens = False, 0

    def reset(self) -> None:
        self.open()

    def clone(self) -> RecognizerOracle:
        copy = object.__new__(RecognizerOracle)
        copy.__dict__.update(self.__dict__, history=list(self.history))
        return copy

    def mask(self, kept: Any, **_: Any) -> None:
        assert kept == self.look()["allowed"]

    def sample(self, tokens: Sequence[int], **_: Any) -> None:
        allowed = self.look()["allowed"]
        assert set(tokens) <= set(range(len(self.tokens)) if allowed == "all" else allowed)

    def fill_bitmaps(self, rows: list[dict[str, Any]], **_: Any) -> None:
        for row in rows:
            copy = self.clone()
            copy.rollback(row.get("rollback", 0))
            assert copy.look()["allowed"] == row["allowed"], row

    # One token

    def step(self, token: int) -> set[str]:
        before = (self.state, self.active, self.span_tokens)
        if not self.active:
            self.history.append(before)
            return set()
        can_stop = self.recognizer.can_stop(self.state)
        after = self.recognizer.take(self.state, self.tokens[token]) if self.tokens[token] else None
        ends = can_stop and token in self.end
        passes = can_stop and self.ends_by_itself and after is None
        if not (ends or passes or after):
            return {"refused"}
        self.history.append(before)
        if ends or passes:
            self.active = False
            return {"in_span", "span_ended"} if ends else {"span_ended"}
        assert after is not None
        self.state = after
        self.span_tokens += 1
        if self.ends_by_itself and self.recognizer.can_stop(after) and not self.goes_on(after):
            self.active = False
            return {"in_span", "span_ended"}
        if self.span_tokens == self.timeout:
            self.active = False
            return {"in_span", "span_ended", "timed_out"}
        return {"in_span"}

    def goes_on(self, state: recognizer.State) -> bool:
        return any(self.recognizer.take(state, bytes([byte])) for byte in range(256))


def longest_text(data: dict[str, Any]) -> int:
    counts: list[int] = [step.get("count", 1) for step in data.get("steps", [])]
    return max([len(piece) for piece, _ in tokens_of(data["vocabulary"])] + counts)


def recognizer_of(constraint: dict[str, Any]) -> Any:
    for kind, read in READ.items():
        if kind in constraint:
            return read(constraint)
    raise NotKnown(f"a constraint of {list(constraint)}")


def of_choices(constraint: dict[str, Any]) -> recognizer.Recognizer:
    if constraint.get("canonical"):
        raise NotKnown("canonical choices")
    return recognizer.of_regex("|".join(re.escape(octets(choice).decode()) for choice in constraint["choices"]))


def of_regex(constraint: dict[str, Any]) -> recognizer.Recognizer:
    if constraint.get("search"):
        raise NotKnown("patterns that match anywhere")
    if LOOK_AROUND.search(octets(constraint["regex"]).decode()):
        raise NotKnown("look-around: oracles/look_around.py")
    pattern = octets(constraint["regex"]).decode()
    try:
        re.compile(pattern)
    except re.error as error:
        raise NotKnown(pattern) from error
    return recognizer.of_regex(pattern.strip("^$"), ignore_case=constraint.get("ignore_case", False))


def of_grammar(constraint: dict[str, Any]) -> recognizer.Recognizer:
    grammar = octets(constraint["grammar"]).decode()
    if "%nonassoc" in grammar:
        raise NotKnown("declared precedence")
    if "%case" in grammar and not grammar.isascii():
        raise NotKnown("case beyond that of ASCII")
    if LOOK_AROUND.search(grammar) or LAZY.search(grammar):
        raise NotKnown("look-around and lazy repeats: oracles/look_around.py")
    if COMBINED.search(grammar):
        raise NotKnown("intersections and complements, which Lark has not")
    if "imports" in constraint or "start" in constraint or "%declare" in grammar:
        raise NotKnown("imports, a start by name, and what is declared")
    try:
        return lark_text.recognizer_of(grammar, recognizer.Recognizer if "%lexing" in grammar else ByPlace)
    except LarkError as error:
        raise NotKnown("what Lark refuses") from error


def of_gbnf(constraint: dict[str, Any]) -> gbnf.Recognizer:
    if constraint.get("ebnf"):
        raise NotKnown("EBNF")
    text = octets(constraint["gbnf"]).decode()
    if "<" in text:
        raise NotKnown("named tokens, which are no bytes")
    return gbnf.Recognizer(gbnf.read(text, constraint.get("root", "root")))


def of_tags(constraint: dict[str, Any]) -> tags.Recognizer:
    try:
        descriptor = json.loads(octets(constraint["tags"]))
    except ValueError as error:
        raise NotKnown("MessagePack") from error
    if "tags" not in descriptor:
        raise NotKnown("the notation of others")
    if any(sign in json.dumps(descriptor) for sign in ('{"token":', '"token_tree":', "<|")):
        raise NotKnown("tokens that stand for themselves")
    parts = []
    for tag in descriptor["tags"]:
        row = tags.Row(tag.get("separator", "").encode(), tag["end"].encode()) if "tags" in tag else None
        for one in tag.get("tags", [tag]):
            begin, end = one["begin"].encode(), one.get("end", "").encode()
            language = recognizer_of({"grammar": one["lark"]} if "lark" in one else one)
            whole = tag["begin"].encode() + begin if row else begin
            parts.append(tags.Part(whole, end, language, row, begin))
    triggers = [text.encode() for text in descriptor.get("triggers", [])]
    triggers = triggers or [tag["begin"].encode() for tag in descriptor["tags"]]
    return tags.Recognizer(
        parts,
        triggers=triggers,
        excludes=[text.encode() for text in descriptor.get("excludes", [])],
        after=descriptor.get("after", "").encode(),
        at_least=descriptor.get("at_least", 0),
        at_most=descriptor.get("at_most"),
        stop_after_first=descriptor.get("stop_after_first", False),
    )


# By the key of the constraint that says its kind.
READ: dict[str, Callable[[dict[str, Any]], Any]] = {
    "choices": of_choices,
    "regex": of_regex,
    "grammar": of_grammar,
    "gbnf": of_gbnf,
    "shipped": lambda constraint: lark_text.recognizer_of(shipped_grammars()[constraint["shipped"]]),
    "tags": of_tags,
}
