"""The library against the naive oracle: random payloads, random steps, damaged bytes, random draws."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import numpy as np
import pytest
from eliza_inference import Constraint, ElizaError, Matcher, Mode, Status, Vocabulary
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conformance_cases import runs_of
from oracle_subjects import TokenTrieOracle as Oracle
from oracles import token_trie as oracle
from subjects import Library, names_of

VOCAB_SIZE = 12

thorough = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
short = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))

# ---- Payloads --------------------------------------------------------------------------------------------------------

# Few tokens, so that leaves share beginnings, continue each other and meet end tokens and triggers.
sequences = st.lists(st.integers(0, 3), min_size=1, max_size=4)
names = st.text(max_size=3)
leaves = st.fixed_dictionaries({"name": names, "tokens": sequences})
warnings = st.recursive(st.none() | st.booleans() | st.floats(-10, 10) | names, st.lists, max_leaves=4)

PATHS = ["action", "parameters.unit", "contexts[]"]


@st.composite
def descriptors(draw: st.DrawFn, path: str) -> dict[str, Any]:
    """Mostly good ones; an end token may be a child, and a trigger that of another descriptor."""
    tree: dict[str, Any] = {"path": path, "leaves": draw(st.lists(leaves, min_size=1, max_size=6))}
    if draw(st.integers(0, 2)) == 0:
        tree["end"] = draw(st.lists(st.integers(3, VOCAB_SIZE - 1), min_size=1, max_size=3))
    if draw(st.integers(0, 2)) == 0:
        tree["trigger"] = draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), min_size=1, max_size=2))
    if draw(st.integers(0, 9)) == 0:
        tree["warning"] = draw(warnings)
    return tree


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3, unique=True))
    if draw(st.integers(0, 30)) == 0:
        chosen.append(chosen[0])
    return {"modelId": "m", "descriptors": [draw(descriptors(path)) for path in chosen]}


def shuffled(tree: Any, random: Any) -> Any:
    """The same tree with the keys of its objects in another order."""
    if isinstance(tree, dict):
        items = [(key, shuffled(value, random)) for key, value in tree.items()]
        random.shuffle(items)
        return dict(items)
    return [shuffled(item, random) for item in tree] if isinstance(tree, list) else tree


@st.composite
def spellings(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """One tree as JSON and as MessagePack, however spelled."""
    tree, random = draw(trees()), draw(st.randoms(use_true_random=False))
    text = json.dumps(
        shuffled(tree, random),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, "\t"])),
        separators=draw(st.sampled_from([(",", ":"), (" , ", "\r\n: ")])),
    )
    return text.encode(), msgpack.packb(shuffled(tree, random))


def compile_or_status(subject_type: Any, payload: bytes) -> Any:
    """A subject, or the status that making it gave."""
    case = {"vocabulary": {"size": VOCAB_SIZE}, "constraint": {"token_trie": [{"hex": payload.hex()}]}}
    (run,) = runs_of("a payload", case)
    try:
        return subject_type(run)
    except oracle.Refusal as refusal:
        return refusal.status
    except ElizaError as error:
        assert len(error.message) > 8
        return "ELIZA_ERR_" + Status(error.status).name


# ---- Steps -----------------------------------------------------------------------------------------------------------

logit = st.sampled_from([0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]) | st.floats(-30, 30, width=32)

# How often a step is tried. An index into the legal tokens goes further than a token, which may be refused.
FREQUENCIES = {
    "accept_legal": 24,
    "accept": 8,
    "activate": 4,
    "sample": 3,
    "rollback": 2,
    "mask": 2,
    "clone": 1,
    "deactivate": 1,
    "reset": 1,
    "set_seed": 1,
    "set_span_timeout": 1,
}
steps = st.tuples(
    st.sampled_from([name for name, frequency in FREQUENCIES.items() for _ in range(frequency)]),
    st.integers(0, 2**32 - 1),
)


def step_from(name: str, number: int) -> tuple[Any, ...]:
    """A step whose argument, if it has one, is made from a number: cheaper than to draw each."""
    random = Random(number)
    match name:
        case "accept_legal" | "set_seed":
            return name, number
        case "accept":
            return name, number % (VOCAB_SIZE + 2) - 1
        case "rollback" | "set_span_timeout":
            return name, number % 7
        case "activate":
            return name, [*PATHS, "", "Action"][number % 5]
        case "mask":
            return name, VOCAB_SIZE - 1 + number % 20
        case "sample":
            special = [0.0, math.nan, math.inf, -math.inf]
            logits = [random.choice([*special, *[random.gauss(0, 3)] * 8]) for _ in range(VOCAB_SIZE + number % 2)]
            return name, logits, random.randrange(2), random.choice([0.0, 0.5, 1.0, 7.0]), random.uniform(0.05, 1.2)
    return (name,)


def take(subject: Any, step: tuple[Any, ...]) -> Any:
    """Does one step on either subject. What comes out must be the same on both."""
    matcher, (name, *arguments) = subject.matcher, step
    if name == "accept":
        result = matcher.accept(arguments[0])
        return result if isinstance(result, set) else names_of(result)
    if name == "mask":
        return subject.kept(arguments[0])
    return getattr(matcher, name)(*arguments)


def take_or_status(subject: Any, step: tuple[Any, ...]) -> Any:
    try:
        return take(subject, step)
    except oracle.Refusal as refusal:
        return refusal.status
    except ElizaError as error:
        return "ELIZA_ERR_" + Status(error.status).name


def legal_token(look: dict[str, Any], index: int) -> int:
    allowed = range(VOCAB_SIZE) if look["allowed"] == "all" else look["allowed"]
    return int(allowed[index % len(allowed)])


def sample_agrees(naive: Oracle, subjects: list[Library], step: tuple[Any, ...]) -> None:
    """A draw on the border of two tokens may be either; the generators stay in step."""
    _, logits, mode, temperature, top_p = step
    array = np.array(logits, dtype=np.float32)
    possible = naive.matcher.sample(array.tolist(), mode, float(np.float32(temperature)), float(np.float32(top_p)))
    drawn = {subject.matcher.sample(array, Mode(mode), temperature=temperature, top_p=top_p) for subject in subjects}
    assert len(drawn) == 1
    assert drawn <= possible


@thorough
@given(spelled=spellings(), walk=st.lists(steps, min_size=4, max_size=60))
def test_random_walks_through_random_payloads(spelled: tuple[bytes, bytes], walk: list[tuple[str, int]]) -> None:
    text, packed = spelled
    naive = compile_or_status(Oracle, text)
    from_text, from_packed = compile_or_status(Library, text), compile_or_status(Library, packed)
    if isinstance(naive, str):
        event(naive)
        assert from_text == from_packed == naive
        return

    subjects = [from_text, from_packed]
    info = from_text.info()
    assert from_packed.info() == info
    assert info.items() >= naive.info().items()
    assert [subject.look() for subject in subjects] == [naive.look()] * 2
    for name, number in walk:
        step = step_from(name, number)
        if name == "clone":
            naive, subjects = naive.clone(), [subject.clone() for subject in subjects]
        elif name == "sample":
            sample_agrees(naive, subjects, step)
        else:
            if name == "accept_legal":
                step = ("accept", legal_token(naive.look(), number))
            expected = take_or_status(naive, step)
            event(f"{step[0]}: {sorted(expected) if isinstance(expected, set) else expected}")
            assert [take_or_status(subject, step) for subject in subjects] == [expected] * 2, step
        assert [subject.look() for subject in subjects] == [naive.look()] * 2, step


# ---- Damaged bytes ---------------------------------------------------------------------------------------------------

edits = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.floats(0, 1), st.binary(min_size=1, max_size=3)),
        st.tuples(st.just("put"), st.floats(0, 1), st.sampled_from([b"1", b"x", b" ", b"\x02"])),
        st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=3)),
        st.tuples(st.just("insert"), st.floats(0, 1), st.sampled_from([b",", b"[", b"}", b'"', b"\\u", b"-", b"\x91"])),
        st.tuples(st.just("remove"), st.floats(0, 1), st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("cut"), st.floats(0, 1), st.just(b"")),
        st.tuples(st.just("double"), st.floats(0, 1), st.binary(min_size=1, max_size=40)),
    ),
    min_size=1,
    max_size=2,
)


def damaged(payload: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, where, what in changes:
        at = int(where * len(payload))
        before, after, n = payload[:at], payload[at:], len(what)
        payload = {
            "put": before + what + after[n:],
            "insert": before + what + after,
            "remove": before + after[n:],
            "cut": before,
            "double": before + after[:n] + after,
        }[kind]
    return payload


@thorough
@given(spelled=spellings(), packed=st.booleans(), changes=edits)
def test_damaged_payloads(spelled: tuple[bytes, bytes], packed: bool, changes: list[tuple[str, float, bytes]]) -> None:
    """Taken exactly if the oracle takes them, and as the same thing; otherwise refused with a reason."""
    payload = damaged(spelled[packed], changes)
    naive, library = compile_or_status(Oracle, payload), compile_or_status(Library, payload)
    if isinstance(naive, str) or isinstance(library, str):
        event("refused")
        assert library in ("ELIZA_ERR_PAYLOAD", "ELIZA_ERR_LIMIT")
        assert isinstance(naive, str)
    else:
        event("taken")
        assert library.look() == naive.look()
        assert library.info().items() >= naive.info().items()


@short
@given(payload=st.binary(max_size=60) | st.builds(lambda tail: b"\x82" + tail, st.binary(max_size=60)))
def test_arbitrary_bytes(payload: bytes) -> None:
    assert compile_or_status(Library, payload) in ("ELIZA_ERR_PAYLOAD", "ELIZA_ERR_LIMIT")


# ---- Sampling --------------------------------------------------------------------------------------------------------


def test_generator_gives_the_published_sequence() -> None:
    """The oracle's generator, against the outputs that the reference implementation prints for 1234567."""
    generator = oracle.SplitMix64(1234567)
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [generator.next() for _ in published] == published


def flat_payload(n_leaves: int) -> bytes:
    """In its span the tokens 0 .. n_leaves-1 are legal."""
    leaves = [{"name": str(token), "tokens": [token]} for token in range(n_leaves)]
    return json.dumps({"modelId": "", "descriptors": [{"path": "p", "leaves": leaves}]}).encode()


def flat_matcher(n_leaves: int) -> Matcher:
    """Of a vocabulary twice as large as the tokens that are legal."""
    return Matcher(Constraint(Vocabulary(2 * n_leaves), flat_payload(n_leaves)))


def test_draws_follow_the_generator() -> None:
    """A draw among 1,024 equal tokens shows the first ten bits of each output."""
    matcher, generator = flat_matcher(1024), oracle.SplitMix64(2**64 - 3)
    matcher.set_seed(2**64 - 3)
    logits = np.zeros(2048, dtype=np.float32)
    drawn = [matcher.sample(logits, Mode.SAMPLED) for _ in range(1000)]
    assert drawn == [generator.next() >> 54 for _ in drawn]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_p", [0.3, 0.8, 1.0])
@pytest.mark.parametrize("n_leaves", [2, 9, 33, 100])
def test_frequencies_are_the_probabilities(temperature: float, top_p: float, n_leaves: int) -> None:
    """Each token within five standard deviations of its share; the seed makes the outcome fixed."""
    matcher, n_draws = flat_matcher(n_leaves), 20000
    matcher.set_seed(n_leaves)
    logits = np.sin(np.arange(2 * n_leaves, dtype=np.float32)) * np.float32(2)
    shares = oracle.probabilities(list(enumerate(logits[:n_leaves].tolist())), temperature)
    (kept,) = oracle.nuclei(shares, top_p)
    total = math.fsum(share for _, share in kept)
    expected = {token: share / total for token, share in kept}
    drawn = [matcher.sample(logits, Mode.SAMPLED, temperature=temperature, top_p=top_p) for _ in range(n_draws)]
    counts = np.bincount(drawn, minlength=n_leaves)
    for token in range(n_leaves):
        share = expected.get(token, 0.0)
        spread = math.sqrt(n_draws * share * (1 - share))
        assert abs(counts[token] - n_draws * share) <= 5 * spread, token


# Around the numbers at which a vector is full or another way of sorting is taken.
SIZES = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300]


@short
@given(
    n_leaves=st.sampled_from(SIZES),
    logits=st.lists(st.floats(-(2.0**100), 2.0**100, width=32) | logit, min_size=1, max_size=12),
    temperature=st.floats(-1, 0, width=32) | st.floats(2.0**-100, 2.0**100, width=32),
    top_p=st.floats(0.015625, 2, width=32),
    seed=st.integers(0, 2**64 - 1),
)
def test_draws_are_those_of_the_oracle(
    n_leaves: int, logits: list[float], temperature: float, top_p: float, seed: int
) -> None:
    """Any logits, of which some are equal."""
    matcher = flat_matcher(n_leaves)
    naive = oracle.Matcher(oracle.Constraint(oracle.decode(flat_payload(n_leaves)), vocab_size=2 * n_leaves))
    matcher.set_seed(seed)
    naive.set_seed(seed)
    array = np.array(Random(seed).choices(logits, k=2 * n_leaves), dtype=np.float32)
    for _ in range(3):
        drawn = matcher.sample(array, Mode.SAMPLED, temperature=temperature, top_p=top_p)
        assert drawn in naive.sample(array.tolist(), 1, temperature, top_p)


# ---- Size ------------------------------------------------------------------------------------------------------------


def test_history_is_as_long_as_promised() -> None:
    """Far more tokens than can be taken back, then as many as can."""
    tree = {
        "modelId": "",
        "descriptors": [{"path": "p", "leaves": [{"name": "A", "tokens": [1]}], "trigger": [[2, 3]]}],
    }
    matcher = Matcher(Constraint(Vocabulary(VOCAB_SIZE), json.dumps(tree)))
    matcher.accept(2)
    for _ in range(3 * oracle.ROLLBACK_TOKENS_MAX):
        matcher.accept(5)
    with pytest.raises(ElizaError, match="cannot take back 65537 tokens"):
        matcher.rollback(oracle.ROLLBACK_TOKENS_MAX + 1)
    matcher.rollback(oracle.ROLLBACK_TOKENS_MAX)
    matcher.accept(3)
    assert not matcher.state.active
