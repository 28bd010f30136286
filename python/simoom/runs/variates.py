"""Control variates: chance that a run measures and theory knows, taken out of its results.

A control is a number of each run whose mean is zero by construction, whatever the run does. The
result with the control taken out, y - b c, has the mean of the result and a smaller variance
(Lavenberg and Welch 1981). The coefficient b of a run is estimated from the other runs alone, so
that it is independent of the run's own control, and the mean stays unbiased for any distribution
and any number of runs (Avramidis and Wilson 1993).

Where the loss model of the wire, which is an input of the twin's models of TCP over lossy links,
loses each packet with one probability, the control is the number of lost packets minus this
probability times the packets that the wire carried: a martingale, the mean of which is zero at any
time at which a run may end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simoom._core import student_t_quantile
from simoom.runs.stats import Estimate, mean_ci
from simoom.scenario.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_RUNS = 20
"""Fewer runs say too little about the coefficients."""

DIRECTIONS = ("down", "up")


@dataclass(frozen=True)
class Losses:
    """The control of one direction of the wire.

    Attributes
    ----------
    direction : str
        "down" or "up".
    probability : float
        The probability that a packet is lost.
    """

    direction: str
    probability: float

    @property
    def name(self) -> str:
        """The control, for tables and messages."""
        return f"wire.{self.direction}.losses"

    def value(self, summary: Mapping[str, Any]) -> float:
        """Return the control of a run: lost packets beyond what is expected of those carried."""
        place = f"wire.{self.direction}"
        lost, arrived = summary.get(f"{place}.losses"), summary.get(f"{place}.packets")
        if lost is None or arrived is None:
            return math.nan
        return float(lost - self.probability * (lost + arrived))


def controls(scenario: Scenario) -> tuple[Losses, ...]:
    """Return the controls that a scenario has.

    Examples
    --------
    >>> s = Scenario(standard="11g", stations=1, wire={"loss": {"uniform": {"probability": 0.01}}})
    >>> [control.name for control in controls(s)]
    ['wire.down.losses', 'wire.up.losses']
    """
    wire = scenario.to_dict().get("wire")
    loss = wire.get("loss") if isinstance(wire, dict) else None
    if not isinstance(loss, dict) or "uniform" not in loss:
        return ()
    probability = float(loss["uniform"]["probability"])
    chosen = wire.get("loss_direction", "both") if isinstance(wire, dict) else "both"
    return tuple(Losses(d, probability) for d in DIRECTIONS if chosen in (d, "both"))


@dataclass(frozen=True)
class Controlled:
    """A mean by control variates.

    Attributes
    ----------
    estimate : Estimate
        The mean with its interval.
    plain : Estimate
        The mean of the same runs without controls.
    saved : float
        The fraction of the variance that the controls take out; negative if they add.
    names : tuple of str
        The controls.
    """

    estimate: Estimate
    plain: Estimate
    saved: float
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.estimate}, {100 * self.saved:.0f} % of the variance saved"


def controlled(
    values: Sequence[float],
    chance: NDArray[np.float64],
    names: Sequence[str],
    *,
    confidence: float = 0.95,
) -> Controlled | None:
    """Estimate a mean with control variates; None if there are too few runs, or no control varies.

    Parameters
    ----------
    values : sequence of float
        The result in each of n runs.
    chance : array
        The controls of each run, n by q.
    names : sequence of str
        The q controls.
    confidence : float, optional
        The probability that the interval contains the mean.

    References
    ----------
    S. S. Lavenberg, P. D. Welch. A perspective on the use of control variables to increase the
    efficiency of Monte Carlo simulations. Management Science 27:3, 1981. A. N. Avramidis, J. R.
    Wilson. A splitting scheme for control variates. Operations Research Letters 14:4, 1993.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> c = rng.normal(size=(50, 1))
    >>> done = controlled(3 + 2 * c[:, 0] + 0.1 * rng.normal(size=50), c, ["c"])
    >>> done.saved > 0.98, 3 in done.estimate
    (True, True)
    """
    y = np.asarray(values, dtype=float)
    usable = np.isfinite(y) & np.isfinite(chance).all(axis=1)
    y, chance = y[usable], chance[usable]
    varies = [n for n in range(chance.shape[1]) if y.size and np.ptp(chance[:, n]) > 0]
    chance = chance[:, varies]
    n, q = chance.shape
    if n < LEAST_RUNS + q or q == 0:
        return None
    adjusted = np.empty(n)
    for k in range(n):
        others = np.arange(n) != k
        # The slope of a regression with an intercept, by all runs but this one.
        centred = chance[others] - chance[others].mean(axis=0)
        slope, *_ = np.linalg.lstsq(centred, y[others] - y[others].mean(), rcond=None)
        adjusted[k] = y[k] - chance[k] @ slope
    mean = float(adjusted.mean())
    spread = float(adjusted.std(ddof=1))
    half = student_t_quantile((1 + confidence) / 2, n - q - 1) * spread / math.sqrt(n)
    before = float(y.var(ddof=1))
    saved = 1 - spread**2 / before if before > 0 else math.nan
    estimate = Estimate(mean, mean - half, mean + half, n, confidence)
    plain = mean_ci(y, confidence=confidence)
    return Controlled(estimate, plain, saved, tuple(names[each] for each in varies))
