"""Imports of Zig files: `@import("other.zig")` by path, and `@import("engine")` of another compiled module."""

import posixpath
import re
from collections.abc import Iterator

from tidy import graph
from tidy.tree import Tree

SOURCE = "native/src"

# The modules of build.zig, by the folder of the files that may name them.
MODULES = [
    ("native/src/library.zig", {"shell"}),
    ("native/src/message.zig", set[str]()),
    ("native/src/engine/base/.*", {"message", "blocks", "blocks_avx2", "exclude_avx512"}),
    ("native/src/engine/recognizer/language.zig", {"built"}),
    ("native/src/engine/.*", {"message", "blocks"}),
    ("native/src/shell/abi/header_test.zig", {"engine", "message", "header"}),
    ("native/src/shell/abi/.*", {"engine", "message", "config"}),
    ("native/src/shell/.*", {"engine", "message"}),
]
ROOTS = {
    "engine": "native/src/engine/engine.zig",
    "shell": "native/src/shell/shell.zig",
    "message": "native/src/message.zig",
    "blocks": "native/src/engine/base/blocks.zig",
    "blocks_avx2": "native/src/engine/base/blocks_avx2.zig",
    "exclude_avx512": "native/src/engine/base/exclude_avx512.zig",
}
ENTRY = "native/src/library.zig"
TEST_BLOCK = re.compile(r'^test (?:"[^\n]*" )?\{.*?^\}$', re.MULTILINE | re.DOTALL)
OF_THE_COMPILER = {"std", "builtin", "root"}


# Rooms, and the rooms that each may import besides itself. By path, imports stay in a module: the shell reaches the
# engine by `@import("engine")` alone. ARCHITECTURE.md has the same table.
ENGINE = {
    "platform": "",
    "base": "platform",
    "contract": "base platform",
    "vocabulary": "base platform",
    "sampling": "base",
    "payload": "base",
    "trie": "payload contract sampling base platform",
    "mask": "vocabulary base platform",
    "language": "mask contract base",
    "lr": "language mask vocabulary contract base platform",
    "glr": "lr schema language mask vocabulary contract base platform",
    "schema": "mask language vocabulary contract base platform",
    "tags": "language mask vocabulary contract base platform",
    "recognizer": "tags trie lr glr schema language mask vocabulary contract sampling base platform",
    "constraint": "recognizer trie vocabulary contract sampling base",
}
SHELL = {
    "compile": "",
    "files": "compile",
    "llama": "compile",
    "abi": "compile files llama",
}


def _room_rules(module: str, rooms: dict[str, str]) -> graph.Rules:
    folder = f"{SOURCE}/{module}"
    return [
        (f"{folder}/{module}.zig", [f"{folder}/.*"]),
        *(
            (f"{folder}/{room}/.*", [f"{folder}/{each}/.*" for each in (room, *used.split())])
            for room, used in rooms.items()
        ),
    ]


RULES = [
    (f"{SOURCE}/(library|message).zig", []),
    *_room_rules("engine", ENGINE),
    *_room_rules("shell", SHELL),
]


def problems(tree: Tree) -> list[str]:
    texts = {path: tree.text(path) for path in tree.under(SOURCE, suffix=".zig")}
    by_path = {path: _paths(path, text) for path, text in texts.items()}
    return [
        *graph.forbidden(by_path, RULES),
        *graph.circles(_with_modules(texts)),
        *_dead(texts),
        *_missing_files(by_path),
        *_forbidden_modules(texts),
        *_tests_left_out(texts, by_path),
    ]


def _with_modules(texts: dict[str, str]) -> dict[str, list[str]]:
    return {
        path: [*_paths(path, text), *(ROOTS[name] for name in _modules(text) if name in ROOTS)]
        for path, text in texts.items()
    }


def _dead(texts: dict[str, str]) -> Iterator[str]:
    """To be named by a list of tests alone is not to be used, but for tests."""
    in_use = {path: TEST_BLOCK.sub("", text) for path, text in texts.items() if not path.endswith("_test.zig")}
    yield from graph.dead(_with_modules(in_use), [ENTRY])
    reached_by_tests = graph.dead(_with_modules(texts), [ENTRY])
    yield from (problem for problem in reached_by_tests if "_test.zig:" in problem)


def _missing_files(by_path: dict[str, list[str]]) -> Iterator[str]:
    for path, imported in by_path.items():
        yield from (f"{path} imports {file}, which is not there" for file in imported if file not in by_path)


def _forbidden_modules(texts: dict[str, str]) -> Iterator[str]:
    for path, text in texts.items():
        allowed = next((names for pattern, names in MODULES if re.fullmatch(pattern, path)), set[str]())
        for name in sorted(_modules(text) - allowed - OF_THE_COMPILER):
            yield f'{path} imports the module "{name}", which is the wrong way'


def _tests_left_out(texts: dict[str, str], by_path: dict[str, list[str]]) -> Iterator[str]:
    """Zig runs the tests of the files that the root of a module names, and of others only by chance."""
    named = {file for root in ROOTS.values() if root in by_path for file in [root, *by_path[root]]}
    for path, text in texts.items():
        if TEST_BLOCK.search(text) and path not in named:
            yield f"{path} has tests, and is not in the list of its module's root"


def _imports(text: str) -> set[str]:
    return set(re.findall(r'^(?!\s*//).*?@import\("([^"]+)"\)', text, re.MULTILINE))


def _paths(path: str, text: str) -> list[str]:
    here = posixpath.dirname(path)
    names = (name for name in _imports(text) if name.endswith(".zig"))
    return sorted(posixpath.normpath(posixpath.join(here, name)) for name in names)


def _modules(text: str) -> set[str]:
    return {name for name in _imports(text) if not name.endswith(".zig")}
