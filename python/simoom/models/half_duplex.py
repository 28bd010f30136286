"""Long-lived TCP flows in a half-duplex cell.

The access point always has a packet. A station has one only while it holds a TCP ACK (or, if it
uploads, a segment) that the last packets of the access point caused. The number n of contending
stations, observed at successes, is then a birth-death chain. With n + 1 equal contenders the access
point succeeds with probability 1/(n+1), after which one more station contends. A station succeeds
with probability n/(n+1), after which one less contends:

    pi(n) ~ (n+1) z^n / n!                                                                      (1)

where z is the number of packets that stations send for each packet of the access point: 1 without
delayed ACK, so that 1.5 stations contend on average, for any number of stations. With a delayed ACK
every d segments, and a fraction u of the access point's packets that are TCP ACKs of uploads,

    z = (1-u)/d + u d.                                                                          (2)

References
----------
.. [1] R. Bruno, M. Conti, E. Gregori, "Analytical modeling of TCP clients in Wi-Fi hot spot
   networks", Networking 2004 (the construction; rebuilt here, not copied).
.. [2] G. Kuriakose, S. Harsha, A. Kumar, V. Sharma, "Analytical models for capacity estimation of
   IEEE 802.11 WLANs using DCF for Internet applications", Wireless Networks 15(2), 2009.
.. [3] V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel implications
   of the AP's new capability".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, timing
from simoom.models._check import Array, broadcast, choice, positive, probability, real, whole
from simoom.models.fixed_point import backoff_slots, solve
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_CELL,
    assumption.NO_FRAME_ERRORS,
    assumption.NO_CAPTURE,
    assumption.PERSISTENT_FLOWS,
    assumption.ONE_FLOW_PER_STATION,
    assumption.NO_TCP_LOSS,
    assumption.WINDOW_REACHED,
    assumption.FAST_WIRE,
    assumption.NO_AGGREGATION,
    assumption.BIANCHI_SLOTS,
    assumption.Assumption(
        "many_stations",
        "Each packet of the access point goes to a station that has none (four or more stations).",
    ),
    assumption.Assumption("access_point_backlogged", "The access point always has a packet."),
)


@dataclass(frozen=True)
class CellTimes:
    """The durations of the frame exchanges of a cell; every field may be an array."""

    slot_us: ArrayLike
    data_us: ArrayLike
    """Exchange that carries a TCP segment, including DIFS."""
    ack_us: ArrayLike
    """Exchange that carries a TCP ACK, including DIFS."""
    data_collision_us: ArrayLike
    """A collision of segments only, and the silence after it."""
    ack_collision_us: ArrayLike
    """A collision of TCP ACKs only; a mixed collision takes the longer of the two times."""
    payload_bits: ArrayLike
    """Application bits in a segment."""


def cell_times(
    *,
    standard: str = "11a",
    payload_bytes: ArrayLike = 1448,
    tcp_ip_bytes: int = 52,
    rts: str = "none",
    collision: str = "eifs",
    rate_mbps: ArrayLike | None = None,
    control_mbps: ArrayLike | None = None,
) -> CellTimes:
    """Return the durations of a cell with TCP and without aggregation.

    Parameters
    ----------
    standard : str
        "11b", "11a" or "11g"; n, ac, ax and be with single frames.
    payload_bytes : array_like
        The MSS.
    tcp_ip_bytes : int
        Headers of TCP and IP, which are also the size of a TCP ACK: 52 with timestamps.
    rts : str
        "none", "data" (before segments only) or "all".
    collision : str
        The silence of all nodes after a collision: "eifs", "timeout" or "difs", see
        `saturation.bianchi`.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> times = cell_times(standard="11b", rate_mbps=11)
    >>> float(times.data_us), float(times.ack_us)
    (1618.0, 564.0)
    """
    known = timing.standard(standard)
    choice("rts", rts, ("none", "data", "all"))
    payload = whole("payload_bytes", payload_bytes, low=1)
    around = tcp_ip_bytes + timing.LLC_BYTES + known.mac_header_bytes + timing.FCS_BYTES
    silences = timing.silences_us(standard)
    after = silences[choice("collision", collision, silences)]
    data, ack = (
        timing.exchange(
            size,
            standard=standard,
            rts=shield,
            rate_mbps=rate_mbps,
            control_mbps=control_mbps,
        )
        for size, shield in ((payload + around, rts != "none"), (around, rts == "all"))
    )
    return CellTimes(
        slot_us=known.slot_us,
        data_us=data.success_us,
        ack_us=ack.success_us,
        data_collision_us=np.asarray(data.exposed_us) + after,
        ack_collision_us=np.asarray(ack.exposed_us) + after,
        payload_bits=8 * payload,
    )


@dataclass(frozen=True, eq=False, repr=False)
class HalfDuplex(Prediction):
    """A half-duplex cell with one long-lived flow per station."""

    total_mbps: Array
    """Application bits of all flows."""
    download_mbps: Array
    upload_mbps: Array
    collision_probability: Array
    """Probability that an attempt of any node collides."""
    mean_contenders: Array
    """Mean number of contending stations at a success, without the access point."""
    contenders: Array = field(metadata={"axis": "stations"})
    """Probability of 0, 1, 2, ... contending stations at a success, equation (1)."""
    contenders_in_time: Array = field(metadata={"axis": "stations"})
    """The same as a fraction of time."""


def cell(
    stations: ArrayLike = np.inf,
    *,
    times: CellTimes,
    upload_fraction: ArrayLike = 0.0,
    delayed_ack: ArrayLike = 1,
    cw_min: int = 31,
    cw_max: int = 1023,
) -> HalfDuplex:
    """Predict the TCP throughput of a half-duplex cell.

    Parameters
    ----------
    stations : array_like
        Stations, each with one flow; infinity by default. A finite number truncates (1).
    times : CellTimes
        See `cell_times`; `full_duplex.TABLE_I` gives those of [3].
    upload_fraction : array_like
        Fraction of the flows that upload.
    delayed_ack : array_like
        Segments per TCP ACK.
    cw_min, cw_max : int
        Contention window of all nodes.

    Returns
    -------
    HalfDuplex

    Notes
    -----
    All packets are in the queue of the access point. A fraction u = f / (f + (1-f) d) of them are
    TCP ACKs, because the queue holds one ACK for every d segments of an upload.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    Half of the successes are those of the access point. The total therefore depends neither on the
    number of stations nor on the mix of directions (17.15 Mb/s for the parameters of [3]):

    >>> from simoom.models.full_duplex import TABLE_I
    >>> cell([8, 80], times=TABLE_I.half_duplex(54.0), upload_fraction=0.25).total_mbps.round(2)
    array([17.15, 17.15])
    """
    n = _stations(stations)
    from scipy.special import gammaln

    mix = probability("upload_fraction", upload_fraction)
    delay = whole("delayed_ack", delayed_ack, low=1)
    named = {name: positive(name, getattr(times, name)) for name in CellTimes.__dataclass_fields__}
    n, mix, delay, slot, data, ack, data_lost, ack_lost, bits = broadcast(
        stations=n, upload_fraction=mix, delayed_ack=delay, **named
    )
    acks = mix / (mix + (1 - mix) * delay)  # u: TCP ACKs among the AP's packets
    answers = (1 - acks) / delay + acks * delay  # z
    upward = acks * delay / answers  # probability that a station's packet is a segment

    most = _most_contenders(answers.max(initial=1.0))
    count = np.arange(min(most, n.max(initial=1.0)) + 1)
    weight = np.log(count + 1) + count * np.log(answers)[..., None] - gammaln(count + 1)
    weight = np.where(count <= n[..., None], np.exp(weight - weight.max(-1, keepdims=True)), 0.0)
    embedded = weight / weight.sum(-1, keepdims=True)

    beta, _ = solve(count + 1, backoff_slots(cw_min, cw_max), True)
    shares, losses = (1 - acks, upward), (data_lost, ack_lost)
    idle, won, clash = _overhead(count, beta, *(each[..., None] for each in (*shares, *losses)))
    waste = (idle * slot[..., None] + clash) / won
    # Flow balance: stations send z packets for each packet of the access point.
    station = upward * data + (1 - upward) * ack
    own = (1 - acks) * data + acks * ack
    round_us = (1 + answers) * np.sum(embedded * waste, axis=-1) + own + answers * station
    down, up = bits * (1 - acks) / round_us, bits * acks * delay / round_us

    holding = waste + (own[..., None] + count * station[..., None]) / (count + 1)
    in_time = embedded * holding
    attempts = np.sum(embedded * (count + 1) * beta / won, axis=-1)
    return HalfDuplex(
        total_mbps=down + up,
        download_mbps=down,
        upload_mbps=up,
        collision_probability=1 - 1 / attempts,
        mean_contenders=np.sum(embedded * count, axis=-1),
        contenders=embedded,
        contenders_in_time=in_time / in_time.sum(-1, keepdims=True),
    )


def _most_contenders(answers: float) -> int:
    """The number from which (1) is negligible in double precision."""
    most, weight, largest = 0, 1.0, 1.0
    while weight > 1e-18 * largest:
        most += 1
        weight *= answers * (most + 1) / most**2
        largest = max(largest, weight)
    return most


def _overhead(
    count: Array, beta: Array, down: Array, up: Array, data_lost: Array, ack_lost: Array
) -> tuple[Array, Array, Array]:
    """Per slot with `count` stations contending: P(idle), P(success), mean time in collisions.

    `down` and `up` are the probabilities that a packet of the access point or of a station is a
    segment. Collisions of segments only, of TCP ACKs only, and of both have different durations.
    """
    idle = (1 - beta) ** (count + 1)
    one = beta * (1 - beta) ** count
    won = (count + 1) * one
    only_data = (1 - beta * (1 - down)) * (1 - beta * (1 - up)) ** count
    only_acks = (1 - beta * down) * (1 - beta * up) ** count
    segments = one * (down + count * up)
    all_data = np.maximum(only_data - idle - segments, 0.0)
    all_acks = np.maximum(only_acks - idle - (won - segments), 0.0)
    both = np.maximum(1 - idle - won - all_data - all_acks, 0.0)
    time = all_data * data_lost + all_acks * ack_lost + both * np.maximum(data_lost, ack_lost)
    return idle, won, time


def _stations(stations: ArrayLike) -> Array:
    """Whole numbers, or infinity."""
    number = real("stations", stations, low=1.0)
    whole("stations", number[np.isfinite(number)], low=1)
    return number
