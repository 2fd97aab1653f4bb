"""The tables of the recognizers, for the report and for the terminal."""

import numpy as np

from bench.recognizers import cases
from bench.recognizers.measure import PLAN, SECONDS, Measured, Results, quantiles
from bench.recognizers.requirement import Bar, rounded
from bench.recognizers.subjects import Version
from bench.tables import Table

MASK_HEADING = [
    *("library", "compile ms", "first mask us", "cold mean us", "p50 us", "p90", "p99", "max", "accept us"),
    *("KB per matcher", "positions", "passes"),
]


def bars(rows: list[Bar]) -> Table:
    return Table(
        ["what", "", "bar", "measured", "best of the others"],
        [[each.what, "met" if each.is_met else "**missed**", each.bar, each.measured, each.others] for each in rows],
        n_left=2,
    )


def vocabularies(results: Results) -> Table:
    """Each library's least over its cases: every one prepares the vocabulary again."""
    rows = []
    for name in PLAN:
        native = [each.figures for each in results.native if each.vocabulary == name]
        for what in ("built", "mapped", "trusted") if native else ():
            least = min(each[f"vocabulary_{what}_ns"] for each in native) / 1e6
            rows.append([name, f"ours, {what}, from C", rounded(least), rounded(native[0]["vocabulary_bytes"] / 1e6)])
        for subject in SECONDS:
            measured = [
                each.figures
                for each in results.peers
                if (each.subject, each.vocabulary) == (subject, name) and "prepare_ms" in each.figures
            ]
            if measured:
                label = "ours, built, from lists of Python" if subject == "ours" else subject
                ms = min(each["prepare_ms"] for each in measured)
                rows.append([name, label, rounded(ms), rounded(min(each["prepare_bytes"] for each in measured) / 1e6)])
    return Table(["vocabulary", "library", "ms", "MB"], rows, n_left=2)


def case_titles(results: Results) -> list[tuple[str, str, str]]:
    """Vocabulary, case and heading of each case that was measured."""
    keys = dict.fromkeys((each.vocabulary, each.case) for each in results.peers)
    return [(vocabulary, case, f"{cases.load(case).title}, {vocabulary}") for vocabulary, case in keys]


def masks(results: Results, case: str, vocabulary: str) -> Table:
    rows = []
    native = results.find_native(case, vocabulary)
    if native is not None:
        rows += [
            _native_row("ours, from C, lent", native, "warm_ns"),
            _native_row("ours, from C, copied", native, "fill_ns"),
        ]
    for subject in SECONDS:
        measured = results.find(subject, case, vocabulary)
        if measured is not None:
            rows.append(_row("ours, from Python, copied" if subject == "ours" else subject, measured))
    return Table(MASK_HEADING, rows)


def remarks(results: Results, case: str, vocabulary: str) -> list[str]:
    """What has to be known of the rows of a case."""
    found = []
    for subject in SECONDS:
        measured = results.find(subject, case, vocabulary)
        if measured is None:
            continue
        if measured.failure:
            found.append(f"{subject}: {measured.failure}, {_stage(measured)}.")
        elif not measured.is_complete:
            found.append(f"{subject}: one pass over the first positions, as many as fit {SECONDS[subject]:.0f} s.")
        elif not measured.is_warm:
            found.append(f"{subject}: one pass, its first: more did not fit {SECONDS[subject]:.0f} s.")
    return found


def tables_of_grammars(results: Results) -> Table:
    rows = []
    for each in results.native:
        figures = each.figures
        if figures["prepared_tables"] == 0:
            continue
        rows.append(
            [
                f"{each.case}, {each.vocabulary}",
                *(rounded(figures[f"{what}_ns"] / 1e6) for what in ("prepare", "save", "open")),
                *(rounded(figures[f"{what}_bytes"] / 1e6) for what in ("prepared_table", "file", "warm_table")),
                *(f"{figures[name]:,}" for name in ("prepared_tables", "warm_tables", "warm_masks")),
                *(_three(figures[name]) for name in ("mapped_ns", "no_memo_ns")),
            ]
        )
    heading = [
        *("grammar", "prepare ms", "save ms", "open ms", "tables MB", "file MB", "in use MB", "tables", "in use"),
        *("masks kept", "no mask kept at the start: p50 / p99 / max us", "without the memo: p50 / p99 / max us"),
    ]
    return Table(heading, rows)


def matchers(results: Results) -> Table:
    rows = [
        [
            f"{each.case}, {each.vocabulary}",
            f"{figures[f'{prefix}_tokens']:,}",
            *(f"{figures[f'{prefix}_{what}bytes']:,}" for what in ("", "stack_", "history_")),
        ]
        for each in results.native
        for figures in [each.figures]
        for prefix in ("matcher", "long_matcher")
        if prefix == "matcher" or figures["long_matcher_tokens"] > figures["matcher_tokens"]
    ]
    return Table(["case", "after tokens", "bytes", "of them stacks", "of them for rollback"], rows)


def libraries(ours: int, others: list[Version]) -> Table:
    rows = [["libelizainference", "", f"{ours:,}"]]
    return Table(
        ["library", "version", "bytes"],
        rows + [[each.subject, each.version, f"{each.library_bytes:,}"] for each in others],
        n_left=2,
    )


def _native_row(label: str, figures: dict[str, list[float]], name: str) -> list[str]:
    lent = name == "warm_ns"
    kilobytes = figures["matcher_bytes"] / 1e3  # type: ignore[operator]
    return [
        label,
        rounded(figures["compile_ns"] / 1e6) if lent else "",  # type: ignore[operator]
        rounded(figures["cold_ns"][0] / 1e3) if lent else "",
        rounded(float(np.mean(figures["cold_ns"])) / 1e3) if lent else "",
        *(rounded(each / 1e3) for each in quantiles(figures[name])),
        rounded(float(np.median(figures["accept_ns"])) / 1e3) if lent else "",
        rounded(kilobytes) if lent else "",
        f"{len(figures[name]):,}",
        "",
    ]


def _row(label: str, measured: Measured) -> list[str]:
    figures, warm, cold = measured.figures, measured.samples("warm_us"), measured.samples("cold_us")
    return [
        label,
        rounded(float(np.median(figures["compile_us"])) / 1e3) if "compile_us" in figures else "",
        rounded(figures["first_us"]) if "first_us" in figures else "",
        rounded(float(np.mean(cold))) if cold else "",
        *(map(rounded, quantiles(warm)) if warm else [""] * 4),
        rounded(float(np.median(measured.samples("accept_us")))) if warm else "",
        rounded(figures["matcher_bytes"] / 1e3) if "matcher_bytes" in figures else "",
        f"{len(warm):,}" + ("" if measured.is_complete else f" of {measured.n_positions:,}"),
        str(figures.get("passes", "")),
    ]


def _stage(measured: Measured) -> str:
    stages = ("prepare_ms", "compile_us", "first_us", "warm_us", "matcher_bytes")
    names = ("preparing the vocabulary", "compiling", "in the first mask", "in the first pass", "after the masks")
    reached = next((name for key, name in zip(stages, names, strict=True) if key not in measured.figures), "at the end")
    return f"while {reached}" if reached.endswith("ing") or "vocabulary" in reached else reached


def _three(samples_ns: list[float]) -> str:
    p50, _, p99, most = quantiles(samples_ns)
    return " / ".join(rounded(each / 1e3) for each in (p50, p99, most))
