"""Counterfactuals of OFDMA: padding, and small resource units."""

from __future__ import annotations

from simoom.results.tables import number, rows
from simoom.why.air import NO_CELL
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting, without
from simoom.why.draft import Edit

LEAST = 0.05
"""The part of the airtime from which padding is tried."""
SINGLE_ABOVE_US = 1000.0


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
    cause = f"a resource unit of {min(tones):.0f} tones in the mean"
    return Change([Edit("wlan.mu")], cause, "without OFDMA", without("wlan.mu"))


def _lacks(case: Case) -> str:
    """Return why nothing of OFDMA applies; empty if it does."""
    if not case.has_cell:
        return NO_CELL
    return "" if case.cell.keys["wlan"].get("mu") is not None else "there is no OFDMA (wlan.mu)"
