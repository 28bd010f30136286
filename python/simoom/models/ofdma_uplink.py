"""Saturated uplink OFDMA of 802.11ax: an access point that triggers stations with full queues.

A Trigger frame asks for HE TB PPDUs of equal length, which a Multi-STA BlockAck answers; a BSRP may
ask for the sizes of queues before. Stations are muted by MU EDCA, so that the access point contends
alone, or contend beside it.

References
----------
.. [1] IEEE 802.11ax-2021, clauses 9.3.1.8.7, 9.3.1.22, 26.2.7, 26.4.4.5 and 26.5.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simoom.models import assumption, head_start, timing, txop
from simoom.models._check import Array
from simoom.models.head_start import Member
from simoom.models.prediction import Prediction
from simoom.models.resource_units import Answers, End
from simoom.models.txop import Sender

ASSUMPTIONS = (
    assumption.SATURATED,
    assumption.FIXED_MCS,
    assumption.BLOCK_ACK,
    assumption.EQUAL_STATIONS,
    assumption.NO_FRAME_ERRORS,
    assumption.DECOUPLED,
    assumption.Assumption("uploads", "All data comes from stations."),
    assumption.Assumption(
        "triggered", "The access point asks for the medium, and triggers all stations in turn."
    ),
    assumption.Assumption(
        "known_queues", "Each station reports the datagrams that a saturated source keeps."
    ),
    assumption.Assumption(
        "answers", "All users of HE TB PPDUs have one size of resource unit, without extension."
    ),
    assumption.Assumption(
        "one_manner",
        "Either no station contends, or all do, and the access point always asks for the medium.",
    ),
)

BASIC, BSRP = (28, 6), (28, 5)
"""Bytes of Trigger frames, and those for each station."""
MULTI_STA, MULTI_STA_USER = 24, 4
"""Bytes of a Multi-STA BlockAck, and those for each station beside its bitmap."""
NULL_AROUND = timing.MPDU_DELIMITER_BYTES + timing.FCS_BYTES
UNKNOWN_BYTES = 1 << 62
QUEUE_SIZES = ((0, 16, 63), (1024, 256, 63), (17_408, 2048, 63), (148_480, 32_768, 61))
LEGACY_QUEUE_SIZES = ((0, 256, 253),)
"""How the size of a queue is told: the least, the unit, and the most units (9.2.4.5.6)."""


@dataclass(frozen=True)
class Triggers:
    """How an access point triggers stations.

    Parameters
    ----------
    users : int
        Stations that a Trigger frame asks.
    answers : Answers
        Their PPDUs.
    bsrp : bool
        Whether a BSRP precedes each Basic Trigger frame.
    duration_us : float
        The longest PPDUs.
    limit_us : float
        The TXOP limit of the access point; 0 is one round.
    padding_us : float
        MinTrigProcTime.
    null_bytes : int
        A QoS Null in an A-MPDU, without a buffer status report.
    waiting : int
        MPDUs that wait at each station.
    legacy_sizes : bool
        Whether sizes of queues are told in units of 256 bytes, and in no buffer status report.
    """

    users: int
    answers: Answers
    bsrp: bool = True
    duration_us: float = timing.MAX_PPDU_US
    limit_us: float = 0.0
    padding_us: float = 16.0
    null_bytes: int = 26 + NULL_AROUND
    waiting: int = 512
    legacy_sizes: bool = False

    def trigger_us(self, sender: Sender, kind: tuple[int, int]) -> float:
        """Return how long a Trigger frame lasts."""
        common, each = kind
        symbols = math.ceil(self.padding_us / 4.0)
        padding = math.ceil(symbols * 4 * sender.control_mbps / 8)
        return sender.control_us(common + each * self.users + padding)

    @property
    def report_bytes(self) -> int:
        """A QoS Null with a buffer status report, which legacy sizes do not have."""
        return self.null_bytes + (0 if self.legacy_sizes else 4)

    def told(self, size: int) -> int:
        """Return what is told of a queue: rounded up, or more than can be told."""
        for least, unit, most in LEGACY_QUEUE_SIZES if self.legacy_sizes else QUEUE_SIZES:
            units = -(-max(size - least, 0) // unit)
            if units <= most:
                return least + units * unit
        return UNKNOWN_BYTES


@dataclass(frozen=True)
class Round:
    """A Trigger frame and what follows it."""

    mpdus: int
    """MPDUs of each station."""
    lasting_us: float
    """Up to the end of the last frame."""


def txop_of(sender: Sender, triggers: Triggers) -> txop.Txop:
    """Return a TXOP of an access point that triggers stations.

    Parameters
    ----------
    sender : Sender
        How stations send; its TXOP limit does not count.
    triggers : Triggers
        How they are triggered.

    Returns
    -------
    Txop
        With the MPDUs of each station.

    Examples
    --------
    Four stations on 52 tones at MCS 7, without a limit: BSRP, Basic, 7 MPDUs of each.

    >>> sender = Sender("11ax", 1538, 7, 256, 6500631, 5484.0, 0.0, 24.0, 56)
    >>> txop_of(sender, Triggers(4, Answers(52, 7)))
    Txop(mpdus=7, lasting_us=5859.0, exposed_us=56.0, exchanges=2)
    """
    known = timing.standard(sender.standard)
    exposed = triggers.trigger_us(sender, BSRP if triggers.bsrp else BASIC)
    limit, now, end, mpdus, exchanges = triggers.limit_us or math.inf, 0.0, 0.0, 0, 0
    is_poll = triggers.bsrp
    while now < limit:
        found = (_poll if is_poll else _data)(sender, triggers, limit - now)
        if found is None:
            break
        end = now + found.lasting_us
        now, mpdus, exchanges = end + known.sifs_us, mpdus + found.mpdus, exchanges + 1
        if not (triggers.limit_us or is_poll):
            break
        is_poll = triggers.bsrp and not is_poll
    if mpdus == 0:
        raise ValueError(f"triggers: no MPDU of {sender.mpdu_bytes} bytes fits into an answer")
    return txop.Txop(mpdus, end + known.aifs_us, exposed, exchanges)


def _poll(sender: Sender, triggers: Triggers, within_us: float) -> Round | None:
    """Return a BSRP and its QoS Nulls, if there is time."""
    around = triggers.trigger_us(sender, BSRP) + timing.standard(sender.standard).sifs_us
    end = _end(sender, triggers, within_us - around, triggers.report_bytes)
    if end is None or triggers.answers.room(end) < triggers.report_bytes:
        return None
    return Round(0, around + triggers.answers.announced_us(end))


def _data(sender: Sender, triggers: Triggers, within_us: float) -> Round | None:
    """Return a Basic Trigger frame and what answers it, if there is time."""
    sifs_us = timing.standard(sender.standard).sifs_us
    before = triggers.trigger_us(sender, BASIC) + sifs_us
    within = within_us - before - sifs_us - _ack_us(sender, triggers.users, most=True)

    def asked(in_flight: int) -> End | None:
        waiting = triggers.waiting - in_flight
        needed = triggers.told(waiting * (sender.mpdu_bytes + timing.MPDU_DELIMITER_BYTES))
        return _end(sender, triggers, within, max(needed, triggers.report_bytes))

    end = asked(0)
    if end is not None and not triggers.bsrp:
        # What a station tells with data does not count that data, which was as much as this.
        end = asked(_mpdus(sender, triggers.answers.room(end)))
    if end is None or triggers.answers.room(end) < triggers.report_bytes:
        return None
    mpdus = _mpdus(sender, triggers.answers.room(end))
    lasting = before + triggers.answers.announced_us(end)
    if mpdus > 0:
        lasting += sifs_us + _ack_us(sender, triggers.users, most=mpdus > 1)
    return Round(mpdus, lasting)


def _end(sender: Sender, triggers: Triggers, within_us: float, needed: int) -> End | None:
    """Return where answers end that need so much room, within a time."""
    longest = min(within_us, triggers.duration_us, sender.most_us)
    last = triggers.answers.longest(longest)
    if last is None:
        return None
    most = triggers.answers.most(last)
    return min(triggers.answers.end(min(needed, most)), last)


def _mpdus(sender: Sender, room: int) -> int:
    """Return how many MPDUs fit into a PSDU."""
    subframe = timing.MPDU_DELIMITER_BYTES + 4 * -(-sender.mpdu_bytes // 4)
    first = timing.MPDU_DELIMITER_BYTES + sender.mpdu_bytes
    by_bytes = 1 + int((min(room, sender.most_bytes) - first) // subframe)
    return max(min(by_bytes, sender.most_mpdus), 0)


def _ack_us(sender: Sender, users: int, *, most: bool) -> float:
    """Return how long the Multi-STA BlockAck lasts: a single MPDU of a station needs no bitmap."""
    bitmap = 8 if sender.block_ack_bytes == timing.BLOCK_ACK_BYTES else 32
    each = MULTI_STA_USER + bitmap if most else 2
    return sender.control_us(MULTI_STA + each * users)


@dataclass(frozen=True, eq=False, repr=False)
class Uplink(Prediction):
    """A saturated uplink."""

    throughput_mbps: float
    """Goodput of all stations."""
    collided_exchanges: float
    """Of all frame exchanges, of which a TXOP may have several, those that collide."""
    mpdus: int
    """MPDUs of a station in a TXOP of the access point."""
    triggered_us: float
    """Duration of that TXOP, with the AIFS after it."""


def muted(
    sender: Sender,
    triggers: Triggers,
    *,
    payload_bytes: int,
    interval_us: float,
    cw_min: int = 15,
) -> Uplink:
    """Return the goodput of stations that send in answer to Trigger frames only.

    The access point begins a TXOP when its back-off has ended, and not before the interval since
    the begin of its last one has passed; then at the boundary of a slot.

    Parameters
    ----------
    sender : Sender
        How stations send.
    triggers : Triggers
        How they are triggered.
    payload_bytes : int
        Payload of an MPDU.
    interval_us : float
        After so long the access point asks for the medium again.
    cw_min : int, optional
        That of the access point.

    Examples
    --------
    >>> sender = Sender("11ax", 1538, 7, 256, 6500631, 5484.0, 0.0, 24.0, 56)
    >>> muted(sender, Triggers(4, Answers(52, 7)), payload_bytes=1472, interval_us=100.0)
    Uplink(throughput_mbps=55.6362, collided_exchanges=0, mpdus=7, triggered_us=5859)
    """
    known = timing.standard(sender.standard)
    found = txop_of(sender, triggers)
    waits = known.slot_us * np.arange(cw_min + 1)
    late = (interval_us - found.lasting_us) / known.slot_us
    waits = np.maximum(waits, known.slot_us * math.ceil(round(late, 6)))
    bits = 8.0 * triggers.users * found.mpdus * payload_bytes
    cycle_us = found.lasting_us + float(waits.mean())
    return Uplink(bits / cycle_us, 0.0, found.mpdus, found.lasting_us)


@dataclass(frozen=True)
class Contention:
    """How stations and the access point contend.

    Parameters
    ----------
    station_slots, access_point_slots : array
        Mean back-offs by stage, see `fixed_point.backoff_slots`.
    silence_us : float
        The silence after a collision.
    head_slots : float
        Slots by which those who have collided count before all others.
    slot_us : float
        Duration of a slot.
    """

    station_slots: Array
    access_point_slots: Array
    silence_us: float
    head_slots: float
    slot_us: float


def beside_edca(
    stations: int,
    sender: Sender,
    triggers: Triggers,
    *,
    payload_bytes: int,
    contention: Contention,
) -> Uplink:
    """Return the goodput of stations that contend beside an access point that triggers them.

    A slot in which a frame begins counts as one of every back-off (10.23.2.4), so that the fixed
    point is that of Bianchi, with two classes; but those who have collided count before all others
    (`head_start`). A station that is triggered keeps its back-off, and
    owes no BlockAckReq any more: its answer is that request, and no data.

    Parameters
    ----------
    stations : int
        Stations.
    sender : Sender
        How stations send.
    triggers : Triggers
        How they are triggered.
    payload_bytes : int
        Payload of an MPDU.
    contention : Contention
        How all contend; the access point always asks for the medium.
    """
    curves = (contention.station_slots, contention.access_point_slots)
    station, access_point = head_start.members([stations, 1], curves, contention.head_slots)
    slot = _Slot(stations, station.attempts, access_point.attempts)
    asks = slot.trigger + access_point.early - access_point.repeats
    owed = _owed(contention.station_slots, station, asks * triggers.users / stations)
    rounds = txop_of(sender, triggers)
    fresh = txop.txop(sender)
    renewed = txop.txop(sender, requests=True) if sender.aggregates else fresh

    def own(of_data: float, of_request: float, requests: float = owed.attempts) -> float:
        return (1 - requests) * of_data + requests * of_request

    # Within a head start: TXOPs of stations, which begin with a request, those of the access point,
    # and collisions of the same two. They end the silence early, at the mean of the draws.
    of_station = stations * (station.early - station.repeats)
    of_access_point = access_point.early - access_point.repeats
    again = (stations * station.repeats + access_point.repeats) / 2
    early = stations * station.early + access_point.early
    saved = early * (contention.head_slots - (station.ahead - 1) / 2) if station.ahead else 0.0

    both = own(fresh.exposed_us, renewed.exposed_us, owed.attempts**2)
    one = own(max(fresh.exposed_us, rounds.exposed_us), max(renewed.exposed_us, rounds.exposed_us))
    cycle_us = (
        (slot.idle - saved) * contention.slot_us
        + slot.station * own(fresh.lasting_us, renewed.lasting_us)
        + of_station * renewed.lasting_us
        + (slot.access_point + of_access_point) * rounds.lasting_us
        + slot.stations_collide * (both + contention.silence_us)
        + slot.trigger_collides * (one + contention.silence_us)
        + again * (renewed.exposed_us + contention.silence_us)
    )
    triggered = triggers.users * (1 - owed.users) * rounds.mpdus
    mpdus = slot.station * own(fresh.mpdus, renewed.mpdus) + of_station * renewed.mpdus
    mpdus += (slot.access_point + of_access_point) * triggered
    mbps = 8.0 * payload_bytes * mpdus / cycle_us
    collided = stations * (station.attempts * station.collision + station.repeats)
    collided += access_point.attempts * access_point.collision + access_point.repeats
    held = slot.station * own(fresh.exchanges, renewed.exchanges) + of_station * renewed.exchanges
    held += (slot.access_point + of_access_point) * rounds.exchanges
    share = float(collided / (collided + held))
    return Uplink(mbps, share, rounds.mpdus, rounds.lasting_us)


@dataclass(frozen=True)
class _Slot:
    """Who transmits in a slot, by probabilities of attempts."""

    stations: int
    of_station: float
    of_access_point: float

    @property
    def idle(self) -> float:
        """Nobody."""
        return (1 - self.of_access_point) * (1 - self.of_station) ** self.stations

    @property
    def station(self) -> float:
        """One station alone."""
        return self.stations * self.of_station * self.idle / (1 - self.of_station)

    @property
    def access_point(self) -> float:
        """The access point alone."""
        return self.of_access_point * self.idle / (1 - self.of_access_point)

    @property
    def trigger_collides(self) -> float:
        """The access point and others."""
        return self.of_access_point - self.access_point

    @property
    def stations_collide(self) -> float:
        """Several stations without it."""
        return 1 - self.of_access_point - self.idle - self.station

    @property
    def trigger(self) -> float:
        """The access point alone, if a certain station is silent."""
        return self.access_point / (1 - self.of_station)


@dataclass(frozen=True)
class _Owed:
    """How often a station owes a BlockAckReq: it has collided, and was not triggered since."""

    attempts: float
    """Of its attempts that others count, those that begin with one."""
    users: float
    """Of the stations that a Trigger frame asks, those that owe one."""


def _owed(mean_slots: Array, station: Member, trigger: float) -> _Owed:
    """Return it from the stages of a station's back-off.

    Each stage but the first begins with a collision, and with a request that is due. In each slot
    that all count the access point triggers the station before its attempt with the same
    probability.
    """
    due, owed, waited, attempts = 0.0, 0.0, 0.0, 0.0
    for stage, mean in enumerate(np.asarray(mean_slots)):
        draws = np.arange(round(2 * mean - 1))
        ahead = station.ahead if stage > 0 else 0
        before = np.maximum(draws - ahead, 0)
        waited += station.visits[stage] * before.mean()
        attempts += station.visits[stage] * (draws >= ahead).mean()
        if stage > 0:
            left = (1 - trigger) ** before
            due += station.visits[stage] * (left * (draws >= ahead)).mean()
            owed += station.visits[stage] * ((1 - left) / trigger).mean()
    return _Owed(due / attempts, owed / waited)
