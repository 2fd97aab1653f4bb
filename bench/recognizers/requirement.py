"""What the recognizers must reach, each as one row of the report."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.recognizers.measure import Measured, Results, quantiles

MANY = 1000
OTHERS = ("llguidance", "XGrammar", "llama.cpp")


@dataclass(frozen=True, slots=True)
class Bar:
    what: str
    bar: str
    measured: str
    is_met: bool
    others: str
    """The best of the other libraries in this run; "" if it has no counterpart."""


def bars(results: Results, library_bytes: int) -> list[Bar]:
    """Those of which everything was measured."""
    return [*_vocabulary(results), *_masks(results), *_c11(results), *_sizes(results, library_bytes)]


def _vocabulary(results: Results) -> Iterator[Bar]:
    figures = _any_native(results)
    if figures is None:
        return
    built, mapped, trusted = (figures[f"vocabulary_{what}_ns"] / 1e6 for what in ("built", "mapped", "trusted"))
    megabytes, per_node = figures["vocabulary_bytes"] / 1e6, figures["walk_ns"] / figures["vocabulary_nodes"]
    prepared = [each for each in results.peers if each.vocabulary == "o200k" and "prepare_ms" in each.figures]
    others = _best(prepared, lambda each: each.figures["prepare_ms"], "ms")
    memory = _best(prepared, lambda each: each.figures["prepare_bytes"] / 1e6, "MB")
    yield _one("vocabulary ready, built", 35, built, "ms", others)
    yield _one("the same, memory", 8, megabytes, "MB", memory)
    yield _one("vocabulary ready, mapped from its file and checked", 2, mapped, "ms", "")
    yield _one("the same, trusted", 2, trusted, "ms", "")
    yield _one("full walk, everything allowed, bits set", 2.0, per_node, "ns per node", "")


def _masks(results: Results) -> Iterator[Bar]:
    for case, title, compile_ms, bounds in (
        ("choices-30", "enum 30", 0.1, (0.3, 1.0)),
        ("choices-100000", "enum 100,000", 300, (0.5, 20.0)),
        ("letters", "`[a-z]{1,20}`", None, (2.0, 10.0)),
        ("email", "email", None, (2.0, 10.0)),
        ("json", "JSON grammar", 2, (1.0, 5.0)),
    ):
        figures = results.find_native(case)
        if figures is None:
            continue
        if compile_ms is not None:
            yield _one(f"{title}: compile", compile_ms, figures["compile_ns"] / 1e6, "ms", _best_compile(results, case))
        yield _tails(f"{title}: p50 / p99", bounds, figures["warm_ns"], _best_masks(results, case))
        if case == "json":
            cold = float(np.mean(figures["cold_ns"])) / 1e3
            measured = [each for each in _others(results, case) if each.is_complete]
            best = _best(measured, lambda each: float(np.mean(each.samples("cold_us"))), "us")
            yield _one(f"{title}: cold mean", 30, cold, "us", best)


def _c11(results: Results) -> Iterator[Bar]:
    figures = results.find_native("c11")
    if figures is None:
        return
    best = _best_masks(results, "c11")
    yield _one("C grammar: compile", 30, figures["compile_ns"] / 1e6, "ms", _best_compile(results, "c11"))
    yield _tails("C grammar: p50 / p99 / max, warm", (1, 26, 60), figures["warm_ns"], best)
    yield _tails("the same, tables ready and no mask kept at the start", (1, 26, 60), figures["mapped_ns"], best)
    yield _tails("C grammar: p50 / p99, without the memo", (12, 25), figures["no_memo_ns"], best)
    first = [each for each in _others(results, "c11") if "first_us" in each.figures]
    others = _best(first, lambda each: each.figures["first_us"] / 1e3, "ms")
    yield _one("C grammar: first mask, cold", 3, figures["cold_ns"][0] / 1e6, "ms", others)
    yield _one("C grammar: all tables", 200, figures["prepare_ns"] / 1e6, "ms", "")
    yield _one("the same, memory", 12, figures["prepared_table_bytes"] / 1e6, "MB", "")


def _sizes(results: Results, library_bytes: int) -> Iterator[Bar]:
    figures = results.find_native("c11")
    if figures is not None:
        kilobytes = (figures["matcher_bytes"] - figures["matcher_stack_bytes"]) / 1e3
        found = [each for each in results.peers if each.case == "c11" and "matcher_bytes" in each.figures]
        what = f"memory per matcher after {figures['matcher_tokens']} tokens of C, without the stack"
        yield _one(what, 4, kilobytes, "KB", _best(found, lambda each: each.figures["matcher_bytes"] / 1e3, "KB"))
    yield _one("library, stripped", 450, library_bytes / 1e3, "KB", "")


def _one(what: str, bar: float, measured: float, unit: str, others: str) -> Bar:
    return Bar(what, f"≤ {bar:g} {unit}", f"{rounded(measured)} {unit}", measured <= bar, others)


def _tails(what: str, bounds: tuple[float, ...], samples_ns: list[float], others: str) -> Bar:
    p50, _, p99, most = (each / 1e3 for each in quantiles(samples_ns))
    measured = (p50, p99, most)[: len(bounds)]
    is_met = all(each <= bound for each, bound in zip(measured, bounds, strict=True))
    bar = " / ".join(f"{bound:g}" for bound in bounds)
    return Bar(what, f"≤ {bar} us", " / ".join(map(rounded, measured)) + " us", is_met, others)


def _others(results: Results, case: str) -> list[Measured]:
    found = (results.find(subject, case) for subject in OTHERS)
    return [each for each in found if each is not None]


def _best_compile(results: Results, case: str) -> str:
    """But for llama.cpp, which only parses the text here, and does the work in each mask."""
    measured = [each for each in _others(results, case) if each.subject != "llama.cpp" and "compile_us" in each.figures]
    return _best(measured, lambda each: float(np.median(each.samples("compile_us"))) / 1e3, "ms")


def _best_masks(results: Results, case: str) -> str:
    """The one with the least p50. Of those that were too slow for all positions, one that came through many counts."""
    measured = [each for each in _others(results, case) if each.is_complete or len(each.samples("warm_us")) >= MANY]
    if not measured:
        return ""
    best = min(measured, key=lambda each: quantiles(each.samples("warm_us"))[0])
    p50, _, p99, most = quantiles(best.samples("warm_us"))
    of = "" if best.is_complete else f", first {len(best.samples('warm_us')):,} positions"
    return f"{rounded(p50)} / {rounded(p99)} / {rounded(most)} us ({best.subject}{of})"


def _best(measured: list[Measured], value: Callable[[Measured], float], unit: str) -> str:
    others = [each for each in measured if each.subject in OTHERS]
    if not others:
        return ""
    best = min(others, key=value)
    return f"{rounded(value(best))} {unit} ({best.subject})"


def _any_native(results: Results) -> dict[str, float] | None:
    """The case does not matter; the least disturbed one is taken."""
    found = [each.figures for each in results.native if each.vocabulary == "o200k"]
    if not found:
        return None
    return {name: min(each[name] for each in found) for name in found[0] if not isinstance(found[0][name], list)}


def rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
