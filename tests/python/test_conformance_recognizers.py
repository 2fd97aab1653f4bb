"""The conformance cases of recognizers through the Python package; and the case files themselves: well formed, and
agreeing with the oracle."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import ElizaError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recognizer_cases as conformance
from recognizer_subjects import WAYS, Library, NotKnown, Oracle, expected_value

CASES = list(conformance.cases())

# The oracle is slow.
ORACLE_STEPS_MAX = 1000


RUNS = [(case, way) for case in CASES for way in (["compiled"] if "error" in case.data else WAYS)]


@pytest.mark.parametrize(("case", "way"), RUNS, ids=[f"{case.id} ({way})" for case, way in RUNS])
def test_case(case: conformance.Case, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for files, whose paths are in messages
    data = case.data
    if "error" in data:
        with pytest.raises(ElizaError) as raised:
            Library(case)
        Library.check_error(raised.value, data["error"])
        return
    subject = Library(case, way)
    assert subject.kind == data.get("kind", subject.kind)
    assert subject.notes == data.get("notes", subject.notes)
    run(subject, data)


def oracle_knows(case: conformance.Case) -> bool:
    longest = max([len(token) for token in case.tokens] + [step.get("count", 1) for step in case.data.get("steps", [])])
    if "error" in case.data or longest > ORACLE_STEPS_MAX:
        return False
    try:
        Oracle(case)
    except NotKnown:
        return False
    return True


@pytest.mark.parametrize("case", [case for case in CASES if oracle_knows(case)], ids=lambda case: case.id)
def test_oracle_agrees(case: conformance.Case) -> None:
    run(Oracle(case), case.data)


# ---- One case --------------------------------------------------------------------------------------------------------


def run(subject: Any, data: dict[str, Any]) -> None:
    check(subject.look(), data.get("expect", {}), "before the first step")
    originals = []
    for number, step in enumerate(data.get("steps", []), 1):
        where = f"step {number}: {step}"
        if step["do"] == "clone":
            originals.append((subject, subject.look()))
            subject = subject.clone()
            assert subject.look() == originals[-1][1], where
        elif "error" in step:
            if isinstance(subject, Library):
                before = subject.look()
                with pytest.raises(ElizaError) as raised:
                    subject.do(step)
                Library.check_error(raised.value, step["error"])
                assert subject.look() == before, where
        else:
            subject.do(step)
        check(subject.look(), step.get("expect", {}), where)
    for original, look in originals:
        assert original.look() == look


def check(actual: dict[str, Any], expected: dict[str, Any], where: str) -> None:
    for key, value in expected.items():
        if key in actual:
            assert actual[key] == expected_value(key, value), f"{where}: {key}"


# ---- The files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", conformance.files().items(), ids=lambda item: item[0])
def test_file_is_well_formed(file: tuple[str, dict[str, Any]]) -> None:
    content = file[1]
    assert set(content) == {"about", "cases"} and content["about"]
    names = Counter(case["name"] for case in content["cases"])
    assert not [name for name, count in names.items() if count > 1]
    for case in content["cases"]:
        assert conformance.unknown_keys(case) == [], case["name"]
        assert {"name", "tokens"} <= case.keys(), case["name"]
        assert len(case.keys() & set(conformance.SOURCES)) == 1, case["name"]
        assert case.keys() & {"error", "notes", "expect", "steps"}, f"{case['name']}: expects nothing"
        assert "error" not in case or not case.keys() & {"notes", "expect", "steps"}, case["name"]
        assert "error" in case or "open" not in case, case["name"]
        for holder in (case, *case.get("steps", [])):
            if "error" in holder and holder.get("do") == "fill_bitmaps":
                assert holder["error"].keys() == {"status"}
            elif "error" in holder:
                assert holder["error"].keys() == {"status", "message"} and len(holder["error"]["message"]) > 8


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 130
    assert sum(oracle_knows(case) for case in CASES) >= 60
