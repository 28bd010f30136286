"""Random cells with OFDMA in one or both directions, by the schema."""

from __future__ import annotations

from typing import Any

# `campaign.features` has put the folder of this module on the path.
from random_flows import Draw
from random_scenarios import Cell

from campaign.classes import Roaming, bulk, datagrams, own_queue
from campaign.hosts import groups
from campaign.mixed import earlier
from campaign.schema import Table, Values, table


def ofdma(draw: Draw, values: Values) -> Table:
    """Return a cell with OFDMA, in some cases with beacons, sleeping stations and broadcasts."""
    cell = Cell(draw, "11ax")
    made = cell.scenario()
    wlan = made["wlan"]
    for key in ("guard_ns", "he_ltf"):
        wlan.pop(key, None)
    wlan["width_mhz"] = draw.one((20, 20, 40, 80, 160))
    if wlan["width_mhz"] > 40:
        wlan.pop("band_ghz", None)
    wlan |= draw.some(0.3, coding=lambda: draw.one(("bcc", "ldpc")))
    wlan["aggregation"] = draw.some(
        0.4,
        frames=lambda: draw.one((2, 8, 64)),
        bytes=lambda: draw.one((4000, 65_535)),
        duration_us=lambda: draw.one((1000.0, 4000.0)),
    )
    wlan["mu"] = units(draw, values)
    if not isinstance(made["stations"], (dict, list)):
        made["stations"] = {"count": made["stations"]}
    for group in groups(made):
        # All have the channel and the guard interval in common.
        for key in ("width_mhz", "guard_ns", "standard"):
            group.pop(key, None)
    if draw.chance(0.6):
        sleep(made, draw, values)
    if draw.chance(0.5):
        # The first group remains: OFDMA needs stations.
        earlier(draw, made | {"stations": groups(made)[1:]}, 0.4)
    wired = "wire" in made
    if draw.chance(0.4):
        among_radios(made, draw)
    made["flows"] = [some_flow(draw, cell, wired) for _ in range(draw.whole(1, 4))]
    for node in (made["ap"], *groups(made)):
        node |= draw.some(0.4, queue=lambda: own_queue(draw))
    sleeps = any("power_save" in group for group in groups(made))
    if wired and "cells" in made and not sleeps and draw.chance(0.5):
        walk(made, draw, values)
    return made


def units(draw: Draw, values: Values) -> Table:
    """Return settings of OFDMA that most cells have room for."""
    made = values.table(table("Mu"))
    for key, numbers in (("min_users", (1, 2)), ("max_users", (2, 4, 9))):
        if key in made:
            made[key] = draw.one(numbers)
    uplink = made.get("uplink")
    if not isinstance(uplink, dict):
        made.pop("edca", None)
        return made
    uplink["access_interval_us"] = draw.one((0.0, 100.0, 500.0, 5000.0))
    random = uplink.get("random_access")
    if isinstance(random, dict):
        # As many as any channel has, and windows in order.
        random["units"] = draw.one((1, 2, 3, 9))
        random["eocw_min"], random["eocw_max"] = draw.one((0, 3, 5)), draw.one((5, 7))
        made.pop("max_users", None)
    return made


def walk(made: Table, draw: Draw, values: Values) -> None:
    """Let stations walk between two cells, and change their access points often."""
    far_m = made["cells"][0]["position_m"][0]
    made["wlan"]["beacons"] = {"interval_tu": draw.one((15, 20, 50))}
    made["duration_s"] = 1.0
    made.pop("warmup_s", None)
    for group in groups(made):
        for key in ("ring_m", "position_m"):
            group.pop(key, None)
        places = [draw.real(-5, far_m + 5) for _ in range(3)]
        group["waypoints"] = [
            {"at_s": at_s, "position_m": [place, draw.real(-9, 9)]}
            for at_s, place in zip((0.0, 0.4, 0.9), places, strict=True)
        ]
        group["roaming"] = Roaming(draw, values).roams()


def among_radios(made: Table, draw: Draw) -> None:
    """Give the nodes radios, in some cases with a second cell."""
    made["radio"] = {}
    # A common slot grid needs a cell in which all nodes receive each other.
    made["wlan"].pop("slot_grid", None)
    for group in groups(made):
        group["ring_m"] = draw.one((2.0, 20.0, 60.0, 120.0))
    if draw.flip():
        made["cells"] = [{"position_m": [draw.one((10.0, 60.0, 150.0)), 0.0]}]
        beside = {"count": draw.whole(1, 6), "ring_m": draw.one((2.0, 20.0, 60.0)), "cell": 1}
        own = made["stations"] if isinstance(made["stations"], list) else [made["stations"]]
        made["stations"] = [*own, beside]


def sleep(made: Table, draw: Draw, values: Values) -> None:
    """Give the access point beacons, and stations power save."""
    made["wlan"]["beacons"] = {"interval_tu": draw.one((15, 20, 50))}
    for group in groups(made):
        if draw.chance(0.6):
            group["power_save"] = values.value(table("PowerSave"))


def some_flow(draw: Draw, cell: Cell, wired: bool) -> Table:
    """Return datagrams or TCP, down or up, or to all."""
    host = "server" if wired else "ap"
    if draw.chance(0.15):
        return {"from": host, "to": "broadcast", "traffic": {"cbr": {"rate_mbps": 0.3}}}
    ends: list[Any] = [host, draw.one(("sta*", cell.station()))]
    ends = ends[:: draw.one((1, -1))]
    return datagrams(draw, ends) if draw.flip() else bulk(draw, ends)
