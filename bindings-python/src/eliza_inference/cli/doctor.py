"""What is installed, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from rich.console import Console
from rich.text import Text

from eliza_inference._constants import constant
from eliza_inference._library import library_path, library_version
from eliza_inference.errors import ElizaError
from eliza_inference.llama import load_llama


def run(console: Console) -> bool:
    """Prints the findings; True if streams can run."""
    problem = None
    try:
        for what, found in _findings():
            # Unwrapped, so that a path can be copied.
            console.print(Text(f"{what:<18}{found}"), soft_wrap=True)
    except ElizaError as error:
        problem = error.message
    console.print(Text(f"problem: {problem}", style="red") if problem else Text("all is well", style="green"))
    return problem is None


def _findings() -> Iterator[tuple[str, str]]:
    yield "package", version("eliza-inference")
    yield "library", str(library_path())
    yield "library version", library_version()
    yield "ABI", str(constant("ELIZA_INFERENCE_ABI_VERSION"))
    llama = load_llama()
    yield "libllama", llama.path
    yield "libllama version", llama.version
    yield "libllama layout", llama.layout
