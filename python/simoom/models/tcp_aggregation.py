"""One TCP flow over 802.11n, ac or ax with A-MPDUs.

References
----------
.. [1] O. Sharon, Y. Alpert, "MAC level throughput comparison: 802.11ac vs. 802.11n", Physical
   Communication 12, 2014 (the cycle without TCP ACKs, see `aggregation`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, timing
from simoom.models._check import Array, broadcast, choice, whole
from simoom.models.aggregation import MAX_MPDU_BYTES, effective_throughput, mpdu_bytes, psdu_bytes
from simoom.models.fixed_point import backoff_slots, fixed_point
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_FLOW,
    assumption.FULL_PPDUS,
    assumption.FIXED_MCS,
    assumption.BLOCK_ACK,
    assumption.NO_FRAME_ERRORS,
    assumption.NO_CAPTURE,
    assumption.NO_TCP_LOSS,
    assumption.WINDOW_REACHED,
    assumption.BIANCHI_SLOTS,
)


@dataclass(frozen=True, eq=False, repr=False)
class TcpAggregation(Prediction):
    """One TCP flow over aggregating MACs."""

    throughput_mbps: Array
    """Application bits."""
    mpdus: Array
    """Segments in a PPDU."""
    ack_mpdus: Array
    """TCP ACKs in a PPDU."""
    round_us: Array
    """From one PPDU of TCP ACKs to the next."""


def flow(
    mcs: ArrayLike,
    *,
    answers: str = "at_once",
    delayed_ack: ArrayLike = 1,
    standard: str = "11ac",
    width_mhz: int = 20,
    streams: int = 1,
    guard_ns: int | None = None,
    payload_bytes: int = 1448,
    tcp_ip_bytes: int = 52,
    max_mpdus: ArrayLike | None = None,
    max_ampdu_bytes: ArrayLike | None = None,
    cw_min: int = 15,
    cw_max: int = 1023,
    round_short_guard: bool = True,
) -> TcpAggregation:
    """Predict one long-lived TCP flow whose sender always has full PPDUs.

    The receiver sends all the TCP ACKs it holds in one PPDU, and contends with the sender for it.

    Parameters
    ----------
    mcs : array_like
        Of both directions.
    answers : str
        "at_once": TCP ACKs are there when a PPDU ends, as at a station that downloads. The number
        of contenders is then the chain of `half_duplex` with one station, 0 or 1, which makes two
        data PPDUs for each one of TCP ACKs. "waiting": TCP ACKs are always there, as at an access
        point to which a wire of some milliseconds brings them: one for one.
    delayed_ack : array_like
        Segments per TCP ACK.
    payload_bytes, tcp_ip_bytes : int
        MSS, and headers of TCP and IP (52 with timestamps), which are a TCP ACK as well.
    cw_min, cw_max : int
        Of both.

    The other parameters are those of `aggregation.effective_throughput`.

    Raises
    ------
    ValueError
        Naming the argument that is out of range.

    Examples
    --------
    ns-3.37 has 70.7 Mb/s down and 67.0 Mb/s up here:

    >>> [flow(8, guard_ns=400, delayed_ack=2, max_ampdu_bytes=65535, answers=how,
    ...           round_short_guard=False).throughput_mbps for how in ("at_once", "waiting")]
    [71.2..., 67.0...]
    """
    choice("answers", answers, ("at_once", "waiting"))
    known = timing.standard(choice("standard", standard, MAX_MPDU_BYTES))
    delay = whole("delayed_ack", delayed_ack, low=1)
    data = effective_throughput(
        mcs,
        standard=standard,
        width_mhz=width_mhz,
        streams=streams,
        guard_ns=guard_ns,
        payload_bytes=payload_bytes,
        overhead_bytes=tcp_ip_bytes + timing.LLC_BYTES,
        max_mpdus=max_mpdus,
        max_ampdu_bytes=max_ampdu_bytes,
        cw_min=0,
        round_short_guard=round_short_guard,
    )
    per_round = 2 if answers == "at_once" else 1
    count, delay = broadcast(mpdus=np.asarray(data.mpdus), delayed_ack=delay)
    acks = np.ceil(per_round * count / delay)
    ack_mpdu = mpdu_bytes(np.asarray(float(tcp_ip_bytes + timing.LLC_BYTES)), np.ones(()), known)
    ack_ppdu = timing.ppdu_us(
        psdu_bytes(acks, ack_mpdu),
        standard=standard,
        mcs=mcs,
        width_mhz=width_mhz,
        streams=streams,
        guard_ns=guard_ns,
        round_short_guard=round_short_guard,
    )
    answer = np.asarray(data.cycle_us) - data.ppdu_us  # AIFS, SIFS and Block Ack
    point = fixed_point(2, mean_slots=backoff_slots(cw_min, cw_max))
    beta = point.attempt_probability
    won = 2 * beta * (1 - beta)
    clash = beta**2 * (np.maximum(data.ppdu_us, ack_ppdu) + known.aifs_us)
    contest = ((1 - beta) ** 2 * known.slot_us + clash) / won
    alone = cw_min / 2 * known.slot_us
    # At once: after a PPDU of TCP ACKs the sender is alone, then both contend for two successes.
    waiting = alone + 2 * contest if answers == "at_once" else 2 * contest
    total = per_round * np.asarray(data.cycle_us) + ack_ppdu + answer + waiting
    throughput = 8 * per_round * count * payload_bytes / total
    return TcpAggregation(throughput, count, acks, total)
