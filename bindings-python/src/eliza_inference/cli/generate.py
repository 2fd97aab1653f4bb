"""One generation, written out as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from eliza_inference.cli.grammar import compile_grammar, print_warnings, read_grammar
from eliza_inference.cli.payload import read_payload
from eliza_inference.cli.plural import counted
from eliza_inference.cli.schema import compile_schema, read_schema
from eliza_inference.cli.tags import compile_tags
from eliza_inference.constraint import Constraint
from eliza_inference.errors import GrammarError
from eliza_inference.json_schema import JsonSchemaSettings
from eliza_inference.model import Model, Stream
from eliza_inference.token_stream import Span
from eliza_inference.token_tree import TokenTree
from eliza_inference.vocabulary import Vocabulary

Rule = Callable[[Vocabulary], TokenTree | Constraint]
"""Makes what constrains the output, for the vocabulary of the model."""


def read_rule(
    *,
    trie: Path | None,
    choices: Path | None,
    regex: str | None,
    lark: Path | None,
    schema: Path | None,
    tags: Path | None,
    settings: JsonSchemaSettings,
) -> Rule | None:
    """Reads the file of the one that is given; None if there is none. `settings` are a schema's."""
    if trie is not None:
        tree = read_payload(trie)
        return lambda _vocabulary: tree
    if choices is not None:
        lines = [line for line in choices.read_bytes().splitlines() if line]
        return lambda vocabulary: Constraint.choices(vocabulary, lines)
    if regex is not None:
        pattern = regex
        return lambda vocabulary: _compile_regex(vocabulary, pattern)
    if lark is not None:
        file, text = lark, read_grammar(lark)
        return lambda vocabulary: compile_grammar(vocabulary, file, text)
    if schema is not None:
        schema_file, schema_text = schema, read_schema(schema)
        return lambda vocabulary: compile_schema(vocabulary, schema_file, schema_text, settings)
    if tags is not None:
        tags_file, descriptor = tags, tags.read_bytes()
        return lambda vocabulary: compile_tags(vocabulary, tags_file, descriptor)
    return None


def _compile_regex(vocabulary: Vocabulary, pattern: str) -> Constraint:
    try:
        return Constraint.regex(vocabulary, pattern)
    except GrammarError as error:
        raise GrammarError(f"--regex: {error.message}") from error


def run(
    console: Console,
    model_path: Path,
    prompt: str,
    *,
    rule: Rule | None,
    path: str | None,
    grammar: str | None,
    max_tokens: int,
    temperature: float,
    top_p: float,
    seed: int,
    context_size: int,
) -> None:
    """Writes the text to standard output and the counters to `console`."""
    with console.status("loading the model"):
        model = Model(model_path)
    with (
        model,
        model.stream(
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            context_size=context_size,
            grammar=grammar,
        ) as stream,
    ):
        with console.status("reading the prompt"):
            stream.prefill(prompt)
        allowed = rule(model.vocabulary) if rule else None
        if isinstance(allowed, Constraint):
            print_warnings(console, allowed)
        with stream.span(allowed, path=path) if allowed else nullcontext() as span:
            for step in stream:
                sys.stdout.write(step.text)
                sys.stdout.flush()
        sys.stdout.write("\n")
        _print_counters(console, stream, span if isinstance(allowed, TokenTree) else None)


def _print_counters(console: Console, stream: Stream, tree_span: Span | None) -> None:
    stats = stream.stats
    name = f"name {tree_span.leaf}, " if tree_span else ""
    console.print(
        f"{name}{counted(stats.emitted_tokens, 'token')}, {stats.forced_tokens} of them forced, "
        f"{counted(stats.prefill_passes + stats.forward_passes, 'forward pass')}, "
        f"{(stats.sample_ns + stats.decode_ns) / 1e6:.1f} ms, ended by {stream.stop_reason.name}",
        style="dim",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
