"""Each limit of the header and of docs/reference: what is at it is supported, and one more is an error."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eliza_inference import (
    Budget,
    Constraint,
    GrammarError,
    InvalidArgumentError,
    LimitError,
    Matcher,
    Model,
    Status,
    Step,
    TokenTree,
    Vocabulary,
    limits,
    trie_cache_stats,
)
from eliza_inference._library import ffi, lib

from json_schema_texts import byte_vocabulary

NATIVE = Path(__file__).resolve().parents[2] / "native"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


Try = Callable[[Vocabulary, int], object]
"""Makes use of so many of what is limited."""


def payload(leaves: list[list[int]] | None = None, **fields: Any) -> dict[str, Any]:
    named = [{"name": f"n{number}", "tokens": tokens} for number, tokens in enumerate(leaves or [[1]])]
    return {"modelId": "", "names": "labels", "descriptors": [{"path": "p", "leaves": named} | fields]}


def parts(n: int = 1, **fields: Any) -> dict[str, Any]:
    """A payload of so many descriptors with a language."""
    fields = fields if fields.keys() & {"json_schema", "lark", "regex"} else fields | {"regex": "a"}
    return {"modelId": "", "descriptors": [{"path": f"p{number}"} | fields for number in range(n)]}


def trie(vocabulary: Vocabulary, content: dict[str, Any] | str) -> None:
    text = content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))
    out, error = ffi.new("eliza_constraint **"), ffi.new("char **")
    encoded = text.encode()
    status = lib.eliza_inference_constraint_create_token_trie(vocabulary._handle, encoded, len(encoded), out, error)
    if status < 0:
        message = ffi.string(error[0]).decode()
        lib.eliza_inference_free_string(error[0])
        assert status == Status.LIMIT, message
        raise LimitError(message)
    lib.eliza_inference_constraint_free(out[0])


def pairs(n: int) -> list[list[int]]:
    """So many different lists of three tokens."""
    return [[number // 65536, number // 256 % 256, number % 256] for number in range(n)]


def of_depth(vocabulary: Vocabulary, n: int) -> None:
    inner = n - 1  # the payload is an object
    trie(vocabulary, json.dumps(payload())[:-1] + ', "x": ' + "[" * inner + "]" * inner + "}")


def of_tokens(vocabulary: Vocabulary, n: int) -> None:
    whole = limits.LEAF_TOKENS_MAX
    n_whole, rest = divmod(n, whole)
    zeros = ",0" * (whole - 2)
    leaves = [f'{{"name":"{i}","tokens":[{i % 256},{i // 256}{zeros}]}}' for i in range(n_whole)]
    if rest:
        leaves.append('{"name":"r","tokens":[255' + ",255" * (rest - 1) + "]}")
    trie(vocabulary, '{"modelId":"","names":"labels","descriptors":[{"path":"p","leaves":[' + ",".join(leaves) + "]}]}")


def of_descriptors(vocabulary: Vocabulary, n: int) -> None:
    content = payload()
    content["descriptors"] = [content["descriptors"][0] | {"path": f"p{number}"} for number in range(n)]
    trie(vocabulary, content)


def of_rollback(vocabulary: Vocabulary, n: int) -> None:
    matcher = Matcher(Constraint.regex(vocabulary, "a*"))
    for _ in range(limits.ROLLBACK_TOKENS_MAX + 2):
        matcher.accept(ord("a"))
    matcher.rollback(n)


def of_timeout(vocabulary: Vocabulary, n: int) -> object:
    name = "a" * n
    return Matcher(Constraint(vocabulary, TokenTree.from_names([name], {name: [ord("a")] * n})))


def of_choices(vocabulary: Vocabulary, n: int) -> object:
    """The same string so many times."""
    offsets = np.arange(n + 1, dtype=np.uint64)
    return native_choices(vocabulary, np.full(n, ord("a"), dtype=np.uint8), offsets, 2**32)


def of_choices_bytes(vocabulary: Vocabulary, n: int, bytes_max: int = 2**20) -> None:
    """Memory that nobody writes to. At the limit it is the budget that is too small."""
    text = np.frombuffer(mmap.mmap(-1, n), dtype=np.uint8)
    offsets = np.array([0, n], dtype=np.uint64)
    with pytest.raises(LimitError) as raised:
        native_choices(vocabulary, text, offsets, bytes_max)
    if "needs more than" not in raised.value.message:
        raise raised.value


def native_choices(vocabulary: Vocabulary, text: Any, offsets: Any, bytes_max: int) -> object:
    config = ffi.new(
        "eliza_compile_config_t *", {"struct_size": ffi.sizeof("eliza_compile_config_t"), "bytes_max": bytes_max}
    )
    out, error = ffi.new("eliza_constraint **"), ffi.new("char **")
    status = lib.eliza_inference_constraint_create_choices(
        vocabulary._handle, ffi.from_buffer("uint8_t[]", text), ffi.from_buffer("uint64_t[]", offsets),
        len(offsets) - 1, 0, config, out, error,
    )  # fmt: skip
    if status < 0:
        message = ffi.string(error[0]).decode()
        lib.eliza_inference_free_string(error[0])
        raise LimitError(message)
    lib.eliza_inference_constraint_free(out[0])
    return None


def of_states(vocabulary: Vocabulary, n: int) -> object:
    """State 0 is the dead one."""
    constraint = Constraint.regex(vocabulary, "a" * (n - 2), budget=Budget(bytes_max=2**32))
    assert constraint.recognizer_info.n_states == n
    return constraint


def grammar_of(n: int) -> str:
    names = [f"T{number}" for number in range(n)]
    return "\n".join([f"start: {' | '.join(names)}", *(f'{name}: "{name};"' for name in names)])


def of_terminals(vocabulary: Vocabulary, n: int) -> object:
    return Constraint.lark(vocabulary, grammar_of(n))


def of_forced(vocabulary: Vocabulary, n: int) -> object:
    """A longer run is cut at the limit."""
    run = Matcher(Constraint.choices(vocabulary, ["a" * n])).forced_bytes()
    if len(run) < n:
        assert len(run) == limits.FORCED_BYTES_MAX
        raise LimitError("cut")
    return run


def of_tags(vocabulary: Vocabulary, n: int) -> object:
    begins = [f"<{chr(48 + number // 70)}{chr(48 + number % 70)}" for number in range(n)]
    return tags(vocabulary, {"tags": [{"begin": begin, "end": ";", "regex": "a"} for begin in begins]})


def tags(vocabulary: Vocabulary, descriptor: dict[str, Any], padding: int = 0) -> object:
    text = json.dumps(descriptor).encode()
    text += b" " * (padding - len(text))
    out, error = ffi.new("eliza_constraint **"), ffi.new("char **")
    status = lib.eliza_inference_constraint_create_tags(vocabulary._handle, text, len(text), ffi.NULL, out, error)
    if status < 0:
        message = ffi.string(error[0]).decode()
        lib.eliza_inference_free_string(error[0])
        assert status in (Status.LIMIT, Status.GRAMMAR), message
        raise LimitError(message)
    lib.eliza_inference_constraint_free(out[0])
    return None


TAG = {"begin": "<", "end": ">", "regex": "a"}

CONSTANTS: dict[str, Try | str] = {
    "PAYLOAD_BYTES_MAX": lambda v, n: trie(v, json.dumps(payload()).ljust(n)),
    "PAYLOAD_DEPTH_MAX": of_depth,
    "DESCRIPTORS_MAX": of_descriptors,
    "LEAVES_MAX": lambda v, n: trie(v, payload(pairs(n))),
    "LEAF_TOKENS_MAX": lambda v, n: trie(v, payload([[1] * n])),
    "TOKENS_MAX": of_tokens,
    "TRIGGERS_MAX": lambda v, n: trie(v, payload(trigger=[[number] for number in range(n)])),
    "TRIGGER_TOKENS_MAX": lambda v, n: trie(v, payload(trigger=[[1] * n])),
    "END_TOKENS_MAX": lambda v, n: trie(v, payload(end=list(range(10, 10 + n)))),
    "NAME_BYTES_MAX": lambda v, n: trie(v, payload(path="p" * n)),
    "SPAN_TIMEOUT_TOKENS": of_timeout,
    "ROLLBACK_TOKENS_MAX": of_rollback,
    "HANDLES_MAX": "native/src/shell/abi/handles.zig: as many handles as there may be, and one more",
    "REGEX_BYTES_MAX": lambda v, n: Constraint.regex(v, "a(?#" + "x" * (n - 5) + ")"),
    "GRAMMAR_BYTES_MAX": lambda v, n: Constraint.lark(v, 'start: "a"\n//'.ljust(n, "x")),
    "TERMINALS_MAX": of_terminals,
    "CHOICES_MAX": of_choices,
    "CHOICES_BYTES_MAX": of_choices_bytes,
    "COMPILE_STATES": of_states,
    "COMPILE_BYTES": "tests/python/test_limits.py: test_defaults_are_those_of_the_header",
    "MASK_BYTES": "tests/python/test_search_budgets.py: test_what_a_schema_keeps_of_texts_is_bounded_by_mask_bytes_max",
    "TRIE_CACHE_ENTRIES": "tests/python/test_limits.py: test_the_cache_of_payloads_has_so_many_entries",
    "TRIE_CACHE_BYTES": "tests/python/test_limits.py: test_defaults_are_those_of_the_header",
    "PREFILL_BYTES_MAX": lambda v, n: Matcher(Constraint.regex(v, "a"), prefill="x" * n),
    "TAGS_DESCRIPTOR_BYTES_MAX": lambda v, n: tags(v, {"tags": [TAG]}, n),
    "TAGS_MAX": of_tags,
    "TAGS_TEXT_BYTES_MAX": lambda v, n: tags(v, {"tags": [TAG | {"begin": "<" * n}]}),
    "TAGS_BEGIN_BYTES_MAX": lambda v, n: tags(v, {"triggers": ["<"], "tags": [TAG | {"begin": "<" * n}]}),
    "TAGS_END_BYTES_MAX": lambda v, n: tags(v, {"tags": [TAG | {"end": ">" * n}]}),
    "TAGS_COUNT_MAX": lambda v, n: tags(v, {"tags": [TAG], "at_least": n}),
    "FORCED_BYTES_MAX": of_forced,
    "DRAFT_TOKENS_MAX": "tests/python/test_limits.py: test_a_draft_has_so_many_tokens",
}


PARTS: dict[str, Try] = {
    "PAYLOAD_BYTES_MAX": lambda v, n: trie(v, json.dumps(parts()).ljust(n)),
    "PAYLOAD_DEPTH_MAX": lambda v, n: trie(v, parts(json_schema=json.loads(nested(n - 3)))),  # two objects, one array
    "DESCRIPTORS_MAX": lambda v, n: trie(v, parts(n)),
    "TRIGGERS_MAX": lambda v, n: trie(v, parts(trigger=[[number] for number in range(n)])),
    "TRIGGER_TOKENS_MAX": lambda v, n: trie(v, parts(trigger=[[1] * n])),
    "END_TOKENS_MAX": lambda v, n: trie(v, parts(end=list(range(10, 10 + n)))),
    "NAME_BYTES_MAX": lambda v, n: trie(v, parts(path="p" * n)),
    "REGEX_BYTES_MAX": lambda v, n: trie(v, parts(regex="a(?#" + "x" * (n - 5) + ")")),
    "TERMINALS_MAX": lambda v, n: trie(v, parts(lark=grammar_of(n))),
}
"""Of a payload whose descriptors have a language in place of leaves."""


def constants_of_the_header() -> dict[str, int]:
    manifest = json.loads((NATIVE / "abi" / "manifest.json").read_text("utf-8"))
    named = {constant["name"].removeprefix("ELIZA_"): constant for constant in manifest["constants"]}
    return {name: one["value"] for name, one in named.items() if one["section"] == 3 or name.endswith("_MAX")}


HEADER = constants_of_the_header()


def test_every_limit_has_a_test() -> None:
    assert set(CONSTANTS) == set(HEADER)
    for name, rows in (("json-schema.md", SCHEMAS), ("grammars.md", GRAMMARS), ("gbnf.md", GBNF)):
        assert sorted(rows) == sorted(rows_of(name))
    for where in [*CONSTANTS.values(), *SCHEMAS.values(), *GRAMMARS.values(), *GBNF.values()]:
        if isinstance(where, str):
            path, test = where.split(": ", 1)
            assert test in (NATIVE.parent / path).read_text("utf-8"), where


@pytest.mark.parametrize("name", [name for name, test in CONSTANTS.items() if not isinstance(test, str)])
def test_a_limit_of_the_header(name: str, vocabulary: Vocabulary) -> None:
    test = CONSTANTS[name]
    assert not isinstance(test, str)
    test(vocabulary, HEADER[name])
    with pytest.raises((LimitError, InvalidArgumentError)):
        test(vocabulary, HEADER[name] + 1)


@pytest.mark.parametrize("name", PARTS)
def test_a_limit_of_a_payload_with_languages(name: str, vocabulary: Vocabulary) -> None:
    PARTS[name](vocabulary, HEADER[name])
    with pytest.raises(LimitError):
        PARTS[name](vocabulary, HEADER[name] + 1)


def test_the_cache_of_payloads_has_so_many_entries(vocabulary: Vocabulary) -> None:
    for number in range(limits.TRIE_CACHE_ENTRIES + 1):
        trie(vocabulary, payload([[number % 256, 7, 7]], path=f"entry {number}"))
        assert trie_cache_stats().entries <= limits.TRIE_CACHE_ENTRIES
    assert trie_cache_stats().entries == limits.TRIE_CACHE_ENTRIES


def test_defaults_are_those_of_the_header(vocabulary: Vocabulary) -> None:
    assert trie_cache_stats().bytes_max == limits.TRIE_CACHE_BYTES
    offsets = np.array([0, 300 << 20], dtype=np.uint64)
    text = np.frombuffer(mmap.mmap(-1, 300 << 20), dtype=np.uint8)
    with pytest.raises(LimitError, match=f"more than {limits.COMPILE_BYTES} bytes"):
        native_choices(vocabulary, text, offsets, 0)


def test_a_draft_has_so_many_tokens(model: Model) -> None:
    most = HEADER["DRAFT_TOKENS_MAX"]
    model.stream(context_size=128, draft_max=most).close()
    with pytest.raises(LimitError, match=str(most)):
        model.stream(context_size=128, draft_max=most + 1)


# ---- Of the notations


def rows_of(name: str) -> list[str]:
    """The first cells of the table of limits."""
    text = (NATIVE.parent / "docs" / "reference" / name).read_text("utf-8")
    section = re.split(r"^## .*[Ll]imits$", text, flags=re.MULTILINE)[1]
    table = section.split("\n|---")[1].split("\n\n")[0]
    return [line.split("|")[1].strip() for line in table.split("\n")[1:]]


def schema(vocabulary: Vocabulary, text: str) -> Constraint:
    return Constraint.json_schema(vocabulary, text, space="compact")


def nested(n: int) -> str:
    """A schema of so many arrays and objects."""
    return '{"default":' + "[" * (n - 1) + "]" * (n - 1) + "}"


def alternatives(vocabulary: Vocabulary, n: int) -> object:
    of = [{"type": "array", "minItems": number, "maxItems": number} for number in range(n)]
    return schema(vocabulary, json.dumps({"anyOf": of}))


def assertions(vocabulary: Vocabulary, n: int) -> object:
    """Two of them are the type and that all hold."""
    of = [{"minLength": 1 + number % 3} for number in range(n - 2)]
    return schema(vocabulary, json.dumps({"type": "string", "allOf": of}))


def states(vocabulary: Vocabulary, n: int) -> None:
    """Of one automaton, and of two at once: beside those of the letters, the dead one and the last."""
    exact = {"pattern": f"^a{{{n - 2}}}$"}
    for texts in (exact, {"allOf": [exact, {"pattern": "^a"}]}):
        schema(vocabulary, json.dumps({"type": "string", **texts}))


def after(vocabulary: Vocabulary, text: str, of: dict[str, Any]) -> object:
    matcher = Matcher(schema(vocabulary, json.dumps(of)))
    for byte in text.encode():
        assert Step.REFUSED not in matcher.accept(byte)
    allowed = matcher.allowed()
    assert allowed is not None and len(allowed) > 0
    return matcher


def contained(vocabulary: Vocabulary, n: int) -> object:
    return after(vocabulary, "[", {"type": "array", "allOf": [{"contains": {"const": number}} for number in range(n)]})


def names(vocabulary: Vocabulary, n: int) -> object:
    """For each a name that has another first letter."""
    of = [{"not": {"propertyNames": {"pattern": f"^{chr(ord('a') + number)}"}}} for number in range(n)]
    return after(vocabulary, '{"', {"type": "object", "allOf": of})


def states_of_patterns(vocabulary: Vocabulary, n: int) -> object:
    """Which of nine patterns matches is told after the last of many letters; the first state is before them."""
    of = {f"^a{{{n - 1}}}{last}": {"minimum": number} for number, last in enumerate("bcdefghij")}
    return after(vocabulary, '{"', {"type": "object", "patternProperties": of})


def sets_of_patterns(vocabulary: Vocabulary, n: int) -> object:
    """The empty set, and sets of one."""
    of = {f"^{chr(0x4E00 + number)}$": {"type": "null"} for number in range(n - 1)}
    return after(vocabulary, '{"', {"type": "object", "patternProperties": of})


def side_by_side(vocabulary: Vocabulary, conditions: list[Any], text: str, of: dict[str, Any]) -> object:
    """With choices of other members, which would be too many alternatives."""
    others = [{"anyOf": [{"required": [f"x{number}"]}, {"required": [f"y{number}"]}]} for number in range(11)]
    return after(vocabulary, text, {"type": "object", "allOf": [*others, *conditions]} | of)


def member_rules(values: list[Any]) -> list[Any]:
    return [
        {"anyOf": [{"properties": {"a": value}}, {"required": [f"k{number}"]}]} for number, value in enumerate(values)
    ]


def splits(vocabulary: Vocabulary, n: int) -> object:
    """Limits of a number: they tell n + 1 kinds of values apart."""
    rules = member_rules([{"maximum": number} for number in range(n)])
    return side_by_side(vocabulary, rules, '{"a":', {"properties": {"a": {"type": "number"}}})


def ways(vocabulary: Vocabulary, n: int) -> object:
    """Each set of members is another way."""
    rules = member_rules([{"required": [f"q{number}"]} for number in range((n - 1).bit_length())])
    return side_by_side(vocabulary, rules, '{"a":{', {"properties": {"a": {"type": "object"}}, "required": ["a"]})


def conditions_within(vocabulary: Vocabulary, n: int) -> object:
    inner: dict[str, Any] = {"required": ["z"]}
    for number in range(n - 1):
        inner = {("anyOf", "allOf")[(n - number) % 2]: [{"required": [f"p{number}"]}, inner]}
    return side_by_side(vocabulary, [inner], '{"', {})


def different(vocabulary: Vocabulary, n: int) -> object:
    """Arrays in an array, of which there is one value: whether there is another one is asked of each."""
    item: dict[str, Any] = {"const": 1}
    for _ in range(n - 1):
        item = {"type": "array", "items": item, "minItems": 1, "maxItems": 1}
    of = {"type": "array", "items": item, "minItems": 1, "uniqueItems": True}
    matcher = Matcher(schema(vocabulary, json.dumps(of)))
    for byte in b"[" * n + b"1" + b"]" * (n - 1):
        matcher.accept(byte)
    assert matcher.allowed() is not None
    return matcher


def terminal_of_depth(vocabulary: Vocabulary, n: int) -> object:
    rest = [f'T{number}: T{number - 1} "a"' for number in range(1, n)]
    return Constraint.lark(vocabulary, "\n".join([f"start: T{n - 1}", 'T0: "a"', *rest]))


def schemas_in_grammar(vocabulary: Vocabulary, n: int) -> object:
    parts = [f'"{number}" %json {{"const":{number}}}' for number in range(n)]
    return Constraint.lark(vocabulary, "start: " + " | ".join(parts))


def rules(vocabulary: Vocabulary, n: int) -> object:
    """So many rules have more states than there may be."""
    names = [f"r{number}" for number in range(n - 1)]
    bodies = [f'{name}: "a" {after} "b" | "c"' for name, after in zip(names, names[1:] + names[:1], strict=True)]
    with pytest.raises(LimitError) as raised:
        Constraint.lark(vocabulary, "\n".join([f"start: {' | '.join(names)}", *bodies]))
    if "rules" in raised.value.message:
        raise raised.value
    return None


def count(vocabulary: Vocabulary, n: int) -> object:
    """As far as the budget goes."""
    with pytest.raises((LimitError, GrammarError)) as raised:
        Constraint.gbnf(vocabulary, f'root ::= "a"{{0,{n}}}')
    if "the number is more" in raised.value.message:
        raise LimitError(raised.value.message)
    return None


def limited_rules(v: Vocabulary, n: int) -> Constraint:
    rules = "\n".join(f'x{number}[max_tokens={number + 1}]: "a"' for number in range(n))
    return Constraint.lark(v, f"start: {' | '.join(f'x{number}' for number in range(n))}\n{rules}")


HERE = "tests/python/test_limits.py: "
JSON_LIMITS = "tests/python/test_json_schema_limits.py: "

SCHEMAS: dict[str, tuple[int, Try] | str] = {
    "bytes of a schema": (64 << 20, lambda v, n: schema(v, "true".ljust(n))),
    "documents of the caller": JSON_LIMITS + "test_documents_that_lead_to_others_without_end_are_an_error",
    "arrays and objects within each other, in a schema": (1000, lambda v, n: schema(v, nested(n))),
    "digits of a number": (1 << 14, lambda v, n: schema(v, '{"maximum":' + "9" * n + "}")),
    "alternatives of one value": (1024, alternatives),
    "assertions looked at to tell the alternatives of one value": (1 << 16, assertions),
    "kinds of exceptions and counts of one array, in one alternative": (8, contained),
    "negated `propertyNames` of one object, in one alternative": (8, names),
    "states of the patterns of one object's keys, side by side": (1 << 14, states_of_patterns),
    "sets of these patterns that match one key, the empty set included": (1 << 10, sets_of_patterns),
    "schemas of the value of one member on which conditions depend": (64, splits),
    "ways to tell the values of one member apart by these schemas": (1 << 10, ways),
    "conditions within each other": (256, conditions_within),
    "values of an item of an array of different ones that are told one by one": JSON_LIMITS + 'id="values"',
    "arrays and objects within each other that are looked at for another value": (200, different),
    "states of the automaton of a string": (1 << 15, states),
    "states of the automaton of a number": "native/src/engine/schema/numbers_test.zig: what is too large is an error",
}

GRAMMARS: dict[str, tuple[int, Try] | str] = {
    "bytes of a grammar": (limits.GRAMMAR_BYTES_MAX, lambda v, n: Constraint.lark(v, 'start: "a"'.ljust(n))),
    "terminals that rules use or `%ignore` names": (limits.TERMINALS_MAX, of_terminals),
    "different JSON Schemas in a grammar; kinds of tokens that it distinguishes": (256, schemas_in_grammar),
    "different regular expressions, and strings with `i`": (
        8192,
        lambda v, n: Constraint.lark(v, "start: A\nA: " + " | ".join(f"/a{number}/" for number in range(n))),
    ),
    "rules, productions, symbols in an alternative": (65535, rules),
    "different `max_tokens` of rules that are one terminal; other rules with one": (7, limited_rules),
    "a repetition of single characters, as in `/[^<]{0,10000}/`": (
        10**6,
        lambda v, n: Constraint.lark(v, f"start: /a{{0,{n}}}/"),
    ),
    "nested parentheses": (128, lambda v, n: Constraint.lark(v, "start: " + "(" * n + '"a"' + ")" * n)),
    "depth of a terminal, the terminals in it included; its parts": (256, terminal_of_depth),
}

GBNF: dict[str, tuple[int, Try] | str] = {
    "bytes of a grammar": (limits.GRAMMAR_BYTES_MAX, lambda v, n: Constraint.gbnf(v, 'root ::= "a"'.ljust(n))),
    "nested parentheses": (1000, lambda v, n: Constraint.gbnf(v, "root ::= " + "(" * n + '"a"' + ")" * n)),
    "a count": (2**32 - 2, count),
    "counted repetitions of one item in a row, as in `x{2}{3}`": (
        4,
        lambda v, n: Constraint.gbnf(v, 'root ::= "a"' + "{2}" * n),
    ),
    "parses of an ambiguous text": "native/src/shell/compile/budgets_test.zig: root root",
    "terminals, after regular parts are combined": HERE + '"terminals that rules use or',
}


@pytest.mark.parametrize(
    ("rows", "row"),
    [(rows, row) for rows in (SCHEMAS, GRAMMARS, GBNF) for row, test in rows.items() if not isinstance(test, str)],
)
def test_a_limit_of_a_notation(rows: dict[str, tuple[int, Try] | str], row: str, vocabulary: Vocabulary) -> None:
    one = rows[row]
    assert not isinstance(one, str)
    limit, test = one
    test(vocabulary, limit)
    with pytest.raises((LimitError, GrammarError)):
        test(vocabulary, limit + 1)
