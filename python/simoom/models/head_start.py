"""Saturated classes under EDCA of which those that have collided count slots before all others.

After a collision the others defer for an EIFS, and those who have collided only for a timeout
(10.3.2.3.7 and 10.3.2.11). In the slots between, only they attempt, with draws of 0 to h, where h
is the head start in whole slots: only the other one of two that collided can disturb that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simoom.models._check import Array

_ITERATIONS = 2000


@dataclass(frozen=True)
class Member:
    """One member of a class, by slots that all count."""

    attempts: float
    """Attempts in such a slot."""
    collision: float
    """Probability that such an attempt collides."""
    early: float
    """Attempts within a head start."""
    repeats: float
    """Those among these of two that collide again."""
    visits: Array
    """Attempts of each stage of back-off, for one of the first."""
    ahead: int
    """Draws within the head start, of all stages but the first."""

    @property
    def collided(self) -> float:
        """Of all its attempts, those that collide."""
        return (self.attempts * self.collision + self.repeats) / (self.attempts + self.early)


def members(n: Sequence[int], curves: Sequence[Array], head_slots: float) -> list[Member]:
    """Return a member of each class.

    Parameters
    ----------
    n : sequence of int
        Members of each class.
    curves : sequence of array
        Mean back-offs of each, see `fixed_point.backoff_slots`; after the last stage a packet is
        given up.
    head_slots : float
        Slots by which those who have collided count before all others; none if negative.

    Examples
    --------
    Without a head start it is the fixed point of Bianchi:

    >>> from simoom.models import fixed_point
    >>> slots = fixed_point.backoff_slots(15, 1023)
    >>> (one,) = members([10], [slots], -1.0)
    >>> same = fixed_point.fixed_point(10, mean_slots=slots, forever=False)
    >>> abs(one.collision - float(same.collision_probability)) < 1e-9
    True
    >>> (ahead,) = members([10], [slots], 5.7)
    >>> round(ahead.early / ahead.attempts, 3), round(ahead.collided, 3)
    (0.061, 0.394)
    """
    ahead = max(int(np.floor(head_slots)) + 1, 0)
    collision = np.full(len(curves), 0.3)
    for _ in range(_ITERATIONS):
        pairs = zip(collision, curves, strict=True)
        found = [_member(float(each), curve, ahead) for each, curve in pairs]
        silent = np.array([1 - each.attempts for each in found])
        after = 1 - np.prod(silent ** np.asarray(n)) / silent
        if np.all(np.abs(after - collision) < 1e-12):
            break
        collision = 0.5 * (collision + after)
    return found


def _member(collision: float, mean_slots: Array, ahead: int) -> Member:
    windows = 2 * np.asarray(mean_slots, dtype=np.float64) - 1
    draws = np.minimum(np.where(np.arange(windows.size) > 0, ahead, 0), windows)
    rest = windows - draws
    counted = rest * (rest + 1) / 2 / windows
    early, repeats = draws / windows, draws / windows**2
    fails = (1 - early) * collision + repeats
    visits = np.cumprod(np.concatenate([[1.0], fails[:-1]]))
    slots = float((visits * counted).sum())
    return Member(
        float((visits * (1 - early)).sum()) / slots,
        collision,
        float((visits * early).sum()) / slots,
        float((visits * repeats).sum()) / slots,
        visits,
        ahead,
    )
