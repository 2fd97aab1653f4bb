#!/usr/bin/env python3
"""Writes native/src/shell/compile/regex/unicode_tables.zig, which is checked in.

    pip install regex==2026.11.15
    python3 native/tools/unicode_tables.py

The properties are those of the package `regex` (PyPI), whose pinned version above carries Unicode 18.0.0;
it is needed for generating only. Simple case folding is compared with what the interpreter's own, older
Unicode knows, so that a change of the package's private functions would be seen.

Format of the tables. A varint is little-endian, seven bits a byte, the top bit says that more follow.
Runs cover the code points from 0 on, without gaps.
- categories: a byte with the category in its low five bits and in its high three bits the length - 1, or 7
  and a varint of the length - 8 behind it. Category 30 stands for pairs of Lu, Ll (the length counts pairs).
- scripts: a byte (index in script_names), a varint of the length.
- folds, of what differs from its simple case folding: the varints gap to the end of the previous run,
  (length << 1 | stride - 1), and zigzag(folded - code point). Stride 2 leaves every other code point out.
"""

import itertools
import pathlib
import sys
from collections.abc import Iterable, Iterator, Sequence

from regex import _regex, _regex_core

UNICODE_VERSION = "18.0.0"
PACKAGE_VERSION = "2026.11.15"
OUT = pathlib.Path(__file__).resolve().parent.parent / "src/shell/compile/regex/unicode_tables.zig"
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
LONG_NAMES = """Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter Other_Letter Nonspacing_Mark
Spacing_Mark Enclosing_Mark Decimal_Number Letter_Number Other_Number Connector_Punctuation Dash_Punctuation
Open_Punctuation Close_Punctuation Initial_Punctuation Final_Punctuation Other_Punctuation Math_Symbol
Currency_Symbol Modifier_Symbol Other_Symbol Space_Separator Line_Separator Paragraph_Separator Control Format
Surrogate Private_Use Unassigned""".split()
GROUPS = [
    ("L", "Letter"),
    ("LC", "Cased_Letter"),
    ("M", "Mark"),
    ("N", "Number"),
    ("P", "Punctuation"),
    ("S", "Symbol"),
    ("Z", "Separator"),
    ("C", "Other"),
    ("Any", "Any"),
]
N = 0x110000


def property_of(name: str) -> tuple[int, dict[str, int]]:
    number, values = _regex_core.PROPERTIES[name]
    return number, values


def partition(name: str, wanted: Sequence[int]) -> list[int]:
    """The value of each code point, as an index of `wanted`, which has all values that code points have."""
    number, _ = property_of(name)
    of = [-1] * N
    for index, value in enumerate(wanted):
        key = number << 16 | value
        for point in range(N):
            if of[point] < 0 and _regex.has_property_value(key, point):
                of[point] = index
    assert -1 not in of
    return of


def members(name: str) -> list[int]:
    number, values = property_of(name)
    key = number << 16 | values["YES"]
    return [point for point in range(N) if _regex.has_property_value(key, point)]


def runs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(value, length) of each maximal run."""
    start = 0
    for at in range(1, len(values) + 1):
        if at == len(values) or values[at] != values[start]:
            yield values[start], at - start
            start = at


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_categories(values: Sequence[int]) -> bytes:
    upper, lower, pairs = CATEGORIES.index("Lu"), CATEGORIES.index("Ll"), 30
    listed = list(runs(values))
    out = bytearray()

    def put(category: int, length: int) -> None:
        code = min(length - 1, 7)
        out.append(category | code << 5)
        if code == 7:
            out.extend(varint(length - 8))

    at = 0
    while at < len(listed):
        n = 0
        while listed[at + 2 * n : at + 2 * n + 2] == [(upper, 1), (lower, 1)]:
            n += 1
        if n > 1:
            put(pairs, n)
            at += 2 * n
        else:
            put(*listed[at])
            at += 1
    return bytes(out)


def encode_scripts(values: Sequence[int]) -> bytes:
    return b"".join(bytes([value]) + varint(length) for value, length in runs(values))


def simple_folds() -> dict[int, int]:
    """code point -> its simple case folding, where they differ."""
    flags = _regex_core.IGNORECASE | _regex_core.UNICODE
    folds: dict[int, int] = {}
    turkic = {0x130, 0x131}
    for point in range(N):
        cases = set(_regex.get_all_cases(flags, point)) - turkic
        if point in turkic or len(cases) < 2:
            continue
        # The folded form of an orbit is one of it: the one that the full folding of another member is,
        # else, for letters newer than the interpreter, the lower-case one.
        full = {chr(c).casefold() for c in cases}
        known = {ord(c) for c in full if len(c) == 1} & cases
        lower = {c for c in cases if chr(c).casefold() == chr(c) and chr(c).lower() == chr(c)}
        target = known if len(known) == 1 else lower
        folded = min(target) if target else min(cases)
        if point != folded:
            folds[point] = folded
    for point, folded in folds.items():
        assert folded not in folds, hex(point)
        own = chr(point).casefold()
        assert len(own) > 1 or own == chr(point) or ord(own) == folded, hex(point)
    return folds


def encode_folds(folds: dict[int, int]) -> bytes:
    points = sorted(folds)
    out = bytearray()
    end = at = 0
    while at < len(points):
        first, delta = points[at], folds[points[at]] - points[at]
        n, stride = max(((run_length(folds, points[at:], stride), stride) for stride in (1, 2)), key=lambda run: run[0])
        zigzag = delta << 1 if delta >= 0 else (-delta << 1) - 1
        out += varint(first - end) + varint(n << 1 | stride - 1) + varint(zigzag)
        end = first + (n - 1) * stride + 1
        at += n
    return bytes(out)


def run_length(folds: dict[int, int], points: Sequence[int], stride: int) -> int:
    """How many of the points, from the first on, are a stride apart and fold by the same difference."""
    first = points[0]
    delta = folds[first] - first
    run = itertools.takewhile(
        lambda i: points[i] == first + i * stride and folds[points[i]] - points[i] == delta, range(len(points))
    )
    return sum(1 for _ in run)


def mask_of(prefix: str) -> int:
    if prefix == "Any":
        return (1 << 30) - 1
    names = ("Lu", "Ll", "Lt") if prefix == "LC" else [c for c in CATEGORIES if c.startswith(prefix)]
    return sum(1 << CATEGORIES.index(c) for c in names)


def loose(name: str) -> str:
    return name.replace("_", "").lower()


def literal(data: bytes) -> str:
    lines = ['"' + "".join(f"\\x{byte:02x}" for byte in data[at : at + 32]) + '"' for at in range(0, len(data), 32)]
    return " ++\n    ".join(lines)


def ranges(points: Iterable[int]) -> str:
    listed = set(points)
    out: list[list[int]] = []
    for point in sorted(listed):
        if point - 1 in listed:
            out[-1][1] = point
        else:
            out.append([point, point])
    return ", ".join(f".{{ .first = 0x{a:x}, .last = 0x{b:x} }}" for a, b in out)


def main() -> None:
    _, gc_values = property_of("GENERALCATEGORY")
    categories = partition("GENERALCATEGORY", [gc_values[c.upper()] for c in CATEGORIES])
    _, script_values = property_of("SCRIPT")
    spelled: dict[int, list[str]] = {}
    for name, value in script_values.items():
        spelled.setdefault(value, []).append(loose(name))
    used = [v for v in sorted(spelled) if v != script_values["KATAKANAORHIRAGANA"]]
    scripts = partition("SCRIPT", used)
    folds = simple_folds()

    # \w is more than categories: letters by property, and what joins within words.
    word_mask = mask_of("L") | mask_of("M") | mask_of("Nd") | mask_of("Nl") | mask_of("Pc")
    word = set(members("ALPHABETIC")) | set(members("JOINCONTROL"))
    word_extra = [point for point in word if not word_mask >> categories[point] & 1]

    names: dict[str, int] = {}
    for index, (short, long) in enumerate(zip(CATEGORIES, LONG_NAMES, strict=True)):
        assert gc_values[long.replace("_", "").upper()] == gc_values[short.upper()]
        names[loose(short)] = names[loose(long)] = 1 << index
    for short, long in GROUPS:
        names[loose(short)] = names[loose(long)] = mask_of(short)

    parts = {
        "categories": encode_categories(categories),
        "scripts": encode_scripts(scripts),
        "folds": encode_folds(folds),
        "script_names": ";".join(",".join(spelled[v]) for v in used).encode(),
        "category_names": ";".join(f"{name}" for name in names).encode(),
    }
    for name, data in parts.items():
        print(f"{name}: {len(data)} bytes", file=sys.stderr)
    masks = ", ".join(f"0x{mask:x}" for mask in names.values())
    source = f"Unicode {UNICODE_VERSION} (package regex {PACKAGE_VERSION})"
    OUT.write_text(
        f"""//! Generated by native/tools/unicode_tables.py from {source}:
//! do not edit. The formats are described there.

const Range = @import("ast.zig").Range;

// zig fmt: off

/// The general category of every code point, packed.
pub const categories =
    {literal(parts["categories"])};

/// The script of every code point, packed.
pub const scripts =
    {literal(parts["scripts"])};

/// Lower case, without underscores; `,` between the names of one script, `;` between scripts.
pub const script_names = "{parts["script_names"].decode()}";

/// Lower case, without underscores, with `;` between them.
pub const category_names = "{parts["category_names"].decode()}";

/// [name]: bit c is category c of `categories`.
pub const category_masks = [_]u32{{ {masks} }};

/// The number of pairs in `folds`.
pub const n_folds = {len(folds)};
/// Simple case folding, packed.
pub const folds =
    {literal(parts["folds"])};

/// The category of \\d.
pub const digit_mask = 0x{mask_of("Nd"):x};
/// The categories of \\w.
pub const word_mask = 0x{word_mask:x};
/// What \\w has besides its categories: Other_Alphabetic without marks, and Join_Control.
pub const word_extra = [_]Range{{ {ranges(word_extra)} }};
/// The characters of \\s: White_Space.
pub const space = [_]Range{{ {ranges(members("WHITESPACE"))} }};
"""
    )


main()
