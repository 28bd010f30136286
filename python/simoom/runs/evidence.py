"""Evidence: numbers with confidence intervals, compared with expected values.

A `Value` is a number with its interval. It is estimated over runs, computed by a formula, or
published. A `Check` compares a value with the band in which it should lie, or with a `Reference` up
to a tolerance. It has one `Outcome`: it holds if the whole interval lies inside the band, fails if
the whole interval lies outside, and is open if an edge of the band lies within the interval. The
published words follow from outcomes. A paper's claim consists of checks and has a `Verdict`. A row
of the table of agreement is one check and has an `Agreement`.

A value knows the quantities that it was computed from. `Value.scaled` computes it again with one of
them larger or smaller, which shows whether a check can fail: a check that holds for every input
says nothing.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simoom.results.tables import digits
from simoom.runs.stats import Estimate, mean_ci, tests

EXACT = "exact"
PRINTED = "printed"
MEAN = "mean"
MEDIAN = "median"

Quantity = tuple[str, ...]
"""The name of a quantity, from the general to the particular."""


@dataclass(frozen=True, repr=False)
class Value:
    """A number and its confidence interval.

    Parameters
    ----------
    value : float
        The number.
    low, high : float
        The ends of its 95 % interval; equal to the number if there is no interval.
    n : int
        The number of runs; 0 for a value that was not simulated by Simoom.
    statistic : str
        "exact" (computed by a formula), "printed" (published in a paper or computed by another
        simulator), "mean" or "median" over runs.
    quantity : tuple of str
        The name of the quantity, of a value that was not computed from others: what it is about,
        then the setting, then the point.
    parts : tuple
        The operation and the values that it was computed from, if there are any.
    """

    value: float
    low: float
    high: float
    n: int = 0
    statistic: str = EXACT
    quantity: Quantity = field(default=(), compare=False)
    parts: tuple[Operation, Value, Value | float] | None = field(default=None, compare=False)

    @classmethod
    def exact(cls, value: float, *quantity: str) -> Value:
        """Return a value that was computed by a formula."""
        return cls(float(value), float(value), float(value), quantity=quantity)

    @classmethod
    def printed(cls, value: float, half_width: float = 0.0) -> Value:
        """Return a published number, with its published interval if there is one."""
        half = 0.0 if math.isnan(half_width) else half_width
        return cls(value, value - half, value + half, 0, PRINTED)

    @classmethod
    def estimated(cls, estimate: Estimate) -> Value:
        """Return a mean with its interval as evidence."""
        return cls(estimate.mean, estimate.ci_low, estimate.ci_high, estimate.n, MEAN)

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
        return cls.estimated(mean_ci(sample))

    @classmethod
    def median(cls, runs: Iterable[float]) -> Value:
        """Return the median over runs with a distribution-free interval.

        The interval is that between two symmetric order statistics, because the number of runs
        below the median is binomial. It is the narrowest with a confidence of at least 95 %. With
        fewer than six runs there is none, and the interval is infinite.

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

    @property
    def quantities(self) -> frozenset[Quantity]:
        """The names of the quantities that it was computed from, except published numbers."""
        if self.parts is not None:
            some = (part for part in self.parts[1:] if isinstance(part, Value))
            return frozenset[Quantity]().union(*(part.quantities for part in some))
        return frozenset() if self.statistic == PRINTED else frozenset({self.quantity})

    def over(self, other: Value) -> Value:
        """Return the ratio to another value; its interval is the worst case of both intervals."""
        if other.low <= 0:
            ends = (-math.inf, math.inf)
        else:
            corners = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
            ends = (min(corners), max(corners))
        ratio = self.value / other.value if other.value else math.nan
        return self._made(Value.over, other, ratio, *ends)

    def minus(self, other: Value) -> Value:
        """Return the difference to another value, with the worst case of both intervals."""
        ends = (self.low - other.high, self.high - other.low)
        return self._made(Value.minus, other, self.value - other.value, *ends)

    def times(self, factor: float) -> Value:
        """Return the number in another unit."""
        return replace(self._multiplied(factor), parts=(Value.times, self, factor))

    def named(self, *quantity: str) -> Value:
        """Return the value with a name for each quantity of it that has none."""
        if self.parts is not None:
            operation, one, other = self.parts
            if isinstance(other, Value):
                other = other.named(*quantity)
            return replace(self, parts=(operation, one.named(*quantity), other))
        return replace(self, quantity=self.quantity or quantity)

    def scaled(self, quantity: Quantity, factor: float) -> Value:
        """Return the value that it would be if its quantities of a name were larger by a factor.

        The name may be the beginning of a longer one: ("goodput",) scales all goodputs.
        """
        if self.parts is None:
            begins = self.quantity[: len(quantity)] == quantity if quantity else not self.quantity
            return self._multiplied(factor) if begins and self.statistic != PRINTED else self
        operation, one, other = self.parts
        if isinstance(other, Value):
            other = other.scaled(quantity, factor)
        return operation(one.scaled(quantity, factor), other)

    def _made(
        self, operation: Operation, other: Value, value: float, low: float, high: float
    ) -> Value:
        """Return the result of an operation with another value."""
        known = self._with(other)
        return Value(value, low, high, known.n, known.statistic, parts=(operation, self, other))

    def _multiplied(self, factor: float) -> Value:
        return replace(
            self, value=self.value * factor, low=self.low * factor, high=self.high * factor
        )

    def _with(self, other: Value) -> Value:
        """Return the statistic and number of runs of the simulated one of two values."""
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


@dataclass(frozen=True)
class Reference:
    """The value that a number should have. The table that contains it names the source.

    Parameters
    ----------
    value : float
        The number.
    half_width : float
        Half the width of its 95 % interval; 0 for a computed number.
    """

    value: float
    half_width: float = 0.0


class Outcome(enum.StrEnum):
    """The outcome of a check."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Check:
    """One number and the band in which it should lie.

    Parameters
    ----------
    what : str
        Which number this is.
    value : Value
        The number.
    low, high : float
        The band, ends included.
    """

    what: str
    value: Value
    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def near(cls, what: str, value: Value, target: float, *, within: float) -> Check:
        """Return a check that a number equals its target up to a tolerance."""
        return cls(what, value, target - within, target + within)

    @classmethod
    def agrees(cls, what: str, value: Value, target: Value, *, within: float) -> Check:
        """Return a check that the ratio of two numbers is 1 up to a relative tolerance."""
        return cls(what, value.over(target), 1 - within, 1 + within)

    @classmethod
    def against(cls, what: str, value: Value, reference: Reference, *, within: float) -> Check:
        """Return a check that the difference from a reference is 0 up to a tolerance.

        The interval of the difference is the worst case of both intervals.
        """
        apart = value.value - reference.value
        half = value.half_width + reference.half_width
        difference = replace(value, value=apart, low=apart - half, high=apart + half, parts=None)
        return cls(what, difference, -within, within)

    def scaled(self, quantity: Quantity, factor: float) -> Check:
        """Return the check of the value that one larger quantity gives, see `Value.scaled`."""
        return replace(self, value=self.value.scaled(quantity, factor))

    @property
    def outcome(self) -> Outcome:
        """Whether the interval lies inside the band, outside it, or across an edge."""
        value = self.value
        if not math.isfinite(value.value):
            return Outcome.OPEN
        if self.low <= value.low and value.high <= self.high:
            return Outcome.HOLDS
        if value.high < self.low or value.low > self.high:
            return Outcome.FAILS
        return Outcome.OPEN

    @property
    def agreement(self) -> Agreement:
        """The verdict in the table of agreement for a check `against` a reference.

        If the outcome is open, the number decides: the row agrees if the number lies inside the
        band. If it does not, the middle of the band may still lie within the interval.
        """
        if self.outcome is Outcome.FAILS:
            return Agreement.DIFFERS
        # NaN agrees with nothing.
        if self.low <= self.value.value <= self.high:
            return Agreement.AGREES
        if self.value.low <= (self.low + self.high) / 2 <= self.value.high:
            return Agreement.INTERVAL
        return Agreement.DIFFERS

    @property
    def band(self) -> str:
        """The band in words."""
        if math.isinf(self.low):
            return f"at most {digits(self.high, 4)}" if math.isfinite(self.high) else "any"
        if math.isinf(self.high):
            return f"at least {digits(self.low, 4)}"
        return f"{digits(self.low, 4)} to {digits(self.high, 4)}"

    @property
    def distance(self) -> float:
        """Distance from the nearer end of the band in band widths, negative inside the band."""
        worst = max(self.low - self.value.value, self.value.value - self.high)
        width = self.high - self.low
        scale = width if math.isfinite(width) and width > 0 else abs(self.value.value) or 1.0
        return worst / scale

    def __str__(self) -> str:
        return f"{self.what}: {self.value}"


class Verdict(enum.StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    NOT_CHECKABLE = "not checkable"

    @classmethod
    def of(cls, checks: Iterable[Check]) -> Verdict:
        """Return the verdict of several checks.

        A claim is reproduced if all hold, in part if some hold and some fail, and not reproduced
        if all fail. It is undecided if that depends on a check that is open.
        """
        outcomes = {check.outcome for check in checks}
        if not outcomes:
            return cls.NOT_CHECKABLE
        if {Outcome.HOLDS, Outcome.FAILS} <= outcomes:
            return cls.IN_PART
        if Outcome.OPEN in outcomes:
            return cls.UNDECIDED
        return cls.REPRODUCED if Outcome.HOLDS in outcomes else cls.NOT_REPRODUCED


class Agreement(enum.StrEnum):
    """The verdict on a row of the table of agreement; if it is open, the number decides."""

    AGREES = "agrees"
    INTERVAL = "within the interval"
    DIFFERS = "differs"


Operation = Callable[[Value, Any], Value]
"""An operation of `Value`: over, minus or times."""


def _measured(runs: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the values of the runs that could measure the quantity."""
    sample = np.asarray(list(runs), dtype=np.float64)
    return sample[np.isfinite(sample)]


def _rank(n: int) -> int:
    """Return the largest k such that the k-th and (n+1-k)-th of n bracket the median at 95 %."""
    k = 0
    while 1 - 2 * float(tests.binom.cdf(k, n, 0.5)) >= 0.95:
        k += 1
    return k
