"""Loss-tolerant TCP: repair of a window by parity units, and its overhead.

A window of N units has K data units and P = N - K parity units of an erasure code. It can be
decoded if any K units arrive. With P computed from the loss estimate E,

    P = ceil(N E + c sqrt(N E (1 - E))),                                                        (1)

some windows lack s units. Reactive rounds of ceil(s / (1-E)) further parity units repair them.

References
----------
.. [1] V. Subramanian, K. K. Ramakrishnan, S. Kalyanaraman, L. Ji, "Impact of interference and
   capture effects in 802.11 wireless networks on TCP", section III (P = f(E); the law (1) with its
   c is Simoom's, c = 0 a reading of US patent 7,366,132, claim 9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models._check import Array, broadcast, not_negative, real, whole
from simoom.models.assumption import Assumption
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    Assumption("independent_loss", "Units are lost independently with the same probability."),
    Assumption("loss_known", "The sender's estimate E is the true loss probability."),
    Assumption("perfect_code", "Any K units of a window decode it."),
    Assumption("fresh_parity", "There is always a further parity unit (255 units in GF(2^8))."),
)

NEGLIGIBLE_LOSS = 1e-3
"""Below this estimate no parity is sent."""


def parity_units(units: ArrayLike, loss: ArrayLike, *, c: ArrayLike = 1.0) -> Array:
    """Return P of (1), between 1 and N - 1; 0 if the loss is negligible.

    Parameters
    ----------
    units : array_like
        N, from 2.
    loss : array_like
        E, in [0, 1).
    c : array_like
        Margin in standard deviations.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> parity_units(10, [0.01, 0.05, 0.1, 0.2, 0.3, 0.5], c=1)
    array([1., 2., 2., 4., 5., 7.])
    """
    n, e, margin = broadcast(
        units=whole("units", units, low=2),
        loss=real("loss", loss, low=0.0, below=1.0),
        c=not_negative("c", c),
    )
    wanted = np.ceil(np.round(n * e + margin * np.sqrt(n * e * (1 - e)), 9))
    return np.where(e < NEGLIGIBLE_LOSS, 0.0, np.minimum(np.maximum(wanted, 1.0), n - 1))


def repair_probability(units: ArrayLike, parity: ArrayLike, loss: ArrayLike) -> Array:
    """Return the probability that P parity units cover the losses among N units.

    Examples
    --------
    >>> repair_probability(20, [1, 3], 0.1).round(3)
    array([0.392, 0.867])
    """
    from scipy.stats import binom

    n, p, e = broadcast(
        units=whole("units", units, low=1),
        parity=whole("parity", parity),
        loss=real("loss", loss, low=0.0, high=1.0),
    )
    if np.any(p > n):
        raise ValueError("parity: must not be above units")
    return np.asarray(binom.cdf(p, n, e))


@dataclass(frozen=True, eq=False, repr=False)
class Repair(Prediction):
    """Parity, reactive rounds and overhead of a window."""

    parity_units: Array
    """P, sent along with the data."""
    repair_probability: Array
    """Probability that the window decodes without a reactive round."""
    reactive_rounds: Array
    """Expected."""
    reactive_units: Array
    """Expected."""
    overhead: Array
    """Units sent beyond the data, divided by the data units."""
    least_overhead: Array
    """E / (1 - E), the lower bound of any code."""


def repair(
    units: ArrayLike, loss: ArrayLike, *, c: ArrayLike = 1.0, parity: ArrayLike | None = None
) -> Repair:
    """Predict parity, reactive rounds and overhead of a window.

    Parameters
    ----------
    units : array_like
        N, from 2 to 1000.
    loss : array_like
        E, in [0, 1).
    c : array_like
        The c of (1).
    parity : array_like, optional
        P instead of (1), below N.

    Returns
    -------
    Repair

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    A margin of one standard deviation avoids most reactive rounds:

    >>> [repair(20, 0.1, c=c).reactive_rounds for c in (0, 1)]
    [0.33..., 0.04...]
    """
    chosen = parity_units(units, loss, c=c) if parity is None else whole("parity", parity)
    n, e, p = broadcast(
        units=whole("units", units, low=2, high=1000),
        loss=real("loss", loss, low=0.0, below=1.0),
        parity=chosen,
    )
    if np.any(p >= n):
        raise ValueError("parity: must be below units")
    rounds, extra = np.zeros(n.shape), np.zeros(n.shape)
    for place in np.ndindex(n.shape):
        rounds[place], extra[place] = _reactive(int(n[place]), int(p[place]), float(e[place]))
    data = n - p
    return Repair(
        parity_units=p,
        repair_probability=repair_probability(n, p, e),
        reactive_rounds=rounds,
        reactive_units=extra,
        overhead=(p + extra) / data,
        least_overhead=e / (1 - e),
    )


def _reactive(n: int, p: int, e: float) -> tuple[float, float]:
    """Expected reactive rounds and units.

    If s units are missing, a round sends r = ceil(s / (1-E)) units, of which j ~ Bin(r, 1-E)
    arrive. The expectations for s follow from those for s - j; j = 0 repeats the round.
    """
    from scipy.stats import binom

    if e < 1e-15:  # 1 - E is 1 in double precision
        return 0.0, 0.0
    short = np.arange(1, n - p + 1)
    rounds, units = np.zeros(n - p + 1), np.zeros(n - p + 1)
    for s in short:
        sent = int(np.ceil(round(s / (1 - e), 9)))
        brought = binom.pmf(np.arange(s), sent, 1 - e)  # 0 .. s-1: not yet decoded
        stay = 1 - brought[0]
        rounds[s] = (1 + brought[1:] @ rounds[s - 1 : 0 : -1]) / stay
        units[s] = (sent + brought[1:] @ units[s - 1 : 0 : -1]) / stay
    missing = binom.pmf(p + short, n, e)
    return float(missing @ rounds[1:]), float(missing @ units[1:])
