"""Counterfactuals of OFDMA: padding, small resource units, MU EDCA, polls, random access."""

from __future__ import annotations

from simoom.results.tables import digits, number, rows
from simoom.why.air import NO_CELL
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting, without
from simoom.why.draft import Edit

LEAST = 0.05
"""The part of the airtime from which padding is tried."""
SINGLE_ABOVE_US = 1000.0
TONES = {20: 242, 40: 484, 80: 996, 160: 1992}
"""By the width of the channel in MHz, the tones of a unit that fills it."""
LEAST_MUTED = 0.05
"""The part of the time, muted with packets to send, from which its causes are tried."""
POLL_US = 5000.0
"""How long after its last access an access point that polls asks for the medium again."""
RECEIVED = 0.5
"""The part of a station's RA-RUs that is received, below which longer windows are tried."""
EOCW = 5
"""As long a first window as the longest one by default."""


def padding(case: Case) -> Answer:
    """Serve alone whose packets would fill a PPDU, so that others pad no more up to its end."""
    if fault := _lacks(case):
        return fault
    part = number(case.summary.get("airtime.padding_fraction")) or 0.0
    if part < LEAST:
        return f"padding takes less than {100 * LEAST:.0f} % of the airtime"
    scheduler = {"backlog": {"single_above_us": SINGLE_ABOVE_US}}
    key = setting(f"wlan.mu.scheduler.backlog.single_above_us={SINGLE_ABOVE_US:g}")
    cause = f"padding up to the end of the longest user, {100 * part:.0f} % of the airtime"
    words = "with PPDUs of a single user for long queues"
    return Change([Edit("wlan.mu.scheduler", scheduler)], cause, words, key)


def small_unit(case: Case) -> Answer:
    """Send PPDUs of a single user, over the whole channel."""
    if fault := _lacks(case):
        return fault
    stations = rows(case.summary, "stations")
    found = (number(stations[n].get("mu.tones")) for n in case.own_stations)
    tones = [each for each in found if each is not None]
    if not tones:
        return "the flow's station has no part in PPDUs to several stations"
    if min(tones) >= TONES[case.cell.keys["wlan"]["width_mhz"] or 20]:
        return "the flow's station has the whole channel"
    cause = f"a resource unit of {min(tones):.0f} tones in the mean"
    return Change([Edit("wlan.mu")], cause, "without OFDMA", without("wlan.mu"))


def muted(case: Case) -> Answer:
    """Let the stations contend as always, whether or not they were triggered."""
    found = _muted(case)
    if isinstance(found, str):
        return found
    station, part, wait_s = found
    cause = f"MU EDCA: for {100 * part:.0f} % of the time sta{station} has packets and may not "
    cause += f"contend, {digits(1e3 * wait_s)} ms at a time"
    return Change([Edit("wlan.mu.edca")], cause, "without MU EDCA", without("wlan.mu.edca"))


def no_trigger(case: Case) -> Answer:
    """Let the access point poll all stations every few milliseconds."""
    found = _muted(case)
    if isinstance(found, str):
        return found
    station, _, wait_s = found
    uplink = case.cell.keys["wlan"]["mu"]["uplink"]
    interval_us = uplink["access_interval_us"]
    if uplink["bsrp"] and 0 < interval_us <= POLL_US:
        return f"the access point polls {digits(interval_us / 1e3)} ms after its last access"
    asked = number(rows(case.summary, "stations")[station].get("mu.triggers")) or 0.0
    rate = digits(asked / case.cell.measured_s)
    cause = f"a trigger that does not come: sta{station}, which MU EDCA mutes, waits "
    cause += f"{digits(1e3 * wait_s)} ms at a time and is asked {rate} times a second"
    edits = [Edit("wlan.mu.uplink.bsrp", True), Edit("wlan.mu.uplink.access_interval_us", POLL_US)]
    settings = ("wlan.mu.uplink.bsrp=true", f"wlan.mu.uplink.access_interval_us={POLL_US:g}")
    return Change(edits, cause, f"with a poll every {POLL_US / 1e3:g} ms", setting(*settings))


def unit_collisions(case: Case) -> Answer:
    """Let stations wait longer before they send in a resource unit for random access."""
    if fault := _lacks(case):
        return fault
    uplink = case.cell.keys["wlan"]["mu"].get("uplink") or {}
    random = uplink.get("random_access")
    if random is None:
        return "there is no random access (wlan.mu.uplink.random_access)"
    if random["eocw_min"] >= EOCW:
        return f"windows of random access are {2**EOCW - 1} or more"
    stations = rows(case.summary, "stations")
    parts = {n: number(stations[n].get("mu.ra_success_fraction")) for n in case.own_stations}
    found = [(part, n) for n, part in parts.items() if part is not None]
    if not found:
        return "the flow's station sends in no resource unit for random access"
    part, worst = min(found)
    if part >= RECEIVED:
        return f"{100 * RECEIVED:.0f} % or more of what it sends at random are received"
    cause = "collisions in resource units for random access: of those in which "
    cause += f"sta{worst} sends, {100 * part:.0f} % are received"
    table = "wlan.mu.uplink.random_access"
    most = max(EOCW, random["eocw_max"])
    edits = [Edit(f"{table}.eocw_max", most), Edit(f"{table}.eocw_min", EOCW)]
    key = setting(f"{table}.eocw_max={most}", f"{table}.eocw_min={EOCW}")
    return Change(edits, cause, f"with windows of {2**EOCW - 1} or more", key)


def _muted(case: Case) -> tuple[int, float, float] | str:
    """Return the station of the flow that is muted longest, the part of the time, and a wait."""
    if fault := _lacks(case):
        return fault
    if case.cell.keys["wlan"]["mu"].get("edca") is None:
        return "stations contend as always (there is no wlan.mu.edca)"
    stations = rows(case.summary, "stations")
    parts = {n: number(stations[n].get("mu.muted_fraction")) or 0.0 for n in case.own_stations}
    if max(parts.values(), default=0.0) < LEAST_MUTED:
        return f"packets wait for MU EDCA for less than {100 * LEAST_MUTED:.0f} % of the time"
    worst = max(parts, key=lambda n: parts[n])
    return worst, parts[worst], number(stations[worst].get("mu.muted_s")) or 0.0


def _lacks(case: Case) -> str:
    """Return why nothing of OFDMA applies; empty if it does."""
    if not case.has_cell:
        return NO_CELL
    return "" if case.cell.keys["wlan"].get("mu") is not None else "there is no OFDMA (wlan.mu)"
