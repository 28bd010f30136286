"""Saturated cells: Bianchi's throughput for any 802.11 PHY, and several classes of stations.

References
----------
.. [1] G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function",
   IEEE JSAC 18(3), 2000.
.. [2] A. Kumar, E. Altman, D. Miorandi, M. Goyal, "New insights from a fixed point analysis of
   single cell IEEE 802.11 WLANs", IEEE INFOCOM, 2005.
.. [3] V. Ramaiyan, A. Kumar, E. Altman, "Fixed point analysis of single cell IEEE 802.11e WLANs:
   uniqueness and multistability", IEEE/ACM ToN 16(5), 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, timing
from simoom.models._check import Array, broadcast, choice, positive, whole
from simoom.models.fixed_point import (
    attempt_probability,
    backoff_slots,
    fixed_point,
    frozen_fixed_point,
)
from simoom.models.parameters import REQUIRED, Numbers, OptionalNumbers, Parameter, Plain, takes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_CELL,
    assumption.SATURATED,
    assumption.NO_FRAME_ERRORS,
    assumption.NO_CAPTURE,
    assumption.DECOUPLED,
    assumption.EQUAL_STATIONS,
    assumption.Assumption("two_parties", "A collision has two stations, hardly ever more."),
)

COLLISIONS = ("standard", "staggered", "difs", "timeout", "eifs")
"""Conventions for the silence after a collision; see `SaturatedCell`."""

BIANCHI_2000 = MappingProxyType({"retry_limit": None, "collision": "difs", "countdown": "bianchi"})
"""Arguments of `bianchi` for the model of [1] as published."""


@dataclass(frozen=True, eq=False, repr=False)
class Saturation(Prediction):
    """A cell in which every station always has a frame to send."""

    throughput_mbps: Array
    """Payload delivered by all stations together."""
    attempt_probability: Array
    """Probability that a station attempts in a slot (an idle one if the countdown is frozen)."""
    collision_probability: Array
    """Probability that an attempt collides."""
    drop_probability: Array
    """Probability that a frame is discarded at its retry limit."""
    service_time_ms: Array
    """Mean time from the head of a station's queue to delivery or drop."""
    idle_share: Array
    """Fraction of time in idle slots."""
    success_share: Array
    """Fraction of time in successful exchanges and their interframe spaces."""
    collision_share: Array
    """Fraction of time in collisions and the silence after them."""


def _attempts(name: str, value: int | None) -> int | None:
    return None if value is None else int(whole(name, value, low=1))


@dataclass(eq=False)
class StationClass(timing.Sending):
    """Identical stations."""

    stations: Numbers = Parameter(REQUIRED, "Stations with frames to send, from 1.", whole, low=1)
    _: KW_ONLY
    payload_bytes: Numbers = Parameter(
        1500, "Bytes of an MPDU that count as throughput.", whole, low=1
    )
    headers_bytes: OptionalNumbers = Parameter(
        None,
        """
        All other bytes of an MPDU. None: MAC header 24 (26 with QoS), FCS 4, LLC 8, IP 20 and
        UDP 8.
        """,
        whole,
    )
    retry_limit: Plain[int | None] = Parameter(
        7, "Attempts at one frame; None: no limit, as in [1].", _attempts
    )
    cw_min: OptionalNumbers = Parameter(
        None, "Smallest contention window; None: that of the standard.", whole
    )
    cw_max: OptionalNumbers = Parameter(
        None, "Largest contention window; None: that of the standard.", whole
    )

    def backoff_slots(self, known: timing.Standard) -> Array:
        """Return the mean back-off by stage, see `fixed_point.backoff_slots`."""
        return backoff_slots(
            known.cw_min if self.cw_min is None else self.cw_min,
            known.cw_max if self.cw_max is None else self.cw_max,
            attempts=self.retry_limit,
        )

    def exchange(self, known: timing.Standard) -> timing.Exchange:
        """Return the durations of the exchange of a frame."""
        headers = known.headers_bytes if self.headers_bytes is None else self.headers_bytes
        return timing.exchange(
            self.payload_bytes + headers, standard=known.name, **self.part(timing.Sending)
        )

    @property
    def payload_bits(self) -> Array:
        """The payload that a success delivers."""
        return 8 * self.payload_bytes * self.mpdus


@dataclass(kw_only=True, eq=False)
class SaturatedCell(StationClass):
    """A cell of identical stations that always have a frame to send."""

    standard: Plain[str] = timing.amendment("11b")
    collision: Plain[str] = Parameter(
        "standard",
        """
        The silence after the frames of a collision:

        - "standard": EIFS for stations that do not collide; the colliding stations resume
          earlier, at the end of their response timeout;
        - "staggered": DIFS for stations that do not collide, which detected energy but no frame;
          the colliding stations resume later, at the end of their response timeout;
        - "difs": DIFS for all stations [1];
        - "timeout": the response timeout, then DIFS, for all stations;
        - "eifs": EIFS for all stations.
        """,
        choice,
        allowed=COLLISIONS,
    )
    countdown: Plain[str] = Parameter(
        "frozen",
        """
        "frozen": counters do not change while the medium is busy (802.11-2020, 10.3.4.3).
        "bianchi": a busy period counts as one slot of every back-off; only with the last three
        conventions.
        """,
        choice,
        allowed=("bianchi", "frozen"),
    )

    def __post_init__(self) -> None:
        if self.split and self.countdown == "bianchi":
            raise ValueError(f"countdown: must be 'frozen' with collision={self.collision!r}")

    @property
    def split(self) -> bool:
        """Whether the colliding stations resume at another time than the others."""
        return self.collision in ("standard", "staggered")


@takes(SaturatedCell)
def bianchi(cell: SaturatedCell) -> Saturation:
    """Predict the saturation throughput of a cell by [1] with the standard's retries and timers.

    The defaults follow the standard; ``bianchi(n, **BIANCHI_2000)`` is the model as published.

    Returns
    -------
    Saturation

    Raises
    ------
    ValueError
        If an argument is out of range or shapes do not broadcast; the message names them.

    Examples
    --------
    A single station never collides: DIFS, 15.5 slots, 1564 B at 11 Mb/s, SIFS, ACK at 2 Mb/s.

    >>> bianchi(stations=1, standard="11b", payload_bytes=1500).throughput_mbps
    6.160...
    >>> bianchi(stations=10, standard="11b", payload_bytes=1500).throughput_mbps
    5.906...

    Bianchi's own model:

    >>> classic = bianchi(10, standard="11b", **BIANCHI_2000)
    >>> classic.throughput_mbps, classic.collision_probability
    (6.13..., 0.28977...)
    """
    known = timing.standard(cell.standard)
    times = cell.exchange(known)
    timeout = timing.response_timeout_us(known.name)
    silences = timing.silences_us(known.name)
    # If colliding stations and others resume at different times, `head_slots` is the difference.
    silence = silences[
        {"standard": "eifs", "staggered": "difs"}.get(cell.collision, cell.collision)
    ]
    return saturation(
        cell.stations,
        mean_slots=cell.backoff_slots(known),
        forever=cell.retry_limit is None,
        slot_us=known.slot_us,
        success_us=times.success_us,
        collision_us=times.exposed_us + silence,
        payload_bits=cell.payload_bits,
        countdown=cell.countdown,
        head_slots=(silence - timeout) / known.slot_us if cell.split else 0.0,
    )


def saturation(
    stations: ArrayLike,
    *,
    mean_slots: ArrayLike,
    slot_us: ArrayLike,
    success_us: ArrayLike,
    collision_us: ArrayLike,
    payload_bits: ArrayLike,
    forever: bool = True,
    countdown: str = "bianchi",
    head_slots: ArrayLike = 0.0,
) -> Saturation:
    """Predict the saturation throughput from durations, for any sequence of back-offs.

    Equation (13) of [1]: payload times the probability of a success in a slot, divided by the mean
    duration of a slot.

    Parameters
    ----------
    stations : array_like
        n, from 1.
    mean_slots, forever
        Mean back-off by stage and whether the last stage repeats; see
        `fixed_point.attempt_probability`.
    slot_us, success_us, collision_us : array_like
        Durations of an idle slot, a success and a collision, including interframe spaces.
    payload_bits : array_like
        Payload of one success.
    countdown, head_slots
        See `bianchi` and `fixed_point.frozen_fixed_point`; `head_slots` matters only to "frozen".

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    The FHSS example of [1] at 1 Mb/s, basic access, with the best window for 20 stations. Its
    equation (28) puts the maximum at 0.82:

    >>> slots = backoff_slots(371, 371)
    >>> saturation(20, mean_slots=slots, slot_us=50, success_us=8982, collision_us=8713,
    ...            payload_bits=8184).throughput_mbps
    0.82...
    """
    slot, success = positive("slot_us", slot_us), positive("success_us", success_us)
    lost, payload = positive("collision_us", collision_us), positive("payload_bits", payload_bits)
    mean = np.asarray(mean_slots, dtype=np.float64)
    n = whole("stations", stations, low=1)
    n, slot, success, lost, payload, _ = broadcast(
        stations=n,
        slot_us=slot,
        success_us=success,
        collision_us=lost,
        payload_bits=payload,
        mean_slots=mean[..., 0],
    )
    if countdown == "frozen":
        frozen = frozen_fixed_point(n, mean_slots=mean, forever=forever, head_slots=head_slots)
        beta, gamma = np.asarray(frozen.attempt_probability), frozen.collision_probability
        drop = np.asarray(frozen.drop_probability)
        slots = np.asarray(frozen.slots_per_frame)
        won, idle = n * (1 - drop) / slots, np.ones(n.shape)
        clash = 1 - (1 - beta) ** n - n * beta * (1 - beta) ** (n - 1)
        clash = clash + n * frozen.repeats_per_frame / slots / 2
        lost = lost - frozen.saved_slots * slot
    else:
        point = fixed_point(n, mean_slots=mean, forever=forever)
        beta, gamma = np.asarray(point.attempt_probability), np.asarray(point.collision_probability)
        drop = np.zeros(n.shape) if forever else gamma ** mean.shape[-1]
        idle, won = (1 - beta) ** n, n * beta * (1 - beta) ** (n - 1)
        clash = np.maximum(1 - idle - won, 0.0)
        if forever:
            with np.errstate(divide="ignore", over="ignore"):  # every attempt collides
                slots = 1 / (1 - beta) ** (n - 1) / beta
        else:
            slots = np.sum(gamma[..., None] ** np.arange(mean.shape[-1]), axis=-1) / beta
    cycle = idle * slot + won * success + clash * lost
    with np.errstate(over="ignore"):
        service = slots * cycle / 1000
    return Saturation(
        throughput_mbps=won * payload / cycle,
        attempt_probability=beta,
        collision_probability=gamma,
        drop_probability=drop,
        service_time_ms=service,
        idle_share=idle * slot / cycle,
        success_share=won * success / cycle,
        collision_share=clash * lost / cycle,
    )


@dataclass(frozen=True, eq=False, repr=False)
class MixedSaturation(Prediction):
    """A saturated cell of several classes; the additional axis is that of the classes."""

    throughput_mbps: Array = field(metadata={"axis": "class"})
    """Payload delivered by all stations of a class."""
    attempt_probability: Array = field(metadata={"axis": "class"})
    collision_probability: Array = field(metadata={"axis": "class"})
    drop_probability: Array = field(metadata={"axis": "class"})
    airtime_share: Array = field(metadata={"axis": "class"})
    """Fraction of time in successful exchanges of a class."""


def mixed(
    classes: Sequence[StationClass], *, standard: str = "11b", collision: str = "eifs"
) -> MixedSaturation:
    """Predict the saturation throughput of several classes in one cell ([2], [3]).

    Class c attempts with beta_c = G_c(gamma_c) and collides with
    gamma_c = 1 - P / (1 - beta_c), where P = prod_c (1 - beta_c)^{n_c} is the probability of an
    idle slot. The equations are solved for P, and within that for every gamma_c. The solution is
    unique if (1 - gamma)(1 - G_c(gamma)) is one-to-one for every class [3], which the windows of
    the standard satisfy. A collision lasts as long as its longest frame.

    Parameters
    ----------
    classes : sequence of StationClass
    standard : str
        As in `bianchi`.
    collision : str
        "difs", "timeout" or "eifs", as in `bianchi`; counters as in [1].

    Returns
    -------
    MixedSaturation

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    A slow station reduces the throughput of the fast ones to its own:

    >>> anomaly = mixed([StationClass(4, rate_mbps=11), StationClass(1, rate_mbps=1)])
    >>> (anomaly.throughput_mbps / [4, 1]).round(3).tolist()
    [0.513, 0.513]
    """
    silence = timing.silences_us(choice("standard", standard, timing.STANDARDS))
    rest = silence[choice("collision", collision, silence)]
    if not classes:
        raise ValueError("classes: must not be empty")
    known = timing.standard(standard)
    times = [each.exchange(known) for each in classes]
    return mixed_saturation(
        np.array([each.stations for each in classes]),
        mean_slots=[each.backoff_slots(known) for each in classes],
        forever=[each.retry_limit is None for each in classes],
        slot_us=known.slot_us,
        success_us=np.array([each.success_us for each in times]),
        collision_us=np.array([each.exposed_us for each in times]) + rest,
        payload_bits=np.array([each.payload_bits for each in classes]),
    )


def mixed_saturation(
    stations: ArrayLike,
    *,
    mean_slots: Sequence[Array],
    forever: Sequence[bool],
    slot_us: float,
    success_us: ArrayLike,
    collision_us: ArrayLike,
    payload_bits: ArrayLike,
) -> MixedSaturation:
    """Predict several classes from durations, as `saturation` does for one.

    Parameters
    ----------
    stations : array_like
        Stations of each class, from 1.
    mean_slots, forever
        For each class as in `saturation`.
    slot_us : float
        Duration of an idle slot.
    success_us, collision_us, payload_bits : array_like
        For each class: its success, a collision whose longest frame is its own, its payload.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> slots = backoff_slots(31, 1023, attempts=7)
    >>> mixed_saturation([2, 1], mean_slots=[slots, slots], forever=[False, False], slot_us=20,
    ...                  success_us=[1618, 13256], collision_us=[1674, 13092],
    ...                  payload_bits=[11776, 11776]).throughput_mbps.round(3)
    array([1.275, 0.638])
    """
    n, success, lost, bits = broadcast(
        stations=whole("stations", stations, low=1),
        success_us=positive("success_us", success_us),
        collision_us=positive("collision_us", collision_us),
        payload_bits=positive("payload_bits", payload_bits),
    )
    if not n.size == len(mean_slots) == len(forever):
        raise ValueError("mean_slots: needs an entry for each class, and so does forever")
    slot = float(positive("slot_us", slot_us))
    beta, gamma = mixed_fixed_point(n, mean_slots, forever)
    silent = np.prod((1 - beta) ** n)
    won = n * beta * (1 - gamma)  # exactly one transmitter, and it is of this class
    # The longest transmission of a slot is of class c if c transmits and no class with longer
    # frames does. Unless it is a success of c, it is a collision as long as a frame of c.
    order = np.argsort(lost, kind="stable")
    quiet = ((1 - beta) ** n)[order]
    longer_quiet = np.concatenate([np.cumprod(quiet[::-1])[::-1][1:], [1.0]])
    longest = np.empty(n.shape)
    longest[order] = longer_quiet * (1 - quiet)
    clash = np.maximum(longest - won, 0.0)
    cycle = silent * slot + np.sum(won * success) + np.sum(clash * lost)
    stages = np.array([np.shape(slots)[-1] for slots in mean_slots])
    return MixedSaturation(
        throughput_mbps=won * bits / cycle,
        attempt_probability=beta,
        collision_probability=gamma,
        drop_probability=np.where(forever, 0.0, gamma**stages),
        airtime_share=won * success / cycle,
    )


def mixed_fixed_point(
    n: Array, curves: Sequence[Array], forever: Sequence[bool]
) -> tuple[Array, Array]:
    """Return the attempt and collision probabilities of several classes.

    They are solved for P, and within that for the collision probability of every class.
    """
    from scipy.optimize import brentq

    kinds = list(zip(curves, forever, strict=True))

    def rate(kind: int, gamma: float) -> float:
        slots, repeats = kinds[kind]
        return float(attempt_probability(gamma, mean_slots=slots, forever=repeats))

    def split(idle: float) -> tuple[Array, Array]:
        gamma = np.array(
            [
                brentq(lambda g, c=c: (1 - g) * (1 - rate(c, g)) - idle, 0.0, 1.0, xtol=1e-16)
                for c in range(n.size)
            ]
        )
        return np.array([rate(c, g) for c, g in enumerate(gamma)]), gamma

    def excess(idle: float) -> float:
        return float(np.prod((1 - split(idle)[0]) ** n)) - idle

    most = min(1 - rate(c, 0.0) for c in range(n.size))
    if excess(most) >= 0:  # one station alone
        return split(most)
    return split(brentq(excess, 0.0, most, xtol=1e-16))
