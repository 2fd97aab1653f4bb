"""What every reader makes: the bytes and the flags of each token id."""

from __future__ import annotations

from collections.abc import Iterable

from eliza_inference.errors import FileInvalidError, InvalidArgumentError
from eliza_inference.token_flag import TokenFlag

__all__ = ["END_OF_GENERATION_NAMES", "TOKEN_ID_MAX", "TokenTable"]

END_OF_GENERATION_NAMES = frozenset(
    (
        "</s>",
        "<EOT>",
        "<end_of_turn>",
        "<end_of_utterance>",
        "<eos>",
        "<|END_OF_TURN_TOKEN|>",
        "<|call|>",
        "<|end_of_text|>",
        "<|endoftext|>",
        "<|end|>",
        "<|eom_id|>",
        "<|eot_id|>",
        "<|eot|>",
        "<|im_end|>",
        "<|return|>",
        "<turn|>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
        "[EOS]",
        "[EOT]",
    )
)
"""What models call the special tokens with which they end a generation."""

TOKEN_ID_MAX = 0xFFFFFE
"""The highest id that a file may give: a vocabulary has at most 16,777,215 tokens."""


class TokenTable:
    """The tokens of a file as they are read, in any order.

    `source` is named at the beginning of each message.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._bytes: dict[int, bytes] = {}
        self._special: list[tuple[str, int]] = []
        self._replaced: set[int] = set()

    def add(self, token: object, token_bytes: bytes, where: str) -> None:
        """Adds an ordinary token."""
        if type(token) is not int or not 0 <= token <= TOKEN_ID_MAX:
            raise self.error(where, f"{token!r} is not a token id, an integer of 0..{TOKEN_ID_MAX}")
        if token in self._bytes:
            raise self.error(where, f"{token} is the id of two tokens, {self._bytes[token]!r} and {token_bytes!r}")
        self._bytes[token] = token_bytes

    def replace(self, token: object, token_bytes: bytes, where: str) -> None:
        """Adds an ordinary token in place of one that `add` may have added."""
        if type(token) is int and token not in self._replaced:
            self._bytes.pop(token, None)
            self._replaced.add(token)
        self.add(token, token_bytes, where)

    def mark_special(self, token: int, name: str) -> None:
        """Makes a token special: its name is not output."""
        self._special.append((name, token))

    def error(self, where: str, what: str) -> FileInvalidError:
        """The error at a place of the file; "" is the whole of it."""
        place = f"{where}: " if where else ""
        return FileInvalidError(f"{self._source}: {place}{what}")

    def finish(
        self, n_tokens: int | None, end_of_generation: Iterable[str | int] | None
    ) -> tuple[list[bytes], list[TokenFlag]]:
        """The bytes and flags of the ids from 0 on. Ids without a token, and those up to `n_tokens`,
        are unused."""
        n_listed = max(self._bytes, default=-1) + 1
        if n_tokens is None:
            n_tokens = n_listed
        if n_tokens < n_listed:
            raise InvalidArgumentError(f"n_tokens: {n_tokens} is less than the {n_listed} tokens of {self._source}")
        if n_listed == 0:
            raise self.error("", "no tokens")
        flags = [TokenFlag.NORMAL if token in self._bytes else TokenFlag.UNUSED for token in range(n_tokens)]
        for _, token in self._special:
            flags[token] |= TokenFlag.SPECIAL
        for token in self._end_tokens(end_of_generation):
            flags[token] |= TokenFlag.END_OF_GENERATION
        return [self._bytes.get(token, b"") for token in range(n_tokens)], flags

    def _end_tokens(self, given: Iterable[str | int] | None) -> list[int]:
        if given is None:
            return [token for name, token in self._special if name in END_OF_GENERATION_NAMES]
        tokens: list[int] = []
        for each in given:
            named = [token for name, token in self._special if name == each] if isinstance(each, str) else [each]
            if not named or not all(token in self._bytes for token in named):
                raise InvalidArgumentError(f"end_of_generation: {each!r} is no special token of {self._source}")
            tokens.extend(named)
        return tokens
