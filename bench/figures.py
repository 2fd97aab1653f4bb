"""From samples to figures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Figure:
    """The distribution of one quantity."""

    median: float
    p95: float
    p99: float
    least: float
    n_samples: int

    def scaled(self, factor: float) -> "Figure":
        return Figure(self.median * factor, self.p95 * factor, self.p99 * factor, self.least * factor, self.n_samples)


def figure(samples: Sequence[float]) -> Figure:
    array = np.asarray(samples, dtype=np.float64)
    median, p95, p99 = np.percentile(array, [50, 95, 99])
    return Figure(float(median), float(p95), float(p99), float(array.min()), len(array))


def least_per_position(samples: Sequence[float], repeats: int) -> list[float]:
    """The least of the repeats of each position: what is left when the machine does nothing else."""
    least: list[float] = np.asarray(samples).reshape(-1, repeats).min(axis=1).tolist()
    return least
