"""The inputs of the models from a scenario: its single flows, their ends, sizes and windows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simoom.scenario.hearing import Hearing, hearing
from simoom.scenario.scenario import Scenario
from simoom.twin.air import Air, Exchange

SEGMENTS_PER_DYNAMIC_ACK = 4
"""Segments per TCP ACK of a long-lived flow under the dynamic delayed ACK."""


def choice(value: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings of a choice.

    Examples
    --------
    >>> choice("bulk"), choice({"web": {"think_s": 1}})
    (('bulk', {}), ('web', {'think_s': 1}))
    """
    if isinstance(value, str):
        return value, {}
    (name, settings), *_ = value.items()
    return name, settings or {}


@dataclass(frozen=True)
class Flow:
    """One flow between one pair of ends."""

    index: int
    """Its index in the summary, ``flows[index]``."""
    table: dict[str, Any]
    facts: dict[str, Any]
    """What the simulator makes of it: name, ends, sizes and windows."""

    @property
    def name(self) -> str:
        """Its name in reports."""
        return str(self.facts["name"])

    @property
    def source(self) -> str:
        """The node that sends its data."""
        return str(self.facts["from"])

    @property
    def sink(self) -> str:
        """The node that receives its data, or "broadcast"."""
        return str(self.facts["to"])

    @property
    def path(self) -> str:
        """The path of its values in the summary."""
        return f"flows[{self.index}]"

    @cached_property
    def kind(self) -> str:
        """Its traffic: "bulk", "web", "cbr" and so on."""
        return choice(self.table["traffic"])[0]

    @cached_property
    def traffic(self) -> dict[str, Any]:
        """The settings of its traffic."""
        return choice(self.table["traffic"])[1]

    @property
    def latest_start_s(self) -> float:
        """The latest start, without the one interval that is the default of a periodic source."""
        return float(self.table["start_s"] + (self.table["start_spread_s"] or 0.0))

    @property
    def over_tcp(self) -> bool:
        """Whether TCP carries it."""
        return "tcp" in self.facts

    @cached_property
    def direction(self) -> str:
        """Its direction: "down", "up", "across" (two radio hops), "wired" or "broadcast"."""
        if self.sink == "broadcast":
            return "broadcast"
        is_station = [self.facts[end] is not None for end in ("from_station", "to_station")]
        names = {(False, True): "down", (True, False): "up", (True, True): "across"}
        return names.get((is_station[0], is_station[1]), "wired")

    @property
    def stations(self) -> list[int]:
        """The numbers of the stations at its ends, the sender's first."""
        ends = self.facts["from_station"], self.facts["to_station"]
        return [end for end in ends if end is not None]

    @cached_property
    def station(self) -> int:
        """The station at its end, if it has one."""
        return int(self.facts["from_station" if self.direction == "up" else "to_station"])

    @property
    def sender(self) -> str:
        """The node that transmits its data by radio."""
        return "ap" if self.facts["from_station"] is None else self.source

    @property
    def header_bytes(self) -> int:
        """TCP or UDP and IP headers; those of TCP are also the size of a TCP ACK."""
        return int(self.facts["header_bytes"])

    @property
    def payload_bytes(self) -> int:
        """User data of a full packet."""
        return int(self.facts["payload_bytes"])

    @property
    def packet_bytes(self) -> int:
        """A full packet, including the IP header."""
        return self.payload_bytes + self.header_bytes

    @property
    def has_fixed_window(self) -> bool:
        """Whether the receive window is fixed; otherwise it grows."""
        return bool(self.facts["tcp"]["has_fixed_window"])

    @property
    def window_segments(self) -> int:
        """W*, in whole segments; of a window that grows, its maximum."""
        return max(1, int(self.facts["tcp"]["window_bytes"]) // self.payload_bytes)

    @property
    def initial_window_segments(self) -> float:
        """The initial congestion window."""
        return float(self.facts["tcp"]["initial_window_segments"])

    @property
    def delayed_ack(self) -> int:
        """Segments per TCP ACK of a long-lived flow (d)."""
        name, settings = choice(self.table["tcp"]["delayed_ack"])
        return {"none": 1, "dynamic": SEGMENTS_PER_DYNAMIC_ACK}.get(name) or int(
            settings["segments"]
        )

    @property
    def control(self) -> str:
        """The name of its congestion control."""
        return choice(self.table["control"])[0]


@dataclass(frozen=True)
class Cell:
    """A scenario as input of the models."""

    scenario: Scenario

    @cached_property
    def keys(self) -> dict[str, Any]:
        """Every key with its default."""
        return self.scenario.to_dict()

    @cached_property
    def air(self) -> Air:
        """The parameters that all stations share."""
        return Air(self.keys["standard"], self.keys["wlan"])

    @cached_property
    def stations(self) -> list[dict[str, Any]]:
        """The table of each station."""
        given = self.keys["stations"]
        plain = {"rate_mbps": None, "data_loss": 0.0, "ack_loss": 0.0}
        plain["queue"] = {"drop_tail": {}}  # type: ignore[assignment]
        if not isinstance(given, (list, dict)):
            return [plain] * int(given)
        groups = given if isinstance(given, list) else [given]
        return [plain | group for group in groups for _ in range(int(group["count"]))]

    @cached_property
    def flows(self) -> list[Flow]:
        """The single flows in the order of the summary."""
        tables = self.keys["flows"]
        return [
            Flow(index, tables[facts["table"]], facts)
            for index, facts in enumerate(json.loads(self.scenario.core.flows()))
        ]

    @property
    def is_full_duplex(self) -> bool:
        """Whether the access point sends to one station while it receives from another."""
        return self.keys["wlan"].get("full_duplex") is not None

    @property
    def coded_flows(self) -> list[Flow]:
        """The flows that send data in blocks with parity."""
        return [
            flow for flow in self.flows if flow.over_tcp and flow.table["tcp"]["fec"] is not None
        ]

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return float(self.keys["duration_s"])

    @property
    def warmup_s(self) -> float:
        """The warm-up, by default a tenth of the duration."""
        return self.scenario.warmup_s

    @property
    def measured_s(self) -> float:
        """The measured time."""
        return self.duration_s - self.warmup_s

    @property
    def wire(self) -> dict[str, Any]:
        """The link between server and access point; without delay if the scenario has none."""
        return self.keys["wire"] or {"rate_mbps": None, "delay_ms": 0.0, "overhead_bytes": 0}

    def wire_rtt_s(self, flow: Flow) -> float:
        """Return the time of a flow's segment and TCP ACK on the wire, without queueing."""
        if "server" not in (flow.source, flow.sink):
            return 0.0
        both = flow.packet_bytes + flow.header_bytes + 2 * self.wire["overhead_bytes"]
        sending = 8e-6 * both / self.wire["rate_mbps"] if self.wire["rate_mbps"] else 0.0
        return float(2e-3 * self.wire["delay_ms"] + sending)

    def rate_mbps(self, flow: Flow) -> float:
        """Return the rate of a flow's data frames."""
        return float(self.stations[flow.station]["rate_mbps"] or self.air.rate_mbps)

    def data(self, flow: Flow) -> Exchange:
        """Return the exchange that carries a full packet of a flow."""
        return self._exchange(flow.packet_bytes, self.rate_mbps(flow))

    def answer(self, flow: Flow) -> Exchange:
        """Return the exchange that carries a flow's TCP ACK."""
        return self._exchange(flow.header_bytes, self.rate_mbps(flow))

    def _exchange(self, packet_bytes: int, rate_mbps: float) -> Exchange:
        """Return the exchange of a packet; most flows of a scenario have the same few."""
        key = packet_bytes, rate_mbps
        if key not in self._exchanges:
            self._exchanges[key] = self.air.exchange(packet_bytes, rate_mbps)
        return self._exchanges[key]

    @cached_property
    def _exchanges(self) -> dict[tuple[int, float], Exchange]:
        return {}

    @cached_property
    def loss(self) -> float:
        """The largest probability that noise destroys a frame, over all stations with a flow."""
        used = {flow.station for flow in self.flows if flow.direction in ("down", "up")}
        tables = [self.stations[number] for number in used]
        own = [float(table[key]) for table in tables for key in ("data_loss", "ack_loss")]
        if self.keys["radio"] is not None:
            own += [1.0 - (link.success or 0.0) for link in self.hearing.links]
        return max(own, default=0.0)

    @cached_property
    def hearing(self) -> Hearing:
        """The links between nodes, with the shadowing of seed 1."""
        return hearing(self.scenario)
