"""The conformance cases of streams through the Python package, and whether they are well formed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import (
    Budget,
    Constraint,
    ElizaError,
    Mode,
    Model,
    Status,
    StopReason,
    Stream,
    TokenSequence,
    TokenTree,
    TokenTreeDescriptor,
    TokenTreePart,
    Vocabulary,
)
from eliza_inference._library import call, ffi, lib
from jsonschema import Draft202012Validator

from conftest import MODEL_FILE

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import conformance_cases as conformance
from conformance_cases import octets

CASES = [
    pytest.param(case, id=f"{name}: {case['name']}")
    for name, content in conformance.stream_files().items()
    for case in content["cases"]
]


Event = dict[str, Any]


@pytest.fixture(scope="module")
def unnamed(llama: object) -> Model:
    return Model(MODEL_FILE)


@pytest.fixture(scope="module")
def told(unnamed: Model) -> Iterator[list[Event]]:
    """What the verifier of the model's streams is told."""
    events: list[Event] = []

    def spelled(tokens: Any, n: int) -> list[bytes]:
        return [unnamed.vocabulary.token_bytes(tokens[index]) for index in range(n)]

    @ffi.callback("eliza_verifier_cb")  # type: ignore[untyped-decorator]
    def receive(event: Any, _user_data: Any) -> None:
        accepted = spelled(event.accepted_token_ids, event.n_accepted)
        corrected = spelled(event.corrected_token_ids, event.n_corrected)
        events.append({"accepted": accepted, "corrected": corrected})
        if event.rejected_from >= 0:
            events[-1]["rejected"] = [event.rejected_from, event.rejected_to]

    call(lib.eliza_inference_set_verifier_callback, unnamed._handle, receive, ffi.NULL)
    yield events
    call(lib.eliza_inference_set_verifier_callback, unnamed._handle, ffi.NULL, ffi.NULL)


@pytest.mark.parametrize("case", CASES)
def test_case(
    case: dict[str, Any], unnamed: Model, told: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for slots and copies
    options = options_of(case["stream"])
    if "error" in case:
        attempt(lambda: unnamed.stream(**options), case["error"])
        return
    with unnamed.stream(**options) as stream:
        walk = Walk(unnamed, stream, told)
        for step in case["steps"]:
            walk.run(step)


def options_of(data: dict[str, Any]) -> dict[str, Any]:
    options = {"context_size": 256, "threads": 1} | data
    if options.get("draft_model") == "copy":
        options["draft_model"] = shutil.copy(MODEL_FILE, "copy.gguf")
    return options


class Walk:
    """A stream, with a method for each verb of a step, which takes the rest of the step as its arguments."""

    def __init__(self, model: Model, stream: Stream, told: list[Event]) -> None:
        self.model, self.stream, self.told = model, stream, told

    def run(self, step: dict[str, Any]) -> None:
        arguments = {key: value for key, value in step.items() if key not in ("do", "error", "expect")}
        attempt(lambda: getattr(self, step["do"])(**arguments), step.get("error"))
        for key, expected in step.get("expect", {}).items():
            check(key, self.look(key), expected)

    def look(self, key: str) -> Any:
        if key == "stop":
            return StopReason(self.stream.stop_reason).name.lower()
        if key == "leaf":
            return self.stream.leaf
        state = self.stream.state
        return getattr(state if hasattr(state, key) else self.stream.stats, key)

    def pieces(self, tokens: tuple[int, ...]) -> list[bytes]:
        return [self.model.vocabulary.token_bytes(token) for token in tokens]

    def tokens_of(self, texts: list[str]) -> list[list[int]]:
        return [self.model.tokenize(text, parse_special=True) for text in texts]

    def constraint(self, data: dict[str, Any]) -> TokenTree | Constraint:
        if "tree" in data:
            return TokenTree(tuple(map(self.descriptor, data["tree"])))
        return self.recognizer(self.model.vocabulary, data)

    @staticmethod
    def recognizer(vocabulary: Vocabulary, data: dict[str, Any]) -> Constraint:
        budget = Budget(mask_ms_max=data.get("mask_ms_max"))
        if "regex" in data:
            return Constraint.regex(vocabulary, data["regex"], budget=budget)
        return Constraint.lark(vocabulary, data["grammar"], budget=budget)

    def descriptor(self, data: dict[str, Any]) -> TokenTreeDescriptor | TokenTreePart:
        triggers = tuple(map(tuple, self.tokens_of(data.get("trigger", []))))
        end = tuple(self.ids(data.get("end", [])))
        if "regex" in data:
            return TokenTreePart(data["path"], regex=data["regex"], trigger=triggers, end=end)
        names = data["leaves"]
        leaves = [TokenSequence(name, tuple(ids)) for name, ids in zip(names, self.tokens_of(names), strict=True)]
        return TokenTreeDescriptor(data["path"], tuple(leaves), triggers, end)

    def ids(self, texts: list[str]) -> list[int]:
        return [token for tokens in self.tokens_of(texts) for token in tokens]

    # The verbs

    def prefill(self, text: Any = None, tokens: list[int] | None = None, healed: str | None = None) -> None:
        if tokens is not None:
            self.stream.prefill(tokens)
        elif healed is None:
            self.stream.prefill(octets(text).decode())
        else:
            kept, prefill = self.model.vocabulary.heal(self.model.tokenize(text, add_special=True))
            assert prefill == healed.encode()
            self.stream.prefill(kept)

    def next(self, tokens: Any = None, text: str | None = None, done: bool | None = None, **most: int) -> None:
        step = self.stream.step(**most)
        if tokens is not None:
            assert self.pieces(step.tokens) == [octets(piece) for piece in tokens]
        assert step.text == (step.text if text is None else text)
        assert step.done == (step.done if done is None else done)

    def generate(
        self,
        text: str | None = None,
        max_tokens: int = 0,
        inside: dict[str, Any] | None = None,
        drafts: list[Event] | None = None,
    ) -> None:
        received = 0
        self.told.clear()

        def on_token(_token: int, _text: str) -> bool:
            nonlocal received
            received += 1
            if inside is None or received != inside["token"]:
                return False
            for step in inside.get("calls", []):
                self.run(step)
            return bool(inside.get("stop"))

        generated = self.stream.generate(on_token, max_tokens=max_tokens)
        assert generated == (generated if text is None else text)
        assert inside is None or received >= inside["token"]
        assert drafts is None or self.told == [spelled(event) for event in drafts]

    def reenter(self, constraint: dict[str, Any], calls: list[dict[str, Any]], step: dict[str, Any]) -> None:
        asked = 0

        def spell(text: bytes) -> list[int]:
            nonlocal asked
            for each in calls:
                self.run(each)
            asked += 1
            return self.model.tokenize(text.decode())

        vocabulary = Vocabulary.from_model(self.model)
        vocabulary.set_tokenizer(spell)
        self.stream.set_constraint(self.recognizer(vocabulary, constraint))
        self.run(step)
        assert asked > 0

    def choose(self, constraint: dict[str, Any], result: str, path: str | None = None) -> None:
        assert self.stream.choose(self.constraint(constraint), path=path) == result

    def constrain(
        self, constraint: dict[str, Any], mode: int = Mode.GREEDY, end: list[str] | None = None, **config: Any
    ) -> None:
        made = self.constraint(constraint)
        if isinstance(made, TokenTree):
            self.stream.set_token_trie(made, Mode(mode))
        else:
            self.stream.set_constraint(made, Mode(mode), end=None if end is None else self.ids(end), **config)

    def clear(self) -> None:
        self.stream.clear_constraint()

    def activate(self, path: str) -> None:
        self.stream.activate(path)

    def cancel(self) -> None:
        self.stream.cancel()

    def reset(self) -> None:
        self.stream.reset()

    def reset_keep(self, n: int, kept: int) -> None:
        assert self.stream.reset(n) == kept

    def save(self, path: str) -> None:
        self.stream.save(path)

    def restore(self, path: str) -> None:
        self.stream.restore(path)

    def set_seed(self, n: int) -> None:
        self.stream.set_seed(n)

    def set_sampling(self, temperature: float) -> None:
        self.stream.set_sampling(temperature=temperature)

    def set_stop_at_span_end(self, on: bool) -> None:
        self.stream.set_stop_at_span_end(on)

    def set_span_timeout(self, n: int) -> None:
        self.stream.set_span_timeout(n)

    def set_time_budget_ms(self, n: int) -> None:
        self.stream.set_time_budget_ms(n)


def spelled(event: Event) -> Event:
    """An event of a case, with bytes."""
    return {key: value if key == "rejected" else [octets(piece) for piece in value] for key, value in event.items()}


def attempt(act: Callable[[], object], error: dict[str, str] | None) -> None:
    if error is None:
        act()
        return
    with pytest.raises(ElizaError) as raised:
        act()
    assert "ELIZA_ERR_" + Status(raised.value.status).name == error["status"]
    assert raised.value.message == error.get("message", raised.value.message)


def check(key: str, actual: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert expected.get("min", actual) <= actual <= expected.get("max", actual), key
    else:
        assert actual == expected, key


# ---- The files -------------------------------------------------------------------------------------------------------


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 76


def test_what_the_schema_does_not_know_is_refused() -> None:
    validator = Draft202012Validator(conformance.schema())
    case: dict[str, Any] = {"name": "one", "stream": {}, "steps": [{"do": "next"}]}
    error = {"status": "ELIZA_ERR_LIMIT"}
    reenter = {"do": "reenter", "constraint": {"regex": "a"}, "calls": [{"do": "next"}], "step": {"do": "next"}}
    wrong: list[dict[str, Any]] = [
        case | {"stream": {"unknown": 1}},
        case | {"vocabulary": {"size": 1}},
        case | {"error": error},
        {"name": "one", "stream": {}},
        case | {"steps": [{"do": "unknown"}]},
        case | {"steps": [{"do": "next", "unknown": 1}]},
        case | {"steps": [{"do": "next", "expect": {"unknown": 1}}]},
        case | {"steps": [{"do": "next", "expect": {"emitted_tokens": {"unknown": 1}}}]},
        case | {"steps": [{"do": "constrain", "constraint": {"regex": "a", "tree": []}}]},
        case | {"steps": [{"do": "generate", "inside": {"calls": []}}]},
        case | {"steps": [reenter]},
        case | {"steps": [{"do": "generate", "drafts": [{"accepted": []}]}]},
    ]
    assert validator.is_valid({"about": "one", "cases": [case]})
    assert [each for each in wrong if validator.is_valid({"about": "one", "cases": [each]})] == []
