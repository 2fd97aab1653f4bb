"""Longer answers of the model that ships, with drafts by prompt lookup and without: passes, and equality of tokens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from eliza_inference import Constraint, Mode, Model, Stream, StreamStats

from bench import paths
from bench.prompts import PREFIX, Prompt, read_names, read_prompts
from bench.tables import Table

DRAFT_TOKENS = (4, 8, 16)
N_PROMPTS = 40
ANSWER_TOKENS = 120
SAMPLINGS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0},
    "temperature 0.8, top-p 0.95": {"temperature": 0.8, "top_p": 0.95, "seed": 1},
}


@dataclass(frozen=True, slots=True)
class Answer:
    tokens: list[int]
    stats: StreamStats


@dataclass(frozen=True, slots=True)
class Row:
    """All prompts, answered in one way."""

    kind: str
    sampling: str
    plain: list[Answer]
    drafted: dict[int, list[Answer]]
    """By the tokens of a draft."""

    def cells(self) -> list[str]:
        tokens = [one.tokens for one in self.plain]
        same = all([one.tokens for one in answers] == tokens for answers in self.drafted.values())
        return [
            self.kind,
            self.sampling,
            f"{_mean(self.plain, lambda one: len(one.tokens)):.1f}",
            f"{_mean(self.plain, _passes):.1f}",
            *(f"{_mean(answers, _passes):.1f} ({_accepted(answers):.0%})" for answers in self.drafted.values()),
            "all" if same else "**not all**",
        ]


def kinds(model: Model, names: list[str]) -> dict[str, tuple[str | None, Constraint | None]]:
    """A llama.cpp grammar or a constraint for each kind of answer."""
    step = _object({"action": {"enum": names}, "urgent": {"type": "boolean"}})
    plan = _object({"steps": {"type": "array", "items": step, "minItems": 4, "maxItems": 6}})
    alternatives = " | ".join(f'"{PREFIX}{name}\\n"' for name in names)
    turns = r"( [A-Z_]+\nUser: [a-z ]{5,40}\nAction:){4}"
    return {
        "a plan in JSON": (None, Constraint.json_schema(model.vocabulary, plan)),
        "six names, llama.cpp grammar": (f"root ::= name{{6}}\nname ::= {alternatives}", None),
        "four more turns, regular expression": (None, Constraint.regex(model.vocabulary, turns)),
    }


def measure() -> Iterator[Row]:
    paths.use_llama()
    prompts = read_prompts(paths.MESSAGES)[:N_PROMPTS]
    with Model(paths.MODEL) as model:
        for kind, (grammar, constraint) in kinds(model, read_names(paths.ACTIONS)).items():
            for sampling, options in SAMPLINGS.items():
                answers = {}
                for n in (0, *DRAFT_TOKENS):
                    with model.stream(grammar=grammar, draft_max=n, max_tokens=ANSWER_TOKENS, **options) as stream:
                        answers[n] = [_answer(stream, prompt, constraint) for prompt in prompts]
                yield Row(kind, sampling, answers.pop(0), answers)


def table(rows: list[Row]) -> Table:
    heading = ["answer", "sampling", "tokens", "passes"]
    heading += [f"drafts of {n}: passes (accepted)" for n in DRAFT_TOKENS]
    return Table([*heading, "same tokens"], [row.cells() for row in rows], n_left=2)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **closed}


def _answer(stream: Stream, prompt: Prompt, constraint: Constraint | None) -> Answer:
    stream.reset()
    stream.prefill(prompt.text)
    if constraint is not None:
        stream.set_constraint(constraint, Mode.SAMPLED)
    tokens = [token for step in stream for token in step.tokens]
    return Answer(tokens, stream.stats)


def _passes(answer: Answer) -> int:
    return answer.stats.forward_passes


def _mean(answers: list[Answer], figure: Callable[[Answer], int]) -> float:
    return sum(map(figure, answers)) / len(answers)


def _accepted(answers: list[Answer]) -> float:
    drafted = sum(answer.stats.drafted_tokens for answer in answers)
    return sum(answer.stats.accepted_drafts for answer in answers) / max(drafted, 1)
