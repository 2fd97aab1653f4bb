"""The answers: greedy, each by a stream of its own constraint, in rows of options."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from eliza_inference import GENERATION, Constraint, Model, StopReason, Stream
from jsonschema import Draft202012Validator

from bench.answers.models import RealModel

CONTEXT_ROOM = 128
"""Tokens of a prompt."""

ROWS: dict[str, dict[str, Any]] = {
    "loose (of a schema)": {},
    "spaced": {"space": "spaced"},
    "compact": {"space": "compact"},
    "loose, double": {"numbers": "double"},
    "loose, double, forbid": {"numbers": "double", "additional": "forbid"},
    "spaced, double, forbid": {"space": "spaced", "numbers": "double", "additional": "forbid"},
    "compact, double": {"space": "compact", "numbers": "double"},
    "compact, forbid": {"space": "compact", "additional": "forbid"},
    "compact, double, forbid (GENERATION)": dict(GENERATION),
}
"""By name: white space, `numbers` and `additional`, where they are not those of a schema."""
SHORT = (next(iter(ROWS)), list(ROWS)[-1])
"""What is measured by default."""


@dataclass(frozen=True, slots=True)
class Answer:
    schema: str
    request: str
    text: str
    n_tokens: int
    is_complete: bool
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Row:
    """All requests, answered with some options."""

    name: str
    answers: list[Answer]

    @property
    def n_complete(self) -> int:
        return sum(answer.is_complete for answer in self.answers)

    @property
    def n_valid(self) -> int:
        return sum(answer.is_valid for answer in self.answers)

    @property
    def n_tokens(self) -> int:
        return sum(answer.n_tokens for answer in self.answers)


@cache
def questions() -> dict[str, Any]:
    """By name: a schema and the requests that it is for."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "requests.json").read_text(encoding="utf-8"))
    return found


def n_questions() -> int:
    return sum(len(one["requests"]) for one in questions().values())


def measure(of: RealModel, names: list[str], max_tokens: int, advance: Callable[[], object]) -> list[Row]:
    with (
        Model(of.path()) as model,
        model.stream(max_tokens=max_tokens, context_size=max_tokens + CONTEXT_ROOM, threads=1) as stream,
    ):
        return [_row(of, name, stream, advance) for name in names]


def _row(of: RealModel, name: str, stream: Stream, advance: Callable[[], object]) -> Row:
    answers = []
    for schema_name, one in questions().items():
        constraint = Constraint.json_schema(stream.model.vocabulary, one["schema"], **ROWS[name])
        for request in one["requests"]:
            answers.append(_answer(of, schema_name, one["schema"], request, stream, constraint))
            advance()
    return Row(name, answers)


def _answer(
    of: RealModel, schema_name: str, schema: dict[str, Any], request: str, stream: Stream, constraint: Constraint
) -> Answer:
    stream.reset()
    prompt = of.prompt.format(request)
    stream.prefill(stream.model.tokenize(prompt, add_special=True, parse_special=of.parse_special))
    with stream.span(constraint):
        text = stream.generate()
        is_complete = stream.state.can_stop or stream.stop_reason == StopReason.SPAN_END
    n_tokens = stream.stats.emitted_tokens
    return Answer(schema_name, request, text, n_tokens, is_complete, is_complete and _is_valid(text, schema))


def _is_valid(text: str, schema: dict[str, Any]) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return bool(Draft202012Validator(schema).is_valid(value))
