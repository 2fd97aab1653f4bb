"""The npm package as it is packed, without those of the platforms: in Node.js and Deno, its types, its hosts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from examples import EXAMPLES, expected_output
from web.browsers import posted_by
from web.conftest import BINDING, DENO, MODULES, TOOLS, environment

PROGRAM = """
import { Constraint, ElizaInferenceError, Matcher, Model, Vocabulary } from "eliza-inference";
import { grammars, hasSymbols, loadLibrary } from "eliza-inference";
const tokenBytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
const vocabulary = new Vocabulary(256, { tokenBytes });
const matcher = new Matcher(Constraint.lark(vocabulary, grammars.text("json")), { end: [] });
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

HOSTS = """
import { LogitsProcessorList } from "@huggingface/transformers";
import type { LogitProcessor } from "@mlc-ai/web-llm";
import { Constraint, Vocabulary, WebLlmProcessor, transformersProcessor } from "eliza-inference";
const constraint = new Constraint(new Vocabulary(8), "{}");
export const forWebLlm: LogitProcessor = new WebLlmProcessor(constraint);
new LogitsProcessorList().push(transformersProcessor(constraint));
"""

POST_WHAT_IS_SHOWN = """<script>
const timer = setInterval(() => {
  const { value } = document.getElementById("next");
  if (value === "") return;
  clearInterval(timer);
  fetch("/", { method: "POST", body: JSON.stringify(value) });
}, 20);
</script>"""

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
def app(installed: Path) -> Path:
    """A program that has the package installed, and its JavaScript."""
    (installed / "program.ts").write_text(PROGRAM, encoding="utf-8")
    (installed / "tsconfig.json").write_text(json.dumps(TSCONFIG), encoding="utf-8")
    result = tsc(["--project", "."], installed)
    assert result.returncode == 0, result.stdout
    return installed


@pytest.mark.parametrize("command", [["node"], [*DENO, "--allow-read", "--allow-env"]], ids=["node", "deno"])
def test_it_runs_where_it_is_installed(command: list[str], app: Path) -> None:
    result = subprocess.run([*command, "program.js"], cwd=app, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found == {"legal": [ord("e")], "status": "ELIZA_ERR_UNSUPPORTED", "isNative": False}


@pytest.mark.parametrize("command", [["node"], [*DENO, "--allow-read", "--allow-env"]], ids=["node", "deno"])
def test_the_example_makes_a_document(command: list[str], app: Path) -> None:
    shutil.copy(EXAMPLES / "node" / "document.mjs", app)
    result = subprocess.run([*command, "document.mjs"], cwd=app, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    keys = re.findall("[a-z]+", result.stdout)
    assert keys == ["colour", "size"]


def test_the_example_of_a_page_shows_what_may_follow(app: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    shutil.copytree(EXAMPLES / "browser", folder)
    shutil.copytree(app / "node_modules" / "eliza-inference" / "dist", folder / "eliza-inference")
    with (folder / "index.html").open("a", encoding="utf-8") as page:
        page.write(POST_WHAT_IS_SHOWN)
    assert posted_by("chromium", folder, "index.html", tmp_path / "profile") == "012"


@pytest.fixture(scope="module")
def with_hosts(app: Path) -> Path:
    """The program beside transformers.js and WebLLM."""
    for name in ("@huggingface", "@mlc-ai"):
        (app / "node_modules" / name).symlink_to(TOOLS / name)
    return app


@pytest.mark.parametrize("name", ["transformers_js", "web_llm"])
def test_the_example_of_a_host_prints_what_it_says(name: str, with_hosts: Path) -> None:
    script = EXAMPLES / name / "processor.mjs"
    shutil.copy(script, with_hosts / f"{name}.mjs")
    result = run([f"{name}.mjs"], with_hosts)
    assert result.returncode == 0, result.stderr
    assert result.stdout == expected_output(script.read_text("utf-8"))


def test_hosts_take_the_processors(with_hosts: Path) -> None:
    """By their types, which do not resolve under nodenext."""
    app = with_hosts
    (app / "hosts.ts").write_text(HOSTS, encoding="utf-8")
    options = ["--module", "preserve", "--target", "es2022", "--lib", "es2024,esnext.disposable,dom", "--strict"]
    result = tsc([*options, "--ignoreConfig", "--skipLibCheck", "--noEmit", "--types", "", "hosts.ts"], app)
    assert result.returncode == 0, result.stdout


def test_publint_finds_nothing(archive: Path) -> None:
    result = run([str(TOOLS / "publint" / "src" / "cli.js"), "run", str(archive), "--strict"], BINDING)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_types_are_those_of_the_code(archive: Path) -> None:
    attw = str(TOOLS / "@arethetypeswrong" / "cli" / "dist" / "index.js")
    # WebAssembly modules have no types.
    options = ["--profile", "esm-only", "--exclude-entrypoints", *MODULES]
    result = run([attw, str(archive), *options], BINDING)
    assert result.returncode == 0, result.stdout + result.stderr


def tsc(options: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return run([str(BINDING / "node_modules" / "typescript" / "bin" / "tsc"), *options], folder)


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
