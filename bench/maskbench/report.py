"""The report of MaskBench in Markdown."""

from datetime import date
from pathlib import Path

from bench import machine
from bench.maskbench import charts, large, tables
from bench.maskbench.large import Compiled
from bench.maskbench.measure import SECONDS, SMALL_GROUPS, Results
from bench.maskbench.second_use import PASSES, SecondUse
from bench.paths import REPORTS, use_llama
from bench.recognizers import subjects
from bench.tables import Table

ABOUT = """
Made by `python -m bench maskbench --report`. Each library runs in a process of its own on one thread, cold for each
schema; who goes first changes with each schema. A schema is compiled once, from its text (TTFM; the table of compiling
has the first token with it, too, since libraries put off different work until then). Then each instance, as
`json.dumps` writes it, is taken token by token with the Llama-3 vocabulary: the mask is found and the token is taken
(TBM, from Python, the calls included); the first one refused ends the text. A schema passes if all its valid
instances are taken to their ends and no invalid one is. Afterwards its first text is run once more with the same
constraint: that is the second use. Times are of the processor, since the machine is shared.
"""
ABOUT_SMALL = """
Compiling takes XGrammar too long for the other groups. It runs with one thread, without its cache and not in its strict
mode. This is the same run.
"""
ABOUT_SECOND_USE = """
Masks alone, without the calls of Python: a schema is compiled again, the valid instances used are walked once,
and then once more, by a matcher of its own. A mask is lent, or written into the caller's bitmap, of 16,032 bytes: to
write these takes most of the time then.
"""
ABOUT_MEMORY = """
What the library says it keeps for a constraint and its matcher after the text; then, of the whole process over all
schemas, what malloc has given out and what is resident, which has in it what malloc keeps of what was freed.
"""
ABOUT_ORDER = """
Members may come as the schema declares them, as the other libraries have it, or in any order (`order="any"`), as the
instances of the data do.
"""


def write(
    results: Results,
    second: SecondUse | None,
    compiled: list[Compiled],
    data: str,
    runs: int,
    loads: tuple[str, str],
    folder: Path = REPORTS,
) -> Path:
    """Writes the report and its charts; returns the report."""
    folder.mkdir(exist_ok=True)
    stem = f"{date.today().isoformat()}-maskbench"
    whole = results.of([each for each in results.outcomes if each not in SMALL_GROUPS])
    charts.masks(folder / f"{stem}-masks.svg", whole)
    charts.compiling(folder / f"{stem}-compiling.svg", whole)
    charts.memory(folder / f"{stem}-memory.svg", whole)
    path = folder / f"{stem}.md"
    path.write_text(_render(results, whole, second, compiled, data, runs, loads, stem), encoding="utf-8")
    return path


def _render(
    results: Results,
    whole: Results,
    second: SecondUse | None,
    compiled: list[Compiled],
    data: str,
    runs: int,
    loads: tuple[str, str],
    stem: str,
) -> str:
    use_llama()
    rows = [*map(list, machine.description().items()), ["load", f"{loads[0]} before, {loads[1]} after"]]
    rows += [[each.subject, each.version] for each in subjects.versions()]
    n_schemas = len(next(iter(whole.outcomes.values())))
    n_instances = sum(len(each.problem.instances) for each in next(iter(whole.outcomes.values())))
    rows.append(["data", f"{data}: {n_schemas:,} schemas with {n_instances:,} instances"])
    sections = [
        f"# MaskBench, {date.today().isoformat()}",
        Table(["", ""], rows, n_left=2).markdown(),
        f"{' '.join(ABOUT.split())} {_readings(results)} {_repeats(runs)} A library has {SECONDS} s for a schema.",
        " ".join(ABOUT_ORDER.split()),
        "## Must reach",
        tables.bars(whole, second, compiled).markdown(),
        "## Verdicts",
        tables.verdicts(whole).markdown(),
        "## Masks",
        tables.masks(whole).markdown(),
        f"![masks]({stem}-masks.svg)",
        *_second_use(second),
        "## Compiling",
        tables.compiling(whole).markdown(),
        f"![compiling]({stem}-compiling.svg)",
        "## Schemas of 1 MB",
        f"Compiling alone, the least of up to {large.REPEATS} in one process.",
        large.table(compiled).markdown(),
        "## Memory",
        " ".join(ABOUT_MEMORY.split()),
        tables.memory(whole).markdown(),
        f"![memory]({stem}-memory.svg)",
        *_small(results),
        "## Why schemas are refused",
        tables.refusals(whole).markdown(),
        "## What does not pass here, one by one",
        tables.not_passing(results, "ours").markdown(),
    ]
    return "\n\n".join(sections) + "\n"


def _readings(results: Results) -> str:
    """What reading the clock costs."""
    least, most = min(results.pair_ns.values()), max(results.pair_ns.values())
    cost = f"{least:,} ns" if least == most else f"{least:,} to {most:,} ns"
    return f"A pair of the clock's readings costs {cost} in the libraries' processes; that is taken off every figure."


def _repeats(runs: int) -> str:
    if runs == 1:
        return "This is one run."
    return f"All this is done {runs} times, in new processes; each time is the least of its {runs}."


def _second_use(found: SecondUse | None) -> list[str]:
    if found is None:
        return []
    cost = f"The clock's own {found.clock_us * 1e3:.0f} ns are in each figure."
    return [
        "## The second use, from C",
        f"{' '.join(ABOUT_SECOND_USE.split())} Each time is the least of {PASSES}. {cost}",
        tables.second_use(found).markdown(),
    ]


def _small(results: Results) -> list[str]:
    """What is known of the libraries that run on small groups alone."""
    if len(results.of(SMALL_GROUPS).outcomes) == 0:
        return []
    small = results.shared()
    groups = sorted({group for library in SMALL_GROUPS for group in SMALL_GROUPS[library]})
    return [
        f"## Small groups: {', '.join(groups)}",
        " ".join(ABOUT_SMALL.split()),
        tables.verdicts(small).markdown(),
        tables.masks(small).markdown(),
        tables.compiling(small).markdown(),
    ]
