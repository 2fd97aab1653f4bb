"""Files of tests that no runner would pick up."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from tidy.tree import Tree

PYTHON_TEST = re.compile(r"^ *(async )?def test_", re.MULTILINE)
TYPESCRIPT_FOLDER = "bindings-ts/test"


def problems(tree: Tree, pytest_folders: Iterable[str]) -> list[str]:
    """`pytest_folders` are those that tests/run.py gives to pytest."""
    return [*_python(tree, pytest_folders), *_typescript(tree), *_c(tree), *_java(tree)]


def _python(tree: Tree, folders: Iterable[str]) -> Iterator[str]:
    for path in tree.ending(".py"):
        if not PYTHON_TEST.search(tree.text(path)):
            continue
        if not re.fullmatch(r"test_\w+\.py", posixpath.basename(path)):
            yield f"{path} has tests, and pytest reads files named test_*.py only"
        elif not path.startswith(tuple(f"{folder}/" for folder in folders)):
            yield f"{path} is in no folder that tests/run.py gives to pytest"


def _typescript(tree: Tree) -> Iterator[str]:
    for path in tree.ending(".ts"):
        text = tree.text(path)
        if path.endswith(".test.ts") and not path.startswith(f"{TYPESCRIPT_FOLDER}/"):
            yield f"{path} is not in {TYPESCRIPT_FOLDER}, where bun runs tests"
        elif re.search(r"^(test|describe)(\.each)?\(", text, re.MULTILINE) and not path.endswith(".test.ts"):
            yield f"{path} has tests, and bun reads files named *.test.ts only"


def _c(tree: Tree) -> Iterator[str]:
    """Programs are compiled by name."""
    for folder, compilers in (("tests/native", ["tests/native/build.py"]), ("bench/native", tree.under("bench"))):
        quoted = set(re.findall(r'"(\w+)(?:\.c)?"', "".join(tree.text(p) for p in compilers if p.endswith(".py"))))
        for path in tree.under(folder, suffix=".c"):
            if posixpath.basename(path).removesuffix(".c") not in quoted:
                yield f"{path} is compiled by nobody"


def _java(tree: Tree) -> Iterator[str]:
    runner = "".join(map(tree.text, tree.under("tests/release", suffix=".py")))
    for path in tree.under("tests/release/java", suffix=".java"):
        if posixpath.basename(path) not in runner:
            yield f"{path} is compiled by nobody"
