"""TCP throughput under random loss: the inverse-square-root law, and PFTK with timeouts.

References
----------
.. [1] M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
   avoidance algorithm", ACM CCR 27(3), 1997.
.. [2] J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Reno performance: a simple model
   and its empirical validation", IEEE/ACM ToN 8(2), 2000.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simoom.models._check import Array, broadcast, choice, positive, real, whole
from simoom.models.assumption import Assumption

ASSUMPTIONS = (
    Assumption("reno", "The window grows by a segment each round trip and halves on a loss."),
    Assumption("round_trip_known", "The round-trip time does not depend on the window."),
    Assumption("loss_halves_once", "Losses are independent from round to round."),
    Assumption("no_slow_start", "Slow start and fast recovery take no time."),
)


def mathis_mbps(
    loss: ArrayLike,
    *,
    rtt_ms: ArrayLike,
    mss_bytes: ArrayLike = 1460,
    segments_per_ack: ArrayLike = 1,
) -> Array:
    """Return MSS / RTT sqrt(3 / (2 b p)), the law of [1].

    Parameters
    ----------
    loss : array_like
        p, in (0, 1].
    rtt_ms, mss_bytes : array_like
        Round-trip time and segment size.
    segments_per_ack : array_like
        b: 2 with delayed ACK.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> float(mathis_mbps(0.019683, rtt_ms=254.908).round(4))
    0.4
    """
    p, rtt, mss, b = broadcast(
        loss=real("loss", loss, above=0.0, high=1.0),
        rtt_ms=positive("rtt_ms", rtt_ms),
        mss_bytes=positive("mss_bytes", mss_bytes),
        segments_per_ack=real("segments_per_ack", segments_per_ack, low=1.0),
    )
    return 8 * mss / (1000 * rtt) * np.sqrt(1.5 / (b * p))


def implied_rtt_ms(
    loss: ArrayLike,
    *,
    goodput_mbps: ArrayLike,
    mss_bytes: ArrayLike = 1460,
    segments_per_ack: ArrayLike = 1,
) -> Array:
    """Return the round-trip time at which `mathis_mbps` gives a measured goodput.

    Examples
    --------
    >>> float(implied_rtt_ms(0.019683, goodput_mbps=0.40).round(1))
    254.9
    """
    at_one = mathis_mbps(loss, rtt_ms=1.0, mss_bytes=mss_bytes, segments_per_ack=segments_per_ack)
    return at_one / positive("goodput_mbps", goodput_mbps)


def pftk_mbps(
    loss: ArrayLike,
    *,
    rtt_ms: ArrayLike,
    rto_ms: ArrayLike = 1000.0,
    mss_bytes: ArrayLike = 1460,
    segments_per_ack: ArrayLike = 1,
    window_segments: ArrayLike = np.inf,
    form: str = "full",
) -> Array:
    """Return the sending rate of TCP Reno by [2], including timeouts.

    Parameters
    ----------
    loss : array_like
        p, the probability of a loss indication per segment, in [0, 1); with 0 the receive window
        limits the rate.
    rtt_ms, rto_ms : array_like
        Round-trip time, and the first retransmission timeout T_0.
    mss_bytes, segments_per_ack : array_like
        Segment size and b.
    window_segments : array_like
        W_m, the receiver's limit; infinity by default.
    form : str
        "full": (32) of [2]. "simple": (33).

    Returns
    -------
    ndarray
        Mb/s.

    Raises
    ------
    ValueError
        If an argument is out of range, or p = 0 and no window limits the rate.

    Examples
    --------
    >>> pftk_mbps(0.02, rtt_ms=100, rto_ms=400, form="simple").round(3).item()
    0.856
    """
    choice("form", form, ("full", "simple"))
    p, rtt, rto, mss, b, most = broadcast(
        loss=real("loss", loss, low=0.0, below=1.0),
        rtt_ms=positive("rtt_ms", rtt_ms),
        rto_ms=positive("rto_ms", rto_ms),
        mss_bytes=positive("mss_bytes", mss_bytes),
        segments_per_ack=whole("segments_per_ack", segments_per_ack, low=1),
        window_segments=real("window_segments", window_segments, low=1.0),
    )
    if np.any((p == 0) & np.isinf(most)):
        raise ValueError("loss: is 0 while window_segments sets no limit")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = (_simple if form == "simple" else _full)(p, rtt, rto, b, most)
    return np.where(p == 0, most / rtt, rate) * mss * 8 / 1000


def _simple(p: Array, rtt: Array, rto: Array, b: Array, most: Array) -> Array:
    """Segments per millisecond, (33) of [2]."""
    timeouts = rto * np.minimum(1.0, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    segment_ms: Array = rtt * np.sqrt(2 * b * p / 3) + timeouts
    return np.minimum(most / rtt, 1 / segment_ms)


def _full(p: Array, rtt: Array, rto: Array, b: Array, most: Array) -> Array:
    """Segments per millisecond, (32) of [2]."""
    third = (2 + b) / (3 * b)
    window = third + np.sqrt(8 * (1 - p) / (3 * b * p) + third**2)  # E[W], (13)
    limited = window >= most
    w = np.where(limited, most, window)
    kept = 1 - p
    # Probability that a loss in a window of w ends in a timeout, (24); below 1 by construction.
    losing = -np.expm1(w * np.log1p(-p))
    timeout = (1 - kept**3) * (1 + kept**3 * (1 - kept ** np.maximum(w - 3, 0.0))) / losing
    timeout = np.minimum(1.0, timeout)
    backoffs = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6  # f(p), (29)
    sent = kept / p + w + timeout / kept
    free = rtt * (b / 2 * w + 1)
    held = rtt * (b / 8 * w + kept / (p * w) + 2)
    rate: Array = sent / (np.where(limited, held, free) + timeout * rto * backoffs / kept)
    return rate
