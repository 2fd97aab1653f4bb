"""Charts of MaskBench, as SVG."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import pyplot

from bench.charts import OURS, save
from bench.maskbench.measure import Outcome, Results

COLORS = {"ours": OURS, "ours, any order": "#7fb2d9", "llguidance": "#c77d2e", "XGrammar": "#6a994e"}


def masks(path: Path, results: Results) -> None:
    """All masks by how long mask and accept take, on the schemas that all libraries take."""
    _sorted(path, results, lambda each: each.mask_ns, "masks", "Mask and accept, each schema new")


def compiling(path: Path, results: Results) -> None:
    """The same of compiling."""
    _sorted(path, results, lambda each: [each.answer["compile_ns"]], "schemas", "From a schema's text to a constraint")


def memory(path: Path, results: Results) -> None:
    """Memory of the process over the run."""
    figure, axes = pyplot.subplots(figsize=(7.5, 3.2))
    for library, outcomes in results.outcomes.items():
        for what, style in (("resident", "-"), ("allocated", ":")):
            sizes = [each.answer[what] / 2**20 for each in outcomes if what in each.answer]
            axes.plot(np.arange(len(sizes)), sizes, style, color=COLORS[library], label=f"{library}, {what}")
    axes.set(xlabel="schemas so far", ylabel="MB", title="Memory", ylim=(0, None))
    axes.legend(frameon=False)
    save(figure, path)


def _sorted(path: Path, results: Results, ns_of: Callable[[Outcome], list[int]], of: str, title: str) -> None:
    figure, axes = pyplot.subplots(figsize=(7.5, 4))
    for library, outcomes in results.taken_by_all().outcomes.items():
        us = np.sort(np.array([ns for each in outcomes for ns in ns_of(each)])) / 1e3
        # A point for each thousandth, and the slowest ones all.
        at = np.unique(np.concatenate([np.linspace(0, us.size - 1, 1000).astype(int), np.arange(us.size)[-100:]]))
        axes.plot(100 * (1 - at / us.size), us[at], color=COLORS[library], label=library)
    axes.set(xscale="log", yscale="log", xlabel=f"% of the {of} that take at least so long", ylabel="us", title=title)
    axes.invert_xaxis()
    axes.legend(frameon=False)
    save(figure, path)
