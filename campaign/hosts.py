"""Random cells of hosts as Linux has them, with beacons and stations that sleep, by the schema."""

from __future__ import annotations

from typing import Any

# `campaign.features` has put the folder of this module on the path.
from random_flows import Draw
from random_scenarios import HIGH, RATES, Cell, Space

from campaign.schema import Table, Values, table

STANDARDS = (*RATES, *HIGH)
QUEUES = {"mac80211": "Mac80211", "fq": "Fq", "pfifo_fast": "PfifoFast"}
SLEEPING = 0.7
"""The share of scenarios in which stations save power."""


def hosts(draw: Draw, values: Values) -> Table:
    """Return a cell with beacons, and in most cases sleeping stations and what Linux has."""
    in_space = draw.chance(0.3)
    cell = (Space if in_space else Cell)(draw, draw.one(STANDARDS))
    cell.qos = cell.high or draw.chance(0.5)
    if isinstance(cell, Space):
        cell.ad_hoc = False
    made = cell.scenario()
    beacons = values.table(table("Beacons"))
    if draw.chance(0.7):
        # Several in a short run.
        beacons["interval_tu"] = draw.one((15, 20, 50))
    if draw.chance(0.9):
        # A number is a rate of the standard by chance only.
        beacons.pop("rate_mbps", None)
    made["wlan"]["beacons"] = beacons
    if not isinstance(made["stations"], (dict, list)):
        made["stations"] = {"count": made["stations"]}
    sleeps = draw.chance(SLEEPING)
    for group in groups(made):
        if sleeps and draw.chance(0.7):
            group["power_save"] = values.value(table("PowerSave"))
    _as_linux(made, draw, values)
    return made


def groups(made: Table) -> list[Table]:
    """Return the tables of stations."""
    stations = made.get("stations")
    if isinstance(stations, dict):
        return [stations]
    return stations if isinstance(stations, list) else []


def _as_linux(made: Table, draw: Draw, values: Values) -> None:
    """Give nodes queues, devices and endpoints of Linux."""

    def queue() -> Any:
        key = draw.one(("mac80211", "mac80211", "fq", "pfifo_fast"))
        made = values.table(table(QUEUES[key]))
        # Random limits rarely hold a packet.
        made.pop("limit_bytes", None)
        return {key: made}

    for node in (made.setdefault("ap", {}), *groups(made)):
        node |= draw.some(
            0.4,
            queue=queue,
            ring_packets=lambda: draw.one((1, 2, 20, 123)),
            hardware_aggregates=lambda: draw.one((1, 2, 3)),
        )
    wire = made.get("wire")
    if isinstance(wire, dict) and draw.chance(0.5):
        wire["driver"] = values.table(table("Driver"))
    for flow in made["flows"]:
        if draw.chance(0.5) and "traffic" not in flow:
            flow.setdefault("tcp", {})["endpoint"] = values.value(table("Endpoint"))
