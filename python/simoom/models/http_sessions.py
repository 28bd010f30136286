"""Short TCP sessions over 802.11b: set-up, transfer, and sharing of the cell.

The second half of [1], equations (13) to (17), based on the throughput of `http_queueing`. For each
correction of a printed equation there is an option with the value "printed".

References
----------
.. [1] D. Miorandi, A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11
   WLANs", Computer Networks 50(1), 2006.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import http_queueing, ps_queue
from simoom.models._check import Array, broadcast, choice, not_negative, positive, real, whole
from simoom.models.http_queueing import TABLE_1, Cell, tcp_throughput
from simoom.models.parameters import REQUIRED, Numbers, Parameter, Plain, takes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (*http_queueing.ASSUMPTIONS, *ps_queue.ASSUMPTIONS)


def session_delay(
    file_bytes: ArrayLike,
    *,
    delayed_ack: ArrayLike = 1,
    delack_timeout_ms: ArrayLike = 0.0,
    cell: Cell = TABLE_1,
    setup: str = "printed",
    last_packet: str = "short",
    last_ack: str = "charged",
) -> Array:
    """Return the delay of one session alone in the cell with W* = d, (14), in seconds.

    Parameters
    ----------
    file_bytes : array_like
        X, from 1.
    delayed_ack : array_like
        d; (14) is the case 1.
    delack_timeout_ms : array_like
        Delay of the last TCP ACK if the number of segments is not a multiple of d.
    setup : str
        "printed" or "protected", see `Cell.setup_us`.
    last_packet : str
        "short", as in (14), or "full": padded, as ns-2 does.
    last_ack : str
        "charged", as in (14): the delay includes it; or "free": the session ends with the last
        segment.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> float(session_delay(30_000).round(6))
    0.108325
    """
    choice("last_packet", last_packet, ("short", "full"))
    choice("last_ack", last_ack, ("charged", "free"))
    size, d, timeout = broadcast(
        file_bytes=positive("file_bytes", file_bytes),
        delayed_ack=whole("delayed_ack", delayed_ack, low=1),
        delack_timeout_ms=not_negative("delack_timeout_ms", delack_timeout_ms),
    )
    segments = np.ceil(8 * size / cell.payload_bits)
    backoff = cell.first_backoff_us
    total = cell.setup_us(setup) + segments * (cell.data_us + backoff)
    total = total + np.ceil(segments / d) * (cell.ack_us + backoff)
    if last_packet == "short":
        total = total - (segments * cell.payload_bits - 8 * size) / cell.data_mbps
    if last_ack == "free":
        return (total - cell.ack_us - backoff) / 1e6
    return (total + np.where(segments % d > 0, 1000 * timeout, 0.0)) / 1e6


def expected_segments(
    mean_bytes: ArrayLike, *, shape: ArrayLike = 1.5, cell: Cell = TABLE_1
) -> Array:
    """Return E[ceil(X / L)] for Pareto files, exactly: sum_k P(X > k L) is a Hurwitz zeta.

    Examples
    --------
    >>> float(expected_segments(30_000).round(4))
    30.5125
    """
    from scipy.special import zeta

    mean, alpha = broadcast(
        mean_bytes=positive("mean_bytes", mean_bytes),
        shape=real("shape", shape, above=1.0, below=np.inf),
    )
    scale = mean * (1 - 1 / alpha) * 8 / cell.payload_bits  # the smallest file, in segments
    sure = np.ceil(scale)
    return np.asarray(sure + scale**alpha * zeta(alpha, sure))


def mean_session_delay(
    mean_bytes: ArrayLike,
    *,
    shape: ArrayLike | None = None,
    cell: Cell = TABLE_1,
    setup: str = "printed",
    last_packet: str = "short",
) -> Array:
    """Return the mean delay of a session alone in the cell, in seconds.

    Parameters
    ----------
    mean_bytes : array_like
        E[X].
    shape : array_like, optional
        Shape of a Pareto distribution, for the expectation of (14). Without it, the affine (15).
    setup, last_packet
        As in `session_delay`.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    The paper's Table 2 says 0.1095, its simulation 0.1099:

    >>> float(mean_session_delay(30_000)), float(mean_session_delay(30_000, shape=1.5))
    (0.10832..., 0.10977...)
    """
    choice("last_packet", last_packet, ("short", "full"))
    size = positive("mean_bytes", mean_bytes)
    segments = 8 * size / cell.payload_bits
    if shape is None:
        return (cell.setup_us(setup) + segments * cell.cycle_us) / 1e6
    packets = expected_segments(size, shape=shape, cell=cell)
    saved = (packets - segments) * cell.payload_bits / cell.data_mbps
    total = cell.setup_us(setup) + packets * cell.cycle_us
    return (total - (saved if last_packet == "short" else 0.0)) / 1e6


@dataclass(frozen=True, eq=False, repr=False)
class WebCell(Prediction):
    """Sessions of ON/OFF sources that share the cell."""

    mean_delay_s: Array
    """E[T_session], (17)."""
    mean_active: Array
    """Mean number of sessions in progress, without set-up."""
    offered_load: Array
    """Load: sources times rate times size, divided by the capacity with all sources active."""
    active: Array = field(metadata={"axis": "active"})
    """Probability of 0, 1, 2, ... sessions in progress, (16)."""


@dataclass(eq=False)
class Sessions(http_queueing.Reading, http_queueing.Backlog):
    """Hosts that alternate between downloads and think times."""

    stations: Numbers = Parameter(
        REQUIRED,
        "Hosts, from 1; the paper's n counts the access point as well and is one more.",
        whole,
        low=1,
    )
    _: KW_ONLY
    think_s: Numbers = Parameter(REQUIRED, "Mean think time 1 / lambda.", positive)
    mean_bytes: Numbers = Parameter(REQUIRED, "Mean file size E[X].", positive)
    delayed_ack: Plain[int] = Parameter(1, "d = W*.")
    c1: Plain[str] = Parameter(
        "corrected",
        """
        Capacity with one session. "corrected": L divided by the cycle without contention, which
        W* = 1 implies. "printed": S_TCP(1, 1), which has two contenders.
        """,
        choice,
        allowed=("corrected", "printed"),
    )
    arrivals: Plain[str] = Parameter(
        "corrected",
        """
        "corrected": sessions start at lambda times the mean number of thinking hosts. "printed":
        lambda sum (k+1) pi_k, which makes the delay about n - 1 times too long.
        """,
        choice,
        allowed=("corrected", "printed"),
    )
    setup: Plain[str] = Parameter("printed", "As in `Cell.setup_us`.")


@takes(Sessions)
def web_cell(at: Sessions) -> WebCell:
    """Predict the mean delay of web sessions, (16) and (17).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> web_cell([1, 10, 30], think_s=10, mean_bytes=30_000).mean_delay_s.round(4)
    array([0.1083, 0.1185, 0.1501])
    """
    cell, count, think = at.cell, at.stations, at.think_s
    d = float(whole("delayed_ack", at.delayed_ack, low=1))
    capacity = np.atleast_1d(
        tcp_throughput(
            np.arange(1, int(count.max(initial=1)) + 1),
            delayed_ack=d,
            **at.part(http_queueing.Reading),
            **at.part(http_queueing.Backlog),
        ).total_mbps
    ).copy()
    if at.c1 == "corrected":
        backoff_us = cell.first_backoff_us
        capacity[0] = cell.payload_bits / (
            cell.data_us + backoff_us + (cell.ack_us + backoff_us) / d
        )
    queue = ps_queue.solve(
        count,
        think_s=think,
        mean_bits=8 * at.mean_bytes,
        capacity_mbps=capacity,
    )
    delay = np.asarray(queue.mean_delay_s)
    if at.arrivals == "printed":
        below = queue.active[..., :-1] * np.arange(1.0, queue.active.shape[-1])
        states = np.arange(queue.active.shape[-1] - 1) < count[..., None]
        delay = queue.mean_active * think / np.sum(below * states, axis=-1)
    return WebCell(
        mean_delay_s=cell.setup_us(at.setup) / 1e6 + delay,
        mean_active=queue.mean_active,
        offered_load=queue.offered_load,
        active=queue.active,
    )
