"""Reads the numbers of tests from what each runner prints."""

import re

from runner.step import Counts


def zig_counts(output: str) -> Counts:
    """`Build Summary: 8/8 steps succeeded; 55/55 tests passed`"""
    summary = re.search(r"(\d+)/(\d+) tests passed(?:; (\d+) skipped)?", output)
    if summary is None:
        return Counts()
    passed, total, skipped = (int(n or 0) for n in summary.groups())
    return Counts(passed, total - passed - skipped, skipped)


def native_counts(output: str) -> Counts:
    """One test for each line such as `conformance: 15574 checks passed, 0 failed`."""
    results = re.findall(r", (\d+) (?:failed|problems)$", output, re.MULTILINE)
    failed = sum(n != "0" for n in results)
    return Counts(len(results) - failed, failed)


def pytest_counts(output: str) -> Counts:
    """`== 2 failed, 310 passed, 1 skipped, 1 error in 5.00s ==`"""
    counted = output.strip().splitlines()[-1]
    number = {kind: int(n) for n, kind in re.findall(r"(\d+) (passed|failed|error|skipped)", counted)}
    return Counts(number.get("passed", 0), number.get("failed", 0) + number.get("error", 0), number.get("skipped", 0))


def bun_counts(output: str) -> Counts:
    """Lines such as ` 934 pass`, ` 0 fail`, ` 2 skip`."""
    number = {kind: int(n) for n, kind in re.findall(r"^ *(\d+) (pass|fail|skip)$", output, re.MULTILINE)}
    return Counts(number.get("pass", 0), number.get("fail", 0), number.get("skip", 0))
