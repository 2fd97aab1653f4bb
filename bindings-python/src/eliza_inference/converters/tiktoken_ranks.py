"""Ranks of tiktoken: a file of lines `<base64 of the bytes> <rank>`, or a mapping from bytes to ranks."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from eliza_inference.converters.token_table import TokenTable

__all__ = ["read_tiktoken_ranks"]

Ranks = str | os.PathLike[str] | Mapping[bytes, int]


def read_tiktoken_ranks(ranks: Ranks, special: Mapping[str, int]) -> TokenTable:
    """The tokens of the ranks, and the special ones, which such files do not hold."""
    if isinstance(ranks, Mapping):
        table = TokenTable("tiktoken ranks")
        for token_bytes, rank in ranks.items():
            if not isinstance(token_bytes, bytes):
                raise table.error(repr(token_bytes), "expected bytes")
            table.add(rank, token_bytes, repr(token_bytes))
    else:
        table = TokenTable(os.fspath(ranks))
        for line, token_bytes, rank in _lines(Path(ranks), table):
            table.add(rank, token_bytes, f"line {line}")
    for name, token in special.items():
        try:
            token_bytes = name.encode()
        except UnicodeEncodeError as error:
            raise table.error(f"special token {name!r}", "not valid Unicode") from error
        table.add(token, token_bytes, f"special token {name}")
        table.mark_special(token, name)
    return table


def _lines(file: Path, table: TokenTable) -> Iterator[tuple[int, bytes, int]]:
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        if not line:
            continue
        try:
            encoded, rank = line.split()
            if not rank.isdigit():
                raise ValueError(rank)  # `int` reads signs and underscores, too
            yield number, base64.b64decode(encoded, validate=True), int(rank)
        except (ValueError, binascii.Error) as error:
            shown = line[:40].decode("utf-8", "replace")
            raise table.error(f"line {number}", f"expected base64 and a rank, got {shown!r}") from error
