"""The commands and their options; the work is in the modules beside this one."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from eliza_inference.cli import demo as demo_command
from eliza_inference.cli import doctor as doctor_command
from eliza_inference.cli import generate as generate_command
from eliza_inference.cli import grammar as grammar_command
from eliza_inference.cli import schema as schema_command
from eliza_inference.cli import tags as tags_command
from eliza_inference.cli import trie as trie_command
from eliza_inference.cli.vocabularies import byte_vocabulary
from eliza_inference.errors import ElizaError
from eliza_inference.json_schema import GENERATION, JsonSchemaSettings

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FILE_OR_FOLDER = click.Path(exists=True, path_type=Path)


class _Commands(click.Group):
    """Tells the errors of the library as messages, without a traceback."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except ElizaError as error:
            raise click.ClickException(error.message) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eliza-inference")
def commands() -> None:
    """Constrained generation for a language model in the same process."""
    logging.basicConfig(level=logging.WARNING, format="warning: %(message)s")


@commands.command()
def demo() -> None:
    """Route messages to 30 actions with the model that ships, in every way there is."""
    demo_command.run(Console())


Command = Callable[..., None]


def schema_options(usual: JsonSchemaSettings) -> Callable[[Command], Command]:
    """The options of a JSON Schema, with the usual values as defaults: `settings` of the command."""
    options = (
        ("--space", ["loose", "compact", "spaced", "any"], usual["space"], "White space of the document."),
        ("--order", ["declared", "any"], "declared", "Order of the members of an object."),
        ("--numbers", ["any", "double"], usual["numbers"], "double: no number is longer than the text of a double."),
        (
            "--additional",
            ["allow", "forbid"],
            usual["additional"],
            "forbid: no members but those that the schema names.",
        ),
        ("--draft", ["2020-12", "2019-09", "7", "6", "4"], "2020-12", "Draft of a schema without $schema."),
    )

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_settings(documents: tuple[tuple[str, Path], ...], **arguments: Any) -> None:
            settings = {name: arguments.pop(name) for name in _SCHEMA_SETTINGS}
            command(settings=settings | {"documents": schema_command.read_documents(documents)}, **arguments)

        for option in (
            *(
                click.option(name, type=click.Choice(choices), default=default, show_default=True, help=text)
                for name, choices, default, text in options
            ),
            click.option(
                "--document",
                "documents",
                type=(str, FILE),
                multiple=True,
                metavar="URI FILE",
                help="Another document that the schema refers to; may be repeated.",
            ),
            click.option("--integer-fraction", is_flag=True, help="Let an integer be spelled 1.0."),
            click.option("--lenient", is_flag=True, help="Ignore what cannot be enforced exactly, with a warning."),
        ):
            with_settings = option(with_settings)
        return with_settings

    return decorate


AS_WRITTEN: JsonSchemaSettings = {"space": "loose", "numbers": "any", "additional": "allow"}
"""All documents that a schema allows, as `Constraint.json_schema` has it."""
_SCHEMA_SETTINGS = ("space", "order", "numbers", "additional", "draft", "lenient", "integer_fraction")


@commands.command()
@click.option("--model", type=FILE_OR_FOLDER, required=True, help="GGUF file, or a folder with one under text/.")
@click.option("--prompt", required=True, help="Text that the model continues.")
@click.option("--trie", type=FILE, help="Token tree in JSON or MessagePack: only its names come out.")
@click.option("--path", "span_path", metavar="PATH", help="Descriptor of the tree, if it has several.")
@click.option("--choices", type=FILE, help="Text of one line of this file: only such a line comes out.")
@click.option("--regex", metavar="PATTERN", help="Only text that the whole pattern matches comes out.")
@click.option("--lark", type=FILE, help="Grammar in Lark's notation: only its texts come out.")
@click.option("--schema", type=FILE, help="JSON Schema: only documents that are valid against it come out.")
@click.option("--tags", type=FILE, help="Descriptor of tags: text is free but for its parts, such as tool calls.")
@click.option("--grammar", type=FILE, help="llama.cpp grammar (GBNF) for output that nothing else constrains.")
@click.option("--max-tokens", type=click.IntRange(min=0), default=128, show_default=True, help="0: no bound.")
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True, help="0: the likeliest token."
)
@click.option("--top-p", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="1: off.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True)
@click.option("--context-size", type=click.IntRange(min=0), default=0, show_default=True, help="Tokens; 0: as trained.")
@schema_options(GENERATION)
@click.pass_context
def generate(
    context: click.Context,
    model: Path,
    prompt: str,
    trie: Path | None,
    span_path: str | None,
    choices: Path | None,
    regex: str | None,
    lark: Path | None,
    schema: Path | None,
    tags: Path | None,
    grammar: Path | None,
    max_tokens: int,
    temperature: float,
    top_p: float,
    seed: int,
    context_size: int,
    settings: JsonSchemaSettings,
) -> None:
    """Generate text: any, or what a token tree, choices, a regular expression, a grammar, a JSON Schema or tags allow.

    The text goes to standard output as it comes, the counters to standard error.
    """
    if span_path is not None and trie is None:
        raise click.UsageError("--path needs --trie")
    if sum(each is not None for each in (trie, choices, regex, lark, schema, tags)) > 1:
        raise click.UsageError("--trie, --choices, --regex, --lark, --schema and --tags exclude each other")
    for parameter in context.command.params:
        is_of_schema = parameter.name in (*_SCHEMA_SETTINGS, "documents")
        is_given = context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
        if schema is None and is_of_schema and is_given:
            raise click.UsageError(f"{parameter.opts[0]} needs --schema")
    generate_command.run(
        Console(stderr=True),
        model,
        prompt,
        rule=generate_command.read_rule(
            trie=trie, choices=choices, regex=regex, lark=lark, schema=schema, tags=tags, settings=settings
        ),
        path=span_path,
        grammar=grammar.read_text(encoding="utf-8") if grammar else None,
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        context_size=context_size,
    )


@commands.group()
def trie() -> None:
    """Look at token trees."""


@trie.command()
@click.argument("payload", type=FILE)
@click.option("--model", type=FILE_OR_FOLDER, help="Show the texts of this model's tokens instead of ids.")
def show(payload: Path, model: Path | None) -> None:
    """Draw a token tree (a JSON or MessagePack file) with its forced runs and its names."""
    trie_command.show(Console(), payload, model)


@commands.group()
def grammar() -> None:
    """Look at grammars in Lark's notation, in GBNF (.gbnf) and in EBNF (.ebnf)."""


@grammar.command()
@click.argument("file", type=FILE)
@click.option("--model", type=FILE_OR_FOLDER, help="Compile for this model's tokens instead of single bytes.")
def check(file: Path, model: Path | None) -> None:
    """Compile a grammar: tell its sizes and what is seldom meant, or what is wrong with it and where."""
    grammar_command.check(Console(), file, model)


@commands.group()
def schema() -> None:
    """Look at JSON Schemas."""


@schema.command("check")
@click.argument("file", type=FILE)
@schema_options(AS_WRITTEN)
def check_schema(file: Path, settings: JsonSchemaSettings) -> None:
    """Compile a JSON Schema: tell its sizes and what is not enforced, or what is wrong with it and where."""
    schema_command.check(Console(), file, settings)


@schema.command()
@click.argument("file", type=FILE)
@click.option("--after", default="", metavar="TEXT", help="The document so far.")
@schema_options(AS_WRITTEN)
def allowed(file: Path, after: str, settings: JsonSchemaSettings) -> None:
    """Tell which bytes may follow a part of a document, which text must, and whether it may end."""
    vocabulary, text = byte_vocabulary(), schema_command.read_schema(file)
    constraint = schema_command.compile_schema(vocabulary, file, text, settings)
    schema_command.allowed(Console(), constraint, after)


@commands.group()
def tags() -> None:
    """Look at descriptors of tags, free text with parts in it."""


@tags.command("check")
@click.argument("file", type=FILE)
@click.option("--model", type=FILE_OR_FOLDER, help="Compile for this model's tokens instead of single bytes.")
def check_tags(file: Path, model: Path | None) -> None:
    """Compile a descriptor: tell its sizes and what is seldom meant, or what is wrong with it and where."""
    tags_command.check(Console(), file, model)


@tags.command("allowed")
@click.argument("file", type=FILE)
@click.option("--after", default="", metavar="TEXT", help="The text so far.")
def allowed_by_tags(file: Path, after: str) -> None:
    """Tell which bytes may follow a text, which text must, and whether it may end."""
    constraint = tags_command.compile_tags(byte_vocabulary(), file, file.read_bytes())
    schema_command.allowed(Console(), constraint, after, "text with these tags")


@commands.command()
@click.pass_context
def doctor(context: click.Context) -> None:
    """Tell whether the library and a libllama are found, and what to do if not."""
    if not doctor_command.run(Console()):
        context.exit(1)
