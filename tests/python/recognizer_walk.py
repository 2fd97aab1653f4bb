"""A matcher and an oracle, side by side along a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Protocol

from eliza_inference import Constraint, Matcher, Step, TokenFlag, Vocabulary

from recognizer_fixtures import listed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles.tags import CONTROL
from subjects import bits_of

FORCED_BYTES_CHECKED = 40


class Oracle(Protocol):
    """One of tests/oracles; it alone knows what its states are."""

    def begin(self) -> Any: ...
    def allowed(self, state: Any, tokens: list[bytes]) -> list[int]: ...
    def take(self, state: Any, text: bytes) -> Any: ...
    def can_stop(self, state: Any) -> bool: ...


class Tokens:
    """A vocabulary with the given tokens, a token of each kind that no text allows, and an end token."""

    def __init__(self, tokens: list[bytes], control: Sequence[tuple[bytes, TokenFlag]] = ()) -> None:
        """`control`: control tokens that texts around parts have, for the oracle of tags."""
        special, unused, end = (TokenFlag.SPECIAL, TokenFlag.UNUSED, TokenFlag.END_OF_GENERATION)
        extra = [*control, (tokens[0], special), (tokens[0], unused), (b"", 0), (tokens[0], end)]
        self.bytes = [*tokens, *(token for token, _ in extra)]
        self.flags = [0] * len(tokens) + [int(flag) for _, flag in extra]
        stand_ins = [bytes([CONTROL + n]) for n in range(len(control))]
        self.has_control = bool(control)
        self.ends = [n for n, flag in enumerate(self.flags) if flag & end]
        self.text = [*tokens, *stand_ins, b"", b"", b"", b""]
        """The bytes of those that a text can have; the oracle's bytes of control tokens."""
        self.end = len(self.bytes) - 1
        self.vocabulary = Vocabulary(len(self.bytes), self.bytes, self.flags)


class Walk:
    """A matcher and the oracle's state, side by side."""

    def __init__(self, constraint: Constraint, recognizer: Oracle, tokens: Tokens, *, prefill: bytes = b"") -> None:
        self.matcher = Matcher(constraint, prefill=prefill)
        self.recognizer = recognizer
        self.tokens = tokens
        self.states = [recognizer.begin()]
        self.taken: list[int] = []

    @property
    def where(self) -> str:
        return f"after {b''.join(self.tokens.text[token] for token in self.taken)!r}"

    def check(self) -> list[int]:
        """Compares the masks; returns the tokens of text that can come next."""
        state = self.states[-1]
        text = self.recognizer.allowed(state, self.tokens.text)
        can_stop = self.recognizer.can_stop(state)
        expected = sorted([*text, *(self.tokens.ends if can_stop else [])])
        allowed = self.matcher.allowed()
        assert allowed is not None, self.where
        found = allowed.tolist()
        assert found == expected, f"{self.where}: {self._differences(found, expected)}"
        assert self.matcher.can_stop == can_stop, self.where
        assert bits_of(self.matcher.fill_bitmap()) == expected, self.where
        return text

    def _differences(self, found: list[int], expected: list[int]) -> str:
        more = [self.tokens.bytes[token] for token in found if token not in expected]
        less = [self.tokens.bytes[token] for token in expected if token not in found]
        return f"allowed but wrong {more}, missing {less}"

    def check_forced(self) -> None:
        """What is forced is what alone can follow, and its tokens are tokens of it."""
        state, run = self.states[-1], b""
        while len(run) < FORCED_BYTES_CHECKED and not self.recognizer.can_stop(state):
            after = {byte: self.recognizer.take(state, bytes([byte])) for byte in range(256)}
            possible = [byte for byte, one in after.items() if one]
            if len(possible) != 1 or (possible[0] >= CONTROL and self.tokens.has_control):
                break
            run += bytes(possible)
            state = after[possible[0]]
        found = self.matcher.forced_bytes()
        assert found[:FORCED_BYTES_CHECKED] == run, self.where
        forced = self.matcher.forced()
        if self.matcher.state.n_allowed == 1:
            assert forced[:1] == listed(self.matcher), self.where
        elif forced:
            assert found.startswith(b"".join(self.tokens.text[token] for token in forced)), self.where
        clone = self.matcher.clone()
        assert all(Step.IN_SPAN in clone.accept(token) for token in forced), self.where

    def take(self, token: int) -> None:
        assert self.matcher.accept(token) == Step.IN_SPAN, f"{self.where}: {self.tokens.bytes[token]!r}"
        after = self.recognizer.take(self.states[-1], self.tokens.text[token])
        assert after is not None
        self.states.append(after)
        self.taken.append(token)

    def refuse_some(self, random: Random, allowed: list[int]) -> None:
        """Refused tokens change nothing."""
        others = [n for n in range(self.tokens.end) if n not in allowed and n not in self.tokens.ends]
        for token in random.sample(others, min(3, len(others))):
            assert self.matcher.accept(token) == Step.REFUSED, f"{self.where}: {self.tokens.bytes[token]!r}"

    def roll_back(self, random: Random) -> None:
        n = random.randint(0, len(self.taken))
        self.matcher.rollback(n)
        del self.states[len(self.states) - n :], self.taken[len(self.taken) - n :]

    def at_random(self, random: Random, n_tokens: int) -> None:
        for _ in range(n_tokens):
            allowed = self.check()
            self.refuse_some(random, allowed)
            self.check_forced()
            if not allowed:
                break
            self.take(random.choice(allowed))
        self.check()
        self.roll_back(random)
        self.check()
