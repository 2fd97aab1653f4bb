"""The conformance cases of recognizers through the Python package; and the case files themselves: well formed, and
agreeing with the oracle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import ElizaError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recognizer_cases as conformance
from conformance_run import check_file, run_steps
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
    run_steps(subject, data, expected_value)


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
    run_steps(Oracle(case), case.data, expected_value)


# ---- The files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", conformance.files().items(), ids=lambda item: item[0])
def test_file_is_well_formed(file: tuple[str, dict[str, Any]]) -> None:
    check_file(file[1], conformance, {"name", "tokens"}, {"notes", "expect", "steps"})
    for case in file[1]["cases"]:
        assert len(case.keys() & set(conformance.SOURCES)) == 1, case["name"]
        assert "error" in case or "open" not in case, case["name"]


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 130
    assert sum(oracle_knows(case) for case in CASES) >= 60
