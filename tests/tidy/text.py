"""What may be in a line of text: its length, places outside of the repository, links."""

import posixpath
import re
from collections.abc import Iterator

from tidy.tree import Tree

# Characters in a line, by the end of the name. Formatters break code; these bounds are for comments and strings too.
CHARACTERS_MAX = {".zig": 140, ".c": 140, ".h": 140, ".py": 120, ".ts": 120, ".mjs": 120}
EXEMPT = (
    "bindings-ts/src/abi.generated.ts",
    "native/src/shell/compile/regex/unicode_tables.zig",
)

# Where packages come from is the business of each machine's configuration.
REGISTRY = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|(?:deb|ftp)\.debian\.org)\b")
MACHINE_PATH = re.compile(r"(?<![\w.>)}*-])/(?:home|root|Users|work|tmp)/\w")
TEXT = (
    *CHARACTERS_MAX,
    ".md",
    ".json",
    ".jsonc",
    ".toml",
    ".ini",
    ".txt",
    ".zon",
    ".cmake",
    ".lark",
    ".java",
    "/run",
    "/quick",
)

LINK = re.compile(r"\]\(([^()\s]+)\)")


def problems(tree: Tree) -> list[str]:
    return [*_long_lines(tree), *_places(tree), *_links(tree)]


def _long_lines(tree: Tree) -> Iterator[str]:
    for suffix, most in CHARACTERS_MAX.items():
        for path in tree.ending(suffix):
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                if len(line) > most and path not in EXEMPT:
                    yield f"{path}:{number}: {len(line)} characters; at most {most}"


def _places(tree: Tree) -> Iterator[str]:
    for path in tree.ending(*TEXT):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if path != "tests/tidy/text.py" and REGISTRY.search(line):
                yield f"{path}:{number}: names the host of a registry"
            if MACHINE_PATH.search(line):
                yield f"{path}:{number}: names a path of one machine"


def _links(tree: Tree) -> Iterator[str]:
    """Of Markdown, to files, folders and headings of the repository."""
    folders = {posixpath.dirname(path) for path in tree.files}
    headings = {path: _anchors(tree.text(path)) for path in tree.ending(".md")}
    for path in tree.ending(".md"):
        for target in LINK.findall(tree.text(path)):
            file, _, anchor = target.partition("#")
            if re.match(r"\w+:", file):
                continue
            wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            if wanted not in tree.files and wanted not in folders:
                yield f"{path}: the link to {target} leads nowhere"
            elif anchor and anchor not in headings.get(wanted, ()):
                yield f"{path}: the link to {target} leads to no heading"


def _anchors(text: str) -> set[str]:
    """Those that GitHub gives to headings; the site gives the same."""
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", code.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
