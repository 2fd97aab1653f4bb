"""The command `eliza-inference`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line; says what to install if its extra is missing."""
    try:
        from eliza_inference.cli.commands import commands
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit(
            f"eliza-inference: the command line needs the package {error.name}: pip install click rich,"
            " which are the extra cli of this package"
        )
    commands(prog_name="eliza-inference")
