"""Payloads that mix leaves and languages: random ones against the oracle, and streams of the real model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eliza_inference import (
    Constraint,
    GrammarError,
    Matcher,
    Model,
    Stream,
    TokenTree,
    TokenTreeDescriptor,
    TokenTreePart,
)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conformance_cases import runs_of
from oracle_subjects import TokenTrieOracle
from subjects import Library, names_of

# Few letters and tokens of several, so that texts meet end tokens, triggers, leaves and each other.
TOKENS = ["a", "b", "c", "1", "ab", "bc", "a1", " ", ";", "abc", "(", ")", "#", "1;", "\n"]
LANGUAGES: list[dict[str, Any]] = [
    {"regex": "[ab]+"},
    {"regex": "a?b?c?"},
    {"regex": "[a-c]{2,3}1"},
    {"regex": "(ab|abc|c1)*"},
    {"choices": ["a", "ab", "abc", "bc1"]},
    {"choices": ["c"]},
    {"lark": 'start: "(" start ")" | /[ab]/'},
    {"lark": 'start: (/[a-c]+/ ";")+'},
    {"gbnf": 'root ::= "a" root "b" | "1"'},
]


def random_payload(random: Random) -> bytes:
    descriptors: list[dict[str, Any]] = []
    has_triggers = random.random() < 0.5
    for number in range(random.randint(1, 4)):
        one: dict[str, Any] = {"path": f"p{number}"}
        if random.random() < 0.6:
            one |= random.choice(LANGUAGES)
        else:
            sequences = [[random.randrange(6) for _ in range(random.randint(1, 3))] for _ in range(3)]
            one["leaves"] = [{"name": "x", "tokens": sequence} for sequence in sequences]
        if random.random() < 0.4:
            one["end"] = random.sample(range(6 if "leaves" not in one else 7, len(TOKENS)), random.randint(1, 3))
        if has_triggers and number < 3:
            one["trigger"] = [[[12], [7], [0, 1]][number]]
        descriptors.append(one)
    if not any("leaves" not in one for one in descriptors):
        descriptors.append({"path": "last"} | random.choice(LANGUAGES))
    return json.dumps({"modelId": "", "names": "labels", "descriptors": descriptors}).encode()


def subjects_of(payload: bytes, timeout: int) -> tuple[Library, TokenTrieOracle]:
    case = {
        "vocabulary": {"tokens": [*TOKENS, {"text": "</s>", "flags": ["end_of_generation"]}]},
        "constraint": {"token_trie": [{"hex": payload.hex()}]},
        "span_timeout": timeout,
    }
    (run,) = runs_of("a payload", case)
    return Library(run), TokenTrieOracle(run)


@pytest.mark.parametrize("seed", range(300))
def test_random_walks(seed: int) -> None:
    random = Random(seed)
    payload = random_payload(random)
    library, naive = subjects_of(payload, random.choice([4, 6, 500]))
    n_taken = 0
    for _ in range(40):
        expected = naive.look()
        found = library.look()
        assert {key: found[key] for key in expected} == expected, payload
        verb = random.choices(["accept", "any", "rollback", "activate", "clone", "rest"], [30, 5, 3, 2, 1, 1])[0]
        if verb == "rollback":
            n_back = random.randint(0, min(n_taken, 9))
            n_taken -= n_back
            for each in (library, naive):
                each.rollback(n_back)
        elif verb == "activate":
            for each in (library, naive):
                each.activate("p0")
        elif verb == "clone":
            library, naive = library.clone(), naive.clone()
        elif verb == "rest":
            rest = random.choice(["deactivate", "reset"])
            n_taken = 0 if rest == "reset" else n_taken
            getattr(library, rest)()
            getattr(naive, rest)()
        else:
            legal = expected["allowed"]
            ids = range(len(TOKENS) + 1) if verb == "any" or legal == "all" or not legal else legal
            token = random.choice(list(ids))
            step = naive.matcher.accept(token)
            assert names_of(library.matcher.accept(token)) == step, (payload, token)
            n_taken += "refused" not in step


def test_long_texts_of_many_spans_are_told_and_taken_back() -> None:
    """Their bytes are kept only as long as a rollback may need them."""
    part = {"path": "p", "regex": "(abc)+", "trigger": [[12]], "end": [8]}
    library, _ = subjects_of(json.dumps({"modelId": "", "descriptors": [part]}).encode(), 500)
    matcher = library.matcher
    for n in range(1, 200):
        for token in (12, *[9] * n, 8):
            matcher.accept(token)
        assert matcher.leaf == "abc" * n
    matcher.rollback(1)
    assert matcher.leaf is None
    matcher.accept(8)
    assert matcher.leaf == "abc" * 199
    matcher.rollback(201)
    assert matcher.leaf == "abc" * 198
    matcher.reset()
    assert matcher.leaf is None


def test_a_part_is_written_and_read() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tree = TokenTree(
        (
            TokenTreeDescriptor("action", ()),
            TokenTreePart("a", regex="[0-9]+", trigger=((1, 2),), end=(3,)),
            TokenTreePart("b", json_schema=schema, schema_options={"space": "compact"}),
            TokenTreePart("c", choices=["x", "y"]),
        )
    )
    parts = [part for part in tree.descriptors if isinstance(part, TokenTreePart)]
    assert [part.language for part in parts] == ["regex", "json_schema", "choices"]
    for again in (TokenTree.from_json(tree.to_json()), TokenTree.from_msgpack(tree.to_msgpack())):
        assert again.descriptors[1] == tree.descriptors[1]
        assert json.loads(again.descriptors[2].json_schema) == schema  # type: ignore[union-attr, arg-type]
        assert again.to_json() == tree.to_json()


def test_a_part_with_what_cannot_be_a_language() -> None:
    with pytest.raises(TypeError, match=r"descriptors\[0\]\.regex: expected a str, got int"):
        TokenTree((TokenTreePart("a", regex=7),)).to_json()  # type: ignore[arg-type]


# ---- With the model --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def action_and_text(model: Model) -> TokenTree:
    return model.token_tree(["REPLY", "SEND_EMAIL"]) + TokenTreePart("parameters.text", regex=" [A-Za-z]{1,12}!")


def test_a_stream_chooses_a_name_and_then_a_text(
    open_stream: Callable[..., Stream], action_and_text: TokenTree
) -> None:
    stream = open_stream()
    for _ in range(2):  # the second time the part comes from the cache
        stream.reset()
        stream.prefill("User: hello\nAction:")
        with stream.span(action_and_text) as span:
            name_text = stream.generate()
            assert span.leaf in ("REPLY", "SEND_EMAIL")
            assert name_text.strip() == span.leaf
            assert stream.state.descriptor == 1
            text = stream.generate()
            assert (stream.state.active, stream.state.spans_ended, stream.state.illegal) == (False, 2, 0)
        assert span.leaf == text
        assert text.startswith(" ")
        assert text.endswith("!")


@pytest.mark.parametrize("has_end", [False, True])
def test_a_text_that_could_go_on_ends_with_the_generation(
    model: Model, open_stream: Callable[..., Stream], has_end: bool
) -> None:
    end = tuple(model.vocabulary.end_of_generation_tokens()) if has_end else ()
    tree = TokenTree((TokenTreePart("parameters.text", regex=" [A-Z_]+", end=end),), "eliza-router")
    stream = open_stream()
    stream.prefill("User: set a timer for ten minutes\nAction:")
    assert stream.choose(tree) == " SET_TIMER"


def test_a_stream_says_what_is_wrong_with_a_part(open_stream: Callable[..., Stream]) -> None:
    stream = open_stream()
    with pytest.raises(GrammarError, match=r"^descriptors\[0\]\.regex: at byte 0: this group is not closed"):
        stream.set_token_trie(TokenTree((TokenTreePart("a", regex="(a"),)))


def test_a_constraint_of_it_is_for_streams_and_matchers(
    model: Model, open_stream: Callable[..., Stream], action_and_text: TokenTree
) -> None:
    constraint = Constraint(model.vocabulary, action_and_text)
    matcher = Matcher(constraint)
    for token in model.tokenize(" REPLY hi!", add_special=False):
        matcher.accept(token)
    stream = open_stream()
    stream.prefill("User: hello\nAction:")
    with stream.span(constraint, path="parameters.text") as span:
        text = stream.generate()
    assert span.leaf == text
