"""Streams that draft: fewer passes of the real libllama, the same tokens."""

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import (
    Constraint,
    InvalidArgumentError,
    LimitError,
    Mode,
    Model,
    ModelFileError,
    ModelMismatchError,
    Stream,
    StreamStats,
)

from conftest import MODEL_FILE, PROMPT, TESTS

OpenStream = Callable[..., Stream]

MESSAGES = [line.partition("\t")[0] for line in (TESTS / "models" / "heldout.tsv").read_text("utf-8").splitlines()[:12]]
DRAFTS: dict[str, Any] = {"draft_max": 8}
SAMPLING = [{"temperature": 0.0}, {"temperature": 0.9, "top_p": 0.9, "seed": 11}]


@pytest.fixture(scope="module")
def weak_drafter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with some of its weights changed: it is often right, and often not."""
    content = bytearray(MODEL_FILE.read_bytes())
    for at in range(len(content) // 2, len(content), 97):
        content[at] ^= 0x06
    path = tmp_path_factory.mktemp("models") / "weak.gguf"
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def same_drafter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(MODEL_FILE, tmp_path_factory.mktemp("models") / "same.gguf"))


@pytest.fixture(scope="module")
def smaller_drafter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model without its last two tokens."""
    content = MODEL_FILE.read_bytes()
    tensors = content.index(b"token_embd.weight") - 8
    head = content[:tensors]
    for name in (b"<think>", b"</think>"):
        head = head.replace(struct.pack("<Q", len(name)) + name, b"")
    for key, before in ((b"llama.vocab_size", "4x"), (b"tokens", "8x"), (b"token_type", "8x")):
        at = head.index(key) + len(key) + struct.calcsize(before)
        assert head[at] == 640 % 256
        head = head[:at] + struct.pack("<H", 638) + head[at + 2 :]
    types = head.index(b"token_type") + len(b"token_type") + 16
    head = head[: types + 4 * 638] + head[types + 4 * 640 :]
    # The rows of the first tensor; those after it move up by so much, which is aligned as they are.
    gone = 2 * 102 - 12
    at, infos = tensors, b""
    for number in range(20):
        name_length = struct.unpack_from("<Q", content, at)[0]
        n_dimensions = struct.unpack_from("<I", content, at + 8 + name_length)[0]
        end = at + 8 + name_length + 4 + 8 * n_dimensions + 12
        offset = struct.unpack_from("<Q", content, end - 8)[0]
        info = content[at : end - 8] + struct.pack("<Q", offset - gone if number else 0)
        infos += info.replace(struct.pack("<Q", 640), struct.pack("<Q", 638))
        at = end
    data = at + -at % 32
    rows = content[data : data + 638 * 102].ljust(640 * 102 - gone, b"\0")
    path = tmp_path_factory.mktemp("models") / "smaller.gguf"
    whole = head + infos
    path.write_bytes(whole + bytes(-len(whole) % 32) + rows + content[data + 640 * 102 :])
    return path


@pytest.fixture(scope="module")
def plan(model: Model, actions: list[str]) -> Constraint:
    """A longer answer: a JSON document with several names of actions."""
    names = {"enum": actions}
    properties = {"action": names, "reason": {"enum": ["asked", "implied"]}, "then": {"$ref": "#/$defs/plan"}}
    plan = {"type": "object", "properties": properties, "required": ["action", "reason"]}
    schema = {"$ref": "#/$defs/plan", "$defs": {"plan": plan}}
    return Constraint.json_schema(model.vocabulary, schema)


def run(stream: Stream, prompt: str, constraint: Constraint | None = None) -> tuple[list[int], StreamStats]:
    """The tokens of an answer, in steps of at most five; and what they cost."""
    stream.reset()
    stream.prefill(prompt)
    if constraint is not None:
        stream.set_constraint(constraint, Mode.SAMPLED)
    tokens: list[int] = []
    done = False
    while not done:
        step = stream.step(max_tokens=5)
        tokens += step.tokens
        done = step.done
    return tokens, stream.stats


def total(stats: list[StreamStats], name: str) -> int:
    return sum(getattr(one, name) for one in stats)


def compare(
    open_stream: OpenStream, drafts: dict[str, Any], constraint: Constraint | None = None, **options: Any
) -> tuple[int, int]:
    """Runs all messages with drafts and without. Returns the passes of both."""
    plain, drafting = open_stream(**options), open_stream(**options | drafts)
    expected = [run(plain, PROMPT.format(message), constraint) for message in MESSAGES]
    found = [run(drafting, PROMPT.format(message), constraint) for message in MESSAGES]
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in expected]
    before, after = [stats for _, stats in expected], [stats for _, stats in found]
    assert total(before, "drafted_tokens") == total(before, "saved_passes") == 0
    assert 0 < total(after, "accepted_drafts") <= total(after, "drafted_tokens")
    passes = total(after, "forward_passes")
    assert passes + total(after, "saved_passes") == total(before, "forward_passes")
    return passes, total(before, "forward_passes")


@pytest.mark.parametrize("sampling", SAMPLING)
def test_a_longer_answer_takes_fewer_passes_and_is_the_same(
    open_stream: OpenStream, plan: Constraint, sampling: dict[str, float]
) -> None:
    passes, plain = compare(open_stream, DRAFTS, plan, max_tokens=120, **sampling)
    assert passes < 0.8 * plain


@pytest.mark.parametrize("drafter", ["weak_drafter", "smaller_drafter"])
@pytest.mark.parametrize("sampling", SAMPLING)
def test_drafts_of_a_model(
    request: pytest.FixtureRequest, open_stream: OpenStream, plan: Constraint, drafter: str, sampling: dict[str, float]
) -> None:
    drafts = DRAFTS | {"draft_model": request.getfixturevalue(drafter)}
    compare(open_stream, drafts, plan, max_tokens=60, **sampling)


def test_a_drafting_model_that_is_as_good_is_always_right(open_stream: OpenStream, same_drafter: Path) -> None:
    options: dict[str, Any] = {"grammar": 'root ::= (" " [A-Z_]+ "\\nUser: " [a-z ]+ "\\nAction:")*', "max_tokens": 60}
    passes, plain = compare(open_stream, DRAFTS | {"draft_model": same_drafter}, **options)
    assert passes < 0.7 * plain
    stream = open_stream(**options, **DRAFTS, draft_model=same_drafter)
    _, stats = run(stream, PROMPT.format(MESSAGES[0]))
    assert stats.accepted_drafts == stats.drafted_tokens
    assert stats.drafter_passes > 0
    assert 2 * stats.accepted_drafts > stats.drafter_passes, "what it is sure of is drafted"


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize(
    "options",
    [
        {"grammar": 'root ::= (" SEND_" ("MESSAGE" | "REMINDER") "\\n")*'},
        {"grammar": 'root ::= (" SEND_" ("MESSAGE" | "REMINDER") "\\n")*', "repeat_penalty": 1.3},
        {"top_k": 5},
        {"repeat_penalty": 1.2},
    ],
)
def test_drafts_under_a_grammar_and_without(
    open_stream: OpenStream, options: dict[str, object], sampling: dict[str, float]
) -> None:
    plain = open_stream(**options, **sampling, max_tokens=60)
    drafting = open_stream(**options, **sampling, **DRAFTS, max_tokens=60)
    shots = "".join(f"User: {message}\nAction: NONE\n" for message in MESSAGES[:2])
    for message in MESSAGES:
        prompt = shots + PROMPT.format(message)
        assert run(drafting, prompt)[0] == run(plain, prompt)[0]
    assert total([drafting.stats], "grammar_off") == 0


def test_a_token_tree_is_never_left(open_stream: OpenStream, model: Model, actions: list[str]) -> None:
    tree = model.token_tree(actions[::3]) + model.token_tree(["high", "low"], path="priority")
    answers = []
    for options in ({}, DRAFTS):
        stream = open_stream(temperature=1.2, seed=3, **options)
        for message in MESSAGES:
            stream.reset()
            stream.prefill(PROMPT.format(message))
            stream.set_token_trie(tree, Mode.SAMPLED)
            answers.append(stream.generate(max_tokens=12))
    assert answers[: len(MESSAGES)] == answers[len(MESSAGES) :]


def test_what_comes_between_steps_leaves_no_draft_behind(
    open_stream: OpenStream, model: Model, plan: Constraint, tmp_path: Path
) -> None:
    """A prompt, a saved slot and a kept beginning, each in the middle of a draft."""

    def story(**options: object) -> list[tuple[int, ...]]:
        stream = open_stream(max_tokens=40, **options)
        kept = stream.prefill(PROMPT.format(MESSAGES[0]))
        stream.set_constraint(plan)
        told = []
        for act in range(3):
            told += [stream.step(max_tokens=1).tokens for _ in range(14)]
            if act == 0:
                stream.save(tmp_path / "slot")
            elif act == 1:
                stream.prefill("and then?")
            else:
                assert stream.reset(kept) == kept
                stream.prefill("\nAction:")
        told += [stream.step(max_tokens=1).tokens for _ in range(10)]
        stream.restore(tmp_path / "slot")
        stream.set_constraint(plan)
        return [*told, tuple(model.tokenize(stream.generate(max_tokens=10)))]

    assert story(**DRAFTS) == story()


def test_tokens_that_were_drafted_but_did_not_come_out_are_not_in_the_context(
    open_stream: OpenStream, plan: Constraint
) -> None:
    stream = open_stream(max_tokens=50, **DRAFTS)
    prompt = stream.prefill(PROMPT.format(MESSAGES[0]))
    stream.set_constraint(plan)
    emitted = 0
    for _ in range(30):
        emitted += len(stream.step(max_tokens=1).tokens)
        stats = stream.stats
        assert stats.context_tokens + stats.pending_tokens == prompt + emitted


def test_a_full_context_ends_a_drafting_stream_where_it_ends_another(open_stream: OpenStream, plan: Constraint) -> None:
    answers = [run(open_stream(context_size=64, **options), PROMPT.format("hello"), plan) for options in ({}, DRAFTS)]
    assert answers[0][0] == answers[1][0]


def test_a_cancelled_draft_is_cancelled(open_stream: OpenStream, plan: Constraint, weak_drafter: Path) -> None:
    stream = open_stream(max_tokens=30, **DRAFTS, draft_model=weak_drafter)
    expected, _ = run(stream, PROMPT.format(MESSAGES[0]), plan)
    stream.reset()
    stream.prefill(PROMPT.format(MESSAGES[0]))
    stream.set_constraint(plan)
    stream.step()
    stream.cancel()
    assert run(stream, PROMPT.format(MESSAGES[0]), plan)[0] == expected


def test_what_a_stream_cannot_draft_with_is_refused(open_stream: OpenStream, tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="draft_max: 65 is more than 64"):
        open_stream(draft_max=65)
    with pytest.raises(InvalidArgumentError, match="draft_min: 5 is more than draft_max, 4"):
        open_stream(draft_max=4, draft_min=5)
    with pytest.raises(ModelFileError, match="there is no such file"):
        open_stream(draft_max=4, draft_model=tmp_path / "absent.gguf")
    # A name of a token that is spelled otherwise.
    other = tmp_path / "other.gguf"
    content = MODEL_FILE.read_bytes()
    name = json.dumps("REMINDER").encode()[1:-1]
    assert content.count(name) >= 1
    other.write_bytes(content.replace(name, b"REMINDED"))
    with pytest.raises(ModelMismatchError, match=r"mtp_drafter_path: token \d+ is"):
        open_stream(draft_max=4, draft_model=other)


def test_the_model_itself_is_no_drafter(open_stream: OpenStream, plan: Constraint) -> None:
    stream = open_stream(max_tokens=60, **DRAFTS, draft_model=MODEL_FILE)
    _, stats = run(stream, PROMPT.format(MESSAGES[0]), plan)
    assert stats.drafter_passes == 0 and stats.accepted_drafts > 0
