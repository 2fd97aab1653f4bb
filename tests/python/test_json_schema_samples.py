"""Schemas of users, with instances: the valid ones are accepted, the invalid ones are not."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, Literal

import pytest
from eliza_inference import Constraint, GrammarError, LimitError, Matcher, OutOfMemoryError, Step, TokenFlag, Vocabulary

SAMPLE = Path(__file__).parents[2] / "bench" / "maskbench" / "sample.jsonl.xz"
END = 256


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    pieces = [bytes([byte]) for byte in range(END)]
    return Vocabulary(END + 1, [*pieces, b""], flags=[0] * END + [TokenFlag.END_OF_GENERATION])


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(Step.REFUSED not in matcher.accept(byte) for byte in text.encode()) and matcher.can_stop


def problems() -> list[dict[str, Any]]:
    with lzma.open(SAMPLE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


OUT_OF_ORDER = {
    "Github_easy---o25419",
    "Github_hard---o65011",
    "Github_medium---o40744",
    "Github_medium---o42021",
    "Github_medium---o83270",
    "Github_medium---o83815",
    "Glaiveai2K---calculate_area_d1be6fdf",
    "JsonSchemaStore---codeship-services",
    "JsonSchemaStore---drupal-info",
}
"""With a valid instance whose keys are in another order than those of the schema."""
Spelled = {"Synthesized---draft2019_09_valid_const_id30_subschema1_not_2"}
"""With a valid instance that spells an integer of `const` 1.0."""
REFUSED = {"JsonSchemaStore---mongodb-atlas-search-index-definition"}
"""More alternatives than are followed at once."""


@pytest.mark.parametrize("order", ["declared", "any"])
def test_instances_are_accepted_exactly_when_they_are_valid(
    vocabulary: Vocabulary, order: Literal["declared", "any"]
) -> None:
    refused, valid_refused, invalid_taken = set(), set(), []
    for problem in problems():
        try:
            constraint = Constraint.json_schema(vocabulary, problem["schema"], order=order)
            taken = [accepts(constraint, json.dumps(test["data"], ensure_ascii=False)) for test in problem["tests"]]
        except (GrammarError, LimitError, OutOfMemoryError):
            refused.add(problem["id"])
            continue
        for index, (test, is_taken) in enumerate(zip(problem["tests"], taken, strict=True)):
            if is_taken and not test["valid"]:
                invalid_taken.append((problem["id"], index))
            elif test["valid"] and not is_taken:
                valid_refused.add(problem["id"])
    assert not invalid_taken
    assert valid_refused - REFUSED == (Spelled | OUT_OF_ORDER if order == "declared" else Spelled)
    assert refused <= REFUSED


def test_a_listed_integer_is_taken_with_a_fraction_of_zero_by_option(vocabulary: Vocabulary) -> None:
    problem = next(problem for problem in problems() if problem["id"] in Spelled)
    constraint = Constraint.json_schema(vocabulary, problem["schema"], integer_fraction=True)
    for test in problem["tests"]:
        assert accepts(constraint, json.dumps(test["data"], ensure_ascii=False)) == test["valid"]
