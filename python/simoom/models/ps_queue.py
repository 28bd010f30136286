"""A processor-sharing queue fed by a finite number of ON/OFF sources.

Each of M sources thinks for 1/lambda on average, then has a file of mean size E[X] in service. The
k files in service share the capacity C_k equally. The number in service is a birth-death chain

    pi_k ~ prod_{i=1..k} (M - i + 1) lambda E[X] / C_i,                                         (1)

and depends on the distributions of files and think times only through their means (insensitivity).
The mean time in service follows from Little's law with the rate at which sessions start,

    E[T] = E[k] / (lambda sum_k (M - k) pi_k).                                                  (2)

With constant C_k this is Engset's model of one server; with C_k growing up to a limit, that of
several servers.

References
----------
.. [1] J. W. Cohen, "The multiple phase service network with generalized processor sharing", Acta
   Informatica 12, 1979 (insensitivity).
.. [2] D. Miorandi, A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11
   WLANs", Computer Networks 50(1), 2006, equations (16) and (17).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from simoom.models._check import Array, broadcast, positive, whole
from simoom.models.assumption import Assumption
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    Assumption("fair_shares", "Files in service share the capacity equally at any time."),
    Assumption("time_scales", "The capacity follows the number of files in service without delay."),
    Assumption("think_after_file", "A source thinks, then waits for its file, and so on."),
)


@dataclass(frozen=True, eq=False, repr=False)
class PsQueue(Prediction):
    """The queue in equilibrium."""

    mean_delay_s: Array
    """Mean time from the start of a file's service to its end, (2)."""
    mean_active: Array
    """Mean number of files in service."""
    sessions_per_s: Array
    """Rate at which files start."""
    throughput_mbps: Array
    """Bits served per time."""
    offered_load: Array
    """M lambda E[X] / C_M."""
    active: Array = field(metadata={"axis": "active"})
    """Probability of 0, 1, ..., M files in service, (1)."""


def solve(
    sources: ArrayLike,
    *,
    think_s: ArrayLike,
    mean_bits: ArrayLike,
    capacity_mbps: ArrayLike,
) -> PsQueue:
    """Solve the queue.

    Parameters
    ----------
    sources : array_like
        M, from 1.
    think_s : array_like
        Mean think time 1 / lambda in seconds.
    mean_bits : array_like
        Mean file size E[X] in bits.
    capacity_mbps : array_like
        C_k in Mb/s. A number: the same for every k. An array: C_1, C_2, ... along its last axis, at
        least as many as there are sources; leading axes broadcast with the other arguments.

    Returns
    -------
    PsQueue

    Raises
    ------
    ValueError
        If an argument is out of range, or `capacity_mbps` has fewer entries than sources.

    Examples
    --------
    One source waits E[X] / C_1:

    >>> solve(1, think_s=10, mean_bits=1e6, capacity_mbps=2).mean_delay_s
    0.5

    Engset's two-source queue: pi ~ 1, 2a, 2a^2 with a = E[X] / (C / lambda) = 1:

    >>> solve(2, think_s=1, mean_bits=1e6, capacity_mbps=1).active
    array([0.2, 0.4, 0.4])
    """
    capacity = positive("capacity_mbps", capacity_mbps)
    count = whole("sources", sources, low=1)
    most = int(count.max(initial=1))
    if capacity.ndim == 0:
        capacity = np.broadcast_to(capacity, (most,))
    if capacity.shape[-1] < most:
        raise ValueError(
            f"capacity_mbps: has {capacity.shape[-1]} entries along its last axis, "
            f"sources needs {most}"
        )
    capacity = capacity[..., :most]
    count, think, bits, _ = broadcast(
        sources=count,
        think_s=positive("think_s", think_s),
        mean_bits=positive("mean_bits", mean_bits),
        capacity_mbps=capacity[..., 0],
    )
    capacity = np.broadcast_to(capacity, (*count.shape, most))
    k = np.arange(1.0, most + 1)
    with np.errstate(divide="ignore"):  # log(0): no more sources than M
        thinking = np.log(np.maximum(count[..., None] - k + 1, 0.0))
    step = thinking + np.log((bits / think)[..., None] / (capacity * 1e6))
    weight = np.concatenate([np.zeros((*count.shape, 1)), np.cumsum(step, axis=-1)], axis=-1)
    weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
    active = weight / weight.sum(axis=-1, keepdims=True)

    # E[k] and the rate of starts; M - E[k] would lose digits by cancellation under heavy load
    mean_active = np.sum(active[..., 1:] * k, axis=-1)
    served = np.sum(active[..., 1:] * capacity, axis=-1)
    starts = served * 1e6 / bits
    last = np.take_along_axis(capacity, count[..., None].astype(np.intp) - 1, axis=-1)[..., 0]
    return PsQueue(
        mean_delay_s=mean_active / starts,
        mean_active=mean_active,
        sessions_per_s=starts,
        throughput_mbps=served,
        offered_load=count * bits / think / (last * 1e6),
        active=active,
    )
