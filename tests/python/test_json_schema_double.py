"""Numbers of a double (`numbers="double"`): decimal arithmetic over texts near every bound, and walks that must end."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import Constraint, GrammarError, Matcher, Step

from json_schema_texts import byte_vocabulary

GREATEST = Decimal("1.7976931348623157e308")
PARTS = ("0", "5", "10", "0.5", "0.01", "1e-7", "1e-20", "1e-23", "12345678901234567")
LONG_PARTS = ("123456789012345678901", "1e23", "1e30", "9223372036854775807")
STEPS = ("1", "0.5", "0.01", "3", "0.07", "1e-9", "1e-18", "1000", "7e15")


def is_short(text: str) -> bool:
    """Whether it may be written, whatever the schema says."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = mantissa.lstrip("-").replace(".", "").strip("0")
    # `Decimal` has no larger exponents.
    is_finite = not digits or abs(Decimal(mantissa).scaleb(max(-999, min(999, int(exponent or 0))))) <= GREATEST
    return len(text) <= 24 and len(digits) <= 17 and is_finite


class Numbers:
    """A schema of numbers, and what it means."""

    def __init__(self, rng: random.Random) -> None:
        self.schema: dict[str, Any] = {"type": rng.choice(("number", "number", "integer"))}
        self.checks: list[Any] = []
        for keyword, test in (
            ("minimum", lambda value, bound: value >= bound),
            ("exclusiveMinimum", lambda value, bound: value > bound),
            ("maximum", lambda value, bound: value <= bound),
            ("exclusiveMaximum", lambda value, bound: value < bound),
        ):
            if rng.random() < 0.35:
                bound = rng.choice(("", "", "-")) + rng.choice(PARTS + LONG_PARTS)
                self.add(keyword, bound, lambda value, test=test, bound=Decimal(bound): test(value, bound))
        if rng.random() < 0.3:
            of = rng.choice(STEPS)
            self.add("multipleOf", of, lambda value, of=Decimal(of): self.is_multiple(value, of))
        if self.schema["type"] == "number" and rng.random() < 0.2:
            self.schema["not"] = {"type": "integer"}
            self.checks.append(lambda value: value != value.to_integral_value())

    def add(self, keyword: str, text: str, check: Any) -> None:
        self.schema[keyword] = Literal(text)
        self.checks.append(check)

    @staticmethod
    def is_multiple(value: Decimal, of: Decimal) -> bool:
        return scaled(value) % scaled(of) == 0

    @property
    def text(self) -> str:
        members = [
            f'"{key}":{value if isinstance(value, Literal) else dumped(value)}' for key, value in self.schema.items()
        ]
        return "{" + ",".join(members) + "}"

    def has(self, text: str) -> bool:
        """Without a limit."""
        is_free = not self.checks and self.schema["type"] == "number"
        if (not is_free and set("eE") & set(text)) or (self.schema["type"] == "integer" and "." in text):
            return False
        return all(check(Decimal(text)) for check in self.checks)

    def has_short(self, text: str) -> bool:
        if not self.has(text):
            return False
        return -(2**63) <= int(text) < 2**64 if self.schema["type"] == "integer" else is_short(text)


class Literal(str):
    """A number as the schema spells it."""


def dumped(value: Any) -> str:
    if isinstance(value, Literal):
        return value
    return '{"type":"integer"}' if isinstance(value, dict) else f'"{value}"'


def scaled(value: Decimal) -> int:
    """In units of 1e-40: no text here has more places."""
    sign, digits, exponent = value.as_tuple()
    whole = int("".join(map(str, digits))) * int("1" + "0" * (40 + int(exponent)))
    return -whole if sign else whole


def texts(rng: random.Random, numbers: Numbers) -> list[str]:
    """Near the bounds, of every length."""
    found = ["0", "-0", "0.0", "1e308", "1.8e308", "1e-99", "18446744073709551615", "18446744073709551616"]
    for _ in range(60):
        text = format(Decimal(rng.choice(PARTS + LONG_PARTS)), "f")[: rng.randint(1, 26)].rstrip(".")
        at = rng.randrange(len(text) + 1)
        text = text[:at] + "".join(rng.choice("0019") for _ in range(rng.randint(0, 12))) + text[at:]
        if rng.random() < 0.3 and "." not in text:
            text += "." + "".join(rng.choice("0015") for _ in range(rng.randint(1, 20)))
        whole, point, fraction = text.partition(".")
        found.append(rng.choice(("", "", "-")) + (whole.lstrip("0") or "0") + point + fraction)
    return found


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(Step.REFUSED not in matcher.accept(byte) for byte in text.encode()) and matcher.can_stop


def walk(rng: random.Random, constraint: Constraint) -> str:
    """Continues while it can: it must come to an end within what a short number has."""
    matcher, text = Matcher(constraint), ""
    while found := bytes_of(matcher):
        byte = rng.choice(found)
        matcher.accept(byte)
        text += chr(byte)
    return text


@pytest.mark.parametrize("seed", range(120))
def test_a_text_is_allowed_if_it_is_valid_and_short(seed: int) -> None:
    rng = random.Random(seed)
    numbers, vocabulary = Numbers(rng), byte_vocabulary()
    try:
        unlimited = Constraint.json_schema(vocabulary, numbers.text, space="compact")
    except GrammarError:
        with pytest.raises(GrammarError):
            Constraint.json_schema(vocabulary, numbers.text, space="compact", numbers="double")
        return
    constraint = Constraint.json_schema(vocabulary, numbers.text, space="compact", numbers="double")
    tried = texts(rng, numbers)
    has = numbers.has_short if is_limited(constraint) else numbers.has
    for text in tried:
        assert accepts(constraint, text) == has(text), (numbers.text, text)
        assert accepts(unlimited, text) == numbers.has(text), (numbers.text, text)


@pytest.mark.parametrize("seed", range(60))
def test_every_walk_of_a_number_ends(seed: int) -> None:
    rng = random.Random(1000 + seed)
    numbers = Numbers(rng)
    try:
        constraint = Constraint.json_schema(byte_vocabulary(), numbers.text, space="compact", numbers="double")
    except GrammarError:
        return
    if not is_limited(constraint):
        return
    for _ in range(20):
        text = walk(rng, constraint)
        assert numbers.has_short(text), (numbers.text, text)


def is_limited(constraint: Constraint) -> bool:
    """The limit is off where no short number is valid: then some text is longer."""
    matcher = Matcher(constraint)
    for _ in range(25):
        found = bytes_of(matcher)
        if not found:
            return True
        matcher.accept(max(found, key=lambda byte: (byte not in b"eE.", byte)))
    return False


def bytes_of(matcher: Matcher) -> list[int]:
    allowed = matcher.allowed()
    assert allowed is not None
    assert len(allowed) > 0
    return [int(token) for token in allowed if token < 256]


def test_a_saved_schema_keeps_its_options(tmp_path: Path) -> None:
    vocabulary = byte_vocabulary()
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    for numbers in ("any", "double"):
        for additional in ("allow", "forbid"):
            made = Constraint.json_schema(
                vocabulary, schema, space="spaced", order="any", numbers=numbers, additional=additional
            )
            made.save(tmp_path / "saved")
            opened = Constraint.open(vocabulary, tmp_path / "saved")
            for constraint in (made, opened):
                assert accepts(constraint, '{"a": ' + "1" * 18 + "}") == (numbers == "any")
                assert accepts(constraint, '{"b": 1}') == (additional == "allow")
