"""Precision: how many runs a result needs until its confidence interval is narrow enough.

A rule that stops at the first interval that is narrow enough stops too early too often: runs that
happen to be alike make a narrow interval beside the true mean. Of its 95 % intervals only 80 to
93 % contain the mean. `required` therefore asks for more than a narrow interval. The sample is
looked at seldom, because each further number of runs follows from the variance and at most doubles.
A few runs are added for the uncertainty of that variance (Simons 1968). A skewed result needs
enough runs for Student's t to hold, a number that grows with the square of its skewness (Cochran
1977, section 2.15). ``benches/precision.py`` measures the coverage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from simoom.base.frames import np
from simoom.base.issue import ArgumentError
from simoom.runs.stats import Estimate, mean_ci
from simoom.scenario.observables import check_path, unit_of

DEFAULT_RESULT = "total.goodput_mbps"
"""The result that a precision is about if none is named."""
LEAST_RUNS = 20
"""The number of runs before the first look."""
MOST_RUNS = 1000
"""The bound on the runs of a scenario if the user gives none."""
EQUAL_RUNS = 60
"""A result that is equal in so many runs is taken as constant: with 95 % confidence it is another
one in less than 5 % of all runs (the rule of three)."""
RUNS_PER_SKEWNESS = 40
"""Further runs for each unit of the squared skewness. Cochran has 25 for samples of fixed size."""
SAFE = 4
"""An interval that is narrower than wanted by this factor suffices, however skewed the result."""
FURTHER_RUNS = 4
"""Runs beyond the number at which the interval is expected to be narrow enough."""

Until = str | float | Mapping[str, str | float]
"""A half-width such as "2 %" or "0.5 Mb/s" or 0.5, of one result or of several by path."""


@dataclass(frozen=True)
class Target:
    """The half-width that the confidence interval of a result must have.

    Attributes
    ----------
    path : str
        The path of the result.
    half_width : float
        The half-width, in the unit of the result or as a fraction of its mean.
    relative : bool
        Whether it is a fraction of the mean.
    """

    path: str
    half_width: float
    relative: bool

    def __str__(self) -> str:
        if self.relative:
            return f"{100 * self.half_width:g} %"
        unit = unit_of(self.path)
        return f"{self.half_width:g} {unit}" if unit else f"{self.half_width:g}"

    def of(self, mean: float) -> float:
        """Return the half-width in the unit of the result."""
        return self.half_width * abs(mean) if self.relative else self.half_width


@dataclass(frozen=True)
class Reached:
    """How far the runs of a scenario meet a target.

    Attributes
    ----------
    target : Target
        The target.
    estimate : Estimate or None
        The mean with its interval; None if no run measured the result.
    reached : bool
        Whether the runs suffice.
    reason : str
        Why they do not; or, of a result that is equal in all runs, that there is no interval.
    """

    target: Target
    estimate: Estimate | None
    reached: bool
    reason: str = ""

    def __str__(self) -> str:
        if self.estimate is None:
            return f"{self.target.path}: {self.reason}"
        end = "" if self.reached and not self.reason else f"; {self.reason}"
        return f"{self.target.path}: {self.estimate}, {self.estimate.n} runs{end}"


def targets(until: Until) -> tuple[Target, ...]:
    """Read the half-widths that the user wants.

    Raises
    ------
    TypeError, ValueError
        With what is wrong, the rule and an example.

    Examples
    --------
    >>> targets("2 %")
    (Target(path='total.goodput_mbps', half_width=0.02, relative=True),)
    >>> targets({"total.delay_s.p99": "0.5 s"})[0].half_width
    0.5
    """
    if not isinstance(until, Mapping):
        until = {DEFAULT_RESULT: until}
    if not until:
        raise ArgumentError(
            "until", 'names no result; write "2 %" or {"total.goodput_mbps": "2 %"}'
        )
    return tuple(_target(path, wanted) for path, wanted in until.items())


def _target(path: object, wanted: object) -> Target:
    example = f'{path}: is {wanted!r}; write a half-width such as "2 %", "0.5" or 0.5'
    if not isinstance(path, str) or isinstance(wanted, bool):
        raise TypeError(f"until: {example}")
    check_path("until", path)
    if isinstance(wanted, (int, float)):
        number, unit = float(wanted), ""
    elif isinstance(wanted, str):
        match = re.fullmatch(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(\S*)\s*", wanted)
        try:
            number, unit = (float(match[1]), match[2]) if match else (math.nan, "")
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise ArgumentError("until", example)
    else:
        raise TypeError(f"until: {example}")
    if not 0 < number < math.inf:
        raise ArgumentError("until", f"{path}: is {wanted}; a half-width must be above 0")
    if unit == "%":
        return Target(path, number / 100, relative=True)
    if unit and unit != (known := unit_of(path)):
        has = f'{known!r}, as in "{number:g} {known}"' if known else "no unit"
        raise ArgumentError(
            "until", f"{path}: is {wanted!r}; the result has {has}, and % is relative"
        )
    return Target(path, number, relative=False)


def required(values: Iterable[float], target: Target, *, confidence: float = 0.95) -> float:
    """Return the number of observations that a target needs, judged by those made so far.

    If it is at most the number of observations, they suffice. It is infinite if the target is a
    fraction of a mean that is zero.
    """
    sample = np.asarray(list(values), dtype=float)
    n = int(sample.size)
    if n < LEAST_RUNS:
        return LEAST_RUNS
    deviation = sample - sample.mean()
    variance = float(np.mean(deviation**2))
    if variance <= (1e-12 * float(np.max(np.abs(sample)))) ** 2:
        return EQUAL_RUNS
    skewness = float(np.mean(deviation**3)) / variance**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
    estimate = mean_ci(sample, confidence=confidence)
    allowed = target.of(estimate.mean)
    if allowed == 0:
        return math.inf
    if estimate.half_width < allowed / SAFE:
        return n
    for_width = n * (estimate.half_width / allowed) ** 2 * (1 + FURTHER_RUNS / n)
    return float(max(for_width, LEAST_RUNS + RUNS_PER_SKEWNESS * skewness**2))


def decide(target: Target, values: Iterable[float], *, confidence: float = 0.95) -> Reached:
    """Return whether the values of all runs so far, NaN where not measured, meet a target."""
    measured = [value for value in values if not math.isnan(value)]
    if not measured:
        return Reached(target, None, reached=False, reason="no run measured it")
    estimate = mean_ci(measured, confidence=confidence)
    need = required(measured, target, confidence=confidence)
    if need <= len(measured):
        equal = estimate.half_width <= 1e-12 * abs(estimate.mean)
        reason = "equal in all of them, so that there is no interval" if equal else ""
        return Reached(target, estimate, reached=True, reason=reason)
    return Reached(target, estimate, reached=False, reason=_lacking(target, estimate, need))


def _lacking(target: Target, estimate: Estimate, need: float) -> str:
    """Return why runs do not suffice, and what would."""
    if math.isinf(need):
        return f"its mean is 0, so that ±{target} has no meaning: give a half-width in its unit"
    if estimate.half_width <= 1e-12 * abs(estimate.mean):
        return f"equal in all runs; a result counts as constant after {EQUAL_RUNS}"
    wide = estimate.half_width / abs(estimate.mean) if target.relative else estimate.half_width
    if wide > target.half_width:
        is_ = f"{100 * wide:.2g} %" if target.relative else f"{wide:.2g}"
        return f"±{is_} and not ±{target}, which needs about {_about(need)} runs"
    return (
        f"±{target} on so few or so skewed values is not safe; it needs about {_about(need)} runs"
    )


def _about(number: float) -> str:
    digits = max(0, len(str(math.ceil(number))) - 2)
    return f"{math.ceil(number / 10**digits) * 10**digits:,}"


def next_count(done: int, judged: Sequence[Reached], needs: Sequence[float], most: int) -> int:
    """Return the number of runs at the next look; `done` if there is nothing to be gained.

    Parameters
    ----------
    done : int
        The number of runs so far.
    judged : sequence of Reached
        Whether they meet each target.
    needs : sequence of float
        The number of runs that each target needs.
    most : int
        The bound on the number of runs.
    """
    open_ = [need for each, need in zip(judged, needs, strict=True)
             if not each.reached and each.estimate is not None]  # fmt: skip
    if not open_ or done >= most:
        return done
    wanted = max(open_)
    doubled = 2 * done
    return min(most, doubled if wanted > doubled else max(math.ceil(wanted), done + 1))


def bounded(each: Reached, done: int, most: int) -> Reached:
    """Return a verdict that says that the runs have ended at their bound, if they have."""
    if each.reached or each.estimate is None or done < most:
        return each
    return replace(each, reason=f"{each.reason}; the bound, max_replications, is {most:,} runs")


@dataclass(frozen=True)
class Rule:
    """The rule by which replications of a scenario end.

    Attributes
    ----------
    targets : tuple of Target
        All must be met.
    least, most : int
        Bounds on the number of runs.
    """

    targets: tuple[Target, ...]
    least: int = LEAST_RUNS
    most: int = MOST_RUNS

    def look(
        self, judged: Iterable[tuple[Target, Sequence[float]]], done: int
    ) -> tuple[tuple[Reached, ...], int]:
        """Return how far `done` runs meet each target, and the number of runs at the next look.

        Parameters
        ----------
        judged : iterable of tuple
            Each target with the values that are to meet it, NaN where a run did not measure it.
        done : int
            The number of runs so far.
        """
        found, needs = [], []
        for target, values in judged:
            each = decide(target, values)
            measured = [value for value in values if not math.isnan(value)]
            # Of some results only a part of the runs has a value.
            need = required(measured, target) * done / len(measured) if measured else math.inf
            needs.append(need if not each.reached else 0)
            found.append(bounded(each, done, self.most))
        return tuple(found), next_count(done, found, needs, self.most)


def rule_of(until: Until, least: int, most: int | None) -> Rule:
    """Return the rule of a call; raise if its bounds contradict each other.

    `least` is the number of replications of the call.
    """
    most = MOST_RUNS if most is None else most
    least = max(least, LEAST_RUNS)
    if most < least:
        raise ArgumentError("max_replications", f"must be at least {least}, is {most}")
    return Rule(targets(until), least, most)
