"""Charts of the recognizers, as SVG."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

from bench.charts import OTHERS, OURS, bars, save
from bench.recognizers import tables
from bench.recognizers.measure import SECONDS, Results, quantiles

COLORS = {"ours": OURS, "llguidance": "#c77d2e", "XGrammar": "#6a994e", "llama.cpp": "#8d99ae"}


def masks(path: Path, results: Results, of: str = "o200k") -> None:
    """The median mask of each library, one panel for each case of a vocabulary."""
    titles = [each for each in tables.case_titles(results) if each[0] == of]
    n_rows = (len(titles) + 1) // 2
    figure, panels = pyplot.subplots(n_rows, 2, figsize=(11, 2.2 * n_rows), squeeze=False)
    for axes, (vocabulary, case, title) in zip(panels.flat, titles, strict=False):
        values, colors = _medians(results, case, vocabulary)
        bars(axes, values, colors, "us")
        axes.set_title(title)
        axes.set_xlabel("us per mask, p50 (log scale)")
    for axes in panels.flat[len(titles) :]:
        axes.set_visible(False)
    save(figure, path)


def compiling(path: Path, results: Results) -> None:
    """Time to compile a set of choices against its size."""
    figure, axes = pyplot.subplots(figsize=(7.5, 3.6))
    sizes = (30, 5000, 100_000, 1_000_000)
    for subject, color in COLORS.items():
        if subject == "llama.cpp":
            continue  # it only parses the text here, and does the work in each mask
        points = {}
        for size in sizes:
            measured = results.find(subject, f"choices-{size}")
            if measured is not None and "compile_us" in measured.figures:
                points[size] = float(np.median(measured.samples("compile_us"))) / 1e3
        if points:
            axes.plot(list(points), list(points.values()), marker="o", color=color, label=subject)
    axes.set(xscale="log", yscale="log", xlabel="choices", ylabel="ms", title="Compiling a set of choices, from Python")
    axes.legend(frameon=False)
    save(figure, path)


def positions(path: Path, results: Results) -> None:
    """All positions of the C files by how long their mask takes."""
    figure, axes = pyplot.subplots(figsize=(7.5, 4))
    native = results.find_native("c11")
    if native is not None:
        for name, label, style in (
            ("warm_ns", "ours, warm", "-"),
            ("mapped_ns", "ours, no mask kept at the start", "--"),
            ("no_memo_ns", "ours, without the memo", ":"),
        ):
            _sorted(axes, [each / 1e3 for each in native[name]], label, OURS, style)
    for subject in list(SECONDS)[1:]:
        measured = results.find(subject, "c11")
        if measured is not None and measured.samples("warm_us"):
            of = "" if measured.is_complete else ", first positions"
            _sorted(axes, measured.samples("warm_us"), subject + of, COLORS[subject], "-")
    axes.set(yscale="log", xlabel="% of the positions", ylabel="us per mask", title="Masks of the C grammar, o200k")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def _medians(results: Results, case: str, vocabulary: str) -> tuple[dict[str, float], list[str]]:
    values, colors = {}, []
    native = results.find_native(case, vocabulary)
    if native is not None:
        values["ours, from C, lent"] = quantiles(native["warm_ns"])[0] / 1e3
        colors.append(OURS)
    for subject in SECONDS:
        measured = results.find(subject, case, vocabulary)
        if measured is not None and measured.samples("warm_us"):
            values["ours, from Python, copied" if subject == "ours" else subject] = quantiles(
                measured.samples("warm_us")
            )[0]
            colors.append(OURS if subject == "ours" else OTHERS)
    return values, colors


def _sorted(axes: Axes, samples_us: list[float], label: str, color: str, style: str) -> None:
    shares = np.linspace(0, 100, len(samples_us))
    axes.plot(shares, np.sort(samples_us), style, color=color, label=label)
