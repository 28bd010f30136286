"""The fixed point between attempts and collisions, for any sequence of mean back-offs.

Kumar, Altman, Miorandi and Goyal put Bianchi's chain into one line: a station that counts b_k slots
on average before its k-th retry (the slot of the attempt included) attempts in a slot with

    beta = G(gamma) = sum_k gamma^k / sum_k gamma^k b_k                                         (K)

and among n such stations an attempt collides with gamma = 1 - (1 - beta)^(n-1).

In (K) a busy period counts as one slot of everybody's back-off. In the standard the counters stand
still, so that a station which draws zero after its own transmission goes first without contention;
`frozen_fixed_point` counts idle slots only and treats those attempts apart, as [4] does.

References
----------
.. [1] G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function",
   IEEE JSAC 18(3), 2000.
.. [2] A. Kumar, E. Altman, D. Miorandi, M. Goyal, "New insights from a fixed point analysis of
   single cell IEEE 802.11 WLANs", IEEE INFOCOM, 2005.
.. [3] V. Ramaiyan, A. Kumar, E. Altman, "Fixed point analysis of single cell IEEE 802.11e WLANs:
   uniqueness and multistability", IEEE/ACM ToN 16(5), 2008.
.. [4] I. Tinnirello, G. Bianchi, Y. Xiao, "Refinements on IEEE 802.11 distributed coordination
   function modeling approaches", IEEE Trans. Veh. Technol. 59(3), 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models._check import Array, broadcast, probability, real, whole
from simoom.models.prediction import Prediction

_ITERATIONS = 200  # Newton needs about 6; pure bisection would need 50
_MOST = 1.0 - 2.0**-53  # an attempt probability of 1 would need log(0)


def backoff_slots(cw_min: ArrayLike, cw_max: ArrayLike, *, attempts: int | None = None) -> Array:
    """Return the mean back-off of each stage in slots, the slot of the attempt included.

    Stage k draws from {0, ..., CW_k} with CW_k + 1 = min(2^k (CWmin + 1), CWmax + 1)
    (802.11-2020, 10.3.3), so that b_k = CW_k / 2 + 1.

    Parameters
    ----------
    cw_min, cw_max : array_like
        Smallest and largest contention window, as in the standard (31 and 1023 for 802.11b).
    attempts : int, optional
        Number of stages; the default ends at the first stage that reaches CWmax.

    Returns
    -------
    ndarray
        Of the common shape of the windows with one axis more, the stages, at the end.

    Raises
    ------
    ValueError
        Naming the argument that is out of range.

    Examples
    --------
    >>> backoff_slots(31, 1023).tolist()
    [16.5, 32.5, 64.5, 128.5, 256.5, 512.5]
    """
    low, high = broadcast(cw_min=whole("cw_min", cw_min), cw_max=whole("cw_max", cw_max))
    if np.any(high < low):
        raise ValueError("cw_max: must not be below cw_min")
    stages = 1 + int(np.ceil(np.log2((high + 1) / (low + 1))).max(initial=0))
    if attempts is not None:
        stages = int(whole("attempts", attempts, low=1))
    window = np.minimum((low + 1)[..., None] * 2.0 ** np.arange(stages), (high + 1)[..., None])
    return (window + 1) / 2


def attempt_probability(
    collision_probability: ArrayLike, *, mean_slots: ArrayLike, forever: bool = True
) -> Array:
    """Return beta of equation (K): how often a backlogged station attempts, per slot.

    Parameters
    ----------
    collision_probability : array_like
        gamma, in [0, 1].
    mean_slots : array_like
        b_k along the last axis, each at least 1; see `backoff_slots`.
    forever : bool
        True: a frame stays in the last stage until it succeeds (Bianchi). False: it is dropped
        after as many attempts as there are stages, and the next frame starts at the first.

    Returns
    -------
    ndarray
        In (0, 1]. There is no singularity at gamma = 1/2 or 1.

    Raises
    ------
    ValueError
        Naming the argument that is out of range.

    Examples
    --------
    >>> slots = backoff_slots(31, 1023)
    >>> round(float(attempt_probability(0.5, mean_slots=slots)), 7)
    0.0176991
    """
    gamma = probability("collision_probability", collision_probability)
    mean = _stages(mean_slots)
    broadcast(collision_probability=gamma, mean_slots=mean[..., 0])
    return _rate_and_slope(gamma, mean, forever)[0]


@dataclass(frozen=True, eq=False, repr=False)
class FixedPoint(Prediction):
    """A solution of the two equations."""

    attempt_probability: Array
    """beta: a station attempts in a slot."""
    collision_probability: Array
    """gamma: an attempt collides."""


def fixed_point(stations: ArrayLike, *, mean_slots: ArrayLike, forever: bool = True) -> FixedPoint:
    """Solve for n equal stations.

    With y = -log(1 - gamma) the equation reads y = -(n-1) log(1 - G(gamma)), which stays well
    conditioned for ten thousand stations; it is solved by Newton's method inside a bracket. The
    solution is unique if b_k does not decrease with k [2].

    Parameters
    ----------
    stations : array_like
        n, whole numbers from 1.
    mean_slots, forever
        As in `attempt_probability`; the leading shape of `mean_slots` broadcasts with `stations`.

    Raises
    ------
    ValueError
        Naming the argument that is out of range.

    Examples
    --------
    >>> fixed_point(2, mean_slots=backoff_slots(31, 1023))
    FixedPoint(attempt_probability=0.0570443, collision_probability=0.0570443)
    """
    n = whole("stations", stations, low=1)
    mean = _stages(mean_slots)
    n, _ = broadcast(stations=n, mean_slots=mean[..., 0])
    beta, gamma = solve(n, mean, forever)
    return FixedPoint(beta, gamma)


def solve(n: Array, mean: Array, forever: bool) -> tuple[Array, Array]:
    """The solver without checks: `n` of the shape of the result, `mean` with one axis more."""
    first, _ = _rate_and_slope(np.zeros(n.shape), mean, forever)
    high = -(n - 1) * np.log1p(-np.minimum(first, _MOST))
    low = np.zeros(n.shape)
    y = np.minimum(high, 0.5 * np.log(np.maximum(n, 2.0)))  # about where 802.11's windows put it
    for _ in range(_ITERATIONS):
        complement = np.exp(-y)
        rate, slope = _rate_and_slope(-np.expm1(-y), mean, forever)
        rate = np.minimum(rate, _MOST)
        residual = y + (n - 1) * np.log1p(-rate)
        low = np.where(residual < 0, y, low)
        high = np.where(residual < 0, high, y)
        newton = y - residual / (1 - (n - 1) * slope * complement / (1 - rate))
        inside = (newton >= low) & (newton <= high)
        after = np.where(inside, newton, 0.5 * (low + high))
        moved = np.abs(after - y)
        y = after
        if np.all(moved <= 1e-10):  # the error of the next Newton step would be its square
            break
    gamma = -np.expm1(-y)
    return _rate_and_slope(gamma, mean, forever)[0], gamma


@dataclass(frozen=True, eq=False, repr=False)
class FrozenFixedPoint(Prediction):
    """A solution with counters that stand still while the medium is busy."""

    attempt_probability: Array
    """A station's counter runs out in an idle slot."""
    collision_probability: Array
    """Share of all attempts that fail."""
    drop_probability: Array
    """A frame fails in every stage."""
    slots_per_frame: Array
    """Idle slots from the head of the queue to delivery or drop."""


def frozen_fixed_point(
    stations: ArrayLike,
    *,
    mean_slots: ArrayLike,
    forever: bool = True,
    late_slots: ArrayLike | None = None,
) -> FrozenFixedPoint:
    """Solve for n equal stations whose counters stand still while the medium is busy.

    Stage k draws zero with probability p_k = 1/(2 b_k - 1). In stage 0 such an attempt follows the
    station's own success and cannot collide; in a later stage it follows a collision, and collides
    if the other party of that collision drew zero too, with about p_k again.

    Parameters
    ----------
    stations, mean_slots, forever
        As in `fixed_point`.
    late_slots : array_like, optional
        Slots by which the parties of a collision resume their count after everybody else (their
        response timeout against the others' DIFS). They then draw no uncontended attempt in the
        stages above 0.

    Raises
    ------
    ValueError
        Naming the argument that is out of range.

    Examples
    --------
    >>> slots = backoff_slots(15, 1023)
    >>> frozen_fixed_point(10, mean_slots=slots).collision_probability
    0.372...
    >>> fixed_point(10, mean_slots=slots).collision_probability
    0.384...
    """
    n = whole("stations", stations, low=1)
    mean = _stages(mean_slots)
    if np.any(mean[..., 0] == 1):
        raise ValueError("mean_slots: a first stage that only draws 0 leaves no idle slot to count")
    late = real("late_slots", 0.0 if late_slots is None else late_slots, low=0.0, below=np.inf)
    n, late, _ = broadcast(stations=n, late_slots=late, mean_slots=mean[..., 0])
    retry = np.arange(mean.shape[-1]) > 0
    zero = np.where(retry & (late_slots is not None), 0.0, 1 / (2 * mean - 1))
    chain = (zero, mean - 1 + late[..., None] * retry, zero**2 * retry, forever)

    def excess(y: Array) -> Array:
        beta = _frozen_sums(-np.expm1(-y), *chain)[0]
        return y + (n - 1) * np.log1p(-np.minimum(beta, _MOST))

    first = _frozen_sums(np.zeros(n.shape), *chain)[0]
    low, high = np.zeros(n.shape), -(n - 1) * np.log1p(-np.minimum(first, _MOST))
    for _ in range(64):  # bisection; `first` need not be the largest rate, hence no Newton
        middle = 0.5 * (low + high)
        left = excess(middle) < 0
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    beta, fails, drops, idle = _frozen_sums(-np.expm1(-0.5 * (low + high)), *chain)
    return FrozenFixedPoint(beta, fails, drops, idle)


def _frozen_sums(
    gamma: Array, zero: Array, idle: Array, repeat: Array, forever: bool
) -> tuple[Array, Array, Array, Array]:
    """Attempt probability, failing share, drop probability and idle slots, for one frame.

    `zero` is the probability of drawing zero by stage, `idle` the slots counted, `repeat` the
    probability of drawing zero and failing.
    """
    fail = (1 - zero) * gamma[..., None] + repeat
    reach = np.cumprod(np.concatenate([np.ones((*gamma.shape, 1)), fail], axis=-1), axis=-1)
    drops = reach[..., -1]
    reach = reach[..., :-1]
    if forever:  # the last stage repeats until it succeeds: multiply all by 1 - fail of it
        last = 1 - fail[..., -1:]
        reach = np.concatenate([reach[..., :-1] * last, reach[..., -1:]], axis=-1)
        drops = np.zeros(gamma.shape)
        done = last[..., 0]
    else:
        done = np.ones(gamma.shape)
    total, slots = reach.sum(-1), (reach * idle).sum(-1)
    share = (reach * fail).sum(-1) / total
    counted = (reach * (1 - zero)).sum(-1)
    with np.errstate(divide="ignore"):  # a last stage that always fails takes for ever
        return np.minimum(counted / slots, 1.0), share, drops, slots / done


def _rate_and_slope(gamma: Array, mean: Array, forever: bool) -> tuple[Array, Array]:
    """G(gamma) and its derivative, by Horner's rule over the stages."""
    top = bottom = top_slope = bottom_slope = np.zeros(gamma.shape)
    for k in range(mean.shape[-1] - 1, -1, -1):
        slots = mean[..., k]
        top, top_slope = 1 + gamma * top, top + gamma * top_slope
        bottom, bottom_slope = slots + gamma * bottom, bottom + gamma * bottom_slope
        if forever and k == mean.shape[-1] - 1:
            # The last stage repeats: gamma^m (1 + gamma + ...) = gamma^m / (1 - gamma). Multiply
            # both sums by 1 - gamma: the upper one becomes 1, the last term of the lower one b_m.
            bottom = slots + np.zeros(gamma.shape)
        elif forever:
            bottom = bottom - gamma * slots
            bottom_slope = bottom_slope - slots
    if forever:
        return 1 / bottom, -bottom_slope / bottom**2
    return top / bottom, (top_slope - top / bottom * bottom_slope) / bottom


def _stages(mean_slots: ArrayLike) -> Array:
    mean = real("mean_slots", mean_slots, low=1.0, below=np.inf)
    if mean.ndim == 0 or mean.shape[-1] == 0:
        raise ValueError("mean_slots: needs an axis of stages")
    return mean
