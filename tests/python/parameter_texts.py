"""Texts of parameters as tokens that cut them by chance."""

from __future__ import annotations

from random import Random

from eliza_inference import Matcher, Step, Vocabulary


def goes(matcher: Matcher, tokens: list[int]) -> bool:
    """Each token is in the mask if and only if it is taken."""
    for token in tokens:
        allowed = matcher.allowed()
        assert allowed is not None
        is_taken = Step.IN_SPAN in matcher.accept(token)
        assert (token in allowed) == is_taken
        if not is_taken:
            return False
    return True


def vocabulary_of(texts: list[str], random: Random) -> tuple[Vocabulary, list[bytes]]:
    """All bytes, pieces of the texts by chance, and an end token."""
    pieces = [bytes([byte]) for byte in range(256)]
    for text in texts:
        data = text.encode()
        for _ in range(6):
            at = random.randrange(len(data))
            pieces.append(data[at : at + random.randint(2, 12)])
    pieces = list(dict.fromkeys(pieces))
    return Vocabulary(len(pieces) + 1, [*pieces, b"</s>"], [0] * len(pieces) + [2]), pieces


def cut(data: bytes, pieces: list[bytes], random: Random) -> list[int]:
    number = {piece: n for n, piece in enumerate(pieces)}
    tokens = []
    while data:
        fits = [n for n in range(1, min(len(data), 12) + 1) if data[:n] in number]
        taken = random.choice(fits)
        tokens.append(number[data[:taken]])
        data = data[taken:]
    return tokens
