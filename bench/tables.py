"""The tables of the figures, for the report and for the terminal."""

from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table as RichTable

from bench import end_to_end
from bench.calls import CallFigures
from bench.end_to_end import Run
from bench.figures import Figure
from bench.gate import Count
from bench.micro import SAMPLER_WAYS, MatcherSteps, PayloadFigures, SamplerFigures, StreamSteps
from bench.requirement import Requirement
from bench.start import StartFigure


@dataclass(frozen=True, slots=True)
class Table:
    heading: list[str]
    rows: list[list[str]]
    n_left: int = 1
    """Columns that hold text; the others hold figures."""

    def markdown(self) -> str:
        rule = ["---" if index < self.n_left else "---:" for index in range(len(self.heading))]
        lines = [[cell.replace("|", "\\|") for cell in cells] for cells in [self.heading, rule, *self.rows]]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)

    def rich(self) -> RichTable:
        table = RichTable()
        for index, name in enumerate(self.heading):
            table.add_column(name, justify="left" if index < self.n_left else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*map(escape, row))
        return table


def summary(figures: dict[str, Any]) -> Table:
    """One run of whole answers, as its output file has it."""
    rows = [
        [name, f"{value:.4g}" if isinstance(value, float) else str(value)]
        for name, value in figures.items()
        if name != "answers"
    ]
    return Table(["field", "value"], rows)


def requirements(rows: list[Requirement]) -> Table:
    return Table(
        ["what", "command", "", "bar", "measured"],
        [
            [
                each.what,
                f"`python -m bench {each.command}`",
                "met" if each.is_met else "**missed**",
                each.bar,
                each.measured,
            ]
            for each in rows
        ],
        n_left=3,
    )


def answers(runs: list[Run], strict: Run, grammar: Run) -> Table:
    """Compared with the strict run; the last column of speed is against the other grammar run."""
    rows = []
    for run in runs:
        figures = end_to_end.summary(run, strict)
        skipped = (
            "" if run.skip_ratios is None else f"{figures['skip_ratio_mean']:.4f} ± {figures['skip_ratio_std']:.4f}"
        )
        rows.append(
            [
                str(run.way),
                f"{run.n_valid()} of {len(run.answers)}",
                f"{run.n_exact()} of {run.n_expected_allowed()}",
                f"{figures['name_agreement']:.1%}",
                f"{figures['token_accuracy']:.1%}",
                f"{figures['passes_per_answer']:.2f}",
                f"{figures['forward_passes_saved']} of {strict.passes()}",
                _ms(figures, "ms_per_answer"),
                _ms(figures, "ms_after_prompt"),
                f"{figures['tokens_per_second']:,.0f}",
                f"{figures['tokens_per_second_vs_grammar']:.2f}",
                f"{run.tokens_per_second() / grammar.tokens_per_second():.2f}",
                skipped,
            ]
        )
    heading = [
        *("way", "valid names", "exact names", "names agree", "tokens agree", "passes per answer", "passes saved"),
        *(
            "ms per answer (p95)",
            "ms after the prompt (p95)",
            "tokens/s",
            "× strict-guided",
            "× common-sampler",
            "skip ratio",
        ),
    ]
    return Table(heading, rows)


def stream(steps: list[StreamSteps]) -> Table:
    rows = []
    for each in steps:
        for what, figures, pick in (
            ("choosing", each.choosing_ns, "median"),
            ("choosing, every repeat", each.choosing_all_ns, "median"),
            ("choosing, every repeat, p95", each.choosing_all_ns, "p95"),
            ("call", each.call_ns, "median"),
        ):
            rows.append([str(each), what, *(f"{getattr(figure, pick):.0f}" for figure in figures.values())])
    return Table(["ns by the number of legal tokens", "", *map(str, steps[0].choosing_ns)], rows, n_left=2)


def sampler(figures: SamplerFigures) -> Table:
    rows = [
        [
            label,
            f"{figures.step_us[way].median:,.1f}",
            f"{figures.step_us[way].p95:,.1f}",
            f"{figures.all_us[way].median:,.1f}",
            f"{figures.rest_us[way].median:,.2f}",
            f"{figures.ratio(way, 'array_only'):,.2f}",
            f"{figures.ratio('grammar', way):,.1f}",
        ]
        for way, label in SAMPLER_WAYS.items()
    ]
    heading = [
        "median us",
        "step",
        "p95",
        "every repeat",
        "without the array",
        "× array alone",
        "× faster than the grammar",
    ]
    return Table(heading, rows)


def payloads(figures: list[PayloadFigures]) -> Table:
    rows = [
        [
            each.format,
            f"{each.n_leaves:,}",
            f"{each.payload_bytes:,}",
            *(f"{us:,.1f}" for us in (each.compile_us.median, each.compile_us.p95, each.compile_us.least)),
            *(f"{us:,.2f}" for us in (each.hit_us.median, each.hit_us.p95)),
            f"{each.n_nodes:,}",
            f"{each.retained_bytes:,}",
        ]
        for each in figures
    ]
    heading = ["format", "leaves", "bytes", "compile us", "p95", "least", "hit us", "p95", "nodes", "bytes retained"]
    return Table(heading, rows)


def matcher(steps: list[MatcherSteps]) -> Table:
    names = list(steps[0].call_ns)
    rows = [
        [name.removesuffix("_ns").replace("_", " "), *(_median_and_p95(each.call_ns[name]) for each in steps)]
        for name in names
    ]
    return Table(["ns, median (p95)", *(f"{each.n_vocabulary:,} tokens" for each in steps)], rows)


def calls(figures: list[CallFigures]) -> Table:
    rows = [
        [
            each.language,
            *(f"{ns:,.1f}" for ns in (each.accept_ns.median, each.accept_ns.p95, each.accept_ns.least)),
            *(f"{ns:,.1f}" for ns in (each.floor_ns.median, each.floor_ns.p95, each.floor_ns.least)),
        ]
        for each in figures
    ]
    return Table(["ns", "Matcher.accept", "p95", "least", "floor", "p95", "least"], rows)


def start(figures: list[StartFigure]) -> Table:
    rows = [
        [f"{each.what}, {each.unit}", f"≤ {each.bar:g}", f"{each.value.median:.3g}", f"{each.value.least:.3g}"]
        for each in figures
    ]
    return Table(["of fresh processes", "bar", "median", "least"], rows)


def counts(rows: list[Count]) -> Table:
    return Table(
        ["path", "instructions", "recorded", "change"],
        [
            [
                count.path,
                f"{count.instructions:,.1f}",
                "" if count.recorded is None else f"{count.recorded:,.1f}",
                "" if count.change is None else f"{count.change:+.1%}",
            ]
            for count in rows
        ],
    )


def _median_and_p95(figure: Figure) -> str:
    return f"{figure.median:,.1f} ({figure.p95:,.1f})"


def _ms(figures: dict[str, Any], name: str) -> str:
    return f"{figures[f'{name}_median']:.3g} ({figures[f'{name}_p95']:.3g})"
