"""Strings between tags with `maxLength`, which are counted, against the same bounds as a pattern, which is unrolled
into states: masks and all that follows from them are equal along random texts. Seeds are fixed."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from eliza_inference import Constraint, LimitError, Matcher, Step, Vocabulary

from parameter_texts import goes

PIECES = [
    "ab",
    "aaaaaaaa",
    "éé",
    "a\n",
    "\n\n",
    "</",
    "</p",
    "</parameter>",
    "</arg_value>",
    "x</parameter>\n</f>",
    "</f>",
    "null",
]
PIECES += ["<arg_key>", "<parameter=b>\n", "\U0001f600a", "\n</parameter>", "<|close|>"]
OPENED = {"glm_xml": "<f><arg_key>a</arg_key><arg_value>", "qwen_xml": "<f><parameter=a>"}
CLOSING = {256 + number for number, piece in enumerate(PIECES) if "</" in piece}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)] + [piece.encode() for piece in PIECES]
    return Vocabulary(len(tokens) + 1, [*tokens, b"</s>"], [0] * len(tokens) + [2])


def schema_of(value: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": value}, "required": ["a"], "additionalProperties": False}


def compiled(vocabulary: Vocabulary, style: str, value: Any) -> Constraint:
    schema = schema_of(value)
    guided = json.dumps(schema | {"x-guidance": {"style": style}})
    return Constraint.lark(vocabulary, f'%lexing any\nstart: "<f>" %json {guided} "</f>"')


def tagged(vocabulary: Vocabulary, style: str, value: Any) -> Constraint:
    schema = schema_of(value)
    return Constraint.tags(
        vocabulary, {"tags": [{"begin": "<f>", "end": "</f>", "style": style, "json_schema": schema}]}
    )


CASES: list[tuple[int, int, dict[str, Any]]] = [
    (0, 3, {"type": "string"}),
    (2, 9, {"type": "string"}),
    (5, 5, {"type": "string"}),
    (0, 170, {"type": "string"}),
    (1, 190, {"type": ["string", "null"]}),
    (160, 180, {"type": "string"}),
    (0, 12, {"type": ["string", "null", "integer"]}),
    (0, 150, {"type": "string", "pattern": "^[a\n<é]*$"}),
]


@pytest.mark.parametrize("style", OPENED)
@pytest.mark.parametrize(("least", "most", "value"), CASES)
@pytest.mark.parametrize("make", [compiled, tagged])
def test_masks_are_those_of_states(
    vocabulary: Vocabulary, style: str, least: int, most: int, value: dict[str, Any], make: Any
) -> None:
    counted = make(vocabulary, style, value | {"minLength": least, "maxLength": most})
    unrolled = make(vocabulary, style, {"allOf": [value, {"pattern": rf"^[\s\S]{{{least},{most}}}$"}]})
    random = Random(most)
    n_ends = 0
    for length in [0, least - 1, least, most - 1, most, most + 3, *(random.randint(0, most) for _ in range(2))]:
        one, other = Matcher(counted), Matcher(unrolled)
        text = (
            OPENED[style].encode()
            + "".join(random.choice("aé\n" if most < 100 else "aé") for _ in range(max(length - 6, 0))).encode()
        )
        for byte in text:
            assert (Step.REFUSED in one.accept(byte)) == (Step.REFUSED in other.accept(byte))
        for _ in range(24):
            mask, expected = one.allowed(), other.allowed()
            if mask is None or expected is None:  # after the part
                assert mask is None and expected is None
                n_ends += 1
                break
            assert np.array_equal(mask, expected), (style, least, most, length)
            assert one.can_stop == other.can_stop and one.forced_bytes() == other.forced_bytes()
            assert len(mask) > 0
            n_ends += one.can_stop
            legal = mask.tolist()
            pieces = [token for token in legal if 256 <= token < 256 + len(PIECES)] or legal
            closing = [token for token in pieces if token in CLOSING] or pieces
            token = random.choice(random.choice([legal, pieces, closing, closing]))
            one.accept(token)
            other.accept(token)
    assert n_ends > 0


def test_a_million_characters_are_counted(vocabulary: Vocabulary, tmp_path: Path) -> None:
    value = {"type": "string", "maxLength": 10_000}
    compiled(vocabulary, "qwen_xml", value).save(tmp_path / "saved")
    for constraint in compiled(vocabulary, "qwen_xml", value), Constraint.open(vocabulary, tmp_path / "saved"):
        matcher = Matcher(constraint)
        assert matcher.accept_tokens(list(b"<f><parameter=a>\n")) and matcher.accept_tokens([257] * 1249)
        for _ in range(2):
            assert goes(matcher.clone(), list(b"\nxxxxxxx\n</parameter></f>"))
            assert goes(matcher.clone(), list("éééééééé\n</parameter></f>".encode()))
            assert not goes(matcher.clone(), list("éééééééé\n\n".encode()))
            matcher.accept(257)
            matcher.rollback(1)
    assert goes(
        Matcher(compiled(vocabulary, "glm_xml", {"type": "string", "maxLength": 10**6})),
        list(b"<f><arg_key>a</arg_key>"),
    )
    with pytest.raises(LimitError, match="maxLength 1000001 is more than 1000000"):
        compiled(vocabulary, "glm_xml", {"type": "string", "maxLength": 10**6 + 1})


@pytest.mark.parametrize("style", OPENED)
def test_the_length_of_one_choice_is_not_that_of_another(vocabulary: Vocabulary, style: str) -> None:
    short, long = {"type": "string", "maxLength": 2}, {"type": "string", "minLength": 4}
    for choices in [short, {"type": "null"}, long], [{"type": "null"}, long, short], [long, short, {"type": "null"}]:
        constraint = compiled(vocabulary, style, {"anyOf": choices})
        for length, is_allowed in [(1, True), (2, True), (3, False), (4, True), (300, True)]:
            close = b"</arg_value>" if style == "glm_xml" else b"\n</parameter>"
            text = OPENED[style].encode() + b"\n" * (style == "qwen_xml") + b"x" * length + close
            assert goes(Matcher(constraint), list(text)) == is_allowed
