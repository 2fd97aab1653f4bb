"""What grammars must reach, each as one row of the report."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.grammars.cases import GBNF
from bench.grammars.streams import StreamFigures
from bench.recognizers import cases
from bench.recognizers.measure import Results, quantiles
from bench.recognizers.requirement import Bar, rounded

PEERS = ("llama.cpp", "llguidance", "XGrammar")
LINEAR_GROWTH = 7.0
"""What grows linearly takes in the last quarter of a text seven times as long as in the first."""


def bars(results: Results, streams: list[StreamFigures]) -> list[Bar]:
    """Those of which everything was measured."""
    return [*_gbnf(results), *map(_stream, streams), *_ambiguous(results), *_long(results), *_tags(results)]


def _gbnf(results: Results) -> Iterator[Bar]:
    for vocabulary in ("model", "llama3"):
        for case in GBNF:
            figures = results.find_native(case, vocabulary)
            if figures is None:
                continue
            title = f"{cases.load(case).title}, {vocabulary}"
            yield _tails(f"{title}: p50 / p99, warm", (0.1, 3), figures["warm_ns"], _peers(results, case, vocabulary))
            cold = float(np.mean(figures["cold_ns"])) / 1e3
            others = _peers(results, case, vocabulary, cold=True)
            yield Bar(f"{title}: cold mean", "≤ 20 us", f"{rounded(cold)} us", cold <= 20, others)


def _stream(figures: StreamFigures) -> Bar:
    same = f"the same tokens in {figures.n_equal} of {figures.n_answers} answers"
    return Bar(
        f"stream with `grammar`, {figures.grammar}, {figures.model}",
        "≥ 20 times less sampling time than llama.cpp's sampler, the same tokens",
        f"{rounded(figures.ratio)} times, {same}",
        figures.ratio >= 20 and figures.n_equal == figures.n_answers,
        f"{rounded(figures.llama_us)} us a token against {rounded(figures.ours_us)}",
    )


def _ambiguous(results: Results) -> Iterator[Bar]:
    for case in ("ambiguous-c11", "ambiguous-sql", "python"):
        figures = results.find_native(case, "llama3")
        if figures is not None:
            what = f"{cases.load(case).title}: p50 / p99, warm"
            yield _tails(what, (1, 30), figures["warm_ns"], _peers(results, case, "llama3"))


def _long(results: Results) -> Iterator[Bar]:
    for case in ("pairs", "sums", "triples"):
        figures = results.find_native(case, "llama3")
        if figures is None:
            continue
        title = f"{cases.load(case).title}, {len(figures['warm_ns']):,} tokens"
        took = token_ns(figures)
        yield _tails(f"{title}: mask and accept, p50 / p99", (200, 200), took, _peers(results, case, "llama3"))
        first, last = (float(np.mean(took[part])) for part in (slice(len(took) // 4), slice(-len(took) // 4, None)))
        growth = last / first
        yield Bar(
            f"{title}: last quarter over the first",
            f"≤ {LINEAR_GROWTH:g}, as what grows linearly",
            f"{growth:.2f}",
            growth <= LINEAR_GROWTH,
            "",
        )


def _tags(results: Results) -> Iterator[Bar]:
    for case in ("tags-free", "tags-calls"):
        figures = results.find_native(case, "llama3")
        if figures is not None:
            what = f"{cases.load(case).title}: p50 / p99, warm"
            yield _tails(what, (0.1, 5), figures["warm_ns"], _peers(results, case, "llama3"))


def token_ns(figures: dict[str, Any]) -> list[float]:
    """The mask and taking the token, at each position."""
    return [mask + accept for mask, accept in zip(figures["warm_ns"], figures["accept_ns"], strict=True)]


def _tails(what: str, bounds: tuple[float, float], samples_ns: list[float], others: str) -> Bar:
    p50, _, p99, _ = (each / 1e3 for each in quantiles(samples_ns))
    is_met = p50 <= bounds[0] and p99 <= bounds[1]
    return Bar(what, f"≤ {bounds[0]:g} / {bounds[1]:g} us", f"{rounded(p50)} / {rounded(p99)} us", is_met, others)


def _peers(results: Results, case: str, vocabulary: str, cold: bool = False) -> str:
    """Each of the others, from Python: p50 / p99 of warm masks, or the mean of cold ones, over the positions that it
    came through."""
    found = []
    for subject in PEERS:
        measured = results.find(subject, case, vocabulary)
        samples = measured.samples("cold_us" if cold else "warm_us") if measured is not None else []
        if samples:
            p50, _, p99, _ = quantiles(samples)
            shown = rounded(float(np.mean(samples))) if cold else f"{rounded(p50)} / {rounded(p99)}"
            found.append(f"{subject} {shown} us")
    return ", ".join(found)
