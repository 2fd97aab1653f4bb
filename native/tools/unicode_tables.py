#!/usr/bin/env python3
"""Writes native/src/shell/compile/regex/unicode_tables.zig, which is checked in.

    pip install regex==2026.11.15
    npm install --prefix FOLDER @unicode/unicode-18.0.0@2.0.7
    python3 native/tools/unicode_tables.py FOLDER

Categories, scripts and case folding are those of the package `regex` (PyPI), binary properties and extensions of
scripts those of `@unicode/unicode-18.0.0` (npm): both carry Unicode 18.0.0, are needed for generating only, and are
compared where both have a property. Simple case folding is compared with what the interpreter's own, older
Unicode knows, so that a change of the package's private functions would be seen.

Format of the tables. A varint is little-endian, seven bits a byte, the top bit says that more follow.
Runs cover the code points from 0 on, without gaps.
- categories: a byte with the category in its low five bits and in its high three bits the length - 1, or 7
  and a varint of the length - 8 after it. Category 30 stands for pairs of Lu, Ll (the length counts pairs).
- scripts: a byte (index in script_names), a varint of the length.
- binary properties: for each a varint, how many edges follow, and the varints from one edge to the next. Between
  odd edges and the next ones lie the code points in which the property differs from the categories of its mask.
- script_extensions, of code points that have any: for each run of equal ones the varints gap, length, and how many
  scripts, and the scripts.
- folds, of what differs from its simple case folding: the varints gap to the end of the previous run,
  (length << 1 | stride - 1), and zigzag(folded - code point). Stride 2 leaves every other code point out.
"""

import itertools
import json
import pathlib
import subprocess
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
# Those of ECMA-262, with their short names; ASCII, Any and Assigned are not in the tables.
BINARY = """ASCII_Hex_Digit/AHex Alphabetic/Alpha Bidi_Control/Bidi_C Bidi_Mirrored/Bidi_M Case_Ignorable/CI Cased
Changes_When_Casefolded/CWCF Changes_When_Casemapped/CWCM Changes_When_Lowercased/CWL
Changes_When_NFKC_Casefolded/CWKCF Changes_When_Titlecased/CWT Changes_When_Uppercased/CWU Dash
Default_Ignorable_Code_Point/DI Deprecated/Dep Diacritic/Dia Emoji Emoji_Component/EComp Emoji_Modifier/EMod
Emoji_Modifier_Base/EBase Emoji_Presentation/EPres Extended_Pictographic/ExtPict Extender/Ext Grapheme_Base/Gr_Base
Grapheme_Extend/Gr_Ext Hex_Digit/Hex IDS_Binary_Operator/IDSB IDS_Trinary_Operator/IDST ID_Continue/IDC ID_Start/IDS
Ideographic/Ideo Join_Control/Join_C Logical_Order_Exception/LOE Lowercase/Lower Math Noncharacter_Code_Point/NChar
Pattern_Syntax/Pat_Syn Pattern_White_Space/Pat_WS Quotation_Mark/QMark Radical Regional_Indicator/RI
Sentence_Terminal/STerm Soft_Dotted/SD Terminal_Punctuation/Term Unified_Ideograph/UIdeo Uppercase/Upper
Variation_Selector/VS White_Space/space XID_Continue/XIDC XID_Start/XIDS""".split()


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


def package_ranges(folder: str, paths: Sequence[str]) -> dict[str, set[int]]:
    """The code points that each file of the npm package lists."""
    script = """
const [folder, ...paths] = process.argv.slice(1);
const all = {};
for (const path of paths) {
    const module = await import(`${folder}/node_modules/@unicode/unicode-18.0.0/${path}/ranges.mjs`);
    all[path] = module.default.map(({ begin, end }) => [begin, end]);
}
console.log(JSON.stringify(all));"""
    command = ["node", "--input-type=module", "-e", script, str(pathlib.Path(folder).resolve()), *paths]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {path: {point for a, b in ranges for point in range(a, b)} for path, ranges in found.items()}


def edges(points: set[int]) -> list[int]:
    """Where a run begins or one has ended."""
    return sorted(points ^ {point + 1 for point in points})


def encode_edges(points: set[int]) -> bytes:
    at = [0, *edges(points)]
    return varint(len(at) - 1) + b"".join(varint(b - a) for a, b in itertools.pairwise(at))


def encode_binary(points: set[int], of_categories: Sequence[set[int]]) -> tuple[int, bytes]:
    """The categories from which the property differs least, and where it does."""

    def encode(mask: int) -> bytes:
        base = set[int]().union(*(of for index, of in enumerate(of_categories) if mask >> index & 1))
        return encode_edges(points ^ base)

    mask = sum(1 << index for index, of in enumerate(of_categories) if 2 * len(points & of) > len(of))
    for index, of in enumerate(of_categories):
        if points & of:
            mask = min(mask, mask ^ 1 << index, key=lambda one: len(encode(one)))
    return mask, encode(mask)


def encode_extensions(of: dict[int, list[int]]) -> bytes:
    out = bytearray()
    end = 0
    for point in sorted(of):
        if point < end:
            continue
        length = next(n for n in itertools.count(1) if of.get(point + n) != of[point])
        out += varint(point - end) + varint(length) + varint(len(of[point])) + bytes(of[point])
        end = point + length
    return bytes(out)


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


def long_script_name(names: Sequence[str]) -> str:
    """As the npm package's folders are called."""
    folders = {loose(path.name): path.name for path in script_folder().iterdir() if path.is_dir()}
    return next(folders[name] for name in names if name in folders)


def script_folder() -> pathlib.Path:
    return pathlib.Path(sys.argv[1]) / "node_modules/@unicode/unicode-18.0.0/Script_Extensions"


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

    listed = package_ranges(sys.argv[1], [f"Binary_Property/{one.split('/')[0]}" for one in BINARY])
    of_categories: list[set[int]] = [set() for _ in CATEGORIES]
    for point, category in enumerate(categories):
        of_categories[category].add(point)
    binary = []
    for one in BINARY:
        name = one.split("/")[0]
        points = listed[f"Binary_Property/{name}"]
        assert loose(name).upper() not in _regex_core.PROPERTIES or points == set(members(loose(name).upper())), name
        binary.append(encode_binary(points, of_categories))
    script_paths = {f"Script_Extensions/{long_script_name(spelled[v])}": index for index, v in enumerate(used)}
    extensions: dict[int, list[int]] = {}
    for path, points in package_ranges(sys.argv[1], list(script_paths)).items():
        for point in points:
            extensions.setdefault(point, []).append(script_paths[path])
    for point in [point for point in extensions if extensions[point] == [scripts[point]]]:
        del extensions[point]

    parts = {
        "binary": b"".join(runs for _, runs in binary),
        "extensions": encode_extensions(extensions),
        "binary_names": ";".join(",".join(loose(name) for name in one.split("/")) for one in BINARY).encode(),
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
/// Binary properties, packed, and the categories that each begins with.
pub const binary =
    {literal(parts["binary"])};
pub const binary_masks = [_]u32{{ {", ".join(f"0x{mask:x}" for mask, _ in binary)} }};
/// As `script_names`.
pub const binary_names = "{parts["binary_names"].decode()}";

/// Extensions of scripts, packed.
pub const script_extensions =
    {literal(parts["extensions"])};

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
