"""The conformance cases through the Python package; and the case files themselves: well formed, complete, and
agreeing with the oracle."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import conformance_cases as conformance
import oracle
from conformance_run import REFUSALS, check, check_file, run_steps
from subjects import Library, Oracle

CASES = list(conformance.cases())

# Beyond this the oracle, which is slow, is not asked. Only payloads at the limits of size are.
ORACLE_BYTES_MAX = 16 * 2**20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: conformance.Case) -> None:
    run(case, Library)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.payload_length <= ORACLE_BYTES_MAX], ids=lambda case: case.id
)
def test_oracle_agrees(case: conformance.Case) -> None:
    run(case, Oracle)


# ---- One case --------------------------------------------------------------------------------------------------------


def run(case: conformance.Case, subject_type: type[Library] | type[Oracle]) -> None:
    data = case.data
    arguments = (case.payload, data["vocab_size"], data.get("model_id"), data.get("span_timeout"))
    if "error" in data:
        with pytest.raises(REFUSALS) as raised:
            subject_type(*arguments)
        subject_type.check_error(raised.value, data["error"])
        return
    subject = subject_type(*arguments)
    check(subject.info(), data.get("info", {}), "info")
    run_steps(subject, data)


# ---- The files -------------------------------------------------------------------------------------------------------


def test_there_are_enough_cases() -> None:
    assert sum(len(content["cases"]) for content in conformance.files().values()) >= 120


@pytest.mark.parametrize("file", conformance.files().items(), ids=lambda item: item[0])
def test_file_is_well_formed(file: tuple[str, dict[str, Any]]) -> None:
    check_file(file[1], conformance, {"name", "decisions", "vocab_size"}, {"info", "expect", "steps"})
    for case in file[1]["cases"]:
        assert case.keys() & conformance.PAYLOAD_KEYS, case["name"]


def test_both_payloads_of_a_case_are_the_same_tree() -> None:
    """Where a case has JSON and MessagePack, and each can be read at all."""
    by_case: dict[tuple[str, str], list[Any]] = {}
    for case in CASES:
        if case.payload_length <= ORACLE_BYTES_MAX:
            with contextlib.suppress(oracle.Refusal):
                by_case.setdefault((case.file, case.data["name"]), []).append(oracle.decode(case.payload))
    pairs = [trees for trees in by_case.values() if len(trees) == 2]
    assert len(pairs) > 100
    assert all(first == second for first, second in pairs)


def test_every_decision_has_cases() -> None:
    named = {number for case in CASES for number in case.data["decisions"]}
    assert named == set(conformance.decisions())


def test_every_status_of_a_payload_has_cases() -> None:
    statuses = Counter(case.data["error"]["status"] for case in CASES if "error" in case.data)
    assert set(statuses) == {"ELIZA_ERR_PAYLOAD", "ELIZA_ERR_LIMIT", "ELIZA_ERR_MODEL_MISMATCH"}
    assert all(count >= 5 for count in statuses.values())


def test_every_limit_of_a_payload_has_cases() -> None:
    """A message of ELIZA_ERR_LIMIT names the limit; descriptors, whose paths must differ, are in the C test."""
    messages = " ".join(
        case.data["error"]["message"] for case in CASES if case.data.get("error", {}).get("status") == "ELIZA_ERR_LIMIT"
    )
    limits = [
        oracle.PAYLOAD_BYTES_MAX,
        oracle.PAYLOAD_DEPTH_MAX,
        oracle.LEAVES_MAX,
        oracle.LEAF_TOKENS_MAX,
        oracle.TOKENS_MAX,
        oracle.TRIGGERS_MAX,
        oracle.TRIGGER_TOKENS_MAX,
        oracle.END_TOKENS_MAX,
        oracle.NAME_BYTES_MAX,
        oracle.SPAN_TIMEOUT_TOKENS,
    ]
    assert [limit for limit in limits if str(limit) not in messages] == []
