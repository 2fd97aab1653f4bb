"""The conformance cases through the Python package; and the case files themselves: well formed, complete, and
agreeing with the oracles."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import ElizaError
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import conformance_cases as conformance
from conformance_cases import Run
from oracle_subjects import NotKnown, TokenTrieOracle, oracle_of
from oracles import token_trie
from subjects import Library

RUNS = list(conformance.runs())
REFUSALS = (ElizaError, token_trie.Refusal)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_case(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for files, whose paths are in messages
    if "error" not in run.data:
        check_subject(Library(run), run.data)
        return
    with pytest.raises(ElizaError) as raised:
        Library(run)
    Library.check_error(raised.value, run.data["error"])


def is_known_to_oracle(run: Run) -> bool:
    try:
        oracle_of(run)
    except NotKnown:
        return False
    except token_trie.Refusal:
        pass
    return True


KNOWN_TO_ORACLE = [run for run in RUNS if is_known_to_oracle(run)]


@pytest.mark.parametrize("run", KNOWN_TO_ORACLE, ids=lambda run: run.id)
def test_oracle_agrees(run: Run) -> None:
    if "error" not in run.data:
        check_subject(oracle_of(run), run.data)
        return
    with pytest.raises(token_trie.Refusal) as raised:
        oracle_of(run)
    TokenTrieOracle.check_error(raised.value, run.data["error"])


# ---- One case --------------------------------------------------------------------------------------------------------


def check_subject(subject: Any, data: dict[str, Any]) -> None:
    def check(actual: dict[str, Any], expected: dict[str, Any], where: str) -> None:
        for key, written in expected.items():
            if isinstance(subject, Library) or key in actual:  # an oracle does not know every key
                are_octets = key == "forced_bytes" and "error" not in written
                value = conformance.octets(written) if are_octets else written
                assert actual[key] == value, f"{where}: {key}"

    check(subject.info(), data.get("info", {}), "info")
    check(subject.look(), data.get("expect", {}), "before the first step")
    originals = []
    for number, step in enumerate(data.get("steps", []), 1):
        where = f"step {number}: {step}"
        if step["do"] == "clone":
            originals.append((subject, subject.look()))
            subject = subject.clone()
            assert subject.look() == originals[-1][1], where
        elif "error" not in step:
            conformance.run_step(subject, step)
        elif subject.check_error:
            before = subject.look()
            with pytest.raises(REFUSALS) as raised:
                conformance.run_step(subject, step)
            subject.check_error(raised.value, step["error"])
            assert subject.look() == before, where
        check(subject.look(), step.get("expect", {}), where)
    for original, look in originals:
        assert original.look() == look


# ---- The files -------------------------------------------------------------------------------------------------------

FILES = conformance.all_files()
SCHEMA = conformance.schema()


@pytest.mark.parametrize("file", FILES)
def test_file_is_well_formed(file: str) -> None:
    problem = best_match(Draft202012Validator(SCHEMA).iter_errors(FILES[file]))
    assert problem is None, f"{problem.json_path}: {problem.message}"
    names = Counter(case["name"] for case in FILES[file]["cases"])
    assert not [name for name, count in names.items() if count > 1]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_what_the_schema_does_not_know_is_refused() -> None:
    step = {"do": "accept", "token": 1, "result": []}
    case = {"name": "one", "vocabulary": {"tokens": ["a"]}, "constraint": {"regex": "a"}, "steps": [step]}
    error = {"status": "ELIZA_ERR_LIMIT", "message": "too many states"}
    wrong: list[dict[str, Any]] = [
        case | {"unknown": 1},
        case | {"vocabulary": {"tokens": [{"text": "a", "unknown": 1}]}},
        case | {"vocabulary": {"size": 1, "tokens": ["a"]}},
        case | {"constraint": {"regex": "a", "unknown": 1}},
        case | {"constraint": {"regex": "a", "grammar": "a"}},
        case | {"constraint": {"regex": "a", "canonical": True}},
        case | {"constraint": {"token_trie": ["{}"]}},
        case | {"budget": {"unknown": 1}},
        case | {"info": {"unknown": 1}},
        case | {"expect": {"unknown": 1}},
        case | {"error": error},
        case | {"open": {"as": "constraint"}},
        case | {"open": {"emptied": True}},
        case | {"error": error, "open": {"how": "copy"}},
        case | {"expect": {"forced": {"error": {"status": "ELIZA_ERR_LIMIT"}}}},
        {key: value for key, value in case.items() if key != "steps"},
        *(
            case | {"steps": [changed]}
            for changed in (
                step | {"do": "unknown"},
                step | {"unknown": 1},
                step | {"result": ["unknown"]},
                step | {"error": error},
                step | {"expect": {"unknown": 1}},
                {"do": "accept", "token": 1},
                {"do": "accept", "token": 1, "error": {"status": "ELIZA_ERR_LIMIT"}},
                {"do": "fill_bitmaps", "rows": [], "error": error},
                {"do": "reenter", "calls": [step], "forced": []},
                {"do": "fill_bitmaps", "rows": [{"allowed": "all", "unknown": 1}]},
            )
        ),
    ]
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid({"about": "one", "cases": [case]})
    assert [each for each in wrong if validator.is_valid({"about": "one", "cases": [each]})] == []


def test_there_are_enough_cases() -> None:
    assert sum(len(content["cases"]) for content in FILES.values()) >= 690
    assert len(RUNS) >= 1200
    assert len(KNOWN_TO_ORACLE) >= 870


def test_the_minimal_runner_runs_what_it_knows() -> None:
    script = conformance.DIRECTORY / "minimal_runner.py"
    result = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    passed = re.search(r"^passed: (\d+)$", result.stdout, re.MULTILINE)
    assert passed is not None and int(passed[1]) >= 560, result.stdout


# ---- The cases of token tries ----------------------------------------------------------------------------------------

TOKEN_TRIES = [run for run in RUNS if "token_trie" in run.data["constraint"]]


def test_both_payloads_of_a_case_are_the_same_tree() -> None:
    """Where a case has JSON and MessagePack, and each can be read at all."""
    by_case: dict[str, list[Any]] = {}
    for run in TOKEN_TRIES:
        if run in KNOWN_TO_ORACLE:
            try:
                tree = token_trie.decode(conformance.octets(run.data["constraint"]["token_trie"]))
                by_case.setdefault(run.id.rpartition(" (")[0], []).append(tree)
            except token_trie.Refusal:
                pass
    pairs = [trees for trees in by_case.values() if len(trees) == 2]
    assert len(pairs) > 100
    assert all(first == second for first, second in pairs)


def test_every_decision_has_cases() -> None:
    named = {number for run in TOKEN_TRIES for number in run.data["decisions"]}
    assert named == set(conformance.decisions())


def test_every_status_of_a_payload_has_cases() -> None:
    statuses = Counter(run.data["error"]["status"] for run in TOKEN_TRIES if "error" in run.data)
    of_parts = {"ELIZA_ERR_GRAMMAR": 5, "ELIZA_ERR_INVALID_ARG": 1}
    least = {"ELIZA_ERR_PAYLOAD": 5, "ELIZA_ERR_LIMIT": 5, "ELIZA_ERR_MODEL_MISMATCH": 5} | of_parts
    assert set(statuses) == set(least)
    assert all(count >= least[status] for status, count in statuses.items())


def test_every_limit_of_a_payload_has_cases() -> None:
    """A message of ELIZA_ERR_LIMIT names the limit; descriptors, whose paths must differ, are in the C test."""
    messages = " ".join(
        run.data["error"]["message"]
        for run in TOKEN_TRIES
        if run.data.get("error", {}).get("status") == "ELIZA_ERR_LIMIT"
    )
    limits = [
        token_trie.PAYLOAD_BYTES_MAX,
        token_trie.PAYLOAD_DEPTH_MAX,
        token_trie.LEAVES_MAX,
        token_trie.LEAF_TOKENS_MAX,
        token_trie.TOKENS_MAX,
        token_trie.TRIGGERS_MAX,
        token_trie.TRIGGER_TOKENS_MAX,
        token_trie.END_TOKENS_MAX,
        token_trie.NAME_BYTES_MAX,
        token_trie.SPAN_TIMEOUT_TOKENS,
    ]
    assert [limit for limit in limits if str(limit) not in messages] == []
