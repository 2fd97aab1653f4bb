"""Adds to the pages of docs: the API reference, and the files of the repository that pages link to."""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import c_reference
import python_reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADER = ROOT / "native" / "include" / "eliza_inference.h"
TYPEDOC = ROOT / "build" / "typedoc"

LINK = re.compile(r"(!?\[[^\]]*\])\(([^()\s]+)\)")
LANGUAGES = {".h": "c", ".c": "c", ".py": "python", ".ts": "ts", ".mjs": "js", ".kt": "kotlin", ".lark": "text"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in reference_pages().items():
        files.append(File.generated(config, path, content=text))
    for path in sorted(linked_files(files)):
        files.append(linked_file(path, config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links to files of the repository into links to their pages. In pages from outside of docs, all other links
    become plain text."""
    source = page.file.src_uri
    if source.startswith("api/"):
        return markdown
    outside = source.startswith("source/")

    def target(match: re.Match[str]) -> str:
        text, link = match.groups()
        path, _, anchor = link.partition("#")
        if not path or re.match(r"\w+:", path):
            return match[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(source)), path))
        found = files.get_file_from_path(site_path(file))
        if found is None:
            if outside:
                return text.lstrip("!")[1:-1]
            raise PluginError(f"{source}: the link to {link} leads nowhere")
        relative = posixpath.relpath(found.src_uri, posixpath.dirname(source) or ".")
        return f"{text}({relative}{'#' + anchor if anchor else ''})"

    return LINK.sub(target, markdown)


def reference_pages() -> dict[str, str]:
    pages = {"api/c.md": c_reference.markdown(HEADER.read_text("utf-8"))}
    pages |= {f"api/python/{file}": text for file, text in python_reference.pages().items()}
    command = ["node", str(ROOT / "site" / "node_modules" / "typedoc" / "bin" / "typedoc"), "--options", "typedoc.json"]
    result = subprocess.run(command, cwd=ROOT / "site", capture_output=True, text=True)
    if result.returncode != 0:
        raise PluginError(result.stdout + result.stderr)
    for file in sorted(TYPEDOC.rglob("*.md")):
        pages[f"api/typescript/{file.relative_to(TYPEDOC).as_posix()}"] = file.read_text("utf-8")
    return pages


def linked_files(files: Files) -> set[str]:
    """Files of the repository outside of docs that its pages link to, and pictures of those."""
    found: set[str] = set()
    for file in files.documentation_pages():
        if file.src_uri.startswith("api/"):
            continue
        found |= outside_links(repository_path(file.src_uri), file.content_string, pictures=False)
    for path in [path for path in found if path.endswith(".md")]:
        found |= outside_links(path, (ROOT / path).read_text("utf-8"), pictures=True)
    return found


def outside_links(source: str, text: str, pictures: bool) -> set[str]:
    found = set()
    for label, link in LINK.findall(text):
        path = link.partition("#")[0]
        if not path or re.match(r"\w+:", path) or (pictures and not label.startswith("!")):
            continue
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not file.startswith("docs/") and (ROOT / file).is_file():
            found.add(file)
    return found


def linked_file(path: str, config: MkDocsConfig) -> File:
    source = ROOT / path
    if path.endswith(".md"):
        return File.generated(
            config, site_path(path), content=f"---\nsearch:\n  boost: 0.5\n---\n{source.read_text('utf-8')}"
        )
    if source.suffix in (".png", ".svg"):
        return File.generated(config, site_path(path), content=source.read_bytes())
    language = LANGUAGES.get(source.suffix, "text")
    text = f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n````{language}\n{source.read_text('utf-8')}````\n"
    return File.generated(config, site_path(path), content=text)


def repository_path(page: str) -> str:
    """Where the text of a page lies."""
    if not page.startswith("source/"):
        return f"docs/{page}"
    path = page.removeprefix("source/")
    return path if (ROOT / path).is_file() else path.removesuffix(".md")


def site_path(file: str) -> str:
    """Where the site has a file of the repository."""
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return f"source/{file}" if file.endswith((".md", ".png", ".svg")) else f"source/{file}.md"
