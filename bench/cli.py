"""The commands."""

import json
import sys
from pathlib import Path

import click
from eliza_inference import Model, load_llama
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import (
    calls,
    drafts,
    end_to_end,
    gate,
    length,
    machine,
    micro,
    paths,
    peers,
    prompts,
    sizes,
    start,
    tables,
    wasm,
)
from bench.answers import measure as answers
from bench.answers import report as answers_report
from bench.answers.models import MODELS
from bench.grammars.cases import CASES as GRAMMARS
from bench.grammars.plan import PLAN as GRAMMAR_PLAN
from bench.maskbench import measure as maskbench
from bench.maskbench import second_use
from bench.maskbench import tables as maskbench_tables
from bench.prompts import PREFIX, read_names
from bench.recognizers import tables as recognizer_tables
from bench.recognizers.cases import CASES
from bench.recognizers.measure import PASSES, SECONDS, Selection
from bench.recognizers.vocabularies import NAMES
from bench.recognizers.vocabularies import load as load_vocabulary
from bench.tables import Table
from bench.ways import MODES, Mode, WayName

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
WIDE = 160
"""Characters in a line of a log file."""
console = Console(stderr=True, width=None if sys.stderr.isatty() else WIDE)
MICRO = ("payload", "stream", "sampler", "matcher", "calls")
GRAMMAR_MODES = ("strict-guided", "common-sampler")

model_option = click.option("--model", type=FILE, default=paths.MODEL, show_default=True, help="GGUF file.")
names_option = click.option(
    "--names", type=FILE, default=paths.ACTIONS, show_default=True, help="Allowed names, one a line."
)


def _existing(_context: click.Context, _option: click.Parameter, path: Path) -> Path:
    if not path.is_file():
        raise click.BadParameter(f"{path} is missing; bench/models/make_llama3.py makes such a model")
    return path


large_model_option = click.option(
    "--large-model",
    type=OUTPUT,
    callback=_existing,
    default=paths.LARGE_MODEL,
    show_default=True,
    help="GGUF file with a vocabulary of 128,256 tokens.",
)


@click.group(context_settings={"max_content_width": 110})
@click.pass_context
def main(context: click.Context) -> None:
    """Benchmarks of libelizainference."""
    builds_its_own = context.invoked_subcommand in ("gate", "sizes")
    if not builds_its_own and (source := paths.newer_source()):
        changed = source.relative_to(paths.ROOT)
        raise click.ClickException(f"the library is older than {changed}: `python3 tests/run.py setup` builds it again")


@main.command()
@click.option("--mode", type=click.Choice(MODES), required=True, help="How names are enforced.")
@model_option
@click.option(
    "--prompt",
    type=FILE,
    default=paths.MESSAGES,
    show_default=True,
    help="A prompt, or a .tsv file with a message and its action on each line.",
)
@click.option(
    "--token-tree-descriptor",
    "descriptor",
    type=FILE,
    help="Token tree in JSON or MessagePack; its names are those of the grammar too. Default: made from --names.",
)
@names_option
@click.option("--every-third", is_flag=True, help="Allow only every third of --names.")
@click.option(
    "--baseline-mode", type=click.Choice(GRAMMAR_MODES), help="Run this beside it, in turns, and compare with it."
)
@click.option("--baseline", type=FILE, help="Compare with this output of an earlier run.")
@click.option("--stop-at-leaf", is_flag=True, help="Of common-sampler: stop at a name that no other continues.")
@click.option("--no-skip-ahead", is_flag=True, help="Of strict-trie-ffi: decode tokens without a choice one by one.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="The least time is reported.")
@click.option("--output", type=OUTPUT, help="JSON file to write.")
def run(
    mode: Mode,
    model: Path,
    prompt: Path,
    descriptor: Path | None,
    names: Path,
    every_third: bool,
    baseline_mode: Mode | None,
    baseline: Path | None,
    stop_at_leaf: bool,
    no_skip_ahead: bool,
    repeats: int,
    output: Path | None,
) -> None:
    """Answers prompts in one mode, and reports times, forward passes and agreement with a grammar."""
    if baseline and baseline_mode:
        raise click.UsageError("--baseline and --baseline-mode exclude each other")
    if descriptor and every_third:
        raise click.UsageError("--every-third is of --names, not of a token tree")
    paths.use_llama()
    way = WayName(mode, stop_at_leaf=stop_at_leaf, skip_ahead=not no_skip_ahead)
    ways = [WayName(baseline_mode), way] if baseline_mode else [way]
    payload = descriptor.read_bytes() if descriptor else None
    listed = end_to_end.names_of(payload) if payload else read_names(names)
    allowed = prompts.every_third(listed) if every_third else listed
    asked = prompts.read_prompts(prompt)
    with _progress_bar() as progress:
        task = progress.add_task("answers", total=len(ways) * len(asked) * repeats)
        runs = end_to_end.measure(
            ways, model, allowed, asked, payload, repeats=repeats, advance=lambda: progress.advance(task)
        )
    against = end_to_end.read_summary(baseline) if baseline else runs[0] if baseline_mode else None
    figures = end_to_end.summary(runs[-1], against)
    console.print(tables.summary(figures).rich())
    if output:
        output.write_text(json.dumps(figures, indent=2) + "\n")


@main.command()
@model_option
@names_option
@click.option("--output", type=OUTPUT, required=True, help="JSON file to write.")
def descriptor(model: Path, names: Path, output: Path) -> None:
    """Writes the token tree of some names, for --token-tree-descriptor."""
    paths.use_llama()
    with Model(model) as opened:
        output.write_text(opened.token_tree(read_names(names), prefix=PREFIX).to_json() + "\n", encoding="utf-8")


@main.command("micro")
@click.argument("what", type=click.Choice(MICRO))
@large_model_option
def micro_command(what: str, large_model: Path) -> None:
    """Measures one operation at a time."""
    paths.use_llama()
    with console.status(f"measuring: {what}"):
        table = _measure_micro(what, large_model)
    console.print(table.rich())


def _measure_micro(what: str, large_model: Path) -> Table:
    match what:
        case "payload":
            return tables.payloads(list(micro.payload_to_trie(large_model, read_names(paths.ACTIONS))))
        case "stream":
            models = (paths.MODEL, large_model)
            return tables.stream([steps for model in models for steps in micro.stream_steps(model)])
        case "sampler":
            return tables.sampler(micro.sampler_chains(large_model, read_names(paths.ACTIONS)))
        case "matcher":
            return tables.matcher(list(micro.matcher_steps()))
        case _:
            return tables.calls([calls.python_calls(), calls.bun_calls()])


@main.command("start")
def start_command() -> None:
    """Measures what using the library costs before it does anything."""
    with console.status("measuring: start"):
        figures = start.measure()
    console.print(tables.start(figures).rich())


@main.command("drafts")
def drafts_command() -> None:
    """Counts the forward passes of longer answers, with drafts by prompt lookup and without."""
    with console.status("measuring: drafts"):
        rows = list(drafts.measure())
    console.print(drafts.table(rows).rich())


@main.command("report")
@large_model_option
def report_command(large_model: Path) -> None:
    """Measures everything and writes bench/reports/<date>-main-job.md with its charts."""
    from bench import report  # draws charts, which the other commands need not install

    with console.status("") as status:
        results = report.collect(large_model, status.update)
    console.print(f"written: {report.write(results)}")
    for each in results.requirements():
        if not each.is_met:
            console.print(f"missed: {each.what}: {each.measured}, bar {each.bar}", highlight=False)


@main.command("recognizers")
@click.option("--case", "cases", type=click.Choice(list(CASES)), multiple=True, help="Only this case; repeatable.")
@click.option("--library", "libraries", type=click.Choice(list(SECONDS)), multiple=True, help="Only this library.")
@click.option("--vocabulary", "vocabularies", type=click.Choice(NAMES), multiple=True, help="Only this vocabulary.")
@click.option("--passes", type=click.IntRange(1), default=PASSES, show_default=True, help="Over each document.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-recognizers.md with its charts.")
def recognizers_command(
    cases: tuple[str, ...],
    libraries: tuple[str, ...],
    vocabularies: tuple[str, ...],
    passes: int,
    write: bool,
) -> None:
    """Measures masks of choices, regular expressions and grammars, beside other libraries."""
    from bench.recognizers import report as recognizers  # draws charts

    with console.status("") as status:
        measured = recognizers.collect(Selection(cases, libraries, vocabularies), passes, status.update)
    if write:
        console.print(f"written: {recognizers.write(measured)}")
    for vocabulary, case, title in recognizer_tables.case_titles(measured.results):
        console.print(title, markup=False, highlight=False)
        console.print(recognizer_tables.masks(measured.results, case, vocabulary).rich())
        for remark in recognizer_tables.remarks(measured.results, case, vocabulary):
            console.print(remark, highlight=False)
    console.print(recognizer_tables.bars(measured.bars()).rich())


@main.command("wasm")
@click.option("--case", "cases", type=click.Choice(wasm.CASES), multiple=True, help="Only this case; repeatable.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-wasm.md.")
def wasm_command(cases: tuple[str, ...], write: bool) -> None:
    """Compares the WebAssembly module with the native library."""
    with console.status("") as status:
        results = wasm.collect(cases, status.update)
    if write:
        console.print(f"written: {wasm.write(results)}")
    for table in (wasm.requirements_table(results), wasm.masks_table(results), wasm.tab_table(results)):
        console.print(table.rich())


@main.command("sizes")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-sizes.md.")
def sizes_command(write: bool) -> None:
    """Says what the bytes of the native library are for."""
    with console.status("") as status:
        found = sizes.collect(status.update)
    if write:
        console.print(f"written: {sizes.write(found)}")
    for table in (tables.requirements(sizes.bars(found)), sizes.parts_table(found), sizes.peers_table()):
        console.print(table.rich())


@main.command("grammars")
@click.option("--case", "cases", type=click.Choice(list(GRAMMARS)), multiple=True, help="Only this case; repeatable.")
@click.option("--library", "libraries", type=click.Choice(list(SECONDS)), multiple=True, help="Only this library.")
@click.option(
    "--vocabulary", "vocabularies", type=click.Choice(list(GRAMMAR_PLAN)), multiple=True, help="Only this one."
)
@click.option("--passes", type=click.IntRange(1), default=PASSES, show_default=True, help="Over each document.")
@click.option("--streams/--no-streams", default=True, help="Also a stream's `grammar`, against llama.cpp's sampler.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-grammars.md with its charts.")
def grammars_command(
    cases: tuple[str, ...],
    libraries: tuple[str, ...],
    vocabularies: tuple[str, ...],
    passes: int,
    streams: bool,
    write: bool,
) -> None:
    """Measures llama.cpp's grammars, ambiguous ones and tags, beside other libraries."""
    from bench.grammars import report as grammars  # draws charts

    with console.status("") as status:
        selection = Selection(cases, libraries, vocabularies, GRAMMAR_PLAN)
        measured = grammars.collect(selection, streams, passes, status.update)
    if write:
        console.print(f"written: {grammars.write(measured)}")
    for vocabulary, case, title in recognizer_tables.case_titles(measured.results):
        console.print(title, markup=False, highlight=False)
        console.print(recognizer_tables.masks(measured.results, case, vocabulary).rich())
        for remark in recognizer_tables.remarks(measured.results, case, vocabulary):
            console.print(remark, highlight=False)
    console.print(grammars.streams_table(measured.streams).rich())
    console.print(recognizer_tables.bars(measured.bars()).rich())


@main.command("maskbench")
@click.argument("data", type=FILE, required=False)
@click.option("--limit", type=click.IntRange(1), help="Only so many schemas.")
@click.option("--library", "libraries", type=click.Choice(maskbench.LIBRARIES), multiple=True, help="Only this one.")
@click.option("--runs", type=click.IntRange(1), default=1, help="The least times of so many runs.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-maskbench.md with its charts.")
def maskbench_command(data: Path | None, limit: int | None, libraries: tuple[str, ...], runs: int, write: bool) -> None:
    """Measures JSON Schemas, each new, beside llguidance and XGrammar.

    DATA has schemas with instances, as bench/maskbench/sample.jsonl.xz, which is the default.
    """
    from bench.maskbench import data as problems

    path = data or problems.SAMPLE
    listed = list(problems.read(path))[:limit]
    before = machine.load()
    with _progress_bar() as progress:
        task = progress.add_task("schemas", total=len(listed) * runs)
        results = maskbench.collect(listed, libraries or maskbench.LIBRARIES, runs, lambda: progress.advance(task))
    second = second_use.measure(results.outcomes.get("ours", []))
    if write:
        from bench.maskbench import large
        from bench.maskbench import report as maskbench_report  # draws charts

        loads = (before, machine.load())
        console.print(f"written: {maskbench_report.write(results, second, large.measure(), path.name, runs, loads)}")
    for table in (maskbench_tables.verdicts, maskbench_tables.memory, maskbench_tables.refusals):
        console.print(table(results).rich())
    for table in (maskbench_tables.masks, maskbench_tables.compiling):
        console.print(table(results.shared()).rich())
    if second is not None:
        console.print(maskbench_tables.second_use(second).rich())
    if "ours" in results.outcomes:
        console.print(maskbench_tables.not_passing(results, "ours").rich())


@main.command("peers")
@click.argument("data", type=FILE)
@click.option("--imports", "folder", type=FOLDER, help="Grammars that %import names, as a.b for a/b.lark.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-peers.md.")
def peers_command(data: Path, folder: Path | None, write: bool) -> None:
    """Compares which texts are accepted with what other engines' tests say. DATA has a grammar a line."""
    imported = peers.imports(folder) if folder else {}
    outcomes = [peers.judge(case, imported) for case in peers.read(data)]
    if write:
        console.print(f"written: {peers.write(outcomes)}")
    console.print(peers.sources_table(outcomes).rich())
    console.print(peers.others_table(outcomes).rich())


@main.command("hosts")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-transformers.md.")
def hosts_command(write: bool) -> None:
    """Measures a step of a logits processor in transformers, beside XGrammar's and llguidance's."""
    from bench import hosts  # needs torch

    paths.use_llama()  # the report names it
    before = machine.load()
    with console.status("") as status:
        measured = hosts.measure(status.update)
    if write:
        console.print(f"written: {hosts.write(measured, (before, machine.load()))}")
    console.print(hosts.steps_table(measured).rich())
    console.print(tables.requirements(hosts.bars(measured)).rich())


@main.command("length")
@click.option("--tokens", default=100_000, show_default=True, help="Of each output.")
@click.option("--vocabulary", type=click.Choice(NAMES), default=NAMES[0], show_default=True)
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-length.md and its chart.")
def length_command(tokens: int, vocabulary: str, write: bool) -> None:
    """Measures a token in outputs of 100,000 tokens in each kind of constraint, and batches with two threads."""
    paths.use_llama()  # the report names it
    load_llama()
    before = machine.load()
    table = load_vocabulary(vocabulary)
    with console.status("") as status:
        lengths = length.measure(table, tokens, status.update)
        batches = length.measure_batches(table, status.update)
    if write:
        from bench import length_report  # needs matplotlib

        path = length_report.write(table, lengths, batches, (before, machine.load()))
        console.print(f"written: {path}")
    console.print(length.lengths_table(lengths).rich())
    console.print(length.batches_table(batches).rich())


@main.command("answers")
@click.option("--model", "models", type=click.Choice(list(MODELS)), multiple=True, help="Default: each.")
@click.option("--tokens", default=256, show_default=True, help="Of an answer, at most.")
@click.option("--all", "every", is_flag=True, help="All rows of options, not the first and the last alone.")
@click.option("--texts", is_flag=True, help="Print the answers.")
@click.option("--report", "write", is_flag=True, help="Write bench/reports/<date>-answers.md.")
def answers_command(models: tuple[str, ...], tokens: int, every: bool, texts: bool, write: bool) -> None:
    """Counts the answers of real models that end, with rows of options. Installs the models when it first runs."""
    paths.use_llama()
    before = machine.load()
    names = list(answers.ROWS if every else answers.SHORT)
    asked = models or tuple(MODELS)
    with _progress_bar() as progress:
        task = progress.add_task("answers", total=len(asked) * len(names) * answers.n_questions())
        rows = {name: answers.measure(MODELS[name], names, tokens, lambda: progress.advance(task)) for name in asked}
    if texts:
        for line in answers_report.texts(rows):
            print(line)
    if write:
        console.print(f"written: {answers_report.write(rows, tokens, (before, machine.load()))}")
    console.print(answers_report.table(rows).rich())


@main.command("gate")
@click.option("--record", is_flag=True, help="Make what is counted the new baseline.")
def gate_command(record: bool) -> None:
    """Counts the instructions of the hot paths and compares them with bench/baseline.json."""
    counts = []
    with console.status("counting") as status:
        for count in gate.measure():
            counts.append(count)
            status.update(f"counted: {count.path}")
    console.print(tables.counts(counts).rich())
    if record:
        gate.record(counts)
    elif not all(count.passes for count in counts):
        raise click.ClickException(
            f"more than {gate.TOLERANCE:.0%} above the baseline, or not in it; `gate --record` makes a new one"
        )


def _progress_bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)
