"""The report of long outputs and of batches with two threads, with its chart."""

from datetime import date
from pathlib import Path

from eliza_inference import limits
from matplotlib import pyplot

from bench import machine
from bench.charts import save
from bench.length import (
    BATCH,
    BATCH_REPEATS,
    BLOCK,
    REPEATS,
    STEPS,
    Batch,
    Length,
    batches_table,
    lengths_table,
)
from bench.paths import REPORTS
from bench.recognizers.vocabularies import TokenTable
from bench.tables import Table

ABOUT = f"""
`python -m bench length`. A token's time is that of `accept` and `fill_bitmap`, from Python, the least of {REPEATS}
passes over the same text; the figures are medians of medians of blocks of {BLOCK:,} tokens. KB are what the matcher
keeps: the history of {limits.ROLLBACK_TOKENS_MAX:,} tokens that can be taken back, and the parser's stacks.
"""

ABOUT_BATCHES = f"""
`fill_bitmaps` of {BATCH} matchers at different places of a text; the least of {BATCH_REPEATS} passes for each of
{STEPS} positions, the median over these. "Computed": nothing is kept (`mask_bytes_max` 1), so that every mask is
found again. "Kept": masks are found in the cache, and no thread is started for them. A JSON Schema lets one thread at a
time find a mask. Where others use the machine, as "load" says, the wall's clock tells little:
two threads scale if the processors are busy no longer with them than with one thread, and the busier thread about half
as long.
"""


def write(table: TokenTable, lengths: list[Length], batches: list[Batch], loads: tuple[str, str]) -> Path:
    name = f"{date.today().isoformat()}-length"
    _draw(REPORTS / f"{name}.svg", lengths)
    rows = [*map(list, machine.description().items()), ["load", f"{loads[0]} before, {loads[1]} after"]]
    rows.append(["vocabulary", f"{table.name}, {table.n_tokens:,} tokens"])
    sections = [
        f"# Long outputs, and batches with two threads, {date.today().isoformat()}",
        Table(["", ""], rows, n_left=2).markdown(),
        "## A token after how many",
        ABOUT.strip(),
        f"![us for a token against the tokens before it]({name}.svg)",
        lengths_table(lengths).markdown(),
        "## Batches",
        ABOUT_BATCHES.strip(),
        batches_table(batches).markdown(),
    ]
    path = REPORTS / f"{name}.md"
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return path


def _draw(path: Path, figures: list[Length]) -> None:
    """Microseconds of a token against the number of tokens before it."""
    drawing, axes = pyplot.subplots(figsize=(8.5, 4.2))
    for each in figures:
        places = [BLOCK * (n + 0.5) for n in range(len(each.us))]
        axes.plot(places, each.us, linewidth=1.2, label=each.kind)
    axes.set_yscale("log")
    axes.set_xlabel("tokens of the output before")
    axes.set_ylabel("us for a token (log scale)")
    axes.set_title("Accepting a token and filling the next bitmap, in long outputs")
    axes.legend(frameon=False, ncols=2, fontsize=8)
    save(drawing, path)
