"""The inputs that a run begins with: the texts of the conformance cases, the grammars that ship, and a few more."""

import json
import random
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "conformance"

# Flags of the targets, their first byte.
IMPORTS, EBNF, TAGS, LOOSE = 1, 1, 1, 0

REGEXES = [
    r"(?i)(?<year>\d{4})-\d\d?|[^\W_]+(?s:.)*?\p{Lu}\pL{2,}",
    r"^\x{1F600}[\u00e9-\U0001F64F&&~~--\]a-]|\e\0\x41$|^(?x: a # b" + "\n)",
    r"(a|b)*a(a|b){5}|((a{1,3}){2,4}){2}|(?-i:x)|()|[^\x00-\x7f]*",
]
LARKS = [
    'start: e\ne: e "+" e | e e | "(" e ")" | T\nT.2: /[a-z]+/i & ~/if|then/\nN: "0".."9"+\n%ignore /[ \\t]+/\n',
    'start: a{"x", b}~2..5 | _s*\na{p, q}: p q? -> c\nb: %json {"type": "array", "items": {"type": "integer"}}\n'
    '_s: "s"i\n'
    "%import common.NUMBER -> N\n%declare D\n",
    'start: <tool> x | <[292]> | <[^5]>+\nx[capture, max_tokens=5, stop="a"]: /(?s:.*)/\n%llguidance {}\n',
    'start: a\na: b? "x" | \nb: a b | "y"~3\n!t: ("c" | [d])+\nd: %regex {"substring_words": "a b c"}\n',
]
GBNFS = [
    'root ::= expr "\\n"\nexpr ::= term ([-+] term)*\nterm ::= [0-9]{1,3} | "(" expr ")" | [^\\x00-\\u00ff]+ | .\n',
    'root ::= <tool> "a" | !<[292]>* <[256]>? # c\nws ::= [ \\t\\n]{0,20} |\n',
    "root ::= root root | root? | (root | )+\n",
]
EBNFS = [
    'root ::= TagDispatch(("<a>", a), stop_eos=true, loop_after_dispatch=false, excludes=("x",))\n'
    'a ::= /[a-z]+/ (= "b")\n',
    "root ::= Token(256, 292) | ExcludeToken(5) | TokenTagDispatch((295, b), loop_after_dispatch=true)\n"
    'b ::= "b"{2,}\n',
]
SCHEMAS = [
    '{"type":["object","null"],"properties":{"a":{"$ref":"#/$defs/t"},"b":{"enum":[1,"x",null,[],{"k":1.5e3}]}},'
    '"required":["b"],"patternProperties":{"^x-":{"type":"integer","minimum":-5,"multipleOf":3}},'
    '"additionalProperties":false,"$defs":{"t":{"type":"array","prefixItems":[true],"items":{"$ref":"#"},"maxItems":3}}'
    "}",
    '{"allOf":[{"minLength":2},{"maxLength":9}],"anyOf":[{"format":"date-time"},{"pattern":"^[a-z]+\\\\d$"}],'
    '"not":{"const":"ab1"},"oneOf":[true,false]}',
    '{"$dynamicRef":"#n","$dynamicAnchor":"n","unevaluatedProperties":{"type":"number","exclusiveMaximum":1e2},'
    '"dependentSchemas":{"a":{"required":["b"]}},"if":{"minProperties":1},"then":{"maxProperties":4},"else":false,'
    '"propertyNames":{"maxLength":3},"contains":{"const":1},"minContains":2,"uniqueItems":true}',
    '{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://x/y","definitions":{"a":{"$id":"#a"}},'
    '"dependencies":{"a":["b"]},"items":[{"$ref":"#a"}],"additionalItems":{"$ref":"other#/x"}}',
]
TREES = [
    '{"modelId":"","descriptors":[{"path":"p","leaves":[{"name":"ab","tokens":[97,98]},{"name":"abc","tokens":[257]},'
    '{"name":"a","tokens":[97]}],"end":[292]},{"path":"q","leaves":[{"name":"true","tokens":[260]}]}]}',
    '{"modelId":"","names":"labels","descriptors":[{"path":"p","trigger":[[123],[91,91]],"leaves":[{"name":"x",'
    '"tokens":[1,2,3]},{"name":"y","tokens":[1,2]}],"end":[125,32]},{"path":"q","trigger":[[91]],"leaves":[{"name":"z",'
    '"tokens":[5]}]}]}',
]
TAG_TEXTS = [
    '{"triggers":["<a"],"tags":[{"begin":"<a>","regex":"[a-z]+","end":"</a>"},{"begin":"<ab>","json_schema":{"type":'
    '"integer"},"end":["</a>"]}],"at_least":1,"excludes":["no"],"stop_after_first":true}',
    '{"type":"structural_tag","format":{"type":"sequence","elements":[{"type":"const_string","value":"call"},{"type":'
    '"or","elements":[{"type":"json_schema","json_schema":{}},{"type":"any_text"}]},{"type":"tag","begin":"<a>",'
    '"content":{"type":"grammar","grammar":"root ::= \\"a\\""},"end":"</a>"}]}}',
]


def seeds(target: str) -> Iterator[bytes]:
    """For a target of this folder."""
    if target == "payload":
        yield from _flagged(0, [*TREES, *_of_cases("token_trie")])
        yield from _flagged(TAGS, [*TAG_TEXTS, *_of_cases("tags")])
    elif target == "regex":
        yield from _flagged(0, [*REGEXES, *_of_cases("regex")])
    elif target == "lark":
        shipped = [path.read_text("utf-8") for path in sorted((ROOT / "native" / "grammars").glob("*.lark"))]
        yield from _flagged(IMPORTS, [*LARKS, *_of_cases("grammar"), *shipped])
    elif target == "gbnf":
        yield from _flagged(0, [*GBNFS, *_of_cases("gbnf")])
        yield from _flagged(EBNF, [*EBNFS, *_of_cases("gbnf", "ebnf")])
    elif target == "schema":
        yield from (bytes([4, LOOSE]) + octets for octets in map(_octets, [*SCHEMAS, *_of_cases("json_schema")]))
    elif target == "gguf":
        yield from _heads()
    elif target == "shapes":
        yield from _random_bytes(random.Random(target), (30, 100, 300, 1000))
    else:
        yield from _random_bytes(random.Random(target), (4, 16, 64, 200))


def _flagged(flags: int, texts: Iterable[Any]) -> Iterator[bytes]:
    return (bytes([flags]) + _octets(text) for text in texts)


def _octets(text: Any) -> bytes:
    """As the cases write texts and payloads: a string, bytes in hexadecimal, or what stands for its own JSON."""
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, dict) and list(text) == ["hex"]:
        return bytes.fromhex(text["hex"])
    return json.dumps(text).encode()


def _of_cases(kind: str, needed: str | None = None) -> Iterator[Any]:
    for path in sorted(CASES.glob("*/*.json")):
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            constraint = case.get("constraint", {})  # streams have none
            if kind not in constraint or (needed is not None and needed not in constraint):
                continue
            text = constraint[kind]
            yield from text if kind == "token_trie" and isinstance(text, list) else [text]


def _heads() -> Iterator[bytes]:
    """Of GGUF files, after the magic number: a pair of each type, and tensors of some types."""

    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    values = [bytes(1), bytes(1), bytes(2), bytes(2), bytes(4), bytes(4), bytes(4), b"\1", text(b"xy")]
    values += [struct.pack("<IQ", 8, 2) + text(b"a") + text(b""), bytes(8), bytes(8), bytes(8)]
    pairs = [text(b"k%d" % i) + struct.pack("<I", i) + value for i, value in enumerate(values)]
    pairs.append(text(b"general.alignment") + struct.pack("<II", 4, 64))
    tensors = [text(b"t%d" % of) + struct.pack("<IQQIQ", 2, 256, 2, of, 64 * of) for of in (0, 2, 12)]
    for version in (2, 3):
        for chosen in (pairs, pairs[:3], pairs[8:10], []):
            head = struct.pack("<IQQ", version, len(tensors), len(chosen)) + b"".join([*chosen, *tensors])
            yield head
            yield head + bytes(-(4 + len(head)) % 64 + 2048)


def _random_bytes(chance: random.Random, lengths: Sequence[int]) -> Iterator[bytes]:
    """For targets whose input is a list of calls or decisions: each begins with another choice of the first."""
    for first in range(256):
        yield bytes([first]) + chance.randbytes(chance.choice(lengths))
