"""Keys of objects that users write: one that nothing reads is an error, which names the key that was probably meant.

bindings-ts/src/keys.ts does the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from eliza_inference.errors import InvalidArgumentError

__all__ = ["check_keys", "unknown_key"]


def check_keys(place: str, given: Mapping[str, Any], known: Collection[str], meant: Mapping[str, str] = {}) -> None:
    """Refuses keys that are not `known`. `meant` has what other words for them mean."""
    for key in given:
        if key not in known:
            raise InvalidArgumentError(f"{place}: {unknown_key(key, known, meant)}")


def unknown_key(key: object, known: Iterable[str], meant: Mapping[str, str] = {}) -> str:
    """A message, with the known key that is nearest if one is near."""
    word = str(key)
    near = meant.get(word) or _nearest(word, known)
    advice = f"; did you mean {json.dumps(near)}?" if near else ""
    return f"the key {json.dumps(word, ensure_ascii=False)} is not known{advice}"


def _nearest(word: str, known: Iterable[str]) -> str | None:
    found = min((_distance(_plain(word), _plain(one)), _distance(word, one), one) for one in known)
    return found[2] if found[0] <= min(2, len(word) // 2) else None


def _plain(word: str) -> str:
    """So that `inputSchema` is `input_schema`."""
    return word.replace("_", "").replace("-", "").lower()


def _distance(a: str, b: str) -> int:
    """How many letters to insert, remove or change."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
    return row[-1]
