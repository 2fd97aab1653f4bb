"""Phrases that GLOSSARY.md bans, in documents, comments and messages."""

import re
from collections.abc import Iterator

from tidy.tree import Tree

GLOSSARY = "GLOSSARY.md"
PROGRAMS = (".zig", ".c", ".h", ".py", ".pyi", ".ts", ".mjs", ".rs", ".java", ".kt", ".lark")
TEXT = (*PROGRAMS, ".md", ".html", ".json", ".jsonc")
# Prompts and messages for models, generated tables, and reports of what was measured at the time.
EXEMPT = (GLOSSARY, "CHANGELOG.md", "tests/models/", "tests/tidy/test_planted.py", "bench/reports/")
# A banned word is no part of a longer one, such as `look-behind` or `ungoes`.
WORD = r"(?<![\w-]){}(?![\w-])"


def problems(tree: Tree) -> list[str]:
    return list(_banned(tree))


def banned_phrases(glossary: str) -> dict[str, str]:
    """Each banned phrase with its replacement: the rows of the last table."""
    table = glossary.split("## Words to avoid")[1]
    rows = re.findall(r"^\| (?!not \|)([^|]+?) \| ([^|]+?) \|$", table, re.MULTILINE)
    return {phrase: instead for phrases, instead in rows for phrase in phrases.split(", ")}


def _banned(tree: Tree) -> Iterator[str]:
    phrases = banned_phrases(tree.text(GLOSSARY))
    pattern = re.compile(WORD.format("(?:" + "|".join(map(re.escape, phrases)) + ")"), re.IGNORECASE)
    for path in tree.ending(*TEXT):
        if path.startswith(EXEMPT):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for found in pattern.finditer(line):
                phrase = found[0].lower()
                yield f'{path}:{number}: "{phrase}": GLOSSARY.md says {phrases[phrase]}'
