"""Opens saved files in which bytes were changed and the checksum repaired, and uses what was opened.

    python tests/python/changed_files.py FOLDER [--seed N] [--seconds N] [--changes N]

makes files of every kind in FOLDER, and changes them until the time or the number of changes is over. Whatever a file
says, it is refused, or every call gives a result or an error: a crash ends this program, and "last" in FOLDER then is
the file, beside the name of its kind. Run it for long with a library that has safety checks, and as shipped
(`ELIZA_INFERENCE_LIBRARY`).
"""

import argparse
import random
import struct
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from eliza_inference import Constraint, ElizaError, Matcher, Mode, TokenFlag, Vocabulary

HEADER = 64
CHECKSUM_AT, FINGERPRINT_AT = 40, 24
MASK = 2**64 - 1
SECRETS = (0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3)


def wyhash(seed: int, data: bytes) -> int:
    """As Zig's std.hash.Wyhash, which is the checksum of files."""

    def mum(a: int, b: int) -> int:
        product = a * b
        return (product & MASK) ^ (product >> 64)

    def word(at: int) -> int:
        return int.from_bytes(data[at : at + 8], "little")

    first = seed ^ mum(seed ^ SECRETS[0], SECRETS[1])
    state = [first, first, first]
    size = len(data)
    if size <= 16:
        if size >= 4:
            end, quarter = size - 4, size >> 3 << 2

            def half(at: int) -> int:
                return int.from_bytes(data[at : at + 4], "little")

            a, b = half(0) << 32 | half(quarter), half(end) << 32 | half(end - quarter)
        elif size:
            a, b = data[0] << 16 | data[size >> 1] << 8 | data[-1], 0
        else:
            a = b = 0
    else:
        at = 0
        if size >= 48:
            while at + 48 < size:
                for lane in range(3):
                    left, right = word(at + 16 * lane), word(at + 16 * lane + 8)
                    state[lane] = mum(left ^ SECRETS[lane + 1], right ^ state[lane])
                at += 48
            state[0] ^= state[1] ^ state[2]
        while at + 16 < size:
            state[0] = mum(word(at) ^ SECRETS[1], word(at + 8) ^ state[0])
            at += 16
        a, b = word(size - 16), word(size - 8)
    a ^= SECRETS[1]
    b ^= state[0]
    low, high = (a * b) & MASK, (a * b) >> 64
    return mum(low ^ SECRETS[0] ^ size, high ^ SECRETS[1])


def sealed(content: bytes) -> bytes:
    """The file with the checksum, and the length, that its content asks for."""
    fingerprint = int.from_bytes(content[FINGERPRINT_AT : FINGERPRINT_AT + 8], "little")
    checksum = wyhash(fingerprint, content[HEADER:])
    return content[: CHECKSUM_AT - 8] + struct.pack("<QQ", len(content), checksum) + content[CHECKSUM_AT + 8 :]


N_TOKENS = 139


def small_vocabulary() -> Vocabulary:
    words = [bytes([byte]) for byte in range(128)]
    words += [b"ab", b"abc", b'{"', b'":', b"  ", b"true", b"12", b"ab", b"y" * 300]
    flags = [TokenFlag.NORMAL] * len(words) + [TokenFlag.END_OF_GENERATION | TokenFlag.SPECIAL, TokenFlag.UNUSED]
    return Vocabulary(len(flags), [*words, b"</s>", b""], flags)


NESTED = 'start: "[" [start ("," start)*] "]" | WORD | NUMBER\nWORD: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore /[ ]+/\n'
EMPTY = 'start: a b c\na: \nb: | "x" b\nc: a | "(" start ")" a\n'
AMBIGUOUS = 'start: e\ne: e "+" e | e e | "a" | "(" e ")"\n'
PARTS = 'start: "a" doc "b" | "ab"\ndoc: %json {"type": "array", "items": {"type": "integer"}}\n'
COUNTED = 'start: word "." start?\nword[max_tokens=2]: /[a-z]+/\n'
CUT_OFF = 'start: words "." start?\nwords[max_tokens=3]: (/[a-z]+/ "-")+\n'
TAGS = '{"tags": [{"begin": "<a>", "regex": "[a-z]+", "end": "</a>"}]}'
SCHEMA = '{"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"enum": [1, true]}}}'


def constraints(vocabulary: Vocabulary) -> dict[str, Constraint]:
    return {
        "choices": Constraint.choices(vocabulary, ["abc", "abd", "b", "true"]),
        "regex": Constraint.regex(vocabulary, "(ab|[0-9]+)*c"),
        "grammar": Constraint.lark(vocabulary, NESTED),
        "empty rules": Constraint.lark(vocabulary, EMPTY),
        "ambiguous": Constraint.lark(vocabulary, AMBIGUOUS),
        "named tokens": Constraint.gbnf(vocabulary, 'root ::= <[130]> | !<[131]> root | "a" root'),
        "parts": Constraint.lark(vocabulary, PARTS),
        "counted": Constraint.lark(vocabulary, COUNTED),
        "cut off": Constraint.lark(vocabulary, CUT_OFF),
        "schema": Constraint.json_schema(vocabulary, SCHEMA),
        "tags": Constraint.tags(vocabulary, TAGS),
    }


def use(constraint: Constraint, chance: random.Random) -> None:
    """Calls whatever reads what is in a file."""
    _ = constraint.warnings
    matcher = Matcher(constraint)
    logits = array("f", [chance.random() for _ in range(N_TOKENS)])
    for turn in range(12):
        allowed = matcher.allowed()
        listed = [] if allowed is None else allowed.tolist()
        assert all(0 <= token < N_TOKENS for token in listed), listed
        matcher.sample(logits, Mode.SAMPLED if turn % 2 else Mode.GREEDY) if listed else None
        _ = matcher.can_stop
        if turn % 4 == 1:
            matcher.forced()
        token = chance.choice(listed) if listed and chance.random() < 0.8 else chance.randrange(N_TOKENS)
        matcher.accept(token)
    matcher.clone().rollback(1)
    matcher.reset()


def open_vocabulary(path: Path, chance: random.Random) -> None:
    vocabulary = Vocabulary.open(path, copy=chance.random() < 0.5)
    [vocabulary.token_bytes(token) for token in range(len(vocabulary))]
    use(Constraint.regex(vocabulary, "[a-z]+|true"), chance)
    use(Constraint.json_schema(vocabulary, SCHEMA), chance)
    use(Constraint.lark(vocabulary, NESTED), chance)


def changed(content: bytes, chance: random.Random) -> bytes:
    """The file with some bytes or words changed, anywhere but in what tells it from other files."""
    made = bytearray(content)
    n_sections = int.from_bytes(content[20:24], "little")
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        # Short arrays are as important as long ones.
        section = chance.randrange(n_sections + 1)
        begin, length = HEADER, 16 * n_sections
        if section < n_sections:
            begin, length = struct.unpack_from("<QQ", content, HEADER + 16 * section)
        if length == 0:
            continue
        width = chance.choice([width for width in (1, 2, 4, 8) if width <= length])
        at = begin + chance.randrange(length // width) * width
        value = int.from_bytes(made[at : at + width], "little")
        most = 256**width - 1
        flipped = value ^ 1 << chance.randrange(8 * width)
        new = chance.choice((flipped, value + 1, value - 1, 0, most, most >> 1, chance.randrange(most), 200))
        made[at : at + width] = (new & most).to_bytes(width, "little")
    if chance.random() < 0.02:
        del made[chance.randrange(HEADER, len(made)) :]
    return sealed(bytes(made))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--changes", type=int, default=10**9)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    vocabulary = small_vocabulary()
    files: dict[str, tuple[bytes, Callable[[Path], None]]] = {}

    def keep(name: str, saved: Vocabulary | Constraint, use_it: Callable[[Path], None]) -> None:
        saved.save(options.folder / "sound")
        content = (options.folder / "sound").read_bytes()
        assert sealed(content) == content, "the checksum is not what it was"
        use_it(options.folder / "sound")
        files[name] = content, use_it

    keep("vocabulary", vocabulary, lambda path: open_vocabulary(path, chance))
    for name, constraint in constraints(vocabulary).items():
        constraint.prepare()
        keep(name, constraint, lambda path: use(Constraint.open(vocabulary, path, copy=chance.random() < 0.5), chance))

    counts = {"opened": 0, "refused": 0}
    end = time.monotonic() + options.seconds
    names = list(files)
    last = options.folder / "last"
    for turn in range(options.changes):
        if time.monotonic() > end:
            break
        name = names[turn % len(names)]
        content, use_it = files[name]
        last.write_bytes(changed(content, chance))
        (options.folder / "name").write_text(name)
        try:
            use_it(last)
            counts["opened"] += 1
        except ElizaError:
            counts["refused"] += 1
    print(f"{counts['opened']} opened, {counts['refused']} refused")


if __name__ == "__main__":
    main()
