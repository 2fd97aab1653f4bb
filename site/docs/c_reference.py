"""The C reference in Markdown: every name that eliza_inference.h declares, with the comment that describes it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SECTION = re.compile(r"^/\* -+ \d+\. (.*?) -+ \*/$", re.MULTILINE)
PIECE = re.compile(
    r"(?P<comment>/\*.*?\*/)"
    r"|\#define\ (?P<constant>\w+)\ +(?P<value>[^\n/]+)"
    r"|typedef\ struct\ (?P<struct>\w+)\ \{.*?^\}\ \w+;"
    r"|typedef\ struct\ \w+\ (?P<handle>\w+);"
    r"|typedef\ \w+\ \*(?P<alias>\w+);"
    r"|typedef\ [^;]*?\(\*(?P<callback>\w+)\)[^;]*;"
    r"|struct\ (?P<foreign>\w+);"
    r"|(?:const\ |struct\ )?\w+\ \*?(?P<function>\w+)\([^;]*;"
    r"|(?P<empty>\n\ *\n)",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
NAME = re.compile(r"`[^`]*`|\b(?:eliza_\w+|llama_\w+|ELIZA_\w+|Eli[A-Z]\w+)\b(?!\*)|[<>*_\\]")


@dataclass
class Entry:
    """A declaration: its comment is its own, or that of the declarations it stands with."""

    name: str
    kind: str
    code: str
    value: str = ""
    own: str = ""
    shared: str = ""

    @property
    def description(self) -> str:
        return self.own or self.shared


@dataclass
class Group:
    """What stands between two empty lines, under one comment."""

    about: str = ""
    entries: list[Entry] = field(default_factory=list)


def markdown(header: str) -> str:
    parts = sections(header)
    known = {entry.name for _, groups in parts for group in groups for entry in group.entries}
    preamble = header[header.index("/*") + 2 : header.index("*/")]
    lines = ["# C API", "", *_prose(_text(preamble), known)]
    for title, groups in parts:
        lines += [f"## {title}", ""]
        for group in groups:
            lines += _group(group, known)
    return "\n".join(lines)


def entries(header: str) -> list[Entry]:
    return [entry for _, groups in sections(header) for group in groups for entry in group.entries]


def sections(header: str) -> list[tuple[str, list[Group]]]:
    _, *pieces = SECTION.split(header[: header.rindex("#ifdef __cplusplus")])
    return [(title, list(_groups(body))) for title, body in zip(pieces[::2], pieces[1::2], strict=True)]


def _groups(body: str) -> Iterator[Group]:
    group = Group()
    end = 0
    for piece in PIECE.finditer(body):
        kind = piece.lastgroup if piece.lastgroup != "value" else "constant"
        if kind == "comment" and group.entries and "\n" not in body[end : piece.start()]:
            group.entries[-1].own = _text(piece[0][2:-2])
        elif kind in ("empty", "comment"):
            if group.about or group.entries:
                yield group
            group = Group(about=_text(piece[0][2:-2]) if kind == "comment" else "")
        else:
            assert kind
            value = (piece["value"] or "").strip(" ()u")
            group.entries.append(Entry(piece[kind], kind, piece[0], value, shared=group.about))
        end = piece.end()
    if group.about or group.entries:
        yield group


def _text(comment: str) -> str:
    """What a comment says, without its stars."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.strip("\n").split("\n")]
    first, rest = lines[0].strip(), textwrap.dedent("\n".join(lines[1:]))
    return f"{first}\n{rest}".strip()


def _group(group: Group, known: set[str]) -> list[str]:
    lines = []
    if not group.entries or group.entries[0].kind == "constant":
        lines += _prose(group.about, known)
    constants = [entry for entry in group.entries if entry.kind == "constant"]
    if constants:
        lines += ["| constant | value | meaning |", "|---|---|---|"]
        lines += [_row(entry, known) for entry in constants]
        lines.append("")
    others = [entry for entry in group.entries if entry.kind != "constant"]
    for number, entry in enumerate(others):
        lines += [f"### {entry.name} {{#{entry.name}}}", "", "```c", entry.code, "```", ""]
        lines += _prose(entry.own, known)
        if number == 0:
            lines += _prose(group.about, known)
    return lines


def _row(entry: Entry, known: set[str]) -> str:
    meaning = " ".join(filter(None, _prose(entry.own, known))).replace("|", "\\|")
    return f'| <span id="{entry.name}">`{entry.name}`</span> | {entry.value} | {meaning} |'


def _prose(text: str, known: set[str]) -> list[str]:
    """Paragraphs and lists; what is indented otherwise is code."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text) if text else []:
        for kind, run in _runs(paragraph.split("\n")):
            if kind == "code":
                lines += ["```text", *textwrap.dedent("\n".join(run)).split("\n"), "```", ""]
            else:
                lines += [*(_inline(line, known) for line in run), ""]
    return lines


def _runs(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    kind, run = "", list[str]()
    for line in lines:
        item = re.match(r" *- ", line)
        found = "list" if item or (kind == "list" and line.startswith(" ")) else "code" if line[:2] == "  " else "text"
        if found != kind and run:
            yield kind, run
            run = []
        kind = found
        stripped = line.strip()
        run.append(line if found == "code" else stripped if item or found == "text" else f"  {stripped}")
    if run:
        yield kind, run


def _inline(line: str, known: set[str]) -> str:
    def marked(found: re.Match[str]) -> str:
        word = found[0].strip("`")
        if len(found[0]) == 1:
            return f"\\{found[0]}"
        return f"[`{word}`](#{word})" if word in known else f"`{word}`"

    return NAME.sub(marked, line)
