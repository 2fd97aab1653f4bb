"""Real files as documents: those of the npm packages that bench/package.json pins."""

import json
from pathlib import Path

from bench.paths import BENCH
from bench.recognizers import vocabularies

PACKAGES = BENCH / "node_modules"


def json_files() -> list[str]:
    """Files as they are, and one in a single line, as a model that calls a function writes it."""
    vocabularies.install()
    names = ("js-tiktoken", "tree-sitter", "llama3-tokenizer-js")
    lock = json.loads(_read(BENCH / "package-lock.json"))
    return [*(_read(PACKAGES / name / "package.json") for name in names), json.dumps(lock)]


def c_files() -> list[str]:
    """Whole files, unpreprocessed."""
    vocabularies.install()
    files = ("hiredis/deps/hiredis/async.c", "tree-sitter/vendor/tree-sitter/lib/src/node.c")
    return [_read(PACKAGES / file) for file in files]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()
