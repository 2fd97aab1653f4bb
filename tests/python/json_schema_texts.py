"""Documents as texts that a constraint by a JSON Schema may take: canonical spelling, white space by mode, members in
some order."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from eliza_inference import Constraint, Matcher, Step, TokenFlag, Vocabulary

Json = Any

ORDERS_MAX = 2000
"""Of the members of one document that are tried."""

WORDS = ['"', '",', '":', '"}', '": "', '{"', "}]", "[]", "[1", ", ", "true", "ab", "null", "\\n", "\u00e9", "10"]
PIECES = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in WORDS)]
END = len(PIECES)


def byte_vocabulary() -> Vocabulary:
    """All bytes, some tokens of several, and one that ends the text."""
    return Vocabulary(END + 1, [*PIECES, b""], flags=[0] * len(PIECES) + [TokenFlag.END_OF_GENERATION])


def load(text: str) -> Json:
    """Numbers are exact."""
    return json.loads(text, parse_float=Decimal)


def orders(value: Json) -> Iterator[Json]:
    """The value with the members of its objects in every order, its own first."""
    match value:
        case dict():
            for members in itertools.permutations(value.items()):
                for values in itertools.product(*(orders(member) for _, member in members)):
                    yield dict(zip((key for key, _ in members), values, strict=True))
        case list():
            yield from map(list, itertools.product(*map(orders, value)))
        case _:
            yield value


def has_few_orders(value: Json) -> bool:
    """Whether all of them are tried."""
    return next(itertools.islice(orders(value), ORDERS_MAX, None), None) is None


def spell(value: Json, space: str, depth: int = 0) -> str:
    """The text in a mode of white space; numbers without exponent, integers without point."""
    if isinstance(value, dict):
        colon = ":" if space == "compact" else ": "
        members = [spell(key, space) + colon + spell(item, space, depth + 1) for key, item in value.items()]
        return enclose("{}", members, space, depth)
    if isinstance(value, list):
        return enclose("[]", [spell(item, space, depth + 1) for item in value], space, depth)
    if isinstance(value, Decimal | float):
        exact = Decimal(str(value))
        return str(int(exact)) if exact == exact.to_integral_value() else f"{exact.normalize():f}"
    return json.dumps(value, ensure_ascii=False)


def enclose(brackets: str, parts: list[str], space: str, depth: int) -> str:
    if space == "loose" and parts:
        indent = "\n" + "  " * (depth + 1)
        return brackets[0] + indent + ("," + indent).join(parts) + indent[:-2] + brackets[1]
    return brackets[0] + ("," if space == "compact" else ", ").join(parts) + brackets[1]


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    for byte in text.encode("utf-8", "surrogatepass"):
        if Step.REFUSED in matcher.accept(byte):
            return False
    return matcher.can_stop


def accepted_order(constraint: Constraint, value: Json, space: str) -> list[Json]:
    """The value with its members in an order in which it is accepted; empty if there is none."""
    for one in itertools.islice(orders(value), ORDERS_MAX):
        if accepts(constraint, spell(one, space)):
            return [one]
    return []


STEPS_COMPARED = 3
"""Of a walk: so often every token is tried, at random."""
STEPS_MAX = 400
SHORT = tuple(ord(character) for character in '"}]:abc0, ')
"""With them a document comes to its end, in time."""
EXPONENTS = tuple(ord(character) for character in "eE")
"""Their numbers would be too large for Python."""


def walk(constraint: Constraint, rng: random.Random) -> tuple[bytes, str | None]:
    """A random text that the masks allow, and what is wrong about them."""
    matcher = Matcher(constraint)
    text = b""
    compared = {rng.randrange(12) for _ in range(STEPS_COMPARED)}
    forced: list[tuple[int, bytes]] = []  # and where they were
    for step in itertools.count():
        found = matcher.allowed()
        allowed = set(range(END + 1)) if found is None else {int(token) for token in found}
        if step in compared:
            expected = {token for token in range(END + 1) if Step.REFUSED not in matcher.clone().accept(token)}
            if allowed != expected:
                return text, f"the mask differs in {[PIECES[token : token + 1] for token in allowed ^ expected]}"
            forced.append((len(text), matcher.forced_bytes()))
        if not allowed:
            return text, "a dead end"
        if step == STEPS_MAX:
            return b"", None  # what must still come is nothing that such a walk finds
        others = sorted(allowed - {END, *(EXPONENTS if text[-1:].isdigit() else ())})
        if END in allowed and (not others or step > 8 or rng.random() < 0.3):
            missed = [run for at, run in forced if not text.startswith(run, at)]
            return text, f"{missed[0]!r} was forced and did not come" if missed else None
        short = [token for token in SHORT if token in others]
        if short and rng.random() < step / 20:
            # The first ones close what is open, but where they are text.
            token = short[0] if rng.random() < 0.7 else rng.choice(short)
        else:
            token = rng.choice(others)
        if Step.REFUSED in matcher.accept(token):
            return text, f"{PIECES[token]!r} is allowed and refused"
        text += PIECES[token]
    raise AssertionError
