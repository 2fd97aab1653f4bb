"""The commands."""

import json
from pathlib import Path
from typing import Any

import click
from eliza_inference import Model
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench import end_to_end, gate, paths
from bench.prompts import PREFIX, read_names, read_prompts
from bench.ways import MODES, Mode, WayName

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
console = Console(stderr=True)


def progress_bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


@click.group(context_settings={"max_content_width": 110})
def main() -> None:
    """Benchmarks of libelizainference."""


@main.command()
@click.option("--mode", type=click.Choice(MODES), required=True, help="How names are enforced.")
@click.option("--model", type=FILE, default=paths.MODEL, show_default=True, help="GGUF file.")
@click.option("--prompt", type=FILE, default=paths.MESSAGES, show_default=True,
              help="A prompt, or a .tsv file with a message and its action on each line.")  # fmt: skip
@click.option("--token-tree-descriptor", "descriptor", type=FILE,
              help="Payload in JSON or MessagePack; its names are those of the grammar too. Default: made from --names.")  # fmt: skip
@click.option("--names", type=FILE, default=paths.ACTIONS, show_default=True, help="Allowed names, one a line.")
@click.option("--baseline", help="Output of an earlier grammar run, or a mode to run beside this one.")
@click.option("--stop-at-leaf", is_flag=True, help="Of a grammar mode: stop at a name that no other continues.")
@click.option("--no-skip-ahead", is_flag=True, help="Of the trie mode: decode tokens without a choice one by one.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="The least time is reported.")
@click.option("--output", type=OUTPUT, help="JSON file to write.")
def run(
    mode: Mode,
    model: Path,
    prompt: Path,
    descriptor: Path | None,
    names: Path,
    baseline: str | None,
    stop_at_leaf: bool,
    no_skip_ahead: bool,
    repeats: int,
    output: Path | None,
) -> None:
    """Answers prompts in one mode, and reports times, forward passes and agreement with a grammar."""
    paths.use_llama()
    way = WayName(mode, stop_at_leaf=stop_at_leaf, skip_ahead=not no_skip_ahead)
    ways = [WayName(baseline), way] if baseline in MODES else [way]  # type: ignore[arg-type]
    payload = descriptor.read_bytes() if descriptor else None
    allowed = end_to_end.names_of(payload) if payload else read_names(names)
    prompts = read_prompts(prompt)
    with progress_bar() as progress:
        task = progress.add_task("answers", total=len(ways) * len(prompts) * repeats)
        runs = end_to_end.measure(
            ways, model, allowed, prompts, payload, repeats=repeats, advance=lambda: progress.advance(task)
        )
    if baseline is None or baseline in MODES:
        against = runs[0] if len(runs) == 2 else None
    else:
        against = end_to_end.read_baseline(Path(baseline))  # type: ignore[assignment]
    figures = end_to_end.summary(runs[-1], against)
    _print_figures(figures)
    if output:
        output.write_text(json.dumps(figures, indent=2) + "\n")


@main.command()
@click.option("--model", type=FILE, default=paths.MODEL, show_default=True, help="GGUF file.")
@click.option("--names", type=FILE, default=paths.ACTIONS, show_default=True, help="Names, one a line.")
@click.option("--output", type=OUTPUT, required=True, help="JSON file to write.")
def descriptor(model: Path, names: Path, output: Path) -> None:
    """Writes the token tree of some names, for --token-tree-descriptor."""
    paths.use_llama()
    with Model(model) as opened:
        output.write_text(opened.token_tree(read_names(names), prefix=PREFIX).to_json() + "\n", encoding="utf-8")


@main.command("gate")
@click.option("--record", is_flag=True, help="Make what is counted the new baseline.")
def gate_command(record: bool) -> None:
    """Counts the instructions of the hot paths and compares them with bench/baseline.json."""
    counts = []
    with console.status("counting") as status:
        for count in gate.measure():
            counts.append(count)
            status.update(f"counted: {count.path}")
    _print_counts(counts)
    if record:
        gate.record(counts)
    elif not all(count.passes for count in counts):
        raise click.ClickException(
            f"more than {gate.TOLERANCE:.0%} above the baseline, or not in it; `gate --record` makes a new one on purpose"
        )


def _print_counts(counts: list[gate.Count]) -> None:
    table = Table("path")
    for heading in ("instructions", "recorded", "change"):
        table.add_column(heading, justify="right")
    for count in counts:
        recorded = "" if count.recorded is None else f"{count.recorded:,.1f}"
        change = "" if count.change is None else f"{count.change:+.1%}"
        table.add_row(count.path, f"{count.instructions:,.1f}", recorded, change)
    console.print(table)


def _print_figures(figures: dict[str, Any]) -> None:
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in figures.items():
        if name != "answers":
            table.add_row(name, f"{value:.4g}" if isinstance(value, float) else str(value))
    console.print(table)
