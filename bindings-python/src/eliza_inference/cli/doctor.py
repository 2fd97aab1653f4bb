"""What is installed, and what is missing."""

from __future__ import annotations

from importlib.metadata import version

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eliza_inference._constants import constant
from eliza_inference._library import library_path, library_version
from eliza_inference.errors import AbiMismatchError, ElizaError
from eliza_inference.llama import load_llama


def run(console: Console) -> bool:
    """Prints the findings; True if streams can run."""
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(overflow="fold")
    table.add_row("package", version("eliza-inference"))
    table.add_row("library", Text(str(library_path())))
    problem = _add_library(table) or _add_llama(table)
    console.print(table)
    console.print(Text(f"problem: {problem}", style="red") if problem else Text("all is well", style="green"))
    return problem is None


def _add_library(table: Table) -> str | None:
    try:
        table.add_row("library version", library_version())
    except AbiMismatchError as error:
        return error.message
    table.add_row("ABI", str(constant("ELIZA_INFERENCE_ABI_VERSION")))
    return None


def _add_llama(table: Table) -> str | None:
    try:
        info = load_llama()
    except ElizaError as error:
        table.add_row("libllama", "not usable")
        return error.message
    table.add_row("libllama", Text(info.path))
    table.add_row("libllama version", info.version)
    table.add_row("libllama layout", info.layout)
    return None
