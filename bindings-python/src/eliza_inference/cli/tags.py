"""What a descriptor of tags compiles to."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eliza_inference.cli.grammar import print_warnings
from eliza_inference.cli.plural import counted
from eliza_inference.cli.vocabularies import vocabulary_of
from eliza_inference.constraint import Constraint
from eliza_inference.errors import GrammarError
from eliza_inference.vocabulary import Vocabulary


def check(console: Console, file: Path, model_path: Path | None) -> None:
    """Prints sizes and warnings."""
    descriptor = file.read_bytes()
    vocabulary = vocabulary_of(model_path)
    vocabulary.prepare()
    started = time.perf_counter()
    constraint = compile_tags(vocabulary, file, descriptor)
    milliseconds = 1000 * (time.perf_counter() - started)
    info = constraint.recognizer_info
    sizes = (
        f"{file}: {counted(info.n_states, 'state')} of free text, {counted(info.automaton_bytes, 'byte')}, "
        f"compiled in {milliseconds:.1f} ms"
    )
    console.print(Text(sizes), soft_wrap=True)
    print_warnings(console, constraint)


def compile_tags(vocabulary: Vocabulary, file: Path, descriptor: bytes) -> Constraint:
    """Compiles the bytes of a file, in JSON or MessagePack; errors name the file before the place."""
    try:
        return Constraint.tags(vocabulary, descriptor)
    except GrammarError as error:
        raise GrammarError(f"{file}: {error.message}") from error
