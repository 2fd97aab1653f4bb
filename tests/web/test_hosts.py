"""The conformance cases as WebAssembly in each host of JavaScript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from web.browsers import posted_by
from web.conftest import DENO, MODULE, MODULES, ROOT, environment

CASES = ROOT / "tests" / "conformance"

SCRIPT = """
import { readFileSync } from "node:fs";
import { runAll } from "./node.js";
console.log(JSON.stringify(runAll(JSON.parse(readFileSync("cases.json", "utf8")))));
"""

PAGE = """<!doctype html><meta charset="utf-8"><title>Conformance cases</title>
<script type="module">
const post = (outcome) => fetch("/", { method: "POST", body: JSON.stringify(outcome) });
try {
  const { runAll } = await import("./browser.js");
  await post(runAll(await (await fetch("cases.json")).json()));
} catch (error) {
  await post({ passed: 0, absent: 0, failed: [String(error?.stack ?? error)] });
}
</script>
"""


@pytest.fixture(scope="module")
def folder(bundles: Path) -> Path:
    paths = [path for path in sorted(CASES.glob("*/*.json")) if path.parent.name != "streams"]
    files = {str(path.relative_to(CASES)): path for path in paths}
    cases = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}
    (bundles / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    (bundles / "run.mjs").write_text(SCRIPT, encoding="utf-8")
    (bundles / "cases.html").write_text(PAGE, encoding="utf-8")
    return bundles


@pytest.mark.parametrize("command", [["node"], [*DENO, "--allow-read", "--allow-env"]], ids=["node", "deno"])
def test_on_a_server(command: list[str], folder: Path) -> None:
    check(outcome_of([*command, "run.mjs"], folder, MODULE))


def test_a_smaller_module_says_which_languages_it_has_not(folder: Path) -> None:
    of_each = [outcome_of(["node", "run.mjs"], folder, name) for name in MODULES]
    assert [outcome["failed"] for outcome in of_each] == [[], [], []]
    everything, schemas, regexes = (outcome["passed"] for outcome in of_each)
    assert everything > schemas > regexes > 300
    for outcome in of_each:
        assert outcome["passed"] + outcome["absent"] == everything


def outcome_of(command: list[str], folder: Path, module: str) -> dict[str, Any]:
    variables = {**environment(), "ELIZA_INFERENCE_LIBRARY": str(folder / module)}
    result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    outcome: dict[str, Any] = json.loads(result.stdout)
    return outcome


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_in_a_browser(browser: str, folder: Path, tmp_path: Path) -> None:
    check(posted_by(browser, folder, "cases.html", tmp_path / "profile"))


def check(outcome: dict[str, Any]) -> None:
    assert outcome["failed"] == []
    assert outcome["absent"] == 0
    assert outcome["passed"] > 1000
