"""Counterfactuals of a channel of which others use a part."""

from __future__ import annotations

from typing import Any

from simoom.base.issue import ScenarioError
from simoom.scenario.scenario import Scenario
from simoom.why.air import NO_CELL
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting
from simoom.why.draft import Edit

STEP = 4
"""From one channel of 20 MHz to the next one, from 5 GHz on."""
LOWEST_GHZ, HIGHEST_GHZ = 2.4, 6
"""The bands other than that at 5 GHz, which is the usual one."""
WIDE_MHZ = (80, 160)
"""The channels in which a single subchannel of 20 MHz may be punctured."""


def unpunctured(case: Case) -> Answer:
    """Let the flow's network send in its whole channel."""
    if not case.has_cell:
        return NO_CELL
    path, own = _own(case)
    numbers = own.get("punctured") or []
    if not numbers:
        return "the flow's network has nothing punctured"
    cause = f"puncturing, which takes {_named(numbers)} of its channel"
    key = setting(f"{path}.punctured=[]")
    return Change([Edit(f"{path}.punctured", [])], cause, "with the whole channel", key)


def punctured(case: Case) -> Answer:
    """Let the flow's network leave out what narrower networks use of its channel."""
    if not case.has_cell:
        return NO_CELL
    if case.radio is None:
        return "there is no table [radio], and so no other channel"
    path, own = _own(case)
    if own.get("punctured"):
        return "the flow's network has channels punctured"
    if case.cell.keys["wlan"]["bandwidth_operation"] != "static":
        return "transmitters leave out what is busy (wlan.bandwidth_operation)"
    width_mhz = _width_mhz(case, list(_channels(case)).index(path))
    if case.cell.keys["standard"] != "11be" or width_mhz not in WIDE_MHZ:
        return "not a network of 802.11be with 80 or 160 MHz"
    found = _taken(case, path, width_mhz)
    if isinstance(found, str):
        return found
    taken = sorted(found)
    which = _named(taken)
    if not _has(case.scenario, path, taken):
        return f"the standard has no pattern that leaves out the {which} alone"
    cause = f"a network in {which} of its channel, for which it waits"
    key = setting(f"{path}.punctured={taken}")
    return Change([Edit(f"{path}.punctured", taken)], cause, f"with {which} punctured", key)


def medium(case: Case) -> Answer:
    """Let transmitters leave out what of their channel is busy, and not wait for it."""
    if not case.has_cell:
        return NO_CELL
    if case.radio is None:
        return "there is no table [radio], and so no other channel"
    keys = case.cell.keys
    if keys["wlan"]["bandwidth_operation"] != "static":
        return "transmitters leave out what is busy (wlan.bandwidth_operation)"
    if keys["standard"] not in ("11ax", "11be"):
        return "not a network of 802.11ax or be"
    if not _has_busy_parts(case):
        return "no other network is in secondary channels of the flow's network"
    # Without OFDMA, 802.11ax punctures nothing.
    punctures = keys["standard"] == "11be" or keys["wlan"].get("mu") is not None
    how = "punctured" if punctures else "dynamic"
    try:
        case.scenario.set("wlan.bandwidth_operation", how).check()
    except ScenarioError:
        return "it is not supported with punctured channels or full duplex"
    cause = "other networks in secondary channels, for which it waits"
    edit = Edit("wlan.bandwidth_operation", how)
    key = setting(f"wlan.bandwidth_operation={how}")
    return Change([edit], cause, "where PPDUs leave out what is busy", key)


def _has_busy_parts(case: Case) -> bool:
    """Whether another network is in the flow's channel, and not in its primary 20 MHz."""
    channels = _channels(case)
    band_ghz = case.cell.keys["wlan"]["band_ghz"]
    if None in channels.values() or band_ghz == LOWEST_GHZ:
        return False
    path, _ = _own(case)
    parts = {
        other: _parts(number, band_ghz, _width_mhz(case, cell))
        for cell, (other, number) in enumerate(channels.items())
    }
    beside = (parts[other] for other in channels if other != path)
    return any(parts[path] & its and channels[path] not in its for its in beside)


def _parts(primary: int, band_ghz: float | None, width_mhz: int) -> set[int]:
    """Return the numbers of the 20 MHz channels of a wide one (802.11-2020 annex E).

    The first wide channels begin at 36 and 149 in the 5 GHz band, and at 1 in the 6 GHz band.
    """
    first = 1 if band_ghz == HIGHEST_GHZ else 149 if primary >= 149 else 36
    count = width_mhz // 20
    lowest = primary - (primary - first) // STEP % count * STEP
    return {lowest + STEP * nth for nth in range(count)}


def _named(numbers: list[int]) -> str:
    """Return how texts name subchannels: `subchannels 3, 4`."""
    return f"subchannel{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _taken(case: Case, path: str, width_mhz: int) -> set[int] | str:
    """Return the subchannels that other networks use, counted from 1, or why there are none."""
    channels = _channels(case)
    own = channels[path]
    if None in channels.values():
        return "a network without a channel of its own is in the same channel as others"
    count = width_mhz // 20
    # Every single subchannel may be punctured but for the primary one.
    fixed = [n for n in range(1, count + 1) if not _has(case.scenario, path, [n])]
    if len(fixed) != 1:
        return "the flow's network can have nothing punctured"
    taken = set()
    for number, other in enumerate(channels):
        parts = _width_mhz(case, number) // 20
        place = fixed[0] - 1 + (channels[other] - own) // STEP
        first = place - place % parts
        if other != path:
            taken |= {n + 1 for n in range(first, first + parts) if 0 <= n < count}
    if not taken:
        return "no other network is in the flow's channel"
    if fixed[0] in taken:
        return "another network is in the primary channel, which cannot be punctured"
    return taken


def _own(case: Case) -> tuple[str, dict[str, Any]]:
    """Return the path and the keys of the access point of the flow's network."""
    stations = case.own_stations
    groups = case.station_groups
    cell = next((int(table.get("cell") or 0) for _, table, members in groups
                 if stations and stations[0] in members), 0)  # fmt: skip
    keys = case.cell.keys
    return (f"cells[{cell - 1}]", keys["cells"][cell - 1]) if cell else ("ap", keys["ap"])


def _channels(case: Case) -> dict[str, Any]:
    """Return the channel of each network, by the path of its access point."""
    keys = case.cell.keys
    further = {f"cells[{n}]": cell["channel"] for n, cell in enumerate(keys["cells"] or ())}
    return {"ap": keys["ap"]["channel"], **further}


def _width_mhz(case: Case, cell: int) -> int:
    """Return the widest channel of the stations of a network."""
    wide = case.cell.keys["wlan"]["width_mhz"] or 20
    tables = [table for _, table, _ in case.station_groups if int(table.get("cell") or 0) == cell]
    return max((int(table.get("width_mhz") or wide) for table in tables), default=wide)


def _has(scenario: Scenario, path: str, numbers: list[int]) -> bool:
    """Whether a network may have these subchannels punctured."""
    try:
        scenario.set(f"{path}.punctured", numbers).check()
    except ScenarioError:
        return False
    return True
