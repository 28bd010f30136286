"""Random networks with stations of earlier standards than their own."""

from __future__ import annotations

# `campaign.features` has put the folder of this module on the path.
from random_flows import Draw, same
from random_scenarios import Cell, Space

from campaign.hosts import groups
from campaign.schema import Table, Values, table

EARLIER: dict[float, tuple[str, ...]] = {2.4: ("11n",), 5: ("11n", "11ac"), 6: ()}
"""Standards by the band in which they are."""


def earlier(draw: Draw, made: Table, share: float) -> None:
    """Make some of the groups of stations 802.11n, ac or ax, without modes that these lack."""
    known = EARLIER[made["wlan"].get("band_ghz", 5)]
    if made["standard"] == "11be":
        known = (*known, "11ax")
    for group in groups(made):
        if known and draw.chance(share):
            group["standard"] = draw.one(known)
            for key in ("mcs", "streams", "width_mhz", "guard_ns"):
                for name in (key, f"ap_{key}"):
                    group.pop(name, None)
            guard_ns = 800 if group["standard"] == "11ax" else 400
            group |= draw.some(0.3, mcs=lambda: draw.whole(0, 7))
            group |= draw.some(0.3, guard_ns=same(guard_ns))


def mixed(draw: Draw, values: Values) -> Table:
    """Return a cell or a network with stations of 802.11n to ax in a later one, without OFDMA."""
    in_space = draw.flip()
    cell = (Space if in_space else Cell)(draw, draw.one(("11ax", "11be", "11ac")))
    if isinstance(cell, Space):
        cell.ad_hoc = False
    made = cell.scenario()
    if isinstance(made["stations"], int):
        made["stations"] = [{"count": made["stations"]}]
    earlier(draw, made, 0.5)
    if in_space and draw.chance(0.3):
        made["wlan"]["spatial_reuse"] = reuse(draw, made, values)
    return made


def reuse(draw: Draw, made: Table, values: Values) -> Table:
    """Return settings of spatial reuse, some with a group of the first two BSSs."""
    keys = values.table(table("SpatialReuse")) | {"obss_pd_dbm": draw.whole(-82, -62)}
    keys.pop("srg", None)
    if made.get("cells") and draw.flip():
        level, lowest = draw.whole(-75, -62), draw.whole(-82, -75)
        group = {"bss_colors": [1, 2], "obss_pd_dbm": level, "obss_pd_min_dbm": lowest}
        keys["srg"] = [group]
        if draw.flip():
            del keys["obss_pd_dbm"]
    return keys
