"""Parts of tags that name tokens, token trees among them, token by token against the oracle. Seeds are fixed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import pytest
from eliza_inference import (
    Constraint,
    GrammarError,
    Matcher,
    Step,
    Tag,
    TokenFlag,
    TokenSequence,
    TokenTree,
    TokenTreeDescriptor,
    Vocabulary,
)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles.tags import CONTROL, Part
from oracles.token_parts import FIRST_TOKEN, Sequence_, Sequences, TokenRecognizer
from subjects import bits_of

N_DESCRIPTORS = 240
BLOCK = 30  # cases of one test

# Twins, what crosses begin and end texts, control tokens that are in texts around parts and that are not, and the end.
TEXTS = ["a", "b", "<", ">", "/", "ab", "<a", "a<", "b>", "</", "/>", "<b>", "b>a", "<b>a", "a<b>b", "</a", ">a", "aa"]
TEXTS += ["a", "ab"]
CONTROLS = ["<c>", "</c>", "<d>"]
BYTES = [text.encode() for text in [*TEXTS, *CONTROLS, "</s>"]]
N_TEXTS = len(TEXTS)
END = len(BYTES) - 1
SPECIAL = int(TokenFlag.SPECIAL)
FLAGS = [0] * N_TEXTS + [SPECIAL] * len(CONTROLS) + [SPECIAL | int(TokenFlag.END_OF_GENERATION)]


def symbols_of(text: str) -> bytes:
    """As the oracle has them: a byte that no text has in place of a control token."""
    for n, control in enumerate(CONTROLS):
        text = text.replace(control, chr(0x100 + n))
    return b"".join(bytes([CONTROL + ord(c) - 0x100]) if ord(c) >= 0x100 else c.encode() for c in text)


def sequences(random: Random, with_bytes: bool) -> frozenset[Sequence_]:
    def symbol() -> tuple[int, ...]:
        if with_bytes and random.random() < 0.5:
            return tuple(random.choice(["a", "b", "ab", "<", ">", "</"]).encode())
        return (FIRST_TOKEN + random.choice([*range(N_TEXTS), *range(END)]),)

    found: list[Sequence_] = []
    for _ in range(random.randint(1, 5)):
        begin = random.choice(found) if found and random.random() < 0.4 else ()
        found.append(begin + sum((symbol() for _ in range(random.randint(1, 3))), ()))
    return frozenset(found)


def tree_of(some: frozenset[Sequence_]) -> TokenTree:
    leaves = [TokenSequence(f"N{n}", tuple(s - FIRST_TOKEN for s in one)) for n, one in enumerate(sorted(some))]
    return TokenTree((TokenTreeDescriptor("p", tuple(leaves)),), labels=True)


def gbnf_of(some: frozenset[Sequence_]) -> str:
    def item(symbol: int) -> str:
        return f"<[{symbol - FIRST_TOKEN}]>" if symbol >= FIRST_TOKEN else json.dumps(chr(symbol))

    return "root ::= " + " | ".join(" ".join(map(item, one)) for one in sorted(some))


def by_chance(random: Random) -> tuple[dict[str, Any], TokenRecognizer]:
    tags: list[dict[str, Any]] = []
    parts = []
    begins = random.sample(["<b>", "<a", "b>b", "<c>", "aa<"], random.randint(1, 2))
    for begin in begins:
        is_tree = random.random() < 0.5
        some = sequences(random, with_bytes=not is_tree)
        end = random.choice(["", "", "</", ">", "a>", "</c>", "ab", "<<"])
        content: dict[str, Any] = {"token_tree": tree_of(some)} if is_tree else {"gbnf": gbnf_of(some)}
        tags.append({"begin": begin, "end": end, **content})
        parts.append(Part(symbols_of(begin), symbols_of(end), Sequences(some)))
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        options["at_least"] = random.randint(1, 2)
    if random.random() < 0.3:
        options["at_most"] = random.randint(options.get("at_least", 1), 3)
    if random.random() < 0.2 and options.get("at_least", 0) < 2:
        options["stop_after_first"] = True
    # All that are in texts around parts, in these or in others.
    descriptor = {"tags": tags, "special_tokens": CONTROLS[:2], **options}
    texts = [text.encode() for text in TEXTS] + [bytes([CONTROL + n]) for n in range(2)] + [b"", b""]
    return descriptor, TokenRecognizer(parts, texts, **options)


class Walk:
    """A matcher and the oracle's state, side by side."""

    def __init__(self, constraint: Constraint, oracle: TokenRecognizer) -> None:
        self.matcher = Matcher(constraint)
        self.oracle = oracle
        self.states = [oracle.begin()]
        self.taken: list[int] = []

    def check(self) -> list[int]:
        where = f"after {self.taken} {[BYTES[token] for token in self.taken]}"
        state = self.states[-1]
        tokens = self.oracle.allowed_tokens(state)
        can_stop = self.oracle.can_stop(state)
        expected = sorted({*tokens, *([END] if can_stop else [])})
        allowed = self.matcher.allowed()
        assert allowed is not None, where
        assert allowed.tolist() == expected, where
        assert bits_of(self.matcher.fill_bitmap()) == expected, where
        assert self.matcher.can_stop == can_stop, where
        assert expected, where
        self.check_forced(where, state, tokens)
        return tokens

    def check_forced(self, where: str, state: Any, tokens: list[int]) -> None:
        """All that may come begins with the forced bytes, and forced tokens may come."""
        run = self.matcher.forced_bytes()
        for token in tokens if run else []:
            assert token < N_TEXTS, where
            assert run.startswith(BYTES[token]) or BYTES[token].startswith(run), where
        assert not run or not self.oracle.can_stop(state), where
        forced = self.matcher.forced()
        if len(tokens) == 1 and not self.oracle.can_stop(state):
            assert forced[:1] == tokens, where
        clone = self.matcher.clone()
        assert all(Step.IN_SPAN in clone.accept(token) for token in forced), where

    def take(self, token: int) -> None:
        assert self.matcher.accept(token) == Step.IN_SPAN, (self.taken, token)
        after = self.oracle.take_token(self.states[-1], token)
        assert after is not None
        self.states.append(after)
        self.taken.append(token)

    def at_random(self, random: Random, n_tokens: int) -> None:
        for _ in range(n_tokens):
            allowed = self.check()
            for token in random.sample(range(END), 4):
                assert token in allowed or self.matcher.accept(token) == Step.REFUSED, (self.taken, token)
            if not allowed:
                break
            # More often what leads into parts, and through them.
            inside = [token for token in allowed if self.is_within(token)]
            self.take(random.choice(inside if inside and random.random() < 0.7 else allowed))
        self.check()
        n = random.randint(0, len(self.taken))
        self.matcher.rollback(n)
        del self.states[len(self.states) - n :], self.taken[len(self.taken) - n :]
        self.check()

    def is_within(self, token: int) -> bool:
        after = self.oracle.take_token(self.states[-1], token)
        return after is not None and after.mode in ("part", "behind")


@pytest.mark.parametrize("block", range(0, N_DESCRIPTORS, BLOCK))
def test_descriptors_by_chance(block: int) -> None:
    vocabulary = Vocabulary(len(BYTES), BYTES, FLAGS)
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"token parts {seed}")
        descriptor, oracle = by_chance(random)
        try:
            constraint = Constraint.tags(vocabulary, descriptor)
        except GrammarError as error:
            assert "begin" in str(error)
            continue
        n_compiled += 1
        for _ in range(6):
            try:
                Walk(constraint, oracle).at_random(random, 10)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{descriptor}") from error
    assert n_compiled >= 0.5 * BLOCK


def test_a_begin_text_and_an_end_text_in_all_their_tokens(tmp_path: Path) -> None:
    """Cut at every two places; a token that goes beyond either end is not legal within."""
    begin, end = b"<call=f>", b"</call>"
    texts = sorted({text[i:j] for text in (begin, end) for i in range(len(text)) for j in range(i + 1, len(text) + 1)})
    texts += [b"run", b" fast", b">run", b"run<"]
    number = {text: n for n, text in enumerate(texts)}
    vocabulary = Vocabulary(len(texts) + 1, [*texts, b"</s>"], [0] * len(texts) + [SPECIAL | 2])
    names = {"run": [number[b"run"]], "run fast": [number[b"run"], number[b" fast"]]}
    compiled = Constraint.tags(vocabulary, [Tag("<call=f>", "</call>", token_tree=TokenTree.from_names(names, names))])
    compiled.save(tmp_path / "saved")
    beginnings = [number[end[:n]] for n in range(1, len(end) + 1)]
    for constraint in (compiled, Constraint.open(vocabulary, tmp_path / "saved")):
        for i in range(len(begin)):
            for j in range(i + 1, len(begin) + 1):
                matcher = Matcher(constraint)
                read = b""
                for piece in filter(None, (begin[:i], begin[i:j], begin[j:])):
                    assert (number[b">run"] in listed(matcher)) == (read != begin[:-1])
                    assert matcher.accept(number[piece]) == Step.IN_SPAN
                    read += piece
                assert listed(matcher) == [number[b"run"]]
                assert matcher.forced() == [number[b"run"]]
                matcher.accept(number[b"run"])
                assert listed(matcher) == sorted([number[b" fast"], *beginnings])
                clone = matcher.clone()
                clone.accept(number[b" fast"])
                assert listed(clone) == sorted(beginnings)
                for one in (matcher, clone):
                    for piece in filter(None, (end[:i], end[i:j], end[j:])):
                        assert one.accept(number[piece]) == Step.IN_SPAN, piece
                    assert one.can_stop


def test_a_token_tree_in_messagepack_is_the_one_in_json() -> None:
    vocabulary = Vocabulary(len(BYTES), BYTES, FLAGS)
    for seed in range(20):
        random = Random(f"messagepack {seed}")
        tree = tree_of(sequences(random, with_bytes=False))
        tag = {"begin": "<b>", "end": random.choice(["", "</"])}
        packed = msgpack.packb({"tags": [{**tag, "token_tree": msgpack.unpackb(tree.to_msgpack())}]})
        matchers = [
            Matcher(Constraint.tags(vocabulary, {"tags": [{**tag, "token_tree": tree}]})),
            Matcher(Constraint.tags(vocabulary, packed)),
        ]
        for _ in range(8):
            allowed = listed(matchers[0])
            assert listed(matchers[1]) == allowed
            if allowed == [END]:
                break
            token = random.choice([token for token in allowed if token != END])
            assert [matcher.accept(token) for matcher in matchers] == [Step.IN_SPAN] * 2


def test_a_token_tree_among_parts_in_a_row() -> None:
    """Each part by its tokens, the separator in between."""
    vocabulary = Vocabulary(len(BYTES), BYTES, FLAGS)
    tree = tree_of(frozenset({(FIRST_TOKEN, FIRST_TOKEN + 1), (FIRST_TOKEN + 5,)}))
    inner = Tag("<a", ">", token_tree=tree)
    matcher = Matcher(Constraint.tags(vocabulary, [Tag("<b>", "</", tags=[inner], separator="/")]))
    for text, allowed in (
        ("<b>", ["<", "<a"]),
        ("<a", ["a", "ab"]),
        ("ab", [">"]),
        (">", ["/", "<", "</", "</a"]),
        ("/", ["<", "<a"]),
        ("<a", ["a", "ab"]),
        ("a", ["b"]),
        ("b", [">"]),
        (">", ["/", "<", "</", "</a"]),
    ):
        assert matcher.accept(TEXTS.index(text)) == Step.IN_SPAN
        assert [TEXTS[token] for token in listed(matcher) if token < 18] == sorted(allowed, key=TEXTS.index), text
    assert matcher.accept(TEXTS.index("</")) == Step.IN_SPAN
    assert matcher.can_stop


def listed(matcher: Matcher) -> list[int]:
    allowed = matcher.allowed()
    assert allowed is not None
    return [int(token) for token in allowed]
