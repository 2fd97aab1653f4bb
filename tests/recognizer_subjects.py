"""What a conformance case of recognizers is run on: the Python package, or the oracle. Both have the same methods."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from eliza_inference import (
    Budget,
    Constraint,
    ConstraintKind,
    ElizaError,
    Matcher,
    Status,
    Step,
    Vocabulary,
    fill_bitmaps,
)

import conformance_cases as conformance
from oracles import lark_text, recognizer
from recognizer_cases import KINDS, Case, bytes_of_text, token_flags_of, tokens_of

FORCED_BYTES_MAX = 65536
COMBINED = re.compile(r" & |~[/\"(]")
WAYS = ["compiled", "unkept", "opened"]


class Library:
    """The Python package as the subject of a case.

    `way` is how it is come by: compiled; compiled with room for next to no mask; or prepared, saved as files of the
    working folder, and opened, as its vocabulary is.
    """

    def __init__(self, case: Case, way: str = "compiled") -> None:
        data = case.data
        self.single = case.single_byte_tokens()
        self.vocab_size = len(case.tokens)
        budget = budget_of(data.get("budget", {}) | ({"mask_bytes_max": 1} if way == "unkept" else {}))
        self.constraint = compile_case(case, vocabulary_of(data), budget)
        if "open" in data:
            open_changed(self.constraint, data["open"])
        if way == "opened" and self.constraint.kind != ConstraintKind.TOKEN_TRIE:
            self.constraint.prepare()
            save(self.constraint)
            vocabulary = Vocabulary.open("vocabulary")
            self.constraint = Constraint.open(vocabulary, "constraint", mask_bytes_max=budget.mask_bytes_max)
        self.matcher = Matcher(self.constraint, span_timeout=data.get("span_timeout"), end=data.get("end"))

    @staticmethod
    def check_error(error: Exception, expected: dict[str, str]) -> None:
        assert isinstance(error, ElizaError)
        assert "ELIZA_ERR_" + Status(error.status).name == expected["status"]
        assert error.message == expected.get("message", error.message)

    @property
    def kind(self) -> str:
        return KINDS[self.constraint.kind]

    @property
    def notes(self) -> list[str]:
        return list(self.constraint.notes)

    def clone(self) -> Library:
        copy = object.__new__(Library)
        copy.single, copy.vocab_size, copy.constraint = self.single, self.vocab_size, self.constraint
        copy.matcher = self.matcher.clone()
        return copy

    def look(self) -> dict[str, Any]:
        state, allowed = self.matcher.state, self.matcher.allowed()
        assert state.can_stop == self.matcher.can_stop
        assert state.n_allowed == (0 if allowed is None else len(allowed))
        assert state.constrained == (allowed is not None)
        ids = list(range(self.vocab_size)) if allowed is None else list(allowed)
        assert bits_of(self.matcher.fill_bitmap()) == ids
        plain = (*conformance.EXPECT_FLAGS, *conformance.EXPECT_NUMBERS)
        return {key: getattr(state, key) for key in plain} | {
            "allowed": "all" if allowed is None else ids,
            "forced": self.matcher.forced(),
            "forced_bytes": self.matcher.forced_bytes(),
        }

    def do(self, step: dict[str, Any]) -> None:
        matcher = self.matcher
        match step["do"]:
            case "accept":
                bits = matcher.accept(step["token"])
                assert {n for n in conformance.STEP_RESULTS if Step[n.upper()] in bits} == set(step["result"])
            case "text":
                for byte in step["text"].encode() * step.get("count", 1):
                    assert matcher.accept(self.single[byte]) == Step.IN_SPAN, chr(byte)
            case "rollback":
                matcher.rollback(step["n"])
            case "activate":
                matcher.activate(step["path"])
            case "deactivate":
                matcher.deactivate()
            case "reset":
                matcher.reset()
            case "set_span_timeout":
                matcher.set_span_timeout(step["n"])
            case "set_seed":
                matcher.set_seed(step["seed"])
            case "mask":
                self.mask(step)
            case "sample":
                logits = np.array(conformance.logits(step, self.vocab_size), dtype=np.float32)
                settings = {key: step[key] for key in ("temperature", "top_p") if key in step}
                assert [matcher.sample(logits, step["mode"], **settings) for _ in step["tokens"]] == step["tokens"]

            case "fill_bitmaps":
                self.fill_bitmaps(step)

    def fill_bitmaps(self, step: dict[str, Any]) -> None:
        """Of clones, each taken back to its place: all at once as one by one."""
        rows = step["rows"]
        matchers = [self.matcher.clone() for _ in rows]
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.rollback(row.get("rollback", 0))
        words = np.empty((len(rows), step.get("n_words", -(-self.vocab_size // 32))), np.int32)
        fill_bitmaps(matchers, words, step.get("n_threads", 0))
        for matcher, row, bitmap in zip(matchers, rows, words, strict=True):
            assert bits_of(bitmap) == (list(range(self.vocab_size)) if row["allowed"] == "all" else row["allowed"]), row
            assert bits_of(matcher.fill_bitmap()) == bits_of(bitmap), row

    def mask(self, step: dict[str, Any]) -> None:
        before = np.array(conformance.logits(step, self.vocab_size), dtype=np.float32)
        after = before.copy()
        self.matcher.mask_logits(after)
        if step["kept"] != "all":
            before[np.setdiff1d(np.arange(len(before)), step["kept"])] = -np.inf
        np.testing.assert_array_equal(after, before)


def vocabulary_of(data: dict[str, Any]) -> Vocabulary:
    tokens = tokens_of(data)
    return Vocabulary(len(tokens), tokens, token_flags_of(data))


def budget_of(data: dict[str, Any]) -> Budget:
    says = data.get("cancel")
    return Budget(**data | {"cancel": None if says is None else lambda: says})


def compile_case(case: Case, vocabulary: Vocabulary, budget: Budget) -> Constraint:
    data = case.data
    if case.source == "choices":
        return Constraint.choices(vocabulary, data["choices"], canonical=data.get("canonical", False), budget=budget)
    if case.source == "regex":
        return Constraint.regex(vocabulary, case.text, ignore_case=data.get("ignore_case", False), budget=budget)
    return Constraint.lark(vocabulary, case.text, budget=budget)


def save(constraint: Constraint) -> None:
    constraint.vocabulary.save("vocabulary")
    constraint.save("constraint")


def open_changed(constraint: Constraint, data: dict[str, Any]) -> None:
    """Saves both, changes a file, and opens it."""
    save(constraint)
    path = Path(data.get("path", data["as"]))
    if data.keys() & {"flip", "length"}:
        octets = bytearray(path.read_bytes())
        if "flip" in data:
            octets[data["flip"]] ^= 0xFF
        path.write_bytes(octets[: data.get("length")])
    if data["as"] == "vocabulary":
        Vocabulary.open(path)
    else:
        Constraint.open(vocabulary_of(data["for"]) if "for" in data else constraint.vocabulary, path)


class Oracle:
    """The oracle as the subject of a case, as far as it knows: not what is forced, and no counters but one."""

    def __init__(self, case: Case) -> None:
        data = case.data
        self.single = case.single_byte_tokens()
        self.tokens = [b"" if flags else token for token, flags in zip(case.tokens, case.flags, strict=True)]
        self.recognizer = recognizer_of(case)
        self.end = data.get("end", [token for token, flags in enumerate(case.flags) if flags & 2])
        self.ends_by_itself = self.end == []
        self.timeout = data.get("span_timeout", 0)
        self.history: list[Any] = []
        self.open()

    def open(self) -> None:
        self.state = self.recognizer.begin()
        self.active, self.span_tokens = True, 0

    def clone(self) -> Oracle:
        copy = object.__new__(Oracle)
        copy.__dict__.update(self.__dict__, history=list(self.history))
        return copy

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
            state = after[possible[0]]  # type: ignore[assignment]
        return run

    def do(self, step: dict[str, Any]) -> None:
        match step["do"]:
            case "accept":
                assert self.accept(step["token"]) == set(step["result"])
            case "text":
                for byte in step["text"].encode() * step.get("count", 1):
                    assert self.accept(self.single[byte]) == {"in_span"}
            case "rollback":
                self.state, self.active, self.span_tokens = self.history[-step["n"]]
                del self.history[-step["n"] :]
            case "activate" | "reset":
                self.open()
            case "deactivate":
                self.active, self.span_tokens = False, 0
            case "mask":
                allowed = self.look()["allowed"]
                assert step["kept"] == allowed
            case "fill_bitmaps":
                for row in step["rows"]:
                    copy = self.clone()
                    if row.get("rollback"):
                        copy.do({"do": "rollback", "n": row["rollback"]})
                    assert copy.look()["allowed"] == row["allowed"], row

    def accept(self, token: int) -> set[str]:
        result = self.step(token)
        if not self.active:
            self.span_tokens = 0
        return result

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


class NotKnown(Exception):
    """The oracle cannot read the case."""


def recognizer_of(case: Case) -> recognizer.Recognizer:
    if case.source == "choices":
        if case.data.get("canonical"):
            raise NotKnown("canonical choices")
        return recognizer.of_regex("|".join(re.escape(choice) for choice in case.data["choices"]))
    if case.source == "regex":
        try:
            re.compile(case.text)
        except re.error as error:
            raise NotKnown(case.text) from error
        return recognizer.of_regex(case.text.strip("^$"), ignore_case=case.data.get("ignore_case", False))
    if "%nonassoc" in case.text and case.source == "grammar":
        raise NotKnown("declared precedence")
    if COMBINED.search(case.text) and case.source == "grammar":
        raise NotKnown("intersections and complements, which Lark has not")
    return lark_text.recognizer_of(case.text)


def bits_of(bitmap: Any) -> list[int]:
    bits: list[int] = np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little")).tolist()
    return bits


def expected_value(key: str, value: Any) -> Any:
    return bytes_of_text(value) if key == "forced_bytes" else value
