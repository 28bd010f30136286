"""Inference across runs: confidence intervals and paired differences.

A run is one observation, however many samples it measured. Runs of different replications are
independent, so that Student's t applies to their means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom._core import student_t_cdf, student_t_quantile
from simoom.base.frames import np
from simoom.base.needs import Later

if TYPE_CHECKING:
    from numpy.typing import NDArray

tests = Later("scipy.stats", "a quantile with its interval")


@dataclass(frozen=True, repr=False)
class Estimate:
    """A mean, or a quantile, with its confidence interval.

    Parameters
    ----------
    mean : float
        The sample mean.
    ci_low, ci_high : float
        Ends of the confidence interval; infinite for a single observation.
    n : int
        The number of observations.
    confidence : float
        The probability that such an interval contains the true mean.
    """

    mean: float
    ci_low: float
    ci_high: float
    n: int
    confidence: float = 0.95

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.ci_high - self.ci_low) / 2

    def __contains__(self, value: float) -> bool:
        return self.ci_low <= value <= self.ci_high

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.half_width:.2g}"

    def __repr__(self) -> str:
        return f"Estimate({self} at {self.confidence:.0%}, n={self.n})"


def mean_ci(values: Iterable[float], *, confidence: float = 0.95) -> Estimate:
    """Estimate a mean from independent observations.

    Parameters
    ----------
    values : iterable of float
        The observations, for example one per replication.
    confidence : float, optional
        The probability that the interval contains the true mean.

    Returns
    -------
    Estimate
        Student's t interval.

    Examples
    --------
    The classic example of Student (1908), additional hours of sleep:

    >>> mean_ci([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    Estimate(2.33 ± 1.4 at 95%, n=10)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: must be in (0, 1), is {confidence}")
    sample = _sample(values)
    n = sample.size
    mean = float(sample.mean())
    if n == 1:
        return Estimate(mean, -math.inf, math.inf, 1, confidence)
    error = float(sample.std(ddof=1)) / math.sqrt(n)
    half = student_t_quantile((1 + confidence) / 2, n - 1) * error
    return Estimate(mean, mean - half, mean + half, n, confidence)


def paired_difference(
    first: Iterable[float], second: Iterable[float], *, confidence: float = 0.95
) -> Estimate:
    """Estimate the mean of `second` minus `first` over pairs.

    Two scenarios that are run with the same seeds use the same random numbers, so that the
    differences of the pairs vary less than the values do (common random numbers).

    Returns
    -------
    Estimate
        The mean of the differences, with its interval.

    Examples
    --------
    >>> paired_difference([10.0, 12.0, 11.0], [11.0, 13.1, 11.9])
    Estimate(1 ± 0.25 at 95%, n=3)
    """
    a, b = np.asarray(list(first), dtype=float), np.asarray(list(second), dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"pairs need equally many values: there are {a.size} and {b.size}")
    return mean_ci(b - a, confidence=confidence)


def paired_p_value(first: Iterable[float], second: Iterable[float]) -> float:
    """Return the p value of the paired t test that the means of two samples are equal.

    Returns
    -------
    float
        The p value, from 0 to 1.

    Examples
    --------
    >>> round(paired_p_value([10.0, 12.0, 11.0], [11.0, 13.1, 11.9]), 4)
    0.0033
    """
    each = paired_difference(first, second)
    spread = each.half_width / student_t_quantile(0.975, each.n - 1) if each.n > 1 else math.inf
    if spread == 0:
        return 1.0 if each.mean == 0 else 0.0
    return float(2 * student_t_cdf(-abs(each.mean) / spread, each.n - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for their number, so that all are judged at one level together.

    Returns
    -------
    list of float
        The adjusted p values, in the order of the given ones.

    References
    ----------
    S. Holm. A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, n in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[n])
        adjusted[n] = min(1.0, largest)
    return adjusted


def quantile_ci(
    values: Iterable[float], probability: float, *, confidence: float = 0.95
) -> Estimate:
    """Estimate a quantile from independent observations of any distribution.

    Parameters
    ----------
    values : iterable of float
        The observations, for example one per replication.
    probability : float
        The fraction of the distribution below the quantile.
    confidence : float, optional
        The least probability that the interval contains the quantile.

    Returns
    -------
    Estimate
        The quantile, as ``mean``, and the interval between two order statistics (Conover,
        Practical Nonparametric Statistics, section 3.2); an end is infinite if there are too few
        observations.

    Examples
    --------
    >>> quantile_ci(range(1, 21), 0.5).ci_low, quantile_ci(range(1, 21), 0.5).ci_high
    (6.0, 15.0)
    """
    for name, number in (("probability", probability), ("confidence", confidence)):
        if not 0 < number < 1:
            raise ValueError(f"{name}: must be in (0, 1), is {number}")
    sample = _sample(values)
    interval = tests.quantile_test(sample, p=probability).confidence_interval(confidence)
    low = -math.inf if math.isnan(interval.low) else float(interval.low)
    high = math.inf if math.isnan(interval.high) else float(interval.high)
    middle = float(np.quantile(sample, probability, method="median_unbiased"))
    return Estimate(middle, low, high, sample.size, confidence)


def _sample(values: Iterable[float]) -> NDArray[np.float64]:
    sample = np.asarray(list(values), dtype=float)
    if not np.isfinite(sample).all():
        raise ValueError("values: must be finite numbers; one is NaN or infinite")
    if sample.size == 0:
        raise ValueError("values: must have at least one value, is empty")
    return sample
