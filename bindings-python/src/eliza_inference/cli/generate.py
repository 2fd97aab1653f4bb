"""One generation, written out as it comes."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from eliza_inference.cli.payload import read_payload
from eliza_inference.matcher import Mode
from eliza_inference.model import Model
from eliza_inference.stream import Span, Stream


def run(
    console: Console,
    model_path: Path,
    prompt: str,
    *,
    trie: Path | None,
    path: str | None,
    grammar: str | None,
    max_tokens: int,
    temperature: float,
    top_p: float,
    seed: int,
    context_size: int,
) -> None:
    """Writes the text to standard output and the counters to `console`."""
    tree = read_payload(trie) if trie else None
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
        mode = Mode.SAMPLED if temperature > 0 else Mode.GREEDY
        with stream.span(tree, path=path, mode=mode) if tree else nullcontext() as span:
            for step in stream:
                sys.stdout.write(step.text)
                sys.stdout.flush()
        sys.stdout.write("\n")
        _print_counters(console, stream, span)


def _print_counters(console: Console, stream: Stream, span: Span | None) -> None:
    stats = stream.stats
    name = f"name {span.leaf}, " if span else ""
    console.print(
        f"{name}{stats.emitted_tokens} tokens, {stats.forced_tokens} of them forced, "
        f"{stats.prefill_passes + stats.forward_passes} forward passes, "
        f"{(stats.sample_ns + stats.decode_ns) / 1e6:.1f} ms, ended by {stream.stop_reason.name}",
        style="dim",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
