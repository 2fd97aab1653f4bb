"""The comments of a C header, by the lines they belong to."""

from __future__ import annotations

import re

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SECTION = re.compile(r"/\* -+ (\d+)\. ")


class Comments:
    def __init__(self, text: str) -> None:
        self._lines = ["", *text.split("\n")]  # the first line is line 1
        self._ending: dict[int, str] = {}
        self._alone: set[int] = set()
        self._sections: list[tuple[int, int]] = []
        for comment in COMMENT.finditer(text):
            start, end = (text.count("\n", 0, at) + 1 for at in comment.span())
            self._ending[end] = comment[0]
            if self._lines[start].startswith("/*"):
                self._alone.add(end)
            if section := SECTION.match(comment[0]):
                self._sections.append((start, int(section[1])))

    def section(self, line: int) -> int:
        """The number of the section that the line is in."""
        return max((number for start, number in self._sections if start <= line), default=0)

    def above(self, line: int) -> str:
        """The comment above the declaration on this line, or above those just before it."""
        at = line - 1
        while at > 0 and at not in self._alone and self._lines[at]:
            at -= 1
        return self._ending[at] if at in self._alone else ""

    def beside(self, line: int) -> str:
        """The comment that begins on this line."""
        if "/*" not in self._lines[line]:
            return ""
        return self._ending[min(end for end in self._ending if end >= line)]


def without_comments(text: str) -> str:
    """The header with every line where it was."""
    return COMMENT.sub(blank, text)


def blank(match: re.Match[str]) -> str:
    """White space of as many lines as the match has."""
    return " " + "\n" * match[0].count("\n")
