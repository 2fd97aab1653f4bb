"""Sets of characters as ranges of code points, and what the first bytes of a character say of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

Range = tuple[int, int]
"""The first and the last code point."""

LAST = 0x10FFFF
SURROGATES: Range = (0xD800, 0xDFFF)


def union(ranges: list[Range]) -> tuple[Range, ...]:
    """Ascending, apart from each other, and without surrogates, which no UTF-8 has."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(
        piece
        for first, last in joined
        for piece in ((first, min(last, SURROGATES[0] - 1)), (max(first, SURROGATES[1] + 1), last))
        if piece[0] <= piece[1]
    )


def complement(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    gaps, begin = [], 0
    for first, last in ranges:
        gaps.append((begin, first - 1))
        begin = last + 1
    return union([gap for gap in [*gaps, (begin, LAST)] if gap[0] <= gap[1]])


@cache
def category(escape: str) -> tuple[Range, ...]:
    r"""The characters of `\d`, `\w` or `\s` in Python's `re`."""
    pattern = re.compile(escape)
    return union([(c, c) for c in range(LAST + 1) if pattern.match(chr(c))])


def other_cases(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """The ranges with every character that is one of theirs but for case."""
    folds = {_folds()[c] for first, last in ranges for c in range(first, last + 1) if c in _folds()}
    return union([*ranges, *((c, c) for c, fold in _folds().items() if fold in folds)])


@cache
def _folds() -> dict[int, str]:
    """What each character that has another case folds to."""
    folds = {c: _folded(chr(c)) for c in range(LAST + 1)}
    often = Counter(folds.values())
    return {c: fold for c, fold in folds.items() if often[fold] > 1}


def _folded(character: str) -> str:
    """Unicode's simple case folding: of one character to one."""
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


def of_prefix(prefix: bytes) -> Range | None:
    """The code points whose UTF-8 begins with these bytes (1 to 4); None if no character's does."""
    lead = prefix[0]
    length = (
        1
        if lead < 0x80
        else 2
        if 0xC0 <= lead < 0xE0
        else 3
        if 0xE0 <= lead < 0xF0
        else 4
        if 0xF0 <= lead < 0xF8
        else 0
    )
    if not length or len(prefix) > length or any(byte & 0xC0 != 0x80 for byte in prefix[1:]):
        return None
    value = lead if length == 1 else lead & (0x7F >> length)
    for byte in prefix[1:]:
        value = value << 6 | byte & 0x3F
    missing = 6 * (length - len(prefix))
    first = max(value << missing, [0, 0, 0x80, 0x800, 0x10000][length])
    last = min((value + 1 << missing) - 1, LAST)
    if first > last or (SURROGATES[0] <= first and last <= SURROGATES[1]):
        return None
    return first, last


def is_whole(prefix: bytes) -> bool:
    """Whether these bytes, of which `of_prefix` knows characters, are one character."""
    found = of_prefix(prefix)
    return found is not None and found[0] == found[1] and len(chr(found[0]).encode()) == len(prefix)
