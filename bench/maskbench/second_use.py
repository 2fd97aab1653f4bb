"""Masks of schemas that have seen their texts once, from C: without the calls of Python."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import native
from bench.maskbench.measure import Outcome
from bench.recognizers import vocabularies
from bench.recognizers.measure import documents_bytes, vocabulary_bytes

PASSES = 3


@dataclass(frozen=True)
class SecondUse:
    """Over all positions of all schemas, in us."""

    lent_us: list[float]
    """The mask as `eliza_inference_matcher_allowed` lends it."""
    filled_us: list[float]
    """As `eliza_inference_matcher_fill_bitmap` writes it into the caller's memory."""
    clock_us: float
    """What reading the clock costs; it is in every figure."""


def measure(outcomes: list[Outcome]) -> SecondUse | None:
    """Of the valid instances that this library took. None if there are none."""
    texts = [(each.problem.schema, _taken(each)) for each in outcomes if each.refusal is None]
    chosen = [(schema, documents) for schema, documents in texts if documents]
    if not chosen:
        return None
    table = vocabularies.load("llama3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vocabulary = folder / "vocabulary"
        vocabulary.write_bytes(vocabulary_bytes(table))
        files: list[Path] = []
        for number, (schema, documents) in enumerate(chosen):
            files += [folder / f"{number}-schema", folder / f"{number}-documents"]
            files[-2].write_text(schema, encoding="utf-8")
            files[-1].write_bytes(documents_bytes(table, documents))
        found = native.run("second_use", vocabulary, PASSES, *files)
    lent, filled = ([ns / 1e3 for each in found["schemas"] for ns in each[key]] for key in ("allowed_ns", "fill_ns"))
    return SecondUse(lent, filled, found["clock_ns"] / 1e3)


def _taken(outcome: Outcome) -> list[str]:
    return [
        instance.text
        for instance, is_taken in zip(outcome.problem.instances, outcome.answer["taken"], strict=True)
        if instance.is_valid and is_taken
    ]
