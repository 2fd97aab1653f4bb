"""Parameters of calls between tags like those of XML, against the oracle: schemas and texts by chance, in tokens that
cut them everywhere. Seeds are fixed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Matcher, Vocabulary

from parameter_texts import cut, goes, vocabulary_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import parameters

ANY = ("string", "null", "boolean", "number", "array", "object")
SHORT = {"type": "string", "maxLength": 3}
OBJECT = {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"], "additionalProperties": False}

# Schemas of values, and the types that they may have.
VALUES: list[tuple[Any, tuple[str, ...]]] = [
    ({"type": "string"}, ("string",)),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ("string",)),
    ({"type": "string", "pattern": "^[ab1]"}, ("string",)),
    ({"type": "string", "not": {"pattern": "a"}}, ("string",)),
    ({"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "pattern": "b"}]}, ("string",)),
    ({"type": "string", "if": {"pattern": "a"}, "then": {"maxLength": 2}, "else": {"minLength": 2}}, ("string",)),
    ({"enum": ["a", "ab", "1", "null", "\n", ""]}, ("string",)),
    ({"enum": ["a", 1, None, "null", "[1]"]}, ("string", "number", "null")),
    ({"$ref": "#/$defs/short"}, ("string",)),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("string", "null")),
    ({"type": ["string", "integer", "boolean"], "maxLength": 2}, ("string", "number", "boolean")),
    ({"anyOf": [{"type": "array", "items": {"const": "a"}}, SHORT, OBJECT]}, ("array", "string", "object")),
    ({"type": "integer", "minimum": 1, "maximum": 12}, ("number",)),
    (OBJECT, ("object",)),
    ({"type": "array", "items": {"$ref": "#/$defs/short"}, "maxItems": 2}, ("array",)),
    ({"type": "boolean"}, ("boolean",)),
    ({}, ANY),
]
DEFS = {"short": {"type": "string", "maxLength": 1}}
STRINGS = ["", "a", "ab", "aba", "b1", "é", "\n", "a\nb", "\na", "a\n", "x</p", "1", "null", "true", " 1 ", "1.5"]
DOCUMENTS = ["1", "7", "12", "null", "true", '{"s": "</parameter>"}', '{"s":1}', '["a"]', '["a", "b"]', "[1]", '"a"']
N_SCHEMAS = 60


def pieces_of(style: str, name: str, value: str, is_string: bool, line: str = "\n") -> list[str]:
    """What is written for a parameter; `line` stands wherever a line end may."""
    (before, *behind), close, _ = parameters.MARKS[style]
    said = {"\n": line, "true": json.dumps(is_string), "string": "string" if is_string else kind_of(value)}
    behind = [said.get(piece, piece) for piece in behind]
    around = line if style == "qwen_xml" else ""
    return [line, before, name, *behind, around, value, around, close]


def kind_of(document: str) -> str:
    try:
        return parameters.kind_of(json.loads(document))
    except ValueError:
        return "null"


def text_of(style: str, names: list[str], random: Random) -> str:
    pieces: list[str] = []
    for name in names:
        if random.random() < 0.9:
            is_string = random.random() < 0.5
            value = random.choice(STRINGS if is_string else DOCUMENTS)
            says = is_string if random.random() < 0.9 else not is_string
            pieces += pieces_of(style, name, value, says, random.choice(["\n", "\n", ""]))
    pieces.append(random.choice(["", "\n"]))
    if random.random() < 0.2:
        at = random.randrange(len(pieces))
        pieces[at : at + 1] = random.choice([[], [pieces[at]] * 2, [pieces[at], "\n"], [pieces[at][1:]]])
    return "".join(pieces)


def is_legal(text: str, style: str, schema: Any, types: dict[str, tuple[str, ...]], *, any_order: bool) -> bool:
    found = parameters.read(text, style, types, any_order=any_order)
    if found is None:
        return False
    is_valid = jsonschema.Draft202012Validator(schema).is_valid
    # A name that comes twice has a valid value each time.
    return is_valid(dict(found)) and all(is_valid({**dict(found), name: one}) for name, one in found)


def other_of(random: Random, chosen: dict[str, Any], types: dict[str, tuple[str, ...]]) -> Any:
    """An alternative that lists some of the names, with other values; adds what a reader has to take into account."""
    others = {name: random.choice(VALUES) for name in chosen if random.random() < 0.6}
    rest, rest_types = random.choice([(False, ()), random.choice(VALUES)])
    for name in types:
        types[name] += others[name][1] if name in others else rest_types
    return {
        "type": "object",
        "properties": {name: value for name, (value, _) in others.items()},
        "required": list(others)[:1],
        "additionalProperties": rest,
    }


@pytest.mark.parametrize("style", parameters.MARKS)
@pytest.mark.parametrize("first", range(0, N_SCHEMAS, 20))
def test_texts_are_legal_where_the_oracle_reads_what_is_valid(style: str, first: int) -> None:
    n_legal = n_illegal = 0
    for seed in range(first, first + 20):
        random = Random(seed)
        chosen = {name: random.choice(VALUES) for name in random.sample(["a", "b", "ab", "c_1"], random.randint(1, 3))}
        types = {name: kinds for name, (_, kinds) in chosen.items()}
        rest, types[""] = random.choice([(False, ()), (False, ()), random.choice(VALUES)])
        required = [name for name in chosen if random.random() < 0.4]
        properties = {name: value for name, (value, _) in chosen.items()}
        schema: Any = {"type": "object", "properties": properties, "required": required, "additionalProperties": rest}
        names = [*chosen, *(["z", "z"] if random.random() < 0.3 else [])]
        any_order = seed % 2 == 1
        if seed % 4 == 3:
            schema = {"anyOf": [schema, other_of(random, chosen, types)]}
        schema["$defs"] = DEFS
        texts = [f"<f>{text_of(style, random.sample(names, len(names)), random)}</f>" for _ in range(12 * any_order)]
        texts += [f"<f>{text_of(style, names, random)}</f>" for _ in range(25 - len(texts))]
        vocabulary, pieces = vocabulary_of(texts, random)
        options = {"order": "any" if any_order else "declared"}
        tag = {"begin": "<f>", "end": "</f>", "json_schema": schema, "style": style, "schema_options": options}
        # In a grammar the same texts are legal.
        guided = schema | {"x-guidance": {"style": style, **options}}
        grammar = f'%lexing any\nstart: "<f>" %json {json.dumps(guided)} "</f>"'
        both = Constraint.tags(vocabulary, {"tags": [tag], "at_least": 1}), Constraint.lark(vocabulary, grammar)
        for text in texts:
            expected = is_legal(text[3:-4], style, schema, types, any_order=any_order)
            tokens = cut(text.encode(), pieces, random)
            for matcher in map(Matcher, both):
                is_taken = goes(matcher, tokens) and matcher.can_stop
                assert is_taken == expected, (style, schema, text)
            n_legal += expected
            n_illegal += not expected
    assert n_legal > 30
    assert n_illegal > 30


def test_every_value_can_be_written() -> None:
    """What the schema allows has a text, in each style."""
    values: dict[str, Any] = {"s": "a\n</x>\n", "n": [1, {"s": "</parameter>"}], "u": None, "t": "12", "e": ""}
    types = {"s": ["string"], "n": ["array"], "u": ["string", "null"], "t": ["string"], "": ["string"]}
    schema = {
        "type": "object",
        "properties": {name: {"type": kinds} for name, kinds in types.items() if name},
        "additionalProperties": {"type": "string"},
    }
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    for style in parameters.MARKS:
        tag = {"begin": "<f>", "end": "</f>", "json_schema": schema, "style": style}
        text = "<f>"
        for name, value in values.items():
            is_string = isinstance(value, str)
            text += "".join(pieces_of(style, name, value if is_string else json.dumps(value), is_string))
        matcher = Matcher(Constraint.tags(vocabulary, {"tags": [tag]}))
        assert goes(matcher, list(f"{text}</f>".encode()))
        assert parameters.read(text[3:], style, types) == list(values.items())


def test_a_string_that_takes_too_many_states_may_be_any_with_lenient() -> None:
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 10**6 + 1}}}
    tag = {"begin": "<f>", "end": "</f>", "json_schema": schema, "style": "glm_xml"}
    with pytest.raises(LimitError, match='the parameter "a"'):
        Constraint.tags(vocabulary, {"tags": [tag]})
    constraint = Constraint.tags(vocabulary, {"tags": [tag | {"schema_options": {"lenient": True}}]})
    assert 'the parameter "a"' in "".join(constraint.warnings)
    assert goes(Matcher(constraint), list(b"<f><arg_key>a</arg_key><arg_value>x</arg_value></f>"))
    with pytest.raises(GrammarError, match="maxProperties"):
        Constraint.tags(vocabulary, {"tags": [tag | {"json_schema": schema | {"maxProperties": 1}}]})


def test_how_many_parameters_come_in_any_order() -> None:
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    names = [f"p{number}" for number in range(128)]
    schema = {"type": "object", "properties": {key: {"enum": [1]} for key in names}, "required": names[:-1]}
    tag = {"begin": "<f>", "end": "</f>", "json_schema": schema, "style": "glm_xml", "schema_options": {"order": "any"}}
    constraint = Constraint.tags(vocabulary, {"tags": [tag]})
    shuffled = Random(3).sample(names, len(names))
    written = [f"<arg_key>{name}</arg_key><arg_value>1</arg_value>" for name in shuffled]
    matcher = Matcher(constraint)
    assert goes(matcher, list(f"<f>{''.join(written)}".encode()))
    for name in names:
        assert not goes(matcher.clone(), list(f"<arg_key>{name}<".encode())), "each at most once"
    assert goes(matcher, list(b"</f>"))
    assert goes(Matcher(constraint), list(f"<f>{''.join(one for one in written if '>p127<' not in one)}</f>".encode()))
    assert not goes(Matcher(constraint), list(f"<f>{''.join(one for one in written if '>p64<' not in one)}</".encode()))
    with pytest.raises(LimitError, match=r"tags\[0\]: 129 parameters in any order are more than 128"):
        Constraint.tags(vocabulary, {"tags": [tag | {"json_schema": schema | {"required": [*names, "q"]}}]})


def test_lists_in_any_order_survive_a_file(tmp_path: Path) -> None:
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"}},
        "required": ["b"],
        "x-guidance": {"style": "qwen_xml", "order": "any"},
    }
    Constraint.lark(vocabulary, f'%lexing any\nstart: "<f>" %json {json.dumps(schema)} "</f>"').save(tmp_path / "saved")
    constraint = Constraint.open(vocabulary, tmp_path / "saved")
    a, b, c = (f"<parameter={name}>\n1\n</parameter>\n" for name in "abc")
    for text in [b, a + b, c + b + a, b + a + c]:
        matcher = Matcher(constraint)
        assert goes(matcher, list(f"<f>{text}</f>".encode())) and matcher.can_stop
    for text in ["", a, a + c, b + b, a + b + a, c + b + c]:
        assert not goes(Matcher(constraint), list(f"<f>{text}</f>".encode()))
