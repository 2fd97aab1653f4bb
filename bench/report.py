"""The whole benchmark in one run, and its report in Markdown."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bench import calls, charts, end_to_end, machine, micro, requirement, start, tables
from bench.calls import CallFigures
from bench.end_to_end import Run
from bench.micro import MatcherSteps, PayloadFigures, SamplerFigures, StreamSteps
from bench.paths import ACTIONS, MESSAGES, MODEL, REPORTS, use_llama
from bench.prompts import Prompt, every_third, read_names, read_prompts
from bench.start import StartFigure
from bench.tables import Table
from bench.ways import WayName

WAYS = [
    WayName("free"),
    WayName("strict-guided"),
    WayName("common-sampler"),
    WayName("common-sampler", stop_at_leaf=True),
    WayName("strict-trie-ffi", skip_ahead=False),
    WayName("strict-trie-ffi"),
]
STRICT, GRAMMAR, GRAMMAR_TO_LEAF, TRIE = (WAYS[index] for index in (1, 2, 3, 5))

SMALL_REPEATS = 5
LARGE_REPEATS = 3
LARGE_PROMPTS = 100
"""llama.cpp's grammar sampler takes 10 ms and more for each token of a large vocabulary."""

ABOUT = """
Made by one run of `python -m bench report`; each figure can be had alone by the command beside it. Other work on the
machine disturbs single samples, so ways are interleaved, ratios are of one run, and where a position is repeated its
least time counts. Medians over positions, unless it says otherwise.
"""
ABOUT_ANSWERS = """
Greedy, one thread. `strict-guided` is llama.cpp's grammar sampler over the whole vocabulary at each step;
`common-sampler` is the fair baseline: a token is chosen freely, tested against the grammar, and the full grammar runs
only if it is refused. Agreement and passes saved are against `strict-guided`. A grammar also admits other
tokenisations of a name, and may follow one of them to another name where the model's own choice is not allowed.
Passes include that of the prompt. Skip ratio: share of the vocabulary that is illegal, mean and standard deviation
over the steps inside the trie.
"""
ABOUT_STREAM = """
`python -m bench micro stream`. Without the forward pass, but right after a real one, so the caches are cold; a single
legal token needs none, and its caches are warm. `choosing` is what the stream's statistics count; `call` is all of
`eliza_inference_llm_stream_next` but the time in the model.
"""
ABOUT_PAYLOADS = """
`python -m bench micro payload`. 30 names in Llama-3 tokens; the larger trees are random sequences of 2 to 6 tokens.
Compiling is measured in the thread's own time. A hit compares all of the payload's bytes.
"""
ABOUT_CALLS = """
`python -m bench micro calls`. The floor is the same native function with a NULL handle. Python is measured in the
thread's own time, bun in wall-clock time.
"""
ABOUT_START = """
`python -m bench start`. Imports are wall-clock time within a fresh process. The memory is what loading the library
and calling it once makes a process grow by.
"""


@dataclass(frozen=True, slots=True)
class EndToEnd:
    title: str
    runs: list[Run]

    def by_way(self, way: WayName) -> Run:
        return next(run for run in self.runs if run.way == way)


@dataclass(frozen=True, slots=True)
class Results:
    answers: list[EndToEnd]
    payloads: list[PayloadFigures]
    stream: list[StreamSteps]
    sampler: SamplerFigures
    matcher: list[MatcherSteps]
    calls: list[CallFigures]
    start: list[StartFigure]
    loads: tuple[str, str]
    """Of the machine, before and after."""

    def requirements(self) -> list[requirement.Requirement]:
        shipped = self.answers[0]
        trie, grammar, to_leaf = (shipped.by_way(way) for way in (TRIE, GRAMMAR, GRAMMAR_TO_LEAF))
        return [
            *requirement.sampler(self.sampler),
            *requirement.stream(self.stream),
            *requirement.payload(self.payloads),
            *requirement.passes(trie, grammar, to_leaf),
            *(
                requirement.valid_names(run)
                for group in self.answers
                for run in group.runs
                if run.way.mode == "strict-trie-ffi"
            ),
            *requirement.calls(self.calls),
            *requirement.start(self.start),
        ]


def collect(large_model: Path, announce: Callable[[str], None]) -> Results:
    """Measures everything. `announce` is told what is measured next."""
    use_llama()
    before = machine.load()
    names, prompts = read_names(ACTIONS), read_prompts(MESSAGES)
    answers = []
    for title, model, asked, repeats in (
        ("shipped model", MODEL, prompts, SMALL_REPEATS),
        ("128 k vocabulary", large_model, prompts[:LARGE_PROMPTS], LARGE_REPEATS),
    ):
        for allowed in (names, every_third(names)):
            announce(f"answers: {title}, {len(allowed)} names")
            answers.append(_end_to_end(title, model, allowed, asked, repeats))
    announce("payloads")
    payloads = list(micro.payload_to_trie(large_model, names))
    announce("steps of the stream")
    stream = [steps for model in (MODEL, large_model) for steps in micro.stream_steps(model)]
    announce("chains of llama.cpp")
    sampler = micro.sampler_chains(large_model, names)
    announce("steps of the matcher")
    matcher = list(micro.matcher_steps())
    announce("calls from Python and bun")
    called = [calls.python_calls(), calls.bun_calls()]
    announce("starts")
    started = start.measure()
    return Results(answers, payloads, stream, sampler, matcher, called, started, (before, machine.load()))


def write(results: Results, folder: Path = REPORTS) -> Path:
    """Writes the report and its charts; returns the report."""
    folder.mkdir(exist_ok=True)
    stem = f"{date.today().isoformat()}-main-job"
    charts.answers(folder / f"{stem}-answers.svg", {_heading(group): group.runs for group in results.answers})
    charts.stream(folder / f"{stem}-stream.svg", results.stream)
    charts.sampler(folder / f"{stem}-sampler.svg", results.sampler)
    path = folder / f"{stem}.md"
    path.write_text(_render(results, stem), encoding="utf-8")
    return path


def _end_to_end(title: str, model: Path, names: list[str], prompts: list[Prompt], repeats: int) -> EndToEnd:
    return EndToEnd(title, end_to_end.measure(WAYS, model, names, prompts, repeats=repeats))


def _render(results: Results, stem: str) -> str:
    chains = results.sampler
    sections = [
        f"# The main job, {date.today().isoformat()}",
        Table(["", ""], _machine_rows(results), n_left=2).markdown(),
        _prose(ABOUT),
        "## Must reach",
        tables.requirements(results.requirements()).markdown(),
        "## Whole answers",
        _prose(ABOUT_ANSWERS),
        f"![time per answer]({stem}-answers.svg)",
        *(_answers_section(group) for group in results.answers),
        "## One step of the stream",
        _prose(ABOUT_STREAM),
        f"![one step of the stream]({stem}-stream.svg)",
        tables.stream(results.stream).markdown(),
        "## One step of a llama.cpp chain",
        f"`python -m bench micro sampler`. {chains.n_vocabulary:,} candidates, "
        f"{chains.n_positions} positions in 30 names.",
        f"![one step of a chain]({stem}-sampler.svg)",
        tables.sampler(chains).markdown(),
        "## Payload to trie",
        _prose(ABOUT_PAYLOADS),
        tables.payloads(results.payloads).markdown(),
        "## Steps of a matcher",
        "`python -m bench micro matcher`. From C, with warm caches.",
        tables.matcher(results.matcher).markdown(),
        "## Calls",
        _prose(ABOUT_CALLS),
        tables.calls(results.calls).markdown(),
        "## Start",
        _prose(ABOUT_START),
        tables.start(results.start).markdown(),
    ]
    return "\n\n".join(sections) + "\n"


def _prose(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())


def _machine_rows(results: Results) -> list[list[str]]:
    before, after = results.loads
    return [*map(list, machine.description().items()), ["load", f"{before} before, {after} after"]]


def _answers_section(group: EndToEnd) -> str:
    table = tables.answers(group.runs, group.by_way(STRICT), group.by_way(GRAMMAR))
    return f"### {_heading(group)}\n\n{table.markdown()}"


def _heading(group: EndToEnd) -> str:
    run = group.runs[0]
    return f"{group.title}, {len(run.names)} names, {len(run.prompts)} prompts"
