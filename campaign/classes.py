"""Random scenarios that combine on purpose what had faults apart: a function for each class."""

from __future__ import annotations

from typing import Any

# `campaign.features` has put the folder of these modules on the path.
from random_flows import Draw, flow, queue
from random_scenarios import HIGH, RATES, Cell, Space

from campaign.hosts import STANDARDS, groups
from campaign.schema import Table, Values, table

DATAGRAMS: tuple[Any, ...] = ("saturated", "on_off", "call", "cbr", "conference", "game", "ping")
QUEUES = ("drop_tail", "fq_codel", "mac80211", "fq", "codel")


def own_queue(draw: Draw) -> Any:
    """Return a queue that holds packets, in most cases with a limit."""
    name = draw.one(QUEUES)
    return {name: draw.some(0.5, limit_packets=lambda: draw.whole(1, 200))}


def datagrams(draw: Draw, ends: list[str], rate_mbps: float = 5.0) -> Table:
    """Return a flow of datagrams, saturated or with pauses."""
    kind = draw.one(DATAGRAMS)
    traffic: Any = kind
    if kind == "cbr":
        traffic = {"cbr": {"rate_mbps": draw.one((0.1, 1, rate_mbps))}}
    made: Table = {"from": ends[0], "to": ends[1], "traffic": traffic}
    return made | draw.some(0.3, start_s=lambda: draw.real(0, 0.2))


def bulk(draw: Draw, ends: list[str]) -> Table:
    """Return a flow of TCP, in some cases as Linux sends it."""
    made: Table = {"from": ends[0], "to": ends[1]}
    made |= draw.some(0.6, control=lambda: draw.one(("cubic", "new_reno", "bbr", "bbr3", "vegas")))
    tcp = draw.some(
        0.4,
        endpoint=lambda: draw.one(("linux", "rfc")),
        window_bytes=lambda: draw.one((20_000, 1_000_000)),
        rto_min_ms=lambda: draw.one((10, 200)),
    )
    return made | ({"tcp": tcp} if tcp else {})


# --- Roaming ------------------------------------------------------------------------------------


class Roaming(Space):
    """Cells with beacons between which stations walk, with rings, aggregates and datagrams."""

    def __init__(self, draw: Draw, values: Values) -> None:
        super().__init__(draw, draw.one(STANDARDS))
        self.values = values
        self.ad_hoc, self.placed, self.mixed = False, True, False
        self.further = draw.whole(1, 3)
        self.far_m = draw.one((20.0, 40.0, 60.0))

    def scenario(self) -> Table:
        """Return such cells."""
        draw = self.draw
        made = super().scenario()
        made |= {"duration_s": draw.one((0.5, 1.0, 2.0, 3.0)), "measure": {}}
        made.pop("warmup_s", None)
        made.pop("links", None)
        made["wlan"]["beacons"] = draw.some(0.6, interval_tu=lambda: draw.one((15, 20, 50, 100)))
        made.setdefault("wire", {"rate_mbps": draw.one((10, 1000))})
        made["radio"] = draw.some(
            0.3, shadowing_db=lambda: 3, fading=dict, tx_power_dbm=lambda: draw.real(5, 20)
        )
        for number, cell in enumerate((made["ap"], *made["cells"])):
            cell |= {"position_m": [number * self.far_m, 0.0]}
            cell |= draw.some(0.5, channel=lambda: draw.one((1, 6, 36, 40)))
            self.equip(cell)
        for group in made["stations"]:
            group.pop("cell", None)
            group["roaming"] = self.roams()
            self.equip(group)
            if draw.chance(0.2):
                group["power_save"] = self.values.value(table("PowerSave"))
        made["flows"] = [self.some_flow() for _ in range(draw.whole(1, 4))]
        return made

    def equip(self, node: Table) -> None:
        """Give a node a queue, a ring and aggregates that its hardware prepares."""
        draw = self.draw
        node |= draw.some(
            0.5,
            queue=lambda: own_queue(draw),
            ring_packets=lambda: draw.one((1, 2, 20, 200)),
            hardware_aggregates=lambda: draw.one((1, 2, 3)),
        )

    def roams(self) -> Table:
        """Return how stations change: often."""
        draw = self.draw
        return draw.some(
            0.7,
            short_interval_s=lambda: draw.one((0.02, 0.05, 0.3)),
            long_interval_s=lambda: draw.one((0.05, 0.2, 1.0)),
            hysteresis_db=lambda: draw.one((0, 1, 4)),
            threshold_dbm=lambda: draw.one((-40, -55, -70)),
        ) | draw.some(
            0.3,
            scan=lambda: draw.one(("active", "passive")),
            scan_channels=lambda: draw.whole(1, 5),
            announce=draw.flip,
            forward=draw.flip,
            beacon_losses=lambda: draw.one((1, 7)),
            authentication_ms=lambda: draw.one((0, 5, 50)),
        )

    def place(self) -> Table:
        """Return how stations walk, or that some stay between two cells."""
        draw = self.draw
        if draw.chance(0.2):
            return {"position_m": [draw.real(0, self.far_m), draw.real(-3, 3)]}
        times = (0.05, 0.3, 0.9, 2.0)[: draw.whole(2, 4)]
        most = self.far_m * self.further
        return {"waypoints": [
            {"at_s": at_s, "position_m": [draw.real(-5, most), draw.real(-9, 9)]} for at_s in times
        ]}  # fmt: skip

    def some_flow(self) -> Table:
        """Return datagrams or TCP, down, up or between stations."""
        draw = self.draw
        ends = ["server", draw.one(("sta*", self.station()))]
        if self.count > 1 and draw.chance(0.2):
            ends = ["sta0", f"sta{draw.whole(1, self.count - 1)}"]
        ends = ends[:: draw.one((1, -1))]
        return datagrams(draw, ends) if draw.flip() else bulk(draw, ends)


def roaming(draw: Draw, values: Values) -> Table:
    """Stations that roam, in a combination of all that holds packets."""
    return Roaming(draw, values).scenario()


# --- Stations that are routers --------------------------------------------------------------------


def routers(draw: Draw, values: Values) -> Table:
    """Hosts behind stations, whose links end there."""
    in_space = draw.chance(0.4)
    cell = (Space if in_space else Cell)(draw, draw.one(STANDARDS))
    cell.mixed = False
    if isinstance(cell, Space):
        cell.ad_hoc, cell.further, cell.placed = False, 0, True
    made = cell.scenario()
    made["wire"] = {"rate_mbps": draw.one((10, 100, 1000))}
    made["links"] = []
    hosts: list[str] = []
    for number in range(draw.whole(1, 3)):
        name = f"h{number}"
        behind = draw.one((cell.station(), cell.station(), *hosts))
        ends = [behind, name][:: draw.one((1, -1))]
        link: Table = {"from": ends[0], "to": ends[1], "rate_mbps": draw.one((1, 10, 1000))}
        link |= draw.some(
            0.4,
            delay_ms=lambda: draw.one((0.05, 2, 20)),
            queue=lambda: queue(draw),
            overhead_bytes=lambda: draw.whole(0, 50),
        )
        made["links"].append(link)
        hosts.append(name)
    for _ in range(draw.whole(1, 4)):
        ends = [draw.one(hosts), draw.one(("server", "server", cell.station(), *hosts))]
        if ends[0] == ends[1]:
            ends[1] = "server"
        ends = ends[:: draw.one((1, -1))]
        made["flows"].append(datagrams(draw, ends) if draw.chance(0.4) else bulk(draw, ends))
    if draw.chance(0.3):
        for group in groups(made):
            group |= draw.some(0.5, queue=lambda: own_queue(draw), ring_packets=lambda: 2)
    if draw.chance(0.2):
        made["flows"][-1].setdefault("tcp", {})["endpoint"] = values.value(table("Endpoint"))
    return made


# --- Routing for minutes --------------------------------------------------------------------------


def lasting(draw: Draw, values: Values) -> Table:
    """Networks over minutes: salvage, short timers, saturated flows, nodes that move."""
    count = draw.whole(3, 9)
    group: Table = {"count": count}
    spread_m = draw.one((15.0, 20.0, 25.0, 30.0))
    group |= draw.one((
        {"placement": {"chain": {"spacing_m": spread_m}}},
        {"placement": {"grid": {"spacing_m": spread_m}}},
        {"placement": {"uniform": {"area_m": [4 * spread_m, 2 * spread_m]}}},
        {"movement": {"random_waypoint": {"area_m": [4 * spread_m, 3 * spread_m]}}},
        {"movement": {"manhattan": {"area_m": [4 * spread_m, 3 * spread_m]}}},
    ))  # fmt: skip
    protocol = draw.one(("dsr", "dsr", "aodv"))
    keys = values.table(table("Dsr" if protocol == "dsr" else "Aodv"))
    if protocol == "dsr":
        keys |= draw.some(
            0.5,
            salvage_requests=draw.flip,
            salvage=lambda: draw.one((1, 15)),
            send_buffer_timeout_s=lambda: draw.one((0.05, 1, 30)),
            request_period_s=lambda: draw.one((0.005, 0.05, 0.5)),
        )
    else:
        keys |= draw.some(
            0.5,
            active_route_timeout_s=lambda: draw.one((0.02, 0.3, 3)),
            node_traversal_time_ms=lambda: draw.one((0.5, 5, 40)),
            hello=draw.flip,
            hello_interval_s=lambda: draw.one((0.02, 0.2, 1)),
            delete_period_s=lambda: draw.one((0.02, 1)),
        )
    gateway = draw.chance(0.4)
    standard = draw.one(("11a", "11b", "11g", "11n"))
    made: Table = {
        "standard": standard,
        "duration_s": draw.one((2.0, 5.0, 5.0, 20.0, 20.0, 180.0)),
        "warmup_s": 0.0,
        "radio": {"ad_hoc": True} | draw.some(0.2, fading=dict, shadowing_db=lambda: 3),
        "routing": {"gateway": gateway, "protocol": {protocol: keys}}
        | draw.some(0.3, arp=lambda: draw.one(("rfc826", "ns2"))),
        "stations": group,
        "wlan": draw.some(
            0.4,
            short_retry_limit=lambda: draw.one((1, 2, 4, 7)),
            long_retry_limit=lambda: draw.one((1, 4)),
            rts_threshold_bytes=lambda: draw.one((0, 3000)),
        ),
    }
    if draw.chance(0.4):
        group["queue"] = own_queue(draw)
    if gateway:
        made["wire"] = {"rate_mbps": 100}
    nodes = [f"sta{n}" for n in range(count)] + (["ap", "server"] if gateway else [])
    made["flows"] = []
    for _ in range(draw.whole(1, 4)):
        first = draw.whole(0, len(nodes) - 1)
        second = (first + draw.whole(1, len(nodes) - 1)) % len(nodes)
        ends = [nodes[first], nodes[second]]
        if {*ends} == {"ap", "server"}:
            ends[0] = "sta0"
        made["flows"].append(datagrams(draw, ends, 0.5) if draw.flip() else bulk(draw, ends))
    return made


# --- Bandwidth x delay ----------------------------------------------------------------------------


def pipes(draw: Draw, values: Values) -> Table:
    """Links and wires that hold many packets in flight, some of them too many."""
    rates = (0.01, 1, 100, 1000, 10_000, 100_000, 1e6)
    delays = (0.001, 1, 20, 500, 5000, 60_000)

    def pipe() -> Table:
        made: Table = {"rate_mbps": draw.one(rates), "delay_ms": draw.one(delays)}
        return made | draw.some(0.3, queue=lambda: own_queue(draw))

    hosts = [f"h{n}" for n in range(draw.whole(1, 3))]
    nodes = ["server", *hosts]
    made: Table = {"duration_s": draw.one((0.2, 1.0, 5.0)), "warmup_s": 0.0, "links": [
        {"from": nodes[n], "to": nodes[n + 1]} | pipe() for n in range(len(hosts))
    ]}  # fmt: skip
    ends = [*nodes]
    if draw.chance(0.4):
        made |= {"standard": draw.one((*RATES, *HIGH)), "stations": draw.whole(1, 3)}
        made["wire"] = pipe()
        ends += ["sta0"]
    made["flows"] = []
    for _ in range(draw.whole(1, 3)):
        first = draw.whole(0, len(ends) - 1)
        second = (first + draw.whole(1, len(ends) - 1)) % len(ends)
        pair = [ends[first], ends[second]]
        own = datagrams(draw, pair) if draw.flip() else bulk(draw, pair)
        if "traffic" not in own and draw.chance(0.5):
            own.setdefault("tcp", {}).pop("window_bytes", None)
            own["tcp"]["window_segments"] = draw.one((10, 10_000, 1_000_000))
        made["flows"].append(own)
    if draw.chance(0.2):
        made["flows"].append(flow(draw, made["duration_s"], [nodes[0], nodes[1]]))
    return made | values.draw.choice(({}, {}, {"measure": {"interval_s": 0.01}}))
