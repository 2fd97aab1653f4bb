"""Imports of TypeScript files, those of types included."""

import posixpath
import re

from tidy import graph
from tidy.tree import Tree

FOLDERS = ("bindings-ts/src", "bindings-ts/test", "bindings-ts/scripts", "bench/bun", "bench/web", "site/src")
IMPORT = re.compile(r"""(?:\bfrom|^import|\bimport\()\s*["'](\.[^"']*)["']""", re.MULTILINE)

SOURCE = "bindings-ts/src"
LLAMA = f"{SOURCE}/(aosp-binding|host-abi|llama|llama-files|llm-.*|model|native-llm-.*|streaming-.*|token-stream).ts"
ANY_ENGINE = f"{SOURCE}/(?!index|aosp|backend-|host-abi|llama|llm-|model|native-llm-|streaming-|token-stream).*"
# One for each host. Who needs it imports "#backend": package.json says which that is.
BACKEND = f"{SOURCE}/backend-.*.ts"

RULES = [
    (f"{SOURCE}/vocabulary.ts", [ANY_ENGINE, f"{SOURCE}/llm-context.ts"]),  # one can be taken from a context
    (LLAMA, [ANY_ENGINE, LLAMA]),
    (BACKEND, [ANY_ENGINE, LLAMA]),
    (f"{SOURCE}/index.ts", [ANY_ENGINE, LLAMA]),
    (ANY_ENGINE, [ANY_ENGINE, "native/grammars/.*.lark", "native/templates/.*.json"]),
    ("bindings-ts/scripts/.*", ["bindings-ts/scripts/.*"]),
    ("bindings-ts/test/.*", ["bindings-ts/.*"]),
    ("bench/bun/.*", [f"{SOURCE}/index.ts"]),
    ("bench/web/.*", [f"{SOURCE}/index.ts", "bench/web/.*"]),
    ("site/src/.*", [f"{SOURCE}/index.ts", "site/src/.*"]),
]
# What is run or installed; the scripts are those of package.json.
ENTRIES = f"{SOURCE}/index.ts|{BACKEND}|{SOURCE}/text-files.d.ts|bindings-ts/test/everywhere.ts"
ENTRIES += "|bindings-ts/test/.*.test.ts|bindings-ts/scripts/generate.ts|bench/bun/.*"
ENTRIES += "|bench/web/(masks|tab).ts|site/src/main.ts"


def problems(tree: Tree) -> list[str]:
    found = imports(tree)
    entries = [path for path in found if re.fullmatch(ENTRIES, path)]
    return [*graph.forbidden(found, RULES), *graph.circles(found), *graph.dead(found, entries)]


def imports(tree: Tree) -> dict[str, list[str]]:
    return {path: _imported(tree, path) for path in tree.under(*FOLDERS, suffix=".ts")}


def _imported(tree: Tree, path: str) -> list[str]:
    here = posixpath.dirname(path)
    named = {posixpath.normpath(posixpath.join(here, name)) for name in IMPORT.findall(tree.text(path))}
    stems = {name.removesuffix(".js") for name in named}
    candidates = {file for name in stems for file in (name, f"{name}.ts", f"{name}/index.ts")}
    return sorted(candidates & set(tree.files))
