"""A vocabulary for the tests of recognizers, and what a greedy tokenizer makes of a text."""

import numpy as np
from eliza_inference import Matcher, TokenFlag, Vocabulary

WORDS = [
    b" the", b"true", b"fa", b"false", b"null", b"ab", b"abc", b'{"', b'":', b'"}', b"[1", b"12", b", ", b"  ",
    "é".encode(), "日".encode(), b"]}", b"value", b"SEND", b"SEND_", b"MESSAGE",
]  # fmt: skip
# Enough that where text is free, a bitmap says it better than a list.
WORDS += [chr(0x4E00 + n).encode() for n in range(400)]
END = 256 + len(WORDS)
OTHER_END = END + 1
CONTROL = END + 2
N_TOKENS = END + 5
"""The last two are unused, as in a padded vocabulary."""

N_WORDS = (N_TOKENS + 31) // 32


def text_vocabulary() -> Vocabulary:
    """A token for each byte, some words, and tokens that are not text."""
    token_bytes = [bytes([byte]) for byte in range(256)] + WORDS + [b"</s>", b"<end>", b"<ctl>", b"", b""]
    flags = [TokenFlag.NORMAL] * END + [
        TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION,
        TokenFlag.SPECIAL,
        TokenFlag.SPECIAL,
        TokenFlag.UNUSED,
        TokenFlag.UNUSED,
    ]
    return Vocabulary(N_TOKENS, token_bytes, flags)


def longest_first(text: bytes) -> list[int]:
    """The longest token first."""
    by_length = sorted(((word, 256 + index) for index, word in enumerate(WORDS)), key=lambda each: -len(each[0]))
    tokens: list[int] = []
    while text:
        word, token = next((each for each in by_length if text.startswith(each[0])), (text[:1], text[0]))
        tokens.append(token)
        text = text[len(word) :]
    return tokens


def allowed_ids(matcher: Matcher) -> set[int]:
    """The legal tokens, whatever their form."""
    allowed = matcher.allowed()
    return set(range(N_TOKENS)) if allowed is None else set(allowed.tolist())


def listed(matcher: Matcher) -> list[int]:
    """The legal tokens, in order, where not every token is legal."""
    allowed = matcher.allowed()
    assert allowed is not None
    return [int(token) for token in allowed]


def ids_of(bitmap: object) -> set[int]:
    """The tokens of a bitmap: bit i % 32 of word i / 32."""
    words = np.frombuffer(bitmap, np.uint32)  # type: ignore[call-overload]
    return {32 * at + bit for at, word in enumerate(words.tolist()) for bit in range(32) if word >> bit & 1}


def tokens_of(*texts: str | bytes) -> set[int]:
    """The tokens with these bytes."""
    wanted = {text if isinstance(text, bytes) else text.encode() for text in texts}
    return {byte for byte in range(256) if bytes([byte]) in wanted} | {
        256 + index for index, word in enumerate(WORDS) if word in wanted
    }


def accept_text(matcher: Matcher, text: str | bytes) -> None:
    """Accepts a text, the longest token first."""
    for token in longest_first(text if isinstance(text, bytes) else text.encode()):
        step = matcher.accept(token)
        assert step.REFUSED not in step, (text, token)
