"""Counterfactuals of a channel of which others use a part."""

from __future__ import annotations

from typing import Any

from simoom.base.issue import ScenarioError
from simoom.scenario.interfaces import channels
from simoom.scenario.scenario import Scenario
from simoom.why.air import NO_CELL
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting
from simoom.why.draft import Edit


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
    found = _taken(case, path)
    if isinstance(found, str):
        return found
    taken = sorted(found)
    which = _named(taken)
    if _fault(case.scenario, f"{path}.punctured", taken):
        return f"the standard has no pattern that leaves out the {which} alone"
    cause = f"a network in {which} of its channel, for which it waits"
    key = setting(f"{path}.punctured={taken}")
    return Change([Edit(f"{path}.punctured", taken)], cause, f"with {which} punctured", key)


def medium(case: Case) -> Answer:
    """Let transmitters leave out what of their channel is busy, and not wait for it."""
    if why := _never_waits(case):
        return why
    if not _has_busy_parts(case):
        return "no other network is in secondary channels of the flow's network"
    # Without OFDMA, 802.11ax punctures nothing.
    for how in ("punctured", "dynamic"):
        if not (fault := _fault(case.scenario, "wlan.bandwidth_operation", how)):
            break
    else:
        return fault
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
    networks = channels(case.scenario)
    own = networks.pop(_own(case)[0])
    primary, parts = own["primary_mhz"], set(own["parts_mhz"])
    others = (its["parts_mhz"] for its in networks.values())
    return any(parts.intersection(its) and primary not in its for its in others)


def _named(numbers: list[int]) -> str:
    """Return how texts name subchannels: `subchannels 3, 4`."""
    return f"subchannel{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _taken(case: Case, path: str) -> set[int] | str:
    """Return the subchannels that other networks use, counted from 1, or why there are none."""
    networks = channels(case.scenario)
    own = networks.pop(path)
    numbers = range(1, len(own["parts_mhz"]) + 1)
    if all(_fault(case.scenario, f"{path}.punctured", [n]) for n in numbers):
        return "the flow's network can have nothing punctured"
    used = set().union(*(its["parts_mhz"] for its in networks.values()))
    taken = {n for n, mhz in enumerate(own["parts_mhz"], 1) if mhz in used}
    if not taken:
        return "no other network is in the flow's channel"
    if own["primary_mhz"] in used:
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


def _fault(scenario: Scenario, path: str, value: Any) -> str:
    """Return why a scenario cannot have a value; empty if it can."""
    try:
        scenario.set(path, value).check()
    except ScenarioError as error:
        return error.issues[0].message
    return ""
