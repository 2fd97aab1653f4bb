"""Free text with parts that name tokens, by the definition: each part is a finite set of sequences of tokens and
bytes, and what is left of them is its state.

    recognizer = TokenRecognizer(parts, texts, ...)     as `tags.Recognizer`; a part's language is a `Sequences`

What is read is one token after another, by its number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from oracles.tags import Part, Recognizer, State

FIRST_TOKEN = 256

Sequence_ = tuple[int, ...]
"""A byte, or `FIRST_TOKEN` and the number of a token."""


class Sequences(NamedTuple):
    all: frozenset[Sequence_]

    def begin(self) -> frozenset[Sequence_]:
        return self.all

    def take(self, state: frozenset[Sequence_] | None, text: bytes) -> frozenset[Sequence_] | None:
        for byte in text:
            state = self.after(state or frozenset(), byte)
        return state or None

    def can_stop(self, state: Collection[Sequence_]) -> bool:
        return () in state

    def after(self, state: Collection[Sequence_], symbol: int) -> frozenset[Sequence_]:
        return frozenset(one[1:] for one in state if one[:1] == (symbol,))


class TokenRecognizer(Recognizer):
    def __init__(self, parts: Sequence[Part], texts: Sequence[bytes], **options: Any) -> None:
        """`texts`: what each token spells; the byte that stands for a control token; "" of one that no text has."""
        super().__init__(parts, **options)
        self.texts = texts

    def allowed_tokens(self, state: State) -> list[int]:
        return [token for token in range(len(self.texts)) if self.take_token(state, token) is not None]

    def take_token(self, state: State, token: int) -> State | None:
        text = self.texts[token]
        read = self.take(state, text) if text else None
        part = state.part
        if state.mode != "part" or state.language is None or part is None:
            return read
        itself = part.language.after(state.language, FIRST_TOKEN + token)
        within = read if read is not None and self._is_within(state, text) else None
        if not itself or (read is not None and within is None and part.end):
            return read
        alone = state._replace(text=state.text + text, language=itself, stops=())
        return alone if within is None else within._replace(language=itself | (within.language or frozenset()))

    def _is_within(self, state: State, text: bytes) -> bool:
        """Whether the part continues to the end of a text that may follow."""
        for n in range(len(text)):
            after = self.take(state, text[: n + 1])
            if after is None or after.text != state.text + text[: n + 1]:
                return False
        return True
