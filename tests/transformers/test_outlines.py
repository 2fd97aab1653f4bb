"""Outlines' own generator with this library as its backend, on a tiny model of random weights in transformers."""

import json
import re
from enum import Enum
from typing import Any, Literal

import outlines
import pytest
import torch
from eliza_inference import GrammarError
from eliza_inference.outlines import ElizaBackend, generator
from outlines.types import CFG, JsonSchema, Regex, date, email, ipv4, uuid4
from pydantic import BaseModel

PROMPTS = ["a colour: ", "a somewhat longer prompt for another colour, please: "]
TYPES = {"date": date, "email": email, "ipv4": ipv4, "uuid4": uuid4}


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Pixel(BaseModel, extra="forbid"):
    colour: Colour
    lit: bool


@pytest.fixture(scope="module")
def steered(model: Any, tokenizer: Any) -> Any:
    torch.manual_seed(3)
    return outlines.from_transformers(model.float(), tokenizer)


SETTINGS: list[dict[str, Any]] = [{}, {"do_sample": True, "temperature": 2.0}, {"num_beams": 3}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_types_of_python(steered: Any, settings: dict[str, Any]) -> None:
    generate = generator(steered, JsonSchema(Pixel, whitespace_pattern=""))  # this model would never end its spaces
    for prompt in PROMPTS:  # again and again: Outlines resets the processor
        Pixel.model_validate_json(generate(prompt, max_new_tokens=60, **settings))
    assert generator(steered, Literal["red", "reddish"])(PROMPTS[0], max_new_tokens=9, **settings) in ("red", "reddish")
    assert generator(steered, Colour)(PROMPTS[0], max_new_tokens=9, **settings) in ("red", "green")


@pytest.mark.parametrize("name", TYPES)
def test_types_of_outlines(steered: Any, name: str) -> None:
    text = generator(steered, TYPES[name])(PROMPTS[0], max_new_tokens=200, do_sample=True)
    if name == "email":  # any length: it may not be over yet
        assert re.match(r"[^\s@]", text)
    else:
        assert re.fullmatch(TYPES[name].pattern, text), text


def test_a_grammar_in_larks_notation(steered: Any) -> None:
    text = generator(steered, CFG('start: "a"~3 (b | "c")\nb: "(" b? ")"'))(PROMPTS[0], max_new_tokens=30)
    assert text.startswith("aaa")
    assert text == "aaac" or set(text[3:]) <= set("()")


def test_a_batch(steered: Any) -> None:
    texts = generator(steered, Regex("[a-c]{3}x?")).batch(PROMPTS, max_new_tokens=9)
    assert all(re.fullmatch("[a-c]{3}x?", text) for text in texts)


def test_outlines_takes_a_processor_of_the_backend(steered: Any) -> None:
    schema = json.dumps({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2})
    backend = ElizaBackend(steered)
    processor = backend.get_json_schema_logits_processor(schema, "")
    text = outlines.Generator(steered, processor=processor)(PROMPTS[0], max_new_tokens=99)
    assert len(json.loads(text)) == 2
    assert " " not in text


def test_what_is_not_served_is_an_error(steered: Any) -> None:
    backend = ElizaBackend(steered)
    with pytest.raises(NotImplementedError, match="whitespace_pattern"):
        backend.get_json_schema_logits_processor("{}", "[ ]?")
    with pytest.raises(GrammarError, match="back-references"):
        backend.get_regex_logits_processor(r"(a)\1")
    with pytest.raises(TypeError, match="expected Transformers or LlamaCpp"):
        ElizaBackend(object())
