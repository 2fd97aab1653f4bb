"""What a JSON Schema compiles to, and what it allows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eliza_inference.cli.grammar import print_warnings
from eliza_inference.cli.plural import counted
from eliza_inference.cli.vocabularies import END, byte_vocabulary
from eliza_inference.constraint import Constraint
from eliza_inference.errors import GrammarError, InvalidArgumentError
from eliza_inference.json_schema import JsonSchema, JsonSchemaSettings
from eliza_inference.matcher import Matcher, Step
from eliza_inference.vocabulary import Vocabulary


def check(console: Console, file: Path, settings: JsonSchemaSettings) -> None:
    """Prints sizes and warnings. An error tells all that `lenient` would leave out."""
    vocabulary, text = byte_vocabulary(), read_schema(file)
    started = time.perf_counter()
    try:
        constraint = compile_schema(vocabulary, file, text, settings)
    except GrammarError as error:
        raise _with_all_reasons(error, vocabulary, file, text, settings) from error
    milliseconds = 1000 * (time.perf_counter() - started)
    sizes = (
        f"{file}: {counted(len(text.encode()), 'byte')}, compiled in {milliseconds:.1f} ms to "
        f"{counted(constraint.recognizer_info.automaton_bytes, 'byte')}"
    )
    console.print(Text(sizes), soft_wrap=True)
    print_warnings(console, constraint)


def _with_all_reasons(
    error: GrammarError, vocabulary: Vocabulary, file: Path, text: str, settings: JsonSchemaSettings
) -> GrammarError:
    try:
        constraint = compile_schema(vocabulary, file, text, {**settings, "lenient": True})
    except GrammarError:
        return error
    return GrammarError("\n".join([error.message, "with --lenient it compiles:", *constraint.warnings]))


def allowed(console: Console, constraint: Constraint, after: str, what: str = "valid document") -> None:
    """Prints what may follow a text, and what must. `what`: what the constraint allows."""
    matcher = Matcher(constraint)
    encoded = after.encode()
    for at, byte in enumerate(encoded):
        if Step.REFUSED in matcher.accept(byte):
            rest = encoded[at:].decode(errors="replace")
            raise InvalidArgumentError(f"--after: at byte {at}: no {what} continues with {rest!r}")
    tokens = matcher.allowed()
    assert tokens is not None  # its span is open: the end has not been accepted
    line = " ".join(["may follow:", *runs([int(token) for token in tokens if token != END])])
    console.print(Text(line), soft_wrap=True)
    forced = matcher.forced_bytes()
    if forced:
        console.print(Text(f"must follow: {forced.decode(errors='backslashreplace')}"), soft_wrap=True)
    if matcher.can_stop:
        console.print("may end here")


def read_schema(file: Path) -> str:
    """The text of a schema's file."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise GrammarError(f"{file}: not UTF-8: {error}") from error


def read_documents(documents: Iterable[tuple[str, Path]]) -> dict[str, JsonSchema]:
    """The texts of other documents, by URI."""
    return {uri: read_schema(file) for uri, file in documents}


def compile_schema(vocabulary: Vocabulary, file: Path, text: str, settings: JsonSchemaSettings) -> Constraint:
    """Compiles the text of a file; errors name the file before the place."""
    try:
        return Constraint.json_schema(vocabulary, text, **settings)
    except GrammarError as error:
        raise GrammarError(f"{file}: {error.message}") from error


def runs(ascending: list[int]) -> list[str]:
    """Bytes as characters, and those that follow each other as `first..last`."""
    found: list[list[int]] = []
    for byte in ascending:
        if found and found[-1][-1] == byte - 1:
            found[-1].append(byte)
        else:
            found.append([byte])
    return [shown(run[0]) if len(run) == 1 else f"{shown(run[0])}..{shown(run[-1])}" for run in found]


def shown(byte: int) -> str:
    """A byte as it can be told from its neighbours."""
    return chr(byte) if 0x20 < byte < 0x7F else f"\\x{byte:02x}"
