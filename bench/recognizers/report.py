"""The report of the recognizers in Markdown."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bench import machine
from bench.paths import REPORTS, library, use_llama
from bench.recognizers import charts, measure, requirement, subjects, tables
from bench.recognizers.measure import PASSES, Results, Selection
from bench.tables import Table

ABOUT = """
Made by one run of `python -m bench recognizers --report`. A mask is the set of legal next tokens at one position of a
document of the language, in document order; each library runs in a process of its own, one after the other on the same
case, with the same tokens. A position's time is the least of its passes, which leaves out what else the machine does;
p50, p90, p99 and max are over positions. The first pass, right after compiling, gives the first mask and the cold mean.
Compiling is the median of up to 15 times. From Python, the call is included.
"""
ABOUT_OURS = """
The bars are of the library's own step: `eliza_inference_matcher_allowed` from C, which lends what is legal as a list or
a bitmap (the reading of the clock, 20 ns here, included). `copied` writes the whole bitmap, as the others do; from
Python that is `Matcher.fill_bitmap`.
"""
ABOUT_OTHERS = """
llguidance has its limits raised and its slicer on; choices and regular expressions go in as a regular expression, C in
its Lark dialect. XGrammar compiles with its default threads and without its cache of whole grammars; choices and C go
in as EBNF, JSON is its built-in grammar. llama.cpp's sampler is applied to all candidates, whose array is made outside
of the time. Their grammars of C are that of the standard's Annex A, in which any name may be a type; where there is no
lexer, a key word may be a name and may touch the next word. From Python the call is included: about 0.3 us through
cffi.
"""
ABOUT_VOCABULARIES = """
From the bytes of the tokens; llama.cpp loads a GGUF file, which is its only way. The least of the processes that did
it. Memory is what the process grew by; from C what the library says it keeps.
"""
ABOUT_TABLES = """
`prepare` builds all tables. The masks after it are of a constraint that is mapped from the file saved then: opened
again for each pass, so that no whole mask is kept at its start; and with `mask_bytes_max` of one byte, so that none is
ever.
"""


@dataclass(frozen=True)
class Report:
    results: Results
    loads: tuple[str, str]
    """Of the machine, before and after."""

    def bars(self) -> list[requirement.Bar]:
        return requirement.bars(self.results, library().stat().st_size)


def collect(selection: Selection, passes: int, announce: Callable[[str], None]) -> Report:
    """Measures what is selected."""
    use_llama()
    before = machine.load()
    results = measure.collect(selection, passes, announce)
    return Report(results, (before, machine.load()))


def write(report: Report, folder: Path = REPORTS) -> Path:
    """Writes the report and its charts; returns the report."""
    folder.mkdir(exist_ok=True)
    stem = f"{date.today().isoformat()}-recognizers"
    charts.masks(folder / f"{stem}-masks.svg", report.results)
    charts.compiling(folder / f"{stem}-compiling.svg", report.results)
    charts.positions(folder / f"{stem}-positions.svg", report.results)
    path = folder / f"{stem}.md"
    path.write_text(_render(report, stem), encoding="utf-8")
    return path


def _render(report: Report, stem: str) -> str:
    results = report.results
    others = subjects.versions()
    before, after = report.loads
    rows = [*map(list, machine.description().items()), ["load", f"{before} before, {after} after"]]
    rows += [[each.subject, each.version] for each in others]
    sections = [
        f"# Recognizers, {date.today().isoformat()}",
        Table(["", ""], rows, n_left=2).markdown(),
        *map(_prose, (ABOUT, ABOUT_OURS, ABOUT_OTHERS)),
        f"Up to {PASSES} passes; " + _limits(),
        "## Must reach",
        tables.bars(report.bars()).markdown(),
        "## Vocabularies",
        _prose(ABOUT_VOCABULARIES),
        tables.vocabularies(results).markdown(),
        "## Masks",
        f"![masks]({stem}-masks.svg)",
        *(_case(results, *each) for each in tables.case_titles(results)),
        "## Compiling choices",
        f"![compiling choices]({stem}-compiling.svg)",
        "## The C grammar, position by position",
        f"![positions]({stem}-positions.svg)",
        "## Tables of grammars",
        _prose(ABOUT_TABLES),
        tables.tables_of_grammars(results).markdown(),
        "## Memory of a matcher",
        "In the longest document of a case. What rollback needs grows with the tokens accepted.",
        tables.matchers(results).markdown(),
        "## Libraries",
        tables.libraries(library().stat().st_size, others).markdown(),
    ]
    return "\n\n".join(sections) + "\n"


def _limits() -> str:
    parts = [f"{name} {measure.SECONDS[name]:.0f} s and {measure.LIMITS[name]:.0f} s" for name in measure.SECONDS]
    return "time for the passes of a case, and for all of it: " + ", ".join(parts) + "."


def _case(results: Results, vocabulary: str, case: str, title: str) -> str:
    parts = [f"### {title}".replace("[a-z]{1,20}", "`[a-z]{1,20}`"), tables.masks(results, case, vocabulary).markdown()]
    return "\n\n".join([*parts, *tables.remarks(results, case, vocabulary)])


def _prose(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())
