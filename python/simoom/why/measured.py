"""What a run itself says about a flow: limits of the sender, delay by hop, queues, airtime."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from simoom.results.tables import LIMITS, PARTS, Row, Value, delays, number, rows

DONE = "done"
"""What limits a sender without an established connection: it has nothing to send."""


@dataclass(frozen=True)
class Hop:
    """A hop of a flow.

    Attributes
    ----------
    at, to : str
        The interface at which it begins, and the node at which it ends; "" of a link or node.
    packets : str
        "data", "TCP ACKs" or "all flows".
    parts : mapping
        The mean time of a packet in seconds, by part.
    """

    at: str
    to: str
    packets: str
    parts: Mapping[str, float]

    @property
    def delay_s(self) -> float:
        """The mean delay."""
        return math.fsum(self.parts.values())


@dataclass(frozen=True)
class Marks:
    """What the queue of a link or node has marked.

    Attributes
    ----------
    at : str
        The interface, as hops name it.
    packets : int
        The packets of all flows that it marked.
    queueing_s : float
        The mean time of a packet in the queue; in the low-latency queue of a dual queue.
    """

    at: str
    packets: int
    queueing_s: float


@dataclass(frozen=True)
class Measured:
    """What a run says about a flow.

    Attributes
    ----------
    limits : mapping
        Of a TCP sender, the fraction of the measured time in which it is kept from sending, by
        reason; "done" is the time without an established connection. Empty over UDP.
    hops : tuple of Hop
        The hops of the data, then those of the TCP ACKs; empty where they are not measured.
    places : tuple of Hop
        Links and nodes with the mean delay of packets of all flows, the longest first.
    airtime : float or None
        The fraction of the measured time for frames of the flow.
    airtime_of_others : float or None
        That for frames of other flows.
    marked : int
        The packets of the flow that were marked.
    marks : tuple of Marks
        The queues that marked any packets, the one with most first.
    """

    limits: Mapping[str, float]
    hops: tuple[Hop, ...]
    places: tuple[Hop, ...]
    airtime: float | None
    airtime_of_others: float | None
    marked: int
    marks: tuple[Marks, ...]

    @property
    def busiest_queue(self) -> Hop | None:
        """The hop, link or node in whose queue packets wait longest."""
        return max(self.hops or self.places, key=lambda hop: hop.parts["queueing_s"], default=None)

    @property
    def first_limit(self) -> str | None:
        """What limits the sender for most of the time."""
        return max(self.limits, key=lambda name: self.limits[name], default=None)


def measured(summary: Mapping[str, Value], index: int) -> Measured:
    """Read what a run says about a flow."""
    flow = rows(summary, "flows")[index]
    own: list[Hop] = []
    airtime: dict[bool, float] = {}
    for row in rows(summary, "hops"):
        is_own = row["flow"] == flow["name"]
        airtime[is_own] = airtime.get(is_own, 0.0) + (number(row["airtime_fraction"]) or 0.0)
        if is_own and number(row["delay_s"]) is not None:
            parts = {part: number(row[part]) or 0.0 for part in PARTS}
            own.append(Hop(str(row["at"]), str(row["to"]), str(row["packets_of"]), parts))
    known = bool(airtime)
    return Measured(
        limits=_limits(flow),
        hops=tuple(own),
        places=tuple(sorted(map(_place, delays(summary)), key=lambda place: -place.delay_s)),
        airtime=airtime.get(True, 0.0) if known else None,
        airtime_of_others=airtime.get(False, 0.0) if known else None,
        marked=int(number(flow.get("ecn_marks")) or 0),
        marks=marks_of(summary),
    )


MARKS = ".ecn_marks"


def marks_of(summary: Mapping[str, Value]) -> tuple[Marks, ...]:
    """Return the queues that marked any packets, the one with most first."""
    found = []
    for path, value in summary.items():
        owner = path.removesuffix(MARKS)
        packets = number(value)
        if owner == path or not packets or f"{owner}.queueing_s" not in summary:
            continue
        low = number(summary.get(f"{owner}.l_queue.queueing_s"))
        wait = number(summary[f"{owner}.queueing_s"]) if low is None else low
        if not owner.endswith("_queue"):
            at = str(summary.get(f"{owner}.name", owner)) if owner[:8] == "stations" else owner
            found.append(Marks(at, int(packets), wait or 0.0))
    return tuple(sorted(found, key=lambda marks: -marks.packets))


def _place(row: Row) -> Hop:
    parts = {part: number(row.get(part)) or 0.0 for part in PARTS}
    return Hop(str(row["name"]), "", "all flows", parts)


def _limits(flow: Row) -> dict[str, float]:
    connected = number(flow.get("connected_fraction"))
    if connected is None:
        return {}
    found = {}
    for path, name in LIMITS.items():
        fraction = number(flow.get(path))
        if fraction is not None:
            found[name] = connected * fraction
    return {**found, DONE: 1.0 - connected}
