"""What a grammar compiles to."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eliza_inference.cli.plural import counted
from eliza_inference.cli.vocabularies import vocabulary_of
from eliza_inference.constraint import Constraint
from eliza_inference.errors import GrammarError
from eliza_inference.vocabulary import Vocabulary


def read_grammar(file: Path) -> str:
    """The text of a grammar file."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise GrammarError(f"{file}: not UTF-8: {error}") from error


def compile_grammar(vocabulary: Vocabulary, file: Path, text: str) -> Constraint:
    """Compiles the text of a file, whose suffix says in which notation; errors name the file before the place."""
    try:
        if file.suffix in (".gbnf", ".ebnf"):
            return Constraint.gbnf(vocabulary, text, ebnf=file.suffix == ".ebnf")
        return Constraint.lark(vocabulary, text)
    except GrammarError as error:
        raise GrammarError(f"{file}:{error.message}") from error


def check(console: Console, file: Path, model_path: Path | None) -> None:
    """Prints sizes and warnings."""
    text = read_grammar(file)
    vocabulary = vocabulary_of(model_path)
    vocabulary.prepare()
    started = time.perf_counter()
    constraint = compile_grammar(vocabulary, file, text)
    milliseconds = 1000 * (time.perf_counter() - started)
    info = constraint.recognizer_info
    sizes = (
        f"{file}: {counted(info.n_terminals, 'terminal')}, {counted(info.n_states, 'lexer state')}, "
        f"{counted(info.n_productions, 'production')}, {counted(info.n_parser_states, 'parser state')}, "
        f"{counted(info.automaton_bytes, 'byte')}, compiled in {milliseconds:.1f} ms"
    )
    console.print(Text(sizes), soft_wrap=True)
    print_warnings(console, constraint)


def print_warnings(console: Console, constraint: Constraint) -> None:
    """Prints what compiling found that is seldom meant."""
    for warning in constraint.warnings:
        console.print(Text(f"warning: {warning}", "yellow"), soft_wrap=True)
