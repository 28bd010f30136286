"""A TCP flow between two nodes whose frames are corrupted: contention with retries.

The sender of segments always has one to send. The receiver has a TCP ACK for every d segments, and
contends while it has one. An attempt that does not collide is corrupted with a probability that
depends on its duration; the back-off then doubles as after a collision [1].

References
----------
.. [1] G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE
   Journal on Selected Areas in Communications 18(3), 2000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, bluetooth
from simoom.models._check import Array, broadcast, positive, probability, whole
from simoom.models.fixed_point import backoff_slots
from simoom.models.half_duplex import CellTimes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    *(each for each in bluetooth.ASSUMPTIONS if each is not assumption.ONE_SENDER),
    assumption.ONE_FLOW,
    assumption.PERSISTENT_FLOWS,
    assumption.DECOUPLED,
    assumption.Assumption("sender_backlogged", "The sender of segments always has one to send."),
)

_ITERATIONS = 200
_MOST = 1 - 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class TcpCorruption(Prediction):
    """A TCP flow between two nodes."""

    goodput_mbps: Array
    """Application bits that arrive."""
    collision_probability: Array
    """Fraction of attempts that collide."""
    receiver_contends: Array
    """Fraction of successes at which the receiver has a TCP ACK to send."""
    segment_loss: Array
    """Probability that the MAC discards a segment at its retry limit."""


def tcp_goodput(
    data_corruption: ArrayLike,
    ack_corruption: ArrayLike,
    *,
    times: CellTimes,
    delayed_ack: ArrayLike = 1,
    cw_min: int = 31,
    cw_max: int = 1023,
    attempts: int = 7,
) -> TcpCorruption:
    """Predict the goodput of a TCP flow.

    Parameters
    ----------
    data_corruption, ack_corruption : array_like
        Probability that an attempt at a segment, or at a TCP ACK, fails without a collision.
    times : half_duplex.CellTimes
        Durations; a corrupted frame takes the time of a collision of its kind.
    delayed_ack : array_like
        Segments per TCP ACK.
    cw_min, cw_max : int
        Contention window of both nodes.
    attempts : int
        Attempts at a frame.

    Returns
    -------
    TcpCorruption

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Notes
    -----
    Let a and b be the probabilities of a success of sender and receiver in a slot in which both
    contend. The receiver contends at a fraction p of all successes. Its successes are 1/d of the
    sender's: p b / (a + b) = (1 - p b / (a + b)) / d.

    Examples
    --------
    >>> from simoom.models.half_duplex import cell_times
    >>> times = cell_times(standard="11b", rate_mbps=11)
    >>> tcp_goodput([0.0, 0.254], [0.0, 0.12], times=times, delayed_ack=2).goodput_mbps.round(2)
    array([5.1 , 3.62])
    """
    names = CellTimes.__dataclass_fields__
    lost_data, lost_ack, delay, slot, data, ack, data_us, ack_us, bits = broadcast(
        data_corruption=probability("data_corruption", data_corruption),
        ack_corruption=probability("ack_corruption", ack_corruption),
        delayed_ack=whole("delayed_ack", delayed_ack, low=1),
        **{name: positive(name, getattr(times, name)) for name in names},
    )
    # Where no attempt succeeds, the goodput is that of one in 10^12.
    lost_data, lost_ack = np.minimum(lost_data, _MOST), np.minimum(lost_ack, _MOST)
    mean = backoff_slots(cw_min, cw_max, attempts=attempts)
    alone = _rate(lost_data, mean)
    down, up = _both_contend(lost_data, lost_ack, mean)
    only_down, only_up, both = down * (1 - up), up * (1 - down), down * up
    sent, answered = only_down * (1 - lost_data), only_up * (1 - lost_ack)
    turn = answered / (sent + answered)  # of the receiver, while both contend
    contends = 1 / (turn * (1 + delay))
    wasted = (1 - down) * (1 - up) * slot + both * np.maximum(data_us, ack_us)
    wasted += only_down * lost_data * data_us + only_up * lost_ack * ack_us
    together = wasted / (sent + answered) + (1 - turn) * data + turn * ack
    single = ((1 - alone) * slot + alone * lost_data * data_us) / (alone * (1 - lost_data)) + data
    round_us = contends * together + (1 - contends) * single
    tries = (down + up) / (sent + answered) * contends + (1 - contends) / (1 - lost_data)
    return TcpCorruption(
        goodput_mbps=bits * delay / (1 + delay) / round_us,
        collision_probability=2 * both / (sent + answered) * contends / tries,
        receiver_contends=contends,
        segment_loss=lost_data**attempts,
    )


def _rate(failure: Array, mean: Array) -> Array:
    """Attempts per slot of a node whose attempts fail with this probability."""
    reach = failure[..., None] ** np.arange(mean.size)
    rate: Array = reach.sum(axis=-1) / (reach * mean).sum(axis=-1)
    return rate


def _both_contend(lost_data: Array, lost_ack: Array, mean: Array) -> tuple[Array, Array]:
    """Attempts per slot of sender and receiver while both contend, by damped iteration."""
    down = up = np.full(lost_data.shape, 1 / mean[0])
    for _ in range(_ITERATIONS):
        down, up = (
            (down + _rate(1 - (1 - up) * (1 - lost_data), mean)) / 2,
            (up + _rate(1 - (1 - down) * (1 - lost_ack), mean)) / 2,
        )
    return down, up
