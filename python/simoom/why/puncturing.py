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
    if why := _never_waits(case):
        return why
    path, own = _own(case)
    if own.get("punctured"):
        return "the flow's network has channels punctured"
    width_mhz = _width_mhz(case, list(_channels(case)).index(path))
    if case.cell.keys["standard"] != "11be" or width_mhz not in WIDE_MHZ:
        return "not a network of 802.11be with 80 or 160 MHz"
    found = _taken(case, path)
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
    if why := _never_waits(case):
        return why
    keys = case.cell.keys
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


def _never_waits(case: Case) -> str | None:
    """Return why nobody waits for a part of a channel, if so."""
    if not case.has_cell:
        return NO_CELL
    if case.radio is None:
        return "there is no table [radio], and so no other channel"
    if case.cell.keys["wlan"]["bandwidth_operation"] != "static":
        return "transmitters leave out what is busy (wlan.bandwidth_operation)"
    return None


def _has_busy_parts(case: Case) -> bool:
    """Whether another network is in the flow's channel, and not in its primary 20 MHz."""
    parts = _parts_of_all(case)
    if parts is None or case.cell.keys["wlan"]["band_ghz"] == LOWEST_GHZ:
        return False
    path, _ = _own(case)
    own, primary = parts.pop(path), _channels(case)[path]
    return any(own & its and primary not in its for its in parts.values())


def _parts_of_all(case: Case) -> dict[str, set[int]] | None:
    """Return the 20 MHz channels of each network, by the path of its access point.

    None if a network has no channel of its own.
    """
    channels = _channels(case)
    if None in channels.values():
        return None
    band_ghz = case.cell.keys["wlan"]["band_ghz"]
    return {
        path: _parts(number, band_ghz, _width_mhz(case, cell))
        for cell, (path, number) in enumerate(channels.items())
    }


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


def _taken(case: Case, path: str) -> set[int] | str:
    """Return the subchannels that other networks use, counted from 1, or why there are none."""
    parts = _parts_of_all(case)
    if parts is None:
        return "a network without a channel of its own is in the same channel as others"
    own = sorted(parts.pop(path))
    if not any(_has(case.scenario, path, [n]) for n in range(1, len(own) + 1)):
        return "the flow's network can have nothing punctured"
    used = set().union(*parts.values())
    taken = {n for n, number in enumerate(own, 1) if number in used}
    if not taken:
        return "no other network is in the flow's channel"
    if _channels(case)[path] in used:
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
