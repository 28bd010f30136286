"""The transient at the beginning of runs: where it ends, and whether the warm-up covers it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simoom.runs.stats import Estimate, paired_difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]

BATCH = 5
"""MSER-5 compares means of so many samples (White, Cobb and Spratt 2000)."""
CONFIDENCE = 0.99
"""Of the interval of the bias: a warning that is wrong is ignored the next time."""
SMALLEST_BIAS = 0.002
"""A smaller bias of the mean, as a fraction of it, has no warning."""


def mser5(values: NDArray[np.float64]) -> int:
    """Return the number of samples at the beginning of a series that MSER-5 truncates.

    The truncation minimises the standard error of the mean of what is left, computed from batches
    of five samples as if they were independent. It is at most half of the series; a truncation at
    that limit means that the series is not steady.

    References
    ----------
    K. P. White, M. J. Cobb, S. C. Spratt. A comparison of five steady-state truncation heuristics
    for simulation. Winter Simulation Conference 2000.

    Examples
    --------
    >>> mser5(np.array([9.0, 5.0, 3.0, 2.0, 1.5, *[1.0, 1.1, 0.9, 1.0, 1.0] * 20]))
    5
    """
    batches = values[: values.size // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    count = batches.size
    if count < 2 * BATCH:
        return 0
    # Sums over all batches from each one on.
    first = np.cumsum((batches - batches.mean())[::-1])[::-1]
    second = np.cumsum(((batches - batches.mean()) ** 2)[::-1])[::-1]
    left = count - np.arange(count)
    error = (second - first**2 / left) / left**2
    return BATCH * int(np.argmin(error[: count // 2 + 1]))


@dataclass(frozen=True)
class Warmup:
    """Whether the warm-up of a scenario covers the transient of a result.

    Attributes
    ----------
    path : str
        The probe that was examined.
    warmup_s : float
        The warm-up of the scenario in seconds.
    advised_s : float
        The end of the transient in seconds, by MSER-5 on the mean of the runs.
    bias : Estimate
        What the transient adds to the mean after the warm-up, over the runs, with a 99 % interval.
    mean : float
        The mean after the transient.
    steady : bool
        Whether the series is steady: the transient ends in the first half.
    """

    path: str
    warmup_s: float
    advised_s: float
    bias: Estimate
    mean: float
    steady: bool

    @property
    def too_short(self) -> bool:
        """Whether the transient changes the mean after the warm-up, by more than chance."""
        return (
            self.advised_s > self.warmup_s
            and 0.0 not in self.bias
            and abs(self.bias.mean) > SMALLEST_BIAS * abs(self.mean)
        )

    def __str__(self) -> str:
        if not self.too_short:
            return (
                f"warmup_s: {self.warmup_s:g} s suffice for {self.path}; "
                f"MSER-5 truncates {self.advised_s:g} s"
            )
        by = f"{self.bias.mean:+.2g}"
        if self.mean:
            by = f"{100 * self.bias.mean / abs(self.mean):+.2g} %"
        if not self.steady:
            return (
                f"warmup_s: is {self.warmup_s:g}, and {self.path} is not steady at half of the run"
                f" (the first half changes its mean by {by}); set a longer duration_s and warmup_s"
            )
        return (
            f"warmup_s: is {self.warmup_s:g}, which is too short: by MSER-5 {self.path} is steady"
            f" from {self.advised_s:.3g} s on, and what is before changes its mean by {by};"
            f" set warmup_s={_rounded_up(self.advised_s)}"
        )


def assess(path: str, runs: Samples, warmup_s: float) -> Warmup | None:
    """Check the warm-up by the series of several runs; None if they cannot tell.

    Parameters
    ----------
    path : str
        The probe.
    runs : sequence of (times in s, values)
        Its series from the beginning of each run.
    warmup_s : float
        The warm-up in seconds.
    """
    if len(runs) < 2 or len({time_s.size for time_s, _ in runs}) > 1:
        return None
    time_s = runs[0][0]
    values = np.array([value for _, value in runs])
    if time_s.size < 20 * BATCH or not np.isfinite(values).all():
        return None
    cut = mser5(values.mean(axis=0))
    advised_s = 0.0 if cut == 0 else float(time_s[cut - 1])
    steady = cut < time_s.size // BATCH // 2 * BATCH
    kept = values[:, time_s > warmup_s].mean(axis=1)
    steadily = values[:, time_s > advised_s].mean(axis=1)
    bias = paired_difference(steadily, kept, confidence=CONFIDENCE)
    return Warmup(path, warmup_s, advised_s, bias, float(steadily.mean()), steady)


def _rounded_up(seconds: float) -> str:
    """Write a time with two digits, not less than it is."""
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return f"{math.ceil(seconds / step - 1e-9) * step:.10g}"
