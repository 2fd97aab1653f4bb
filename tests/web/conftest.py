"""The WebAssembly module, and the TypeScript package with it as one file for each kind of host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINDING = ROOT / "bindings-ts"
BUN = ["node", str(BINDING / "scripts" / "bun.mjs")]
MODULE = "elizainference.wasm"
# With fewer and fewer languages.
MODULES = [MODULE, "elizainference-schemas.wasm", "elizainference-regexes.wasm"]
TOOLS = Path(__file__).parent / "node_modules"
DENO = ["node", str(TOOLS / "deno" / "bin.cjs"), "run", "--quiet"]


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as it is shipped, beside the smaller ones."""
    prefix = tmp_path_factory.mktemp("wasm")
    subprocess.run([sys.executable, "-m", "ziglang", "build", "wasm", "--prefix", prefix], cwd=ROOT, check=True)
    return prefix / "wasm" / MODULE


@pytest.fixture(scope="session")
def bundles(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`node.js` and `browser.js` of bindings-ts/test/everywhere.ts, beside the module."""
    folder = tmp_path_factory.mktemp("bundles")
    for target in ("node", "browser"):
        out = str(folder / f"{target}.js")
        command = [*BUN, "build", "test/everywhere.ts", "--target", target, "--outfile", out]
        subprocess.run(command, cwd=BINDING, check=True, capture_output=True)
    for name in MODULES:
        shutil.copy(module.parent / name, folder)
    return folder


@pytest.fixture(scope="session")
def archive(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The npm package, without those of the platforms."""
    release = tmp_path_factory.mktemp("release")
    shutil.copytree(module.parent, release / "wasm")
    (release / "manifest.json").write_text('{"version": "0.0.0", "files": []}', encoding="utf-8")
    folder = tmp_path_factory.mktemp("package")
    subprocess.run(["node", "scripts/package.mjs", release, folder], cwd=BINDING, check=True)
    return folder / "eliza-inference-0.0.0.tgz"


@pytest.fixture(scope="session")
def installed(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the package installed."""
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text('{"name": "app", "private": true, "type": "module"}', encoding="utf-8")
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", str(archive)]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)
    return folder


def environment() -> dict[str, str]:
    """Without what would choose another library."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ELIZA_")}
