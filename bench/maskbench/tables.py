"""The tables of MaskBench."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.maskbench.large import BAR_MS, Compiled
from bench.maskbench.measure import Outcome, Results
from bench.maskbench.second_use import SecondUse
from bench.tables import Table

Times = np.ndarray[Any, np.dtype[np.float64]]

PAIR = ("ours", "llguidance")
MASK_PERCENTILES = (25, 50, 75, 90, 95, 99, 99.9, 100)
COMPILING_PERCENTILES = (50, 90, 99, 100)


def verdicts(results: Results) -> Table:
    rows = [
        [
            library,
            f"{len(outcomes):,}",
            f"{sum(each.passes for each in outcomes):,}",
            f"{sum(each.refusal is not None for each in outcomes):,}",
            f"{sum(bool(each.valid_refused) for each in outcomes):,}",
            f"{sum(bool(each.invalid_taken) for each in outcomes):,}",
        ]
        for library, outcomes in results.outcomes.items()
    ]
    return Table(["schemas", "all", "pass", "refused", "a valid instance refused", "an invalid one let through"], rows)


def masks(results: Results) -> Table:
    """TBM on the schemas that each library takes, on those that all of them take, and on the second use."""
    rows = []
    for of, chosen in _subsets(results):
        for library, outcomes in chosen.outcomes.items():
            times = _mask_us(outcomes)
            rows.append([library, of, *_percentiles(times, MASK_PERCENTILES, 1), f"{times.size:,}"])
    for library, outcomes in results.outcomes.items():
        times = np.array([ns for each in outcomes for ns in each.warm_ns]) / 1e3
        rows.append([library, "all that it takes, warm", *_percentiles(times, MASK_PERCENTILES, 1), f"{times.size:,}"])
    return Table(["TBM, us", "schemas", "average", *_names(MASK_PERCENTILES), "masks"], rows, n_left=2)


def second_use(found: SecondUse) -> Table:
    """Masks alone, from C."""
    rows = [
        [name, *_percentiles(np.array(times), MASK_PERCENTILES, 2), f"{len(times):,}"]
        for name, times in (("lent", found.lent_us), ("written into the caller's bitmap", found.filled_us))
    ]
    return Table(["mask, us", "average", *_names(MASK_PERCENTILES), "masks"], rows)


def compiling(results: Results) -> Table:
    """TTFM, on the same schemas; and with the first token, since libraries put off different work until then."""
    rows = []
    for of, chosen in _subsets(results):
        for times_of, with_it in ((_compile_us, ""), (_first_token_us, ", with the first token")):
            for library, outcomes in chosen.outcomes.items():
                times = times_of(outcomes)
                rows.append([library, of + with_it, *_percentiles(times, COMPILING_PERCENTILES, 0), f"{times.size:,}"])
    return Table(["TTFM, us", "schemas", "average", *_names(COMPILING_PERCENTILES), "of them"], rows, n_left=2)


def memory(results: Results) -> Table:
    rows = []
    for library, outcomes in results.outcomes.items():
        retained = [each.answer["retained"] / 1024 for each in outcomes if each.answer.get("retained") is not None]
        start, answers = results.at_start[library], [each.answer for each in outcomes if "resident" in each.answer]
        kept = np.percentile(retained, [50, 90, 100]) if retained else []
        rows.append(
            [
                library,
                *([f"{each:,.0f}" for each in kept] or [""] * 3),
                *(
                    f"{each / 2**20:,.0f}"
                    for what in ("allocated", "resident")
                    for each in (start[what], answers[len(answers) // 4][what], answers[-1][what])
                ),
            ]
        )
    heading = ["KB kept after the text, p50", "p90", "worst"]
    heading += ["allocated MB at the start", "after a quarter", "at the end"]
    heading += ["resident MB at the start", "after a quarter", "at the end"]
    return Table(["memory", *heading], rows)


@dataclass(frozen=True)
class Bar:
    what: str
    bar: str
    measured: str
    is_met: bool


def bars(results: Results, second: SecondUse | None, compiled: list[Compiled]) -> Table:
    """What the project must reach."""
    found = [*_correctness(results), *_speed(results), *_second_use(second), *_large(compiled), *_kept(results)]
    rows = [[each.what, "met" if each.is_met else "**missed**", each.bar, each.measured] for each in found]
    return Table(["what", "", "bar", "measured"], rows, n_left=2)


def refusals(results: Results) -> Table:
    """Why schemas are refused, what differs from schema to schema left out."""
    rows = []
    for library, outcomes in results.outcomes.items():
        reasons = Counter(_reason(each.refusal) for each in outcomes if each.refusal is not None)
        rows += [[library, f"`{_cell(reason)}`", f"{count:,}"] for reason, count in reasons.most_common()]
    return Table(["library", "refused because", "schemas"], rows, n_left=2)


def not_passing(results: Results, library: str) -> Table:
    """Each schema that does not pass, with the reason."""
    rows = []
    for each in results.outcomes[library]:
        if each.refusal is not None:
            rows.append([each.problem.name, _cell("refused: " + each.refusal.splitlines()[0])])
        rows += [[each.problem.name, _cell(f"valid, refused at `{_end(each, at)}`")] for at in each.valid_refused]
        rows += [[each.problem.name, f"instance {at} is invalid and taken"] for at in each.invalid_taken]
    return Table(["schema", "what"], rows, n_left=2)


def _correctness(results: Results) -> list[Bar]:
    found = []
    for library, of in (("ours", "members as declared"), ("ours, any order", "members in any order")):
        outcomes = results.outcomes.get(library, [])
        if not outcomes:
            continue
        share = sum(each.passes for each in outcomes) / len(outcomes)
        n_refused = sum(bool(each.valid_refused) for each in outcomes)
        n_taken = sum(bool(each.invalid_taken) for each in outcomes)
        found += [
            Bar(f"schemas that pass, {of}", "≥ 99.5 %", f"{share:.2%}", share >= 0.995),
            Bar(
                f"with a valid instance refused / an invalid one let through, {of}",
                "0 / 0",
                f"{n_refused} / {n_taken}",
                not n_refused + n_taken,
            ),
        ]
    return found


def _speed(results: Results) -> list[Bar]:
    if "llguidance" not in results.outcomes:
        return []
    both = results.of(PAIR).taken_by_all()
    masks_of_both, masks_of_all = ([_mask_us(each.outcomes[name]) for name in PAIR] for each in (both, results))
    compiling_both = [_compile_us(both.outcomes[name]) for name in PAIR]
    return [
        _ratio("TBM on what both take, average", 6, *(float(each.mean()) for each in masks_of_both)),
        _ratio("TBM on what both take, p99", 10, *(float(np.percentile(each, 99)) for each in masks_of_both)),
        _ratio("TBM on what both take, worst", 20, *(float(each.max()) for each in masks_of_both)),
        _ratio("TBM on all that each takes, average", 3, *(float(each.mean()) for each in masks_of_all)),
        _ratio("TTFM on what both take, median", 10, *(float(np.percentile(each, 50)) for each in compiling_both)),
        _ratio("TTFM on what both take, p99", 10, *(float(np.percentile(each, 99)) for each in compiling_both)),
    ]


def _ratio(what: str, times: float, ours: float, theirs: float) -> Bar:
    """A time of ours, that must be so many times shorter than theirs."""
    measured = f"1/{theirs / ours:.1f} ({ours:,.1f} of {theirs:,.1f} us)"
    return Bar(what, f"≤ 1/{times:g} of llguidance's", measured, times * ours <= theirs)


def _second_use(found: SecondUse | None) -> list[Bar]:
    if found is None:
        return []
    return [
        _tails("mask at the second use, from C, lent: p50 / p99", found.lent_us),
        _tails("the same, written into the caller's bitmap: p50 / p99", found.filled_us),
    ]


def _tails(what: str, times: list[float]) -> Bar:
    p50, p99 = np.percentile(times, [50, 99])
    return Bar(what, "≤ 0.1 / 2 us", f"{p50:.2f} / {p99:.2f} us", bool(p50 <= 0.1 and p99 <= 2))


def _large(compiled: list[Compiled]) -> list[Bar]:
    ours = [each for each in compiled if each.library == "ours"]
    return [
        Bar(
            f"TTFM of {each.n_bytes:,} bytes, {each.schema}",
            f"≤ {BAR_MS} ms",
            each.refusal if each.ms is None else f"{each.ms:.1f} ms",
            each.ms is not None and each.ms <= BAR_MS,
        )
        for each in ours
    ]


def _kept(results: Results) -> list[Bar]:
    outcomes = results.outcomes.get("ours", [])
    retained = [each.answer["retained"] / 1024 for each in outcomes if each.answer.get("retained") is not None]
    allocated = [each.answer["allocated"] / 2**20 for each in outcomes if "allocated" in each.answer]
    if not retained:
        return []
    median, quarter, end = float(np.median(retained)), allocated[len(allocated) // 4], allocated[-1]
    measured = f"{quarter:.1f} MB after a quarter of the schemas, {end:.1f} at the end"
    return [
        Bar("kept for a constraint after its text, median", "≤ 64 KB", f"{median:.0f} KB", median <= 64),
        Bar("allocated by the process, one schema after the other", "flat", measured, end <= 1.05 * quarter),
    ]


def _subsets(results: Results) -> list[tuple[str, Results]]:
    subsets = [("all that it takes", results)]
    if len(results.outcomes) > 1:
        subsets.append(("that all take", results.taken_by_all()))
    return subsets


def _mask_us(outcomes: list[Outcome]) -> Times:
    return np.array([ns for each in outcomes for ns in each.mask_ns]) / 1e3


def _compile_us(outcomes: list[Outcome]) -> Times:
    return np.array([each.answer["compile_ns"] for each in outcomes if each.refusal is None]) / 1e3


def _first_token_us(outcomes: list[Outcome]) -> Times:
    """Until the first token's mask is found and it is taken."""
    begun = [each for each in outcomes if each.refusal is None and each.mask_ns]
    return np.array([each.answer["compile_ns"] + each.mask_ns[0] for each in begun]) / 1e3


def _percentiles(times: Times, percentiles: tuple[float, ...], digits: int) -> list[str]:
    if not times.size:
        return [""] * (len(percentiles) + 1)
    return [f"{each:,.{digits}f}" for each in (times.mean(), *np.percentile(times, percentiles))]


def _names(percentiles: tuple[float, ...]) -> list[str]:
    return [f"p{each:g}" if each < 100 else "worst" for each in percentiles]


def _reason(refusal: str) -> str:
    line = re.sub(r"^at #.*?: |(?<=Unknown format): .*", "", refusal.splitlines()[0])
    return re.sub(r"\d+", "N", line)[:90]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _end(outcome: Outcome, index: int) -> str:
    return outcome.refused_at(index)[-24:].replace("`", "'")
