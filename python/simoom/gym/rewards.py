"""Rewards: functions of what a step measured.

A reward takes a `Step` and returns a number, or for a vector of environments an array of one number
for each. The same function serves both if it is written with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simoom.gym.simulations import Step

Reward = Callable[["Step"], Any]
"""What a step is worth: a float, or an array of the shape (environments,)."""


def goodput(step: Step) -> NDArray[np.float64]:
    """Return the goodput of all flows in Mb/s.

    Returns
    -------
    ndarray of float
        Needs ``total.goodput_mbps``.
    """
    return step["total.goodput_mbps"]


def proportional_fairness(step: Step) -> NDArray[np.float64]:
    """Return the sum of the logarithms of the flows' goodputs, each with 0.01 Mb/s added.

    Returns
    -------
    ndarray of float
        Needs ``flows[*].goodput_mbps``. The allocation that maximises it is proportionally fair
        (Kelly, "Charging and rate control for elastic traffic", 1997).
    """
    total: NDArray[np.float64] = np.log(step["flows[*].goodput_mbps"] + 0.01).sum(axis=-1)
    return total


def goodput_and_delay(per_s: float = 10.0) -> Reward:
    """Return a reward: goodput in Mb/s less the smoothed round-trip times of the flows, weighted.

    Parameters
    ----------
    per_s : float
        The goodput in Mb/s that a second of the mean round-trip time is worth.

    Returns
    -------
    callable
        Needs ``total.goodput_mbps`` and ``flows[*].srtt_s``.
    """

    def reward(step: Step) -> NDArray[np.float64]:
        worth: NDArray[np.float64] = step["total.goodput_mbps"] - per_s * step[
            "flows[*].srtt_s"
        ].mean(axis=-1)
        return worth

    return reward
