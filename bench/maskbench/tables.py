"""The tables of MaskBench."""

import re
from collections import Counter

import numpy as np

from bench.maskbench.measure import Outcome, Results
from bench.tables import Table

PERCENTILES = (25, 50, 75, 90, 95, 99, 100)


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


def times(results: Results) -> Table:
    """On the schemas that each library takes, and on those that all of them take."""
    rows = []
    everyone = zip(*results.outcomes.values(), strict=True)
    shared = [all(each.refusal is None for each in outcomes) for outcomes in everyone]
    for library, outcomes in results.outcomes.items():
        taken = [each for each in outcomes if each.refusal is None]
        rows.append([library, "all that it takes", *_times(taken)])
        if len(results.outcomes) > 1:
            common = [each for each, is_shared in zip(outcomes, shared, strict=True) if is_shared]
            rows.append([library, "that all take", *_times(common)])
    tbm = ["TBM us, average", *(f"p{each}" if each < 100 else "worst" for each in PERCENTILES)]
    return Table(["library", "schemas", *tbm, "masks", "TTFM us, p50", "p99"], rows, n_left=2)


def memory(results: Results) -> Table:
    rows = []
    for library, outcomes in results.outcomes.items():
        retained = [each.answer["retained"] for each in outcomes if each.answer.get("retained") is not None]
        resident = [each.answer["rss"] for each in outcomes if "rss" in each.answer]
        rows.append(
            [
                library,
                f"{np.median(retained) / 1024:,.0f}" if retained else "",
                *(f"{each / 2**20:,.0f}" for each in (results.resident_at_start[library], max(resident), resident[-1])),
            ]
        )
    return Table(["memory", "KB kept, p50", "resident MB at the start", "most", "at the end"], rows)


def refusals(results: Results) -> Table:
    """Why schemas are refused, what differs from schema to schema left out."""
    rows = []
    for library, outcomes in results.outcomes.items():
        reasons = Counter(_reason(each.refusal) for each in outcomes if each.refusal is not None)
        rows += [[library, reason, f"{count:,}"] for reason, count in reasons.most_common()]
    return Table(["library", "refused because", "schemas"], rows, n_left=2)


def faults(results: Results) -> Table:
    """Where instances are judged wrongly."""
    rows = []
    for library, outcomes in results.outcomes.items():
        for each in outcomes:
            rows += [[library, each.problem.name, f"valid, refused at {_end(each, at)}"] for at in each.valid_refused]
            rows += [[library, each.problem.name, f"instance {at} is invalid and taken"] for at in each.invalid_taken]
    return Table(["library", "schema", "what"], rows, n_left=3)


def _times(outcomes: list[Outcome]) -> list[str]:
    masks = np.array([ns for each in outcomes for ns in each.mask_ns]) / 1e3
    compiling = np.array([each.answer["compile_ns"] for each in outcomes]) / 1e3
    if not masks.size:
        return [""] * (len(PERCENTILES) + 4)
    return [
        *(f"{each:,.1f}" for each in (masks.mean(), *np.percentile(masks, PERCENTILES))),
        f"{masks.size:,}",
        *(f"{each:,.0f}" for each in np.percentile(compiling, [50, 99])),
    ]


def _reason(refusal: str) -> str:
    return re.sub(r"\d+", "N", re.sub(r"^at #.*?: ", "", refusal.splitlines()[0]))[:90]


def _end(outcome: Outcome, index: int) -> str:
    return outcome.refused_at(index)[-60:]
