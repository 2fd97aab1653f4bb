"""What the tests of both kinds of conformance cases share: running the steps of a case, and checking a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from eliza_inference import ElizaError

import oracle

REFUSALS = (ElizaError, oracle.Refusal)

ExpectedValue = Callable[[str, Any], Any]
"""What the look of a subject has under a key, from what a file has."""


def as_written(_key: str, written: Any) -> Any:
    return written


def run_steps(subject: Any, data: dict[str, Any], value: ExpectedValue = as_written) -> None:
    """Runs the steps on a subject (see subjects.py). One without `check_error` does not know which steps fail."""
    check(subject.look(), data.get("expect", {}), "before the first step", value)
    originals = []
    for number, step in enumerate(data.get("steps", []), 1):
        where = f"step {number}: {step}"
        if step["do"] == "clone":
            originals.append((subject, subject.look()))
            subject = subject.clone()
            assert subject.look() == originals[-1][1], where
        elif "error" not in step:
            subject.do(step)
        elif hasattr(subject, "check_error"):
            before = subject.look()
            with pytest.raises(REFUSALS) as raised:
                subject.do(step)
            subject.check_error(raised.value, step["error"])
            assert subject.look() == before, where
        check(subject.look(), step.get("expect", {}), where, value)
    for original, look in originals:
        assert original.look() == look


def check(actual: dict[str, Any], expected: dict[str, Any], where: str, value: ExpectedValue = as_written) -> None:
    """Compares what the subject knows: an oracle does not know every key."""
    for key, written in expected.items():
        if key in actual:
            assert actual[key] == value(key, written), f"{where}: {key}"


def check_file(content: dict[str, Any], reader: ModuleType, required: set[str], results: set[str]) -> None:
    """That a file is well formed. `required` are keys of every case, `results` those of a case that compiles."""
    assert set(content) == {"about", "cases"} and content["about"]
    names = Counter(case["name"] for case in content["cases"])
    assert not [name for name, count in names.items() if count > 1]
    for case in content["cases"]:
        assert reader.unknown_keys(case) == [], case["name"]
        assert required <= case.keys(), case["name"]
        assert case.keys() & {"error", *results}, f"{case['name']}: expects nothing"
        assert "error" not in case or not case.keys() & results, case["name"]
        for holder in (case, *case.get("steps", [])):
            if "error" in holder and holder.get("do") == "fill_bitmaps":
                assert holder["error"].keys() == {"status"}
            elif "error" in holder:
                assert holder["error"].keys() == {"status", "message"} and len(holder["error"]["message"]) > 8
