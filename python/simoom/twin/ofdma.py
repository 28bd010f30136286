"""802.11ax: an access point that always has data for several stations, and sends by OFDMA."""

from __future__ import annotations

from typing import Any

from simoom.models import assumption, ofdma, timing
from simoom.models.resource_units import none_empty
from simoom.models.txop import Sender
from simoom.twin import aggregates, saturated
from simoom.twin.inputs import Cell, choice
from simoom.twin.medium import fixed_mcs, noise, one_cell
from simoom.twin.verdict import AssumptionCheck, Fit, broken, met

_NAMES = {each.name: each for each in ofdma.ASSUMPTIONS}
SEVERAL, EQUAL_UNITS, NO_LIMIT = (
    _NAMES[name] for name in ("several_users", "equal_units", "no_txop_limit")
)
LTF_US = {"standard": 7.2, "ns3": 8.0}
"""The duration of an HE-LTF by ``wlan.ppdu_timing``."""
MOST_MCS = 9
"""The highest MCS below 242 tones of stations without 1024-QAM there."""
USED = {key: value for key, value in aggregates.USED.items() if key not in ("ppdu_timing", "mu")}
"""Keys of ``wlan`` and the values that the model represents; others have checks of their own."""


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `ofdma.saturated` for a scenario and predict."""
    scope = (
        saturated.one_hop(cell),
        saturated.sent_all_along(cell),
        one_cell(cell),
        _alone(cell),
        aggregates.usual(cell, USED),
        aggregates.one_category(cell),
        fixed_mcs(cell),
        met(assumption.BLOCK_ACK),
        _several(cell),
        _equal_units(cell),
        _no_limit(cell),
        aggregates.equal(cell),
    )
    udp = all(flow.kind in ("saturated", "cbr") for flow in cell.flows)
    if any(check.verdict == "broken" for check in scope) or not udp:
        return Fit("ofdma", "", (*scope, saturated.saturated(cell, None)))
    flow, stations = cell.flows[0], {flow.station for flow in cell.flows}
    _, users = none_empty(20, len(stations))
    sender = aggregates.sender(cell, flow.packet_bytes, at_access_point=True)
    wlan = cell.keys["wlan"]
    is_capped = users > 1 and not wlan["mu"]["small_1024_qam"]
    point = ofdma.saturated(
        users,
        mcs=min(sender.mcs, MOST_MCS) if is_capped else sender.mcs,
        payload_bytes=flow.payload_bytes,
        acknowledgement=wlan["mu"]["acknowledgement"],
        header_bytes=sender.mpdu_bytes - flow.payload_bytes,
        ltf_us=LTF_US[wlan["ppdu_timing"]],
        control_mbps=sender.control_mbps,
        cw_min=aggregates.windows(cell, at_access_point=True)[0],
        most_us=min(timing.MAX_PPDU_US, sender.most_us),
    )
    total = float(point.throughput_mbps)
    behind = {number: sum(each.station == number for each in cell.flows) for number in stations}
    values = {"total.goodput_mbps": total, "total.collision_probability": 0.0}
    values |= {
        f"{each.path}.goodput_mbps": total / len(stations) / behind[each.station]
        for each in cell.flows
    }
    full = saturated.saturated(cell, values)
    checks = (
        *scope,
        noise(cell),
        full,
        _full_ppdus(sender, point.mpdus, full.verdict),
    )
    return Fit("ofdma", f"saturated: {users} of {len(stations)} stations", checks, values)


def _alone(cell: Cell) -> AssumptionCheck:
    up = next((flow for flow in cell.flows if flow.direction != "down"), None)
    if up is not None:
        return broken(assumption.ONE_SENDER, f"{up.path} is no download")
    return met(assumption.ONE_SENDER)


def _full_ppdus(sender: Sender, mpdus: float, verdict: str) -> AssumptionCheck:
    """Check that the duration limits A-MPDUs, and not their own limits."""
    most = min(
        sender.most_mpdus,
        int(sender.most_bytes // (sender.mpdu_bytes + timing.MPDU_DELIMITER_BYTES)),
    )
    if most < mpdus:
        return broken(assumption.FULL_PPDUS, f"{most} of {mpdus:g} MPDUs by wlan.aggregation")
    return AssumptionCheck(assumption.FULL_PPDUS, verdict, f"{mpdus:g} MPDUs of a user")


def _several(cell: Cell) -> AssumptionCheck:
    mu: dict[str, Any] = cell.keys["wlan"]["mu"]
    stations = len({number for flow in cell.flows for number in flow.stations})
    if stations < mu["min_users"]:
        return broken(SEVERAL, f"{stations} station, and wlan.mu.min_users is {mu['min_users']}")
    for key, usual in (("uplink", None), ("max_users", None), ("response_mcs", ofdma.RESPONSE_MCS)):
        if mu[key] != usual:
            return broken(SEVERAL, f"wlan.mu.{key} is given")
    if mu["protection"] != "none":
        return broken(SEVERAL, f"wlan.mu.protection is {mu['protection']}")
    return met(SEVERAL)


def _equal_units(cell: Cell) -> AssumptionCheck:
    wlan = cell.keys["wlan"]
    scheduler, _ = choice(wlan["mu"]["scheduler"])
    if scheduler != "round_robin":
        return broken(EQUAL_UNITS, f"wlan.mu.scheduler is {scheduler}")
    for key, usual in (("width_mhz", 20), ("streams", 1), ("guard_ns", 800)):
        if (wlan[key] or usual) != usual:
            return broken(EQUAL_UNITS, f"wlan.{key} is {wlan[key]}")
    if wlan["mu"]["nominal_padding_us"]:
        padding = wlan["mu"]["nominal_padding_us"]
        return broken(EQUAL_UNITS, f"wlan.mu.nominal_padding_us is {padding}")
    return met(EQUAL_UNITS)


def _no_limit(cell: Cell) -> AssumptionCheck:
    sender = aggregates.sender(cell, 1500, at_access_point=True)
    if sender.limit_us:
        how = f"{sender.limit_us:g} us, and what is left of a TXOP carries a PPDU of one user"
        return broken(NO_LIMIT, how)
    return met(NO_LIMIT)
