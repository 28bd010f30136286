"""Loss to a voice link of Bluetooth: one sender, whose frames the bursts overlap."""

from __future__ import annotations

from typing import Any

from simoom.models import assumption, bluetooth, timing
from simoom.models.assumption import Assumption
from simoom.twin import medium, saturated
from simoom.twin.inputs import Cell, choice
from simoom.twin.verdict import AssumptionCheck, Fit, broken, met, stretched

LONG_PREAMBLE = Assumption("long_preamble", "The network is 802.11b with the long preamble.")
NO_RTS = Assumption("no_rts", "Data frames are sent without RTS and CTS.")

_NAMES = {assumed.name: assumed for assumed in bluetooth.ASSUMPTIONS}


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `bluetooth` for a scenario and predict."""
    link, voice = cell.keys["interferers"][0], _voice(cell)
    one = _one_sender(cell)
    checks = [
        saturated.one_hop(cell),
        medium.dcf(cell),
        medium.noise(cell),
        _long_preamble(cell),
        _all_along(cell, link),
        _any_overlap(cell),
        _no_avoidance(voice),
        one,
    ]
    if one.verdict == "broken":
        return Fit("bluetooth", "", tuple(checks))
    flow, slots = cell.flows[0], voice["rule"] == "slots"
    exchange = cell.data(flow)
    independent = _NAMES["independent_attempts"]
    checks += [
        broken(NO_RTS, f"{flow.path} sends RTS") if exchange.rts else met(NO_RTS),
        met(independent, "the rule draws each anew")
        if slots
        else stretched(independent, "the bursts are periodic, attempts begin at random slots"),
    ]
    goodput = float(
        bluetooth.mac_goodput(
            _corruption(cell, voice),
            attempts=cell.air.attempts,
            rate_mbps=cell.rate_mbps(flow),
            packet_bytes=flow.payload_bytes,
            mac_ack_mbps=cell.air.response_mbps(cell.rate_mbps(flow)),
            link=bluetooth.Dot11b(
                slot_us=cell.air.slot_us,
                sifs_us=cell.air.sifs_us,
                difs_us=cell.air.difs_us,
                cw_min=cell.air.cw_min,
                cw_max=cell.air.cw_max,
                mac_header_bytes=flow.header_bytes + cell.air.overhead_bytes,
            ),
        ).goodput_mbps
    )
    values = {"total.goodput_mbps": goodput, f"{flow.path}.goodput_mbps": goodput}
    rule = "whole slots" if slots else "bursts"
    return Fit("bluetooth", f"mac_goodput: {rule}", tuple(checks), values)


def _voice(cell: Cell) -> dict[str, Any]:
    """Return the settings of the voice link."""
    return choice(cell.keys["interferers"][0]["source"])[1]


def _corruption(cell: Cell, voice: dict[str, Any]) -> float:
    """Return the probability that an attempt fails."""
    flow = cell.flows[0]
    rate, size = cell.rate_mbps(flow), flow.packet_bytes + cell.air.overhead_bytes
    if voice["rule"] == "slots":
        if (given := voice["slot_probability"]) is None:
            exact = bluetooth.packet_corruption(size, rate_mbps=rate, voice=voice["format"])
            return float(exact)
        return float(1 - (1 - given) ** (8 * size / rate // bluetooth.DWELL_US))
    # A burst is longer than the SIFS: what overlaps the exchange overlaps one of its frames.
    ack_us = cell.air.ppdu_us(timing.ACK_BYTES, cell.air.response_mbps(rate))
    exposed_us = cell.data(flow).exposed_us + cell.air.sifs_us + ack_us
    whole = bluetooth.packet_corruption(
        exposed_us / 8, rate_mbps=1.0, voice=voice["format"], rule="bursts"
    )
    return float(whole)


def _long_preamble(cell: Cell) -> AssumptionCheck:
    if (standard := cell.keys["standard"]) != "11b":
        return broken(LONG_PREAMBLE, f"it is {standard}")
    if cell.air.wlan["preamble"] == "short":
        return broken(LONG_PREAMBLE, "its preamble is short")
    return met(LONG_PREAMBLE)


def _all_along(cell: Cell, link: dict[str, Any]) -> AssumptionCheck:
    assumed = _NAMES["bluetooth_voice"]
    if link["start_s"] > cell.warmup_s or link["stop_s"] is not None:
        return broken(assumed, "the link is silent for a part of the run")
    return met(assumed)


def _any_overlap(cell: Cell) -> AssumptionCheck:
    assumed = _NAMES["any_overlap_kills"]
    if cell.keys["radio"] is not None:
        return broken(assumed, "with a radio the power of a burst decides")
    return met(assumed)


def _no_avoidance(voice: dict[str, Any]) -> AssumptionCheck:
    assumed = _NAMES["no_frequency_avoidance"]
    if voice["afh"] is not None:
        return broken(assumed, "the link adapts its hops")
    return met(assumed)


def _one_sender(cell: Cell) -> AssumptionCheck:
    """Check that one node always has a packet to send, and no other node sends data."""
    assumed = assumption.ONE_SENDER
    if any(flow.over_tcp for flow in cell.flows):
        return broken(assumed, "TCP sends in both directions")
    if len(cell.flows) > 1:
        return broken(assumed, f"there are {len(cell.flows)} flows")
    if cell.flows[0].kind != "saturated":
        return broken(assumed, f"{cell.flows[0].path} does not always have a packet to send")
    return met(assumed)
