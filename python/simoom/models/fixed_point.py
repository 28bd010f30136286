"""The fixed point of attempt and collision probability, for any sequence of mean back-offs.

Kumar, Altman, Miorandi and Goyal reduce Bianchi's chain to one equation. A station that counts b_k
slots on average before its k-th retry (including the slot of the attempt) attempts in a slot with
probability

    beta = G(gamma) = sum_k gamma^k / sum_k gamma^k b_k                                         (K)

and among n such stations an attempt collides with gamma = 1 - (1 - beta)^(n-1).

In (K) a busy period counts as one slot of every back-off. In the standard the counters are frozen
in a busy period. A station that draws zero after its own transmission therefore transmits first and
without contention. `frozen_fixed_point` counts only idle slots and treats those attempts
separately, as [4] does.

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
    """Return the mean back-off of each stage in slots, including the slot of the attempt.

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
        The common shape of the windows with an additional last axis, the stages.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

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
    """Return beta of equation (K): the probability that a backlogged station attempts in a slot.

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
        If an argument is out of range; the message names it.

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
    """beta: the probability that a station attempts in a slot."""
    collision_probability: Array
    """gamma: the probability that an attempt collides."""


def fixed_point(stations: ArrayLike, *, mean_slots: ArrayLike, forever: bool = True) -> FixedPoint:
    """Solve for n equal stations.

    With y = -log(1 - gamma) the equation is y = -(n-1) log(1 - G(gamma)), which is well conditioned
    for up to ten thousand stations. It is solved by Newton's method inside a bracket. The solution
    is unique if b_k does not decrease with k [2].

    Parameters
    ----------
    stations : array_like
        n, whole numbers from 1.
    mean_slots, forever
        As in `attempt_probability`; the leading shape of `mean_slots` broadcasts with `stations`.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

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
    """The solver without checks: `n` has the shape of the result, `mean` one axis more."""
    first, _ = _rate_and_slope(np.zeros(n.shape), mean, forever)
    high = -(n - 1) * np.log1p(-np.minimum(first, _MOST))
    low = np.zeros(n.shape)
    y = np.minimum(high, 0.5 * np.log(np.maximum(n, 2.0)))  # near 802.11's solution
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
    """A solution with counters that are frozen while the medium is busy."""

    attempt_probability: Array
    """Probability that a station's counter reaches zero in a slot that all stations count."""
    collision_probability: Array
    """Fraction of all attempts that fail."""
    drop_probability: Array
    """Probability that a frame fails in every stage."""
    slots_per_frame: Array
    """Slots counted from the head of the queue to delivery or drop."""
    repeats_per_frame: Array
    """Repeated collisions of a frame with the same station, before other stations count."""
    saved_slots: Array
    """Time by which the silence after a collision ends early: a colliding station transmits."""
    first_failure_probability: Array
    """Probability that the first attempt at a frame fails."""
    failures_per_frame: Array
    """Failed attempts at a frame; of the last stage only one if it repeats."""


def frozen_fixed_point(
    stations: ArrayLike,
    *,
    mean_slots: ArrayLike,
    forever: bool = True,
    head_slots: ArrayLike = 0.0,
) -> FrozenFixedPoint:
    """Solve for n equal stations whose counters are frozen while the medium is busy.

    If a station draws a value within its head start, only the other station of the last collision
    can disturb its attempt. In stage 0, after a station's own success, this is only a draw of zero.
    In later stages, with windows of W_k = 2 b_k - 1 values and two colliding stations, these are
    h + 1 draws, where h is the head start in whole slots. Both stations draw the same of them with
    probability (h + 1) / W_k^2.

    Parameters
    ----------
    stations, mean_slots, forever
        As in `fixed_point`.
    head_slots : array_like
        Slots by which the colliding stations resume their countdown before all others. If negative,
        they resume later and have no uncontended draw.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

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
        raise ValueError("mean_slots: a first stage that only draws 0 has no idle slot to count")
    head = real("head_slots", head_slots, above=-np.inf, below=np.inf)
    n, head, _ = broadcast(stations=n, head_slots=head, mean_slots=mean[..., 0])
    window = np.broadcast_to(2 * mean - 1, (*n.shape, mean.shape[-1]))
    retry = np.arange(window.shape[-1]) > 0
    ahead = np.where(retry, np.floor(head)[..., None], 0.0)  # h
    first = np.clip(ahead + 1, 0, window)  # draws within the head start
    rest = np.maximum(window - ahead - 1, 0.0)
    counted = np.where(
        ahead < 0, (window - 1) / 2 - head[..., None], rest * (rest + 1) / 2 / window
    )
    repeat = np.where(retry, first / window**2, 0.0)
    chain = _Frozen(first / window, counted, repeat, forever)

    def excess(y: Array) -> Array:
        beta = chain.sums(y)[0]
        return y + (n - 1) * np.log1p(-np.minimum(beta, _MOST))

    low, high = np.zeros(n.shape), -(n - 1) * np.log1p(-_MOST)
    for _ in range(80):  # bisection, because the rate may increase with gamma
        middle = 0.5 * (low + high)
        left = excess(middle) < 0
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    y = 0.5 * (low + high)
    beta, fails, drops, slots, repeats = chain.sums(y)
    others = 1 - (1 - beta) ** (n - 1)
    clash = 1 - (1 - beta) ** n - n * beta * (1 - others)
    parties = np.where(clash > 0, n * beta * others / np.where(clash > 0, clash, 1.0), 2.0)
    saved = chain.saved(y, window, head, parties)
    failures, visits, _, _ = chain.reach(y)
    by_frame = (visits * failures).sum(-1)
    return FrozenFixedPoint(beta, fails, drops, slots, repeats, saved, failures[..., 0], by_frame)


@dataclass(frozen=True)
class _Frozen:
    """Stages of the frozen countdown, along the last axis; y is -log(1 - gamma)."""

    first: Array
    """Probability of a draw within the head start."""
    counted: Array
    """Mean slots that all stations count."""
    repeat: Array
    """Probability that both colliding stations draw the same value within the head start."""
    forever: bool

    def reach(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Failure probability and visits by stage, drops, and frames to which the visits belong.

        The visits are those of one frame. If the last stage repeats, they are those of 1 - fail_m
        frames, which is finite even if every attempt fails.
        """
        fail = (1 - self.first) * -np.expm1(-y)[..., None] + self.repeat
        visits = np.cumprod(np.concatenate([np.ones((*y.shape, 1)), fail], axis=-1), axis=-1)
        drops, visits = visits[..., -1], visits[..., :-1]
        if not self.forever:
            return fail, visits, drops, np.ones(y.shape)
        first, repeat = self.first[..., -1:], self.repeat[..., -1:]
        last = first + (1 - first) * np.exp(-y)[..., None] - repeat  # 1 - fail, not cancelling
        visits = np.concatenate([visits[..., :-1] * last, visits[..., -1:]], axis=-1)
        return fail, visits, np.zeros(y.shape), last[..., 0]

    def sums(self, y: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Attempt probability; fraction of failures, drops, slots and repeats of a frame."""
        fail, visits, drops, frames = self.reach(y)
        slots = (visits * self.counted).sum(-1)
        common = (visits * (1 - self.first)).sum(-1) / slots
        share = (visits * fail).sum(-1) / visits.sum(-1)
        repeats = (visits * self.repeat).sum(-1)
        with np.errstate(divide="ignore", over="ignore"):  # every attempt fails
            slots = slots / frames
        repeats = np.where(repeats > 0, repeats / np.where(repeats > 0, frames, 1.0), 0.0)
        return np.minimum(common, 1.0), share, drops, slots, repeats

    def saved(self, y: Array, window: Array, head: Array, parties: Array) -> Array:
        """H - E[min(w_1, ..., w_j, H)] for the next draws of j parties and a head start of H."""
        visits = self.reach(y)[1]
        ended = visits * (1 - self.first)
        after = np.concatenate([window[..., 1:], window[..., -1:]], axis=-1)
        total = np.where(ended.sum(-1) > 0, ended.sum(-1), 1.0)
        one = (ended / after).sum(-1) / total  # probability of each value of a draw
        start = np.maximum(head, 0.0)
        step = np.arange(np.floor(start.max(initial=0.0)) + 1)
        length = np.clip(start[..., None] - step, 0.0, 1.0)
        above = np.maximum(1 - (step + 1) * one[..., None], 0.0) ** parties[..., None]
        return np.where(y > 0, start - (length * above).sum(-1), 0.0)


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
