"""One TCP flow over 802.11n, ac, ax or be with A-MPDUs.

References
----------
.. [1] O. Sharon, Y. Alpert, "MAC level throughput comparison: 802.11ac vs. 802.11n", Physical
   Communication 12, 2014 (the cycle without TCP ACKs, see `aggregation`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simoom.models import assumption, saturation, timing, txop
from simoom.models._check import Array, broadcast, choice, whole
from simoom.models.aggregation import Ampdus, effective_throughput, mpdu_bytes
from simoom.models.fixed_point import backoff_slots, fixed_point
from simoom.models.parameters import Numbers, Parameter, Plain, takes
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
    """One TCP flow over MACs with aggregation."""

    throughput_mbps: Array
    """Application bits."""
    mpdus: Array
    """Segments in a PPDU."""
    ack_mpdus: Array
    """TCP ACKs in a PPDU."""
    round_us: Array
    """Time from one PPDU of TCP ACKs to the next."""


@dataclass(kw_only=True, eq=False)
class Flow(Ampdus):
    """A long-lived flow; `payload_bytes` is its MSS."""

    answers: Plain[str] = Parameter(
        "at_once",
        """
        "at_once": TCP ACKs are in the queue when a PPDU ends, as at a station that downloads. The
        number of contenders is then the chain of `half_duplex` with one station, 0 or 1; there are
        two data PPDUs for each PPDU of TCP ACKs. "waiting": TCP ACKs are always in the queue, as at
        an access point behind a wire of some milliseconds; there is one data PPDU for each PPDU of
        TCP ACKs.
        """,
        choice,
        allowed=("at_once", "waiting"),
    )
    delayed_ack: Numbers = Parameter(1, "Segments per TCP ACK.", whole, low=1)
    tcp_ip_bytes: Numbers = Parameter(
        52,
        "Headers of TCP and IP (52 with timestamps), which are also the size of a TCP ACK.",
        whole,
    )
    cw_min: Numbers = Parameter(15, "Smallest contention window of both.", whole)
    cw_max: Numbers = Parameter(1023, "Largest contention window of both.", whole)


@takes(Flow)
def flow(tcp: Flow) -> TcpAggregation:
    """Predict one long-lived TCP flow whose sender always has full PPDUs.

    The receiver sends all its queued TCP ACKs in one PPDU, for which it contends with the sender.
    Both directions have the same MCS.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    ns-3.37 has 70.7 Mb/s down and 67.0 Mb/s up here:

    >>> [flow(8, guard_ns=400, delayed_ack=2, max_ampdu_bytes=65535, answers=how,
    ...           round_short_guard=False).throughput_mbps for how in ("at_once", "waiting")]
    [71.2..., 67.0...]
    """
    known, at_once = timing.standard(tcp.standard), tcp.answers == "at_once"
    ack_msdu = tcp.tcp_ip_bytes + timing.LLC_BYTES
    data = effective_throughput(overhead_bytes=ack_msdu, cw_min=0, **tcp.part(Ampdus))
    per_round = 2 if at_once else 1
    count, delay = broadcast(mpdus=np.asarray(data.mpdus), delayed_ack=tcp.delayed_ack)
    acks = np.ceil(per_round * count / delay)
    ack_ppdu = timing.ppdu_us(
        timing.psdu_bytes(acks, mpdu_bytes(ack_msdu, np.ones(()), known)),
        mcs=tcp.mcs,
        standard=known.name,
        **tcp.part(timing.Format),
    )
    answer = np.asarray(data.cycle_us) - data.ppdu_us  # AIFS, SIFS and Block Ack
    point = fixed_point(2, mean_slots=backoff_slots(tcp.cw_min, tcp.cw_max))
    beta = point.attempt_probability
    won = 2 * beta * (1 - beta)
    clash = beta**2 * (np.maximum(data.ppdu_us, ack_ppdu) + known.aifs_us)
    contest = ((1 - beta) ** 2 * known.slot_us + clash) / won
    alone = tcp.cw_min / 2 * known.slot_us
    # "at_once": after a PPDU of TCP ACKs only the sender contends, then both for two successes.
    waiting = alone + 2 * contest if at_once else 2 * contest
    total = per_round * np.asarray(data.cycle_us) + ack_ppdu + answer + waiting
    throughput = 8 * per_round * count * tcp.payload_bytes / total
    return TcpAggregation(throughput, count, acks, total)


@dataclass(frozen=True, eq=False, repr=False)
class Downloads(Prediction):
    """Downloads of stations from their access point."""

    throughput_mbps: float
    """Application bits of all flows."""
    collision_probability: float
    """Probability that an attempt collides."""
    mpdus: int
    """Segments in a TXOP of the access point."""
    ack_mpdus: int
    """TCP ACKs in a TXOP of a station."""


def downloads(
    *,
    data: txop.Sender,
    acks: txop.Sender,
    payload_bytes: int,
    mean_slots: Array,
    silence_us: float,
    head_slots: float,
    slot_us: float,
    delayed_ack: int = 1,
) -> Downloads:
    """Predict long-lived downloads of any number of stations.

    The access point always has full PPDUs. The segments of a flow are together in its FIFO queue,
    because they follow TCP ACKs that came together: its TXOPs go to the same station until that has
    sent its TCP ACKs, and only these two contend. As in `flow`, there are two TXOPs of data for
    each of TCP ACKs, or fewer if a TXOP has no room for all TCP ACKs.

    Parameters
    ----------
    data, acks : Sender
        How the access point sends segments, and a station its TCP ACKs.
    payload_bytes : int
        The MSS.
    mean_slots, silence_us, head_slots, slot_us
        As in `aggregation.cell`.
    delayed_ack : int, optional
        Segments per TCP ACK.

    Examples
    --------
    >>> import dataclasses
    >>> sender = txop.Sender("11n", 1538, 7, 64, 65535, 5484.0, 2528.0, 24.0)
    >>> ack = dataclasses.replace(sender, mpdu_bytes=90)
    >>> slots = backoff_slots(15, 1023, attempts=7)
    >>> found = downloads(data=sender, acks=ack, payload_bytes=1448, mean_slots=slots,
    ...                   silence_us=103.0, head_slots=4.0, slot_us=9.0)
    >>> round(found.throughput_mbps), found.mpdus, found.ack_mpdus
    (49, 12, 24)
    """
    fresh = txop.txop(data)
    renewed = txop.txop(data, requests=True) if data.aggregates else fresh
    due = fresh.mpdus / delayed_ack  # TCP ACKs of a TXOP of data
    answer = txop.txop(acks, available=int(np.ceil(2 * due)))
    # Of the successes, those of the access point; and those that it contends for alone.
    share = min(2 / 3, answer.mpdus / (due + answer.mpdus))
    alone = max(2 * share - 1, 0.0) if share == 2 / 3 else 0.0
    point = saturation.saturation(
        [1, 2],
        mean_slots=mean_slots,
        forever=False,
        slot_us=slot_us,
        success_us=fresh.lasting_us,
        collision_us=fresh.exposed_us + silence_us,
        payload_bits=1.0,
        countdown="frozen",
        head_slots=head_slots,
    )
    lost = np.asarray(point.collision_share) + point.idle_share
    contest = fresh.lasting_us * lost / point.success_share
    again = float(np.asarray(point.collision_probability)[1]) * (share - alone)
    sent = (share - again) * fresh.mpdus + again * renewed.mpdus
    lasting = (share - again) * fresh.lasting_us + again * renewed.lasting_us
    waiting = alone * contest[0] + (1 - alone) * contest[1]
    total = lasting + (1 - share) * answer.lasting_us + float(waiting)
    collision = again / share
    return Downloads(8 * payload_bytes * sent / total, collision, fresh.mpdus, answer.mpdus)
