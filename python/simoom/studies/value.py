"""Numbers that know how sure they are: what curves are made of and claims are held against."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from simoom.stats import mean_ci
from simoom.tables import digits

EXACT = "exact"
PRINTED = "printed"
MEAN = "mean"
MEDIAN = "median"


@dataclass(frozen=True, repr=False)
class Value:
    """A number and the interval that holds it.

    Parameters
    ----------
    value : float
        The number.
    low, high : float
        The ends of its 95 % interval; the number itself where there is no interval.
    n : int
        Over how many runs; 0 for what was not simulated here.
    statistic : str
        "exact" (a formula), "printed" (in the paper or by another simulator), "mean" or "median"
        over runs.
    """

    value: float
    low: float
    high: float
    n: int = 0
    statistic: str = EXACT

    @classmethod
    def exact(cls, value: float) -> Value:
        """Return what a formula gives."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def printed(cls, value: float, half_width: float = 0.0) -> Value:
        """Return a number as somebody else reported it, with the interval given there."""
        half = 0.0 if math.isnan(half_width) else half_width
        return cls(value, value - half, value + half, 0, PRINTED)

    @classmethod
    def mean(cls, runs: Iterable[float]) -> Value:
        """Return the mean over runs with Student's t interval.

        Examples
        --------
        >>> Value.mean([1.0, 2.0, 3.0])
        Value(2.000 ± 2.48, mean of 3)
        """
        sample = _measured(runs)
        if not sample.size:
            return cls(math.nan, math.nan, math.nan, 0, MEAN)
        estimate = mean_ci(sample)
        return cls(estimate.mean, estimate.ci_low, estimate.ci_high, estimate.n, MEAN)

    @classmethod
    def median(cls, runs: Iterable[float]) -> Value:
        """Return the median over runs with an interval that no distribution can mislead.

        The interval goes from an order statistic to its mirror image, as the number of runs below
        the median is binomial. It is the narrowest with at least 95 %; fewer than six runs have
        none, and it is infinite.

        Examples
        --------
        >>> Value.median([3.0, 1.0, 2.0, 90.0, 5.0, 4.0])
        Value(3.500 [1.00, 90.0], median of 6)
        """
        sample = np.sort(_measured(runs))
        n = int(sample.size)
        if not n:
            return cls(math.nan, math.nan, math.nan, 0, MEDIAN)
        middle = float(np.median(sample))
        rank = _rank(n)
        if rank == 0:
            return cls(middle, -math.inf, math.inf, n, MEDIAN)
        return cls(middle, float(sample[rank - 1]), float(sample[n - rank]), n, MEDIAN)

    @property
    def half_width(self) -> float:
        """Half the interval."""
        return (self.high - self.low) / 2

    def over(self, other: Value) -> Value:
        """Return the ratio to another number; its interval is that of the worst case."""
        if other.low <= 0:
            ends = (-math.inf, math.inf)
        else:
            corners = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
            ends = (min(corners), max(corners))
        return replace(self._with(other), value=self.value / other.value, low=ends[0], high=ends[1])

    def minus(self, other: Value) -> Value:
        """Return the difference to another number; its interval is that of the worst case."""
        return replace(
            self._with(other),
            value=self.value - other.value,
            low=self.low - other.high,
            high=self.high - other.low,
        )

    def times(self, factor: float) -> Value:
        """Return the number in another unit."""
        return replace(
            self, value=self.value * factor, low=self.low * factor, high=self.high * factor
        )

    def _with(self, other: Value) -> Value:
        """Whichever of both was simulated says how."""
        return self if self.n or not other.n else other

    def __str__(self) -> str:
        if self.low == self.high:
            return digits(self.value, 4)
        if not math.isfinite(self.half_width):
            return f"{digits(self.value, 4)} (no interval)"
        if self.statistic == MEDIAN:
            return f"{digits(self.value, 4)} [{digits(self.low)}, {digits(self.high)}]"
        return f"{digits(self.value, 4)} ± {digits(self.half_width)}"

    def __repr__(self) -> str:
        how = f"{self.statistic} of {self.n}" if self.n else self.statistic
        return f"Value({self}, {how})"


def _measured(runs: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The runs that had something to measure."""
    sample = np.asarray(list(runs), dtype=np.float64)
    return sample[np.isfinite(sample)]


def _rank(n: int) -> int:
    """The largest k such that the k-th and the (n+1-k)-th of n hold the median with 95 %."""
    from scipy.stats import binom

    k = 0
    while 1 - 2 * float(binom.cdf(k, n, 0.5)) >= 0.95:
        k += 1
    return k
