"""The npm package as it is packed, without those of the platforms: in Node.js and Deno, its types, its hosts."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from web.conftest import BINDING, DENO, TOOLS, environment

PROGRAM = """
import { Constraint, ElizaInferenceError, Matcher, Model, Vocabulary } from "eliza-inference";
import { grammars, hasSymbols, loadLibrary } from "eliza-inference";
const tokenBytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
const vocabulary = new Vocabulary(256, { tokenBytes });
const matcher = new Matcher(Constraint.lark(vocabulary, grammars.text("json")));
for (const byte of new TextEncoder().encode("[tru")) matcher.accept(byte);
const legal: Int32Array | null = matcher.allowed();
let status = "";
try {
  new Model("none.gguf");
} catch (error) {
  if (error instanceof ElizaInferenceError) status = error.statusName;
}
const isNative = hasSymbols(loadLibrary(), "eliza_inference_create");
console.log(JSON.stringify({ legal: [...legal!], status, isNative }));
"""

TSCONFIG = {
    "compilerOptions": {
        "module": "nodenext",
        "target": "es2022",
        "lib": ["es2024", "esnext.disposable", "dom"],
        "strict": True,
        "types": [],
    },
    "include": ["program.ts"],
}


@pytest.fixture(scope="module")
def archive(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = tmp_path_factory.mktemp("release")
    (release / "wasm").mkdir()
    (release / "wasm" / module.name).write_bytes(module.read_bytes())
    (release / "manifest.json").write_text('{"version": "0.0.0", "files": []}', encoding="utf-8")
    folder = tmp_path_factory.mktemp("package")
    subprocess.run(["node", "scripts/package.mjs", release, folder], cwd=BINDING, check=True)
    return folder / "eliza-inference-0.0.0.tgz"


@pytest.fixture(scope="module")
def app(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that has the package installed, and its JavaScript."""
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text('{"name": "app", "private": true, "type": "module"}', encoding="utf-8")
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", str(archive)]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)
    (folder / "program.ts").write_text(PROGRAM, encoding="utf-8")
    (folder / "tsconfig.json").write_text(json.dumps(TSCONFIG), encoding="utf-8")
    result = run([str(BINDING / "node_modules" / "typescript" / "bin" / "tsc"), "--project", "."], folder)
    assert result.returncode == 0, result.stdout
    return folder


@pytest.mark.parametrize("command", [["node"], [*DENO, "--allow-read", "--allow-env"]], ids=["node", "deno"])
def test_it_runs_where_it_is_installed(command: list[str], app: Path) -> None:
    result = subprocess.run([*command, "program.js"], cwd=app, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found == {"legal": [ord("e")], "status": "ELIZA_ERR_NOT_IMPLEMENTED", "isNative": False}


def test_publint_finds_nothing(archive: Path) -> None:
    result = run([str(TOOLS / "publint" / "src" / "cli.js"), "run", str(archive), "--strict"], BINDING)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_types_are_those_of_the_code(archive: Path) -> None:
    attw = str(TOOLS / "@arethetypeswrong" / "cli" / "dist" / "index.js")
    # A WebAssembly module has no types.
    options = ["--profile", "esm-only", "--exclude-entrypoints", "elizainference.wasm"]
    result = run([attw, str(archive), *options], BINDING)
    assert result.returncode == 0, result.stdout + result.stderr


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *words], cwd=folder, env=environment(), capture_output=True, text=True)


def test_transformers_generates_what_a_constraint_allows(app: Path) -> None:
    package = app / "node_modules" / "eliza-inference" / "dist" / "node.js"
    result = run(["transformers.mjs", str(package)], Path(__file__).parent)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert len(rows) == 4
    end = 256
    for row in rows:
        length = row.index(end)
        assert re.fullmatch(r"[a-z]{2,5}=[0-9]{1,9};", "".join(map(chr, row[:length])))
        assert set(row[length:]) == {end}
