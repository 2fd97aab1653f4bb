"""What a conformance case runs on, here the Python package; tests/oracle_subjects.py has the oracles.

A subject has a method for each verb of a step, which takes the rest of the step as its arguments and asserts what the
step says; `look` shows its state under the keys of `expect`, `info` what its constraint says of itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
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
from eliza_inference.matcher import mask_rows

from conformance_cases import Run, logits_of, octets, run_step, shipped_grammars, tokens_of, tokens_of_bytes, vocab_size

ONE_DRAW = (-1,)  # of a step that fails

STATE_KEYS = ["active", "can_stop", "constrained", "descriptor", "span_tokens"]
STATE_KEYS += ["spans_started", "spans_ended", "timeouts", "illegal"]
INFO_KEYS = ["n_descriptors", "n_leaves", "n_nodes", "longest_leaf_tokens", "widest_node"]

# By the key of the constraint that says its kind.
COMPILE: dict[str, Callable[[Vocabulary, dict[str, Any], Budget], Constraint]] = {
    "token_trie": lambda vocabulary, data, budget: Constraint(vocabulary, octets(data["token_trie"])),
    "choices": lambda vocabulary, data, budget: Constraint.choices(
        vocabulary, map(octets, data["choices"]), canonical=data.get("canonical", False), budget=budget
    ),
    "regex": lambda vocabulary, data, budget: Constraint.regex(
        vocabulary,
        octets(data["regex"]).decode(),
        ignore_case=data.get("ignore_case", False),
        search=data.get("search", False),
        budget=budget,
    ),
    "grammar": lambda vocabulary, data, budget: Constraint.lark(
        vocabulary,
        octets(data["grammar"]).decode(),
        start=data.get("start", "start"),
        imports=data.get("imports"),
        budget=budget,
    ),
    "gbnf": lambda vocabulary, data, budget: Constraint.gbnf(
        vocabulary,
        octets(data["gbnf"]).decode(),
        data.get("root", "root"),
        ebnf=data.get("ebnf", False),
        budget=budget,
    ),
    "shipped": lambda vocabulary, data, budget: Constraint.lark(
        vocabulary, shipped_grammars()[data["shipped"]], budget=budget
    ),
    "json_schema": lambda vocabulary, data, budget: Constraint.json_schema(
        vocabulary,
        data["json_schema"],
        space=data.get("space", "loose"),
        order=data.get("order", "declared"),
        numbers=data.get("numbers", "any"),
        additional=data.get("additional", "allow"),
        integer_fraction=data.get("integer_fraction", False),
        draft=data.get("draft", "2020-12"),
        documents=data.get("documents"),
        lenient=data.get("lenient", False),
        budget=budget,
    ),
    "tags": lambda vocabulary, data, budget: Constraint.tags(vocabulary, octets(data["tags"]), budget=budget),
}


class Library:
    """The Python package. Files are in the working folder."""

    def __init__(self, run: Run) -> None:
        data = run.data
        self.vocabulary = data["vocabulary"]
        self.tokenizer = Tokenizer(self.vocabulary)
        self.constraint = make_constraint(run, self.tokenizer)
        prefill = octets(data["prefill"]) if "prefill" in data else b""
        timeout = data.get("span_timeout")
        self.matcher = Matcher(self.constraint, span_timeout=timeout, end=data.get("end"), prefill=prefill)
        self.vocab_size = vocab_size(self.vocabulary)

    @staticmethod
    def check_error(error: Exception, expected: dict[str, str]) -> None:
        assert isinstance(error, ElizaError)
        assert "ELIZA_ERR_" + Status(error.status).name == expected["status"]
        assert error.message == expected.get("message", error.message)

    def info(self) -> dict[str, Any]:
        kind = self.constraint.kind
        info = {"kind": ConstraintKind(kind).name.lower(), "warnings": list(self.constraint.warnings)}
        sizes = INFO_KEYS if kind == ConstraintKind.TOKEN_TRIE else []
        return info | {key: getattr(self.constraint.info, key) for key in sizes}

    def look(self) -> dict[str, Any]:
        state, allowed = self.matcher.state, self.matcher.allowed()
        assert state.can_stop == self.matcher.can_stop
        assert state.n_allowed == (0 if allowed is None else len(allowed))
        assert state.constrained == (allowed is not None)
        ids = list(range(self.vocab_size)) if allowed is None else list(allowed)
        assert bits_of(self.matcher.fill_bitmap()) == ids
        return {key: getattr(state, key) for key in STATE_KEYS} | {
            "allowed": "all" if allowed is None else ids,
            "forced": told(self.matcher.forced),
            "forced_bytes": told(self.matcher.forced_bytes),
            "leaf": self.matcher.leaf,
        }

    # The verbs

    def accept(self, token: int, result: Sequence[str] = ()) -> None:
        assert names_of(self.matcher.accept(token)) == set(result)

    def text(self, text: str, count: int = 1) -> None:
        token_of = tokens_of_bytes(self.vocabulary)
        for byte in text.encode() * count:
            assert self.matcher.accept(token_of[byte]) == Step.IN_SPAN, chr(byte)

    def rollback(self, n: int) -> None:
        self.matcher.rollback(n)

    def activate(self, path: str) -> None:
        self.matcher.activate(path)

    def deactivate(self) -> None:
        self.matcher.deactivate()

    def reset(self) -> None:
        self.matcher.reset()

    def clone(self) -> Library:
        copy = object.__new__(Library)
        copy.__dict__.update(self.__dict__, matcher=self.matcher.clone())
        return copy

    def set_span_timeout(self, n: int) -> None:
        self.matcher.set_span_timeout(n)

    def set_seed(self, seed: int) -> None:
        self.matcher.set_seed(seed)

    def mask(self, logits: dict[str, Any], fill: Any, n: int | None = None, kept: Any = "all") -> None:
        before = self.logits(logits, fill, n)
        after = before.copy()
        self.matcher.mask_logits(after)
        if kept != "all":
            before[np.setdiff1d(np.arange(len(before)), kept)] = -np.inf
        np.testing.assert_array_equal(after, before)

    def sample(
        self,
        logits: dict[str, Any],
        fill: Any,
        mode: int,
        n: int | None = None,
        tokens: Sequence[int] = ONE_DRAW,
        **settings: float,
    ) -> None:
        array = self.logits(logits, fill, n)
        assert [self.matcher.sample(array, mode, **settings) for _ in tokens] == list(tokens)  # type: ignore[arg-type]

    def fill_bitmaps(self, rows: list[dict[str, Any]], n_threads: int = 0, n_words: int | None = None) -> None:
        """Of clones, each taken back to its place: all at once as one by one."""
        matchers = [self.matcher.clone() for _ in rows]
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.rollback(row.get("rollback", 0))
        words = np.empty((len(rows), -(-self.vocab_size // 32) if n_words is None else n_words), np.int32)
        fill_bitmaps(matchers, words, n_threads)
        for matcher, row, bitmap in zip(matchers, rows, words, strict=True):
            assert bits_of(bitmap) == (list(range(self.vocab_size)) if row["allowed"] == "all" else row["allowed"]), row
            assert bits_of(matcher.fill_bitmap()) == bits_of(bitmap), row
        # -inf exactly where the bitmaps have no bit, in rows that lie the other way round.
        logits = np.zeros((len(rows), self.vocab_size + 2), np.float32)
        places = list(reversed(range(len(rows))))
        mask_rows(matchers, places, logits.ctypes.data, "float32", *logits.shape[1:], logits.shape[1])
        for place, bitmap in zip(places, words, strict=True):
            assert np.flatnonzero(logits[place] == 0).tolist() == bits_of(bitmap)

    def reenter(self, calls: list[dict[str, Any]], forced: list[int]) -> None:
        asked, failures = self.clone(), []

        def call_all() -> None:
            for call in calls:
                try:
                    run_step(asked, call)
                except ElizaError as error:
                    failures.append(error)

        self.tokenizer.meanwhile = call_all
        assert asked.matcher.forced() == forced
        self.tokenizer.meanwhile = None
        assert failures
        assert len(failures) % len(calls) == 0
        for failure, call in zip(failures, itertools.cycle(calls), strict=False):
            self.check_error(failure, call["error"])

    # For the tests against an oracle, and the verbs

    def kept(self, n_logits: int) -> list[int] | str:
        """The ids that a mask of equal logits leaves, or "all"."""
        logits = np.zeros(n_logits, dtype=np.float32)
        self.matcher.mask_logits(logits)
        ids: list[int] = np.flatnonzero(logits == 0).tolist()
        assert np.isneginf(np.delete(logits, ids)).all()
        return "all" if len(ids) == n_logits else ids

    def logits(self, logits: dict[str, Any], fill: Any, n: int | None) -> Any:
        return np.array(logits_of(logits, fill, self.vocab_size if n is None else n), dtype=np.float32)


class Tokenizer:
    """Spells each byte as a `text` step does, and first calls `meanwhile`."""

    def __init__(self, vocabulary: dict[str, Any]) -> None:
        self.is_there = vocabulary.get("tokenizer", False)
        self.token_of = tokens_of_bytes(vocabulary) if self.is_there else {}
        self.meanwhile: Callable[[], None] | None = None

    def of(self, vocabulary: Vocabulary) -> Vocabulary:
        """The vocabulary, which it is the tokenizer of from now on if there is one."""
        if self.is_there:
            vocabulary.set_tokenizer(self.spell)
        return vocabulary

    def spell(self, text: bytes) -> list[int]:
        if self.meanwhile is not None:
            self.meanwhile()
        return [self.token_of[byte] for byte in text]


def told(ask: Callable[[], Any]) -> Any:
    """What it says, or as cases write how it fails."""
    try:
        return ask()
    except ElizaError as error:
        return {"error": {"status": "ELIZA_ERR_" + Status(error.status).name, "message": error.message}}


def names_of(bits: Step) -> set[str]:
    return {str(bit.name).lower() for bit in Step if bit != Step.NONE and bit in bits}


def bits_of(bitmap: Any) -> list[int]:
    ids: list[int] = np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little")).tolist()
    return ids


# ---- How a constraint is come by -------------------------------------------------------------------------------------


def make_constraint(run: Run, tokenizer: Tokenizer) -> Constraint:
    data, limits = run.data, dict(run.data.get("budget", {}))
    if run.way == "unkept":
        limits["mask_bytes_max"] = 1
    budget = budget_of(limits)
    kind = next(key for key in data["constraint"] if key in COMPILE)
    constraint = COMPILE[kind](tokenizer.of(vocabulary_of(data["vocabulary"])), data["constraint"], budget)
    if "open" in data:
        return (
            open_changed(constraint, data["open"]) if "error" in data else reopen(constraint, data, tokenizer, budget)
        )
    if run.way == "opened" and constraint.kind != ConstraintKind.TOKEN_TRIE:
        return reopen(constraint, data, tokenizer, budget)
    return constraint


def vocabulary_of(data: dict[str, Any]) -> Vocabulary:
    model_id = data.get("model_id")
    if "size" in data:
        return Vocabulary(data["size"], model_id=model_id)
    tokens = tokens_of(data)
    return Vocabulary(len(tokens), [piece for piece, _ in tokens], [flags for _, flags in tokens], model_id=model_id)


def budget_of(data: dict[str, Any]) -> Budget:
    says = data.get("cancel")
    return Budget(**data | {"cancel": None if says is None else lambda: says})


def save(constraint: Constraint) -> None:
    constraint.vocabulary.save("vocabulary")
    constraint.save("constraint")


def reopen(constraint: Constraint, data: dict[str, Any], tokenizer: Tokenizer, budget: Budget) -> Constraint:
    """Prepares it, saves both, and opens both."""
    constraint.prepare()
    save(constraint)
    open_as = data.get("open", {})
    vocabulary = tokenizer.of(Vocabulary.open("vocabulary", **how_of(open_as)))
    opened = Constraint.open(vocabulary, "constraint", budget=budget, **how_of(open_as))
    for name in ("vocabulary", "constraint") if "emptied" in open_as else ():
        Path(name).write_bytes(b"")
    return opened


def how_of(data: dict[str, Any]) -> dict[str, Any]:
    return {data["how"]: True} if "how" in data else {}


def open_changed(constraint: Constraint, data: dict[str, Any]) -> Constraint:
    """Saves both, changes a file, and opens it."""
    save(constraint)
    path = Path(data.get("path", data["as"]))
    if data.keys() & {"flip", "length"}:
        changed = bytearray(path.read_bytes())
        if "flip" in data:
            changed[data["flip"]] ^= 0xFF
        path.write_bytes(changed[: data.get("length")])
    if data["as"] == "vocabulary":
        Vocabulary.open(path, **how_of(data))
        return constraint
    vocabulary = vocabulary_of(data["for"]) if "for" in data else constraint.vocabulary
    return Constraint.open(vocabulary, path, **how_of(data))
