"""Imports of Python files. All count, those inside functions and for type checkers only too."""

import ast
import posixpath
import re
from collections.abc import Iterator

from tidy import graph
from tidy.tree import Tree

# Folders that modules are imported from, as in mypy.ini: a module is looked for beside its importer, then in these.
FOLDERS = (
    "",
    "bindings-python/src",
    "bindings-python",
    "native/abi",
    "site/docs",
    "tests",
    "tests/coverage",
    "tests/hosts",
    "tests/llama",
    "tests/models",
    "tests/mutation",
    "tests/python",
)

PACKAGE = "bindings-python/src/eliza_inference"
CLI = f"{PACKAGE}/cli/.*"
CONVERTERS = f"{PACKAGE}/converters/.*"
BASE = f"{PACKAGE}/(_(?!_|open_model).*|errors|limits|token_flag).pyi?"
OF_LLAMA = "llama|llama_cpp|model|outlines|sampler|stream|token_stream"
LLAMA = f"{PACKAGE}/(_open_model|{OF_LLAMA}).py"
ANY_ENGINE = f"{PACKAGE}/(?!_|cli/|converters/|(errors|limits|token_flag|{OF_LLAMA}).py).*"

RULES = [
    (BASE, [BASE]),
    (CONVERTERS, [CONVERTERS, f"{PACKAGE}/(errors|token_flag).py"]),
    (f"{PACKAGE}/vocabulary.py", [BASE, CONVERTERS, ANY_ENGINE, f"{PACKAGE}/_open_model.py"]),  # which has one, too
    (ANY_ENGINE, [BASE, CONVERTERS, ANY_ENGINE]),  # what serves any engine knows nothing of libllama
    (LLAMA, [BASE, ANY_ENGINE, LLAMA]),
    (f"{PACKAGE}/__init__.py", [BASE, ANY_ENGINE, LLAMA]),
    (CLI, [f"{PACKAGE}/.*"]),
    ("bindings-python/[^/]*", []),
    ("native/.*", ["native/.*"]),
    ("tests/(oracle.py|oracles/.*)", ["tests/oracles/.*"]),  # an oracle knows nothing of what it judges
    ("tests/(run.py|runner/.*|llama/.*)", ["tests/runner/.*", "tests/llama/.*"]),  # before anything is installed
    ("tests/tidy/.*", ["tests/tidy/.*", "tests/runner/.*"]),
    ("tests/models/.*", ["tests/models/.*", "tests/llama/.*"]),
    ("site/.*", ["site/.*"]),
    ("examples/.*", [f"{PACKAGE}/.*"]),
    ("tests/.*", ["tests/.*", "native/.*", "site/.*", f"{PACKAGE}/.*"]),
    ("bench/.*", ["bench/.*", "tests/(llama|models)/.*", "tests/web/browsers.py", f"{PACKAGE}/.*"]),
]
# What is run, not imported: scripts beside these have a line of their own that says so.
ENTRY = re.compile(r"examples/.*|.*/(__init__|__main__|conftest|test_\w+|hatch_build|hooks|unicode_tables)\.py")
SCRIPT = re.compile(r'^if __name__ == "__main__":$', re.MULTILINE)


def problems(tree: Tree) -> list[str]:
    found = imports(tree)
    entries = [path for path in found if ENTRY.fullmatch(path) or SCRIPT.search(tree.text(path))]
    return [*graph.forbidden(found, RULES), *graph.circles(found), *graph.dead(found, entries)]


def imports(tree: Tree) -> dict[str, list[str]]:
    """Which file imports which, of all Python files."""
    modules = _modules(tree)
    return {path: sorted(set(_imported(tree, path, modules))) for path in tree.ending(".py")}


def _modules(tree: Tree) -> dict[str, str]:
    """Dotted name -> file, as seen from FOLDERS."""
    found: dict[str, str] = {}
    for path in tree.ending(".py", ".pyi"):
        for folder in FOLDERS:
            if folder and not path.startswith(f"{folder}/"):
                continue
            name = posixpath.splitext(path[len(folder) + 1 if folder else 0 :])[0]
            found.setdefault(name.replace("/", ".").removesuffix(".__init__"), path)
    return found


def _imported(tree: Tree, path: str, modules: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(tree.text(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            if all(name in modules for name in names[1:]):
                del names[0]
        else:
            continue
        beside = posixpath.dirname(path)
        is_package = f"{beside}/__init__.py" in tree.files  # its modules are imported by their whole names
        for name in names:
            file = f"{beside}/{name.replace('.', '/')}.py"
            if file in tree.files and not is_package:
                yield file
            elif name in modules:
                yield modules[name]
