"""Token healing by the definition: a language after a text, which comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Prefilled:
    """The operations are those of recognizer.py; within the text, a state is what is left of it."""

    def __init__(self, language: Any, text: bytes) -> None:
        self.language, self.text = language, text

    def begin(self) -> Any:
        return self.text or self.language.begin()

    def take(self, state: Any, text: bytes) -> Any:
        if not isinstance(state, bytes):
            return self.language.take(state, text)
        n = min(len(state), len(text))
        if state[:n] != text[:n]:
            return None
        return state[n:] or self.language.take(self.language.begin(), text[n:])

    def allowed(self, state: Any, tokens: Sequence[bytes]) -> list[int]:
        return [n for n, token in enumerate(tokens) if token and self.take(state, token) is not None]

    def can_stop(self, state: Any) -> bool:
        return not isinstance(state, bytes) and bool(self.language.can_stop(state))


def n_kept(prompt: Sequence[int], tokens: Sequence[bytes], text_bytes_max: int) -> int:
    """How many tokens of a prompt stay. Of tokens that no text has, the bytes are empty."""
    kept = len(prompt)
    for first in reversed(range(len(prompt))):
        text = b"".join(tokens[token] for token in prompt[first:])
        if not tokens[prompt[first]] or len(text) > text_bytes_max:
            break
        if any(len(token) > len(text) and token.startswith(text) for token in tokens):
            kept = first
    return kept
