"""A plugin of pytest: runs the tests that a file names, in its order, or records the mutants that each comes by."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHOSEN_VARIABLE = "ELIZA_MUTATION_TESTS"
"""Names the file of the tests that are run: a line each."""
RECORD_VARIABLE = "ELIZA_MUTATION_RECORD"
"""Names the file that a line for each test is written to."""

CHOSEN = os.environ.get(CHOSEN_VARIABLE)
RECORD = os.environ.get(RECORD_VARIABLE)
passed: dict[str, bool] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHOSEN is not None:
        order = {name: i for i, name in enumerate(Path(CHOSEN).read_text("utf-8").split("\n"))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    if RECORD is None:
        return (yield)
    before = os.times()
    result = yield
    after = os.times()
    seconds = sum(after[:4]) - sum(before[:4])
    file = Path(os.environ["ELIZA_MUTANTS_REACHED"])
    with file.open("r+b") as reached:
        numbers = [i for i, byte in enumerate(reached.read()) if byte]
        reached.seek(0)
        reached.write(bytes(file.stat().st_size))
    record = {"name": item.nodeid, "seconds": seconds, "passed": passed.get(item.nodeid, False), "reached": numbers}
    with Path(RECORD).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or not report.passed:
        passed[report.nodeid] = report.passed
