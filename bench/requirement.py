"""What the project must reach, each as one row of the report."""

from dataclasses import dataclass

from bench.calls import CallFigures
from bench.end_to_end import Run
from bench.micro import PayloadFigures, SamplerFigures, StreamSteps
from bench.paths import MODEL
from bench.start import StartFigure


@dataclass(frozen=True, slots=True)
class Requirement:
    what: str
    bar: str
    measured: str
    is_met: bool
    command: str


def sampler(figures: SamplerFigures) -> list[Requirement]:
    command = "micro sampler"
    over_array = figures.ratio("adapter", "array_only")
    times_faster = figures.ratio("grammar", "adapter")
    what = f"adapter `apply` + temp + dist, {figures.n_vocabulary:,} candidates, 30 names"
    return [
        Requirement(what, "≤ 1.3 × building the array", f"{over_array:.2f} ×", over_array <= 1.3, command),
        Requirement(
            "the same",
            "≥ 100 × faster than llama.cpp's grammar",
            f"{times_faster:.0f} ×",
            times_faster >= 100,
            command,
        ),
    ]


def stream(steps: list[StreamSteps]) -> list[Requirement]:
    return [
        Requirement(
            f"one constrained step in the stream, {each}, 1 to {max(each.choosing_ns)} of them legal",
            "≤ 1 us",
            f"{min(_medians(each)) / 1000:.2f} to {max(_medians(each)) / 1000:.2f} us",
            max(_medians(each)) <= 1000,
            "micro stream",
        )
        for each in steps
    ]


def payload(figures: list[PayloadFigures]) -> list[Requirement]:
    by_kind = {(each.n_leaves, each.format): each for each in figures}
    named, json_many, msgpack_many = by_kind[30, "JSON"], by_kind[100_000, "JSON"], by_kind[100_000, "MessagePack"]
    command = "micro payload"

    def time(what: str, bar: float, measured_us: float, unit: str = "us") -> Requirement:
        measured = measured_us / (1000 if unit == "ms" else 1)
        return Requirement(what, f"≤ {bar:g} {unit}", f"{measured:.3g} {unit}", measured <= bar, command)

    retained = max(json_many.retained_bytes, msgpack_many.retained_bytes) / 1e6
    return [
        time("payload to trie, 30 names, JSON", 30, named.compile_us.median),
        time("cache hit, 30 names, JSON", 3, named.hit_us.median),
        time("payload to trie, 100,000 leaves, JSON", 60, json_many.compile_us.median, "ms"),
        time("payload to trie, 100,000 leaves, MessagePack", 30, msgpack_many.compile_us.median, "ms"),
        Requirement(
            "retained, 100,000 leaves, payload copy included",
            "≤ 16 MB",
            f"{retained:.1f} MB",
            retained <= 16,
            command,
        ),
    ]


def passes(trie: Run, grammar: Run, grammar_to_leaf: Run) -> list[Requirement]:
    rows = []
    for against, bar, option in ((grammar, 0.5, ""), (grammar_to_leaf, 0.25, " --stop-at-leaf")):
        fewer = 1 - trie.passes() / against.passes()
        each = [run.passes() / len(run.answers) for run in (trie, against)]
        rows.append(
            Requirement(
                f"forward passes per answer, against {against.way}",
                f"≥ {bar:.0%} fewer",
                f"{fewer:.1%} fewer ({each[0]:.2f} against {each[1]:.2f})",
                fewer >= bar,
                f"run --mode {against.way.mode}{option}",
            )
        )
    return rows


def valid_names(run: Run) -> Requirement:
    options = ("" if run.model == MODEL else f" --model {run.model.name}") + (
        " --every-third" if len(run.names) < 30 else ""
    )
    return Requirement(
        f"valid names, {run.way}, {run.model.stem}, {len(run.names)} names",
        "100 %",
        f"{run.n_valid()} of {len(run.answers)}",
        run.n_valid() == len(run.answers),
        f"run --mode strict-trie-ffi{'' if run.way.skip_ahead else ' --no-skip-ahead'}{options}",
    )


def calls(figures: list[CallFigures]) -> list[Requirement]:
    bars = {"Python": 500, "bun": 60}
    return [
        Requirement(
            f"call of `accept` from {each.language}",
            f"≤ {bars[each.language]} ns",
            f"{each.accept_ns.median:.0f} ns",
            each.accept_ns.median <= bars[each.language],
            "micro calls",
        )
        for each in figures
    ]


def start(figures: list[StartFigure]) -> list[Requirement]:
    return [
        Requirement(
            each.what,
            f"≤ {each.bar:g} {each.unit}",
            f"{each.value.median:.3g} {each.unit}",
            each.value.median <= each.bar,
            "start",
        )
        for each in figures
    ]


def _medians(steps: StreamSteps) -> list[float]:
    return [figure.median for figure in steps.choosing_ns.values()]
