"""Medians, ratios and differences of rounds, with 95% bootstrap intervals.

The unit that is resampled is the round, not the step: steps inside a round share whatever the machine was busy
with. Two variants are compared round by round (the same rounds are drawn for both), because they were measured
next to each other in time and a drifting machine moves both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
LOW, HIGH = 2.5, 97.5  # percentiles of the 95% interval

Rounds = Sequence[Sequence[float]]  # one entry a round, each the times of its steps
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A median and the range in which 95% of the resampled medians lie; in the unit of what went in."""

    median: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {"median": self.median, "low": self.low, "high": self.high}

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside: the difference from it is more than noise."""
        return not self.low <= value <= self.high


def typical(rounds: Rounds) -> Vector:
    """The median step of each round. Raises ValueError where a round, or the whole, is empty."""
    if not rounds or any(len(steps) == 0 for steps in rounds):
        raise ValueError("every round needs at least one timed step")
    return np.array([float(np.median(np.asarray(steps, dtype=np.float64))) for steps in rounds])


def median(rounds: Rounds, seed: int = 0) -> Interval:
    """The median over rounds, with its interval."""
    return _bootstrap((typical(rounds),), lambda medians: medians[0], seed)


def ratio(numerator: Rounds, denominator: Rounds, seed: int = 0) -> Interval:
    """Median of `numerator` over median of `denominator`, with its interval. Both have the same rounds."""
    return _bootstrap((typical(numerator), typical(denominator)), lambda medians: medians[0] / medians[1], seed)


def difference(left: Rounds, right: Rounds, seed: int = 0) -> Interval:
    """Median of `left` minus median of `right`, with its interval. Both have the same rounds."""
    return _bootstrap((typical(left), typical(right)), lambda medians: medians[0] - medians[1], seed)


def _bootstrap(samples: tuple[Vector, ...], statistic: Callable[[list[Vector]], Vector], seed: int) -> Interval:
    """Resamples whole rounds, the same ones for every sample. `statistic` works on arrays of medians."""
    count = len(samples[0])
    if any(len(sample) != count for sample in samples):
        raise ValueError("variants that are compared need the same number of rounds")
    draws = np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))
    resampled = statistic([np.median(sample[draws], axis=1) for sample in samples])
    observed = statistic([np.atleast_1d(np.median(sample)) for sample in samples])
    low, high = np.percentile(resampled, [LOW, HIGH])
    return Interval(float(observed[0]), float(low), float(high))
