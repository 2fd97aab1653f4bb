"""The report of the grammars in Markdown."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bench import machine
from bench.grammars import charts, requirement, streams
from bench.grammars.streams import StreamFigures
from bench.paths import REPORTS, use_llama
from bench.recognizers import charts as recognizer_charts
from bench.recognizers import measure, subjects, tables
from bench.recognizers.measure import Results, Selection
from bench.recognizers.requirement import Bar, rounded
from bench.tables import Table

ABOUT = """
Made by one run of `python -m bench grammars --report`. A mask is the set of legal next tokens at one position of a
document of the language, in document order; each library runs in a process of its own, one after the other on the
same case, with the same tokens. A position's time is the least of its passes; p50, p90, p99 and max are over
positions. The first pass, right after compiling, gives the first mask and the cold mean. `lent` is
`eliza_inference_matcher_allowed` from C, which the bars are of (the reading of the clock, 20 ns here, included);
`copied` writes the whole bitmap, as the others do. From Python the call is included: about 0.3 us.
"""
ABOUT_OTHERS = """
llama.cpp's sampler is applied to all candidates, whose array is made outside of the time; what it is given is the
same text of the grammar. llguidance takes its GBNF through its own converter, and has its limits raised. XGrammar
takes EBNF, and tags as a structural tag, and compiles with its default threads. Where a library is not named, it does
not take the grammar (llama.cpp: left recursion, tags), or the remarks say how it failed.
"""
ABOUT_STREAMS = """
The same prompts, greedily, on one thread, answer by answer in turns; the least of three times. Ours is what the
stream counts as choosing; llama.cpp's is the call of `llama_sampler_sample` with its grammar over the whole
vocabulary at each step (`strict-guided`), which makes the array of candidates as well.
"""


@dataclass(frozen=True)
class Report:
    results: Results
    streams: list[StreamFigures]
    loads: tuple[str, str]
    """Of the machine, before and after."""

    def bars(self) -> list[Bar]:
        return requirement.bars(self.results, self.streams)


def collect(selection: Selection, with_streams: bool, passes: int, announce: Callable[[str], None]) -> Report:
    """Measures what is selected."""
    use_llama()
    before = machine.load()
    results = measure.collect(selection, passes, announce)
    figures = streams.measure(announce) if with_streams else []
    return Report(results, figures, (before, machine.load()))


def write(report: Report, folder: Path = REPORTS) -> Path:
    """Writes the report and its charts; returns the report."""
    folder.mkdir(exist_ok=True)
    stem = f"{date.today().isoformat()}-grammars"
    recognizer_charts.masks(folder / f"{stem}-masks.svg", report.results, "llama3")
    charts.lengths(folder / f"{stem}-lengths.svg", report.results)
    charts.streams(folder / f"{stem}-streams.svg", report.streams)
    path = folder / f"{stem}.md"
    path.write_text(_render(report, stem), encoding="utf-8")
    return path


def streams_table(figures: list[StreamFigures]) -> Table:
    rows = [
        [
            each.model,
            each.grammar,
            f"{each.n_tokens:,}",
            rounded(each.ours_us),
            rounded(each.llama_us),
            rounded(each.ratio),
            f"{each.n_equal} of {each.n_answers}",
        ]
        for each in figures
    ]
    heading = ["model", "grammar", "tokens", "ours us a token", "llama.cpp us a token", "times", "same answers"]
    return Table(heading, rows, n_left=2)


def _render(report: Report, stem: str) -> str:
    results = report.results
    before, after = report.loads
    rows = [*map(list, machine.description().items()), ["load", f"{before} before, {after} after"]]
    rows += [[each.subject, each.version] for each in subjects.versions()]
    sections = [
        f"# Grammars, {date.today().isoformat()}",
        Table(["", ""], rows, n_left=2).markdown(),
        *map(_prose, (ABOUT, ABOUT_OTHERS)),
        "## Must reach",
        tables.bars(report.bars()).markdown(),
        "## Streams",
        _prose(ABOUT_STREAMS),
        streams_table(report.streams).markdown(),
        f"![streams]({stem}-streams.svg)",
        "## Long texts",
        f"![time a token over the length]({stem}-lengths.svg)",
        "## Masks",
        f"![masks]({stem}-masks.svg)",
        *(_case(results, *each) for each in tables.case_titles(results)),
    ]
    return "\n\n".join(sections) + "\n"


def _case(results: Results, vocabulary: str, case: str, title: str) -> str:
    parts = [f"### {title}", tables.masks(results, case, vocabulary).markdown()]
    return "\n\n".join([*parts, *tables.remarks(results, case, vocabulary)])


def _prose(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())
