"""Charts of the grammars, as SVG."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from bench.charts import OTHERS, OURS, bars, save
from bench.grammars.cases import LONG
from bench.grammars.requirement import token_ns
from bench.grammars.streams import StreamFigures
from bench.recognizers import cases
from bench.recognizers.charts import COLORS
from bench.recognizers.measure import Results

POINTS = 40
"""Of a curve over the length of a text: each is the mean of the tokens around it."""


def lengths(path: Path, results: Results) -> None:
    """Time a token over how many tokens came before it, one panel for each grammar."""
    figure, panels = pyplot.subplots(1, len(LONG), figsize=(12, 3.4), squeeze=False)
    for axes, case in zip(panels.flat, LONG, strict=True):
        native = results.find_native(case, "llama3")
        if native is not None:
            axes.plot(*_curve([each / 1e3 for each in token_ns(native)]), color=OURS, label="ours, from C")
        for subject in ("llguidance", "XGrammar"):
            measured = results.find(subject, case, "llama3")
            if measured is not None and len(measured.samples("warm_us")) >= POINTS:
                pairs = zip(measured.samples("warm_us"), measured.samples("accept_us"), strict=True)
                axes.plot(*_curve([a + b for a, b in pairs]), color=COLORS[subject], label=subject)
        axes.set(yscale="log", xlabel="tokens before it", title=cases.load(case).title.replace("`", ""))
        axes.legend(frameon=False)
    panels[0, 0].set_ylabel("us a token: mask and accept")
    save(figure, path)


def _curve(samples_us: list[float]) -> tuple[list[float], list[float]]:
    groups = np.array_split(np.asarray(samples_us), POINTS)
    ends = np.cumsum([len(group) for group in groups])
    return ends.tolist(), [float(group.mean()) for group in groups]


def streams(path: Path, figures: list[StreamFigures]) -> None:
    """Sampling time a token of the stream's two engines."""
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    values, colors = {}, []
    for each in figures:
        for label, us, color in (("ours", each.ours_us, OURS), ("llama.cpp", each.llama_us, OTHERS)):
            values[f"{each.model}, {each.grammar}: {label}"] = us
            colors.append(color)
    bars(axes, values, colors, "us")
    axes.set(xlabel="us a token, without the forward pass (log scale)", title="A stream with a grammar, greedy")
    save(figure, path)
