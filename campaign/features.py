"""Random scenarios by class: those of `benches/random_scenarios.py`, and what that lacks.

The others are networks whose stations forward, cells with full duplex, cells and networks with
interferers, placements and movements, cells of hosts as Linux has them, with stations that sleep,
cells with OFDMA, networks with stations of earlier standards, and networks whose channels overlap.
Their tables are filled in from the schema, so that a new key needs no line here. Those of
`campaign.classes` combine what had faults.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from campaign.schema import ROOT, Table, Values, schema, table

sys.path.append(str(ROOT / "benches"))

from random_flows import Draw, flow, tree
from random_scenarios import Cell, Space
from random_scenarios import scenario as plain

from campaign.classes import lasting, pipes, roaming, routers
from campaign.hosts import STANDARDS, groups, hosts
from campaign.mixed import mixed
from campaign.ofdma import ofdma
from campaign.overlaps import overlaps

ORDER = ("plain", "roaming", "network", "routers", "lasting", "pipes", "hosts", "full duplex",
         "plain", "roaming", "moving", "routers", "lasting", "interferers", "hosts",
         "plain", "ofdma", "mixed", "overlaps")  # fmt: skip
"""The classes of scenarios, in turn."""


def class_of(number: int) -> str:
    """Return the class of a scenario."""
    return ORDER[number % len(ORDER)]


def scenario(number: int, seed: int, draw: random.Random) -> Table:
    """Return a random scenario of the class of its number."""
    name = class_of(number)
    if name == "plain":
        return plain(draw.randrange(1 << 30), seed=seed)
    make = {
        "network": _network, "full duplex": _full_duplex, "interferers": _with_interferers,
        "moving": _moving, "hosts": hosts, "roaming": roaming, "routers": routers,
        "lasting": lasting, "pipes": pipes, "ofdma": ofdma, "mixed": mixed,
        "overlaps": overlaps,
    }[name]  # fmt: skip
    return make(Draw(1_000_003 * seed + number), Values(draw, wild=False))


def _usual(key: str, values: Values) -> Any:
    """Return a value of a top-level key, near its default."""
    return values.value(schema()["properties"][key], key=key)


class Network(Space):
    """An ad-hoc network, with routing in most cases."""

    def __init__(self, draw: Draw, values: Values) -> None:
        super().__init__(draw, draw.one(STANDARDS))
        self.values = values
        self.ad_hoc, self.further, self.placed, self.mixed = True, 0, True, False
        self.preset = draw.flip()
        self.spread_m = 200.0 if self.preset else 40.0
        self.gateway = draw.chance(0.4)

    def scenario(self) -> Table:
        """Return a network."""
        draw = self.draw
        made = super().scenario()
        routing = _usual("routing", self.values)
        routing["gateway"] = self.gateway
        if draw.chance(0.9):
            made["routing"] = routing
        if self.gateway:
            self.connect(made)
        return made

    def connect(self, made: Table) -> None:
        """Give the access point a wire, hosts and flows."""
        draw = self.draw
        made["wire"] = {"rate_mbps": draw.one((2, 100))}
        ends = ["server", "ap"]
        if draw.chance(0.3):
            nodes = ["ap", "h0", "h1"]
            made["links"] = tree(draw, nodes)
            ends += nodes[1:]
        for _ in range(draw.whole(1, 2)):
            pair = [draw.one(ends), draw.one((self.station(), self.station(), "sta*"))]
            made["flows"].append(flow(draw, made["duration_s"], pair[:: draw.one((1, -1))]))

    def group(self, number: int) -> Table:
        """Return a group of stations."""
        made = super().group(number)
        made.pop("cell", None)
        fit_file(made)
        if self.draw.chance(0.2):
            made["queue"] = {"priority": {"limit_packets": self.draw.whole(1, 100)}}
        return made

    def place(self) -> Table:
        """Return where they stand, or how they move."""
        return placed(self.draw, self.values, self.spread_m)

    def radio(self) -> Table:
        """Return radios with a range of some 40 m, or the 250 m of ns-2."""
        made = super().radio()
        if self.preset:
            keep = ("fading", "nav_reset", "capture", "ad_hoc", "error_model", "shadowing_db")
            made = {key: value for key, value in made.items() if key in keep}
            made["preset"] = "ns2"
        return made


def fit_file(group: Table) -> None:
    """Name a file with as many nodes as the group has stations."""
    movement = group.get("movement")
    for inner in movement.values() if isinstance(movement, dict) else ():
        if "file" in inner:
            inner["file"] = inner["file"].replace("walk.3", f"walk.{group['count']}")


def placed(draw: Draw, values: Values, spread_m: float) -> Table:
    """Return where the stations of a group stand or how they move."""
    corner = [draw.real(0, 2 * spread_m), draw.real(0, 2 * spread_m)]
    kind = draw.one(("position", "placement", "movement", "movement"))
    if kind == "position":
        return {"position_m": corner, "ring_m": draw.real(0.1, spread_m)}
    made = values.value(table("Station")["properties"][kind], key=kind)
    for inner in made.values() if isinstance(made, dict) else ():
        if "area_m" in inner and "file" not in inner:
            inner["area_m"] = [draw.real(spread_m, 4 * spread_m) for _ in range(2)]
        if "spacing_m" in inner:
            inner["spacing_m"] = draw.real(0.5 * spread_m, 1.3 * spread_m)
    return {kind: made} | ({"position_m": corner} if kind == "placement" else {})


def _network(draw: Draw, values: Values) -> Table:
    return Network(draw, values).scenario()


def _moving(draw: Draw, values: Values) -> Table:
    """Stations of cells that stand by a placement or move."""
    space = Space(draw, draw.one(STANDARDS))
    made = space.scenario()
    if space.placed:
        for group in made["stations"]:
            for key in ("waypoints", "position_m", "ring_m"):
                group.pop(key, None)
            group |= placed(draw, values, 15.0)
            fit_file(group)
    return made


def _full_duplex(draw: Draw, values: Values) -> Table:
    """A full-duplex access point, and in some cases what it does not bear."""
    in_space = draw.flip()
    cell = (Space if in_space else Cell)(draw, draw.one(STANDARDS))
    cell.mixed, cell.qos = False, cell.high
    if isinstance(cell, Space):
        cell.ad_hoc = False
    made = cell.scenario()
    wlan = made["wlan"]
    duplex = wlan["full_duplex"] = values.table(table("FullDuplex"))
    if draw.chance(0.1):
        return made
    for group in (wlan, made["ap"], *groups(made)):
        group.pop("rate_control", None)
    for key in ("protection", "model_header_us"):
        wlan.pop(key, None)
    if isinstance(wlan.get("aggregation"), dict):
        wlan["aggregation"].pop("delivery", None)
    duplex.pop("secondary_mcs" if draw.chance(0.7) or not cell.high else "serve", None)
    if "secondary_rate_mbps" in duplex:
        duplex["secondary_rate_mbps"] = draw.one(cell.rates() if not cell.high else (6.5,))
        duplex.pop("secondary_rate_rule", None)
    if cell.high:
        duplex.pop("secondary_rate_mbps", None)
    if "secondary_mcs" in duplex:
        duplex.pop("secondary_rate_rule", None)
    absent = ("rts_cts", "busy_tone") if in_space else ("cancellation_db", "secondary_rate_rule")
    for key in absent:
        duplex.pop(key, None)
    if "cancellation_db" in duplex:
        duplex["cancellation_db"] = draw.one((70, 90, 110, 130))
    if duplex.get("rts_cts") != "optional":
        wlan["rts_threshold_bytes"] = draw.one((0, 0, 500, 2346))
    if cell.count == 1:
        duplex["bidirectional"] = True
    both = [["server", "sta*"], ["sta*", "server"]]
    made["flows"] += [flow(draw, made["duration_s"], ends) for ends in both]
    return made


def _with_interferers(draw: Draw, values: Values) -> Table:
    """A cell or a network with sources that are not 802.11."""
    in_space = draw.chance(0.6)
    if in_space and draw.chance(0.3):
        made = Network(draw, values).scenario()
    else:
        cell = (Space if in_space else Cell)(draw, draw.one(STANDARDS))
        if isinstance(cell, Space):
            cell.placed = True
        made = cell.scenario()
    links = ("sco", "esco", "a2dp")
    made["interferers"] = []
    for _ in range(draw.whole(1, 3)):
        each = values.table(table("Interferer"))
        source = each["source"]
        name = source if isinstance(source, str) else next(iter(source))
        for key in ("position_m", "tx_power_dbm", "peer_position_m", "peer_tx_power_dbm", "sensed",
                    "corrupts", "name", "stop_s", "start_s"):  # fmt: skip
            each.pop(key, None)
        each |= draw.some(0.2, start_s=lambda: draw.real(0, 0.2), stop_s=lambda: draw.real(0.2, 1))
        if in_space:
            each |= {"position_m": [draw.real(-9, 70), draw.real(-9, 70)]}
            each |= {"tx_power_dbm": draw.real(-10, 20)} | draw.some(0.3, sensed=draw.flip)
            if name in links:
                each |= {"peer_position_m": [draw.real(-9, 70), draw.real(-9, 70)]}
                each |= draw.some(0.3, peer_tx_power_dbm=lambda: draw.real(-10, 20))
        else:
            each["corrupts"] = True
        made["interferers"].append(each)
    return made
