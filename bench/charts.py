"""Charts of the report, as SVG."""

import math
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.hashsalt": "libelizainference",  # the same figures give the same file
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
}

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import NullFormatter  # noqa: E402

from bench.end_to_end import Run, summary  # noqa: E402
from bench.micro import SAMPLER_WAYS, SamplerFigures, StreamSteps  # noqa: E402

OURS, OTHERS = "#1b6ca8", "#b0b7bf"


def answers(path: Path, groups: dict[str, list[Run]]) -> None:
    """Milliseconds after the prompt by way, one panel per group of runs, two panels in a row."""
    n_rows = (len(groups) + 1) // 2
    figure, panels = pyplot.subplots(n_rows, 2, figsize=(11, 2.7 * n_rows), squeeze=False)
    for axes, (title, runs) in zip(panels.flat, groups.items(), strict=False):
        values = {str(run.way): summary(run)["ms_after_prompt_median"] for run in runs}
        colors = [OURS if run.way.mode == "strict-trie-ffi" else OTHERS for run in runs]
        bars(axes, values, colors, "ms")
        axes.set_title(title)
        axes.set_xlabel("median ms per answer, after the prompt (log scale)")
    save(figure, path)


def sampler(path: Path, figures: SamplerFigures) -> None:
    """Microseconds of a step of a foreign chain by way."""
    figure, axes = pyplot.subplots(figsize=(8, 3))
    values = {label: figures.step_us[way].median for way, label in SAMPLER_WAYS.items()}
    colors = [OURS if way.startswith("adapter") else OTHERS for way in SAMPLER_WAYS]
    bars(axes, values, colors, "us")
    axes.set_title(f"One step of a llama.cpp chain, {figures.n_vocabulary:,} candidates, 30 names")
    axes.set_xlabel("median us, candidate array included (log scale)")
    save(figure, path)


def stream(path: Path, steps: list[StreamSteps]) -> None:
    """Nanoseconds of a step of the stream against the number of legal tokens."""
    figure, axes = pyplot.subplots(figsize=(7.5, 3.6))
    sizes = sorted({each.n_vocabulary for each in steps})
    for each in steps:
        widths = list(each.choosing_ns)
        axes.plot(
            widths,
            [each.choosing_ns[width].median / 1000 for width in widths],
            marker="o",
            color=(OTHERS, OURS)[sizes.index(each.n_vocabulary) % 2],
            linestyle="--" if each.drawn else "-",
            label=str(each),
        )
    axes.axhline(1, color="#c0392b", linewidth=1, label="bar: 1 us")
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("legal tokens")
    axes.set_ylabel("us per step")
    axes.set_title("One constrained step of the stream, without the forward pass")
    axes.legend(frameon=False)
    save(figure, path)


def bars(axes: Axes, values: dict[str, float], colors: list[str], unit: str) -> None:
    drawn = axes.barh(list(values), list(values.values()), color=colors)
    axes.bar_label(drawn, [f"{_rounded(value)} {unit}" for value in values.values()], padding=3)
    axes.set_xscale("log")
    axes.set_xlim(10 ** math.floor(math.log10(min(values.values()) / 2)), max(values.values()) * 6)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
