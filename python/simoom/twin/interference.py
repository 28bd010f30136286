"""Loss to a voice link of Bluetooth: a sender or a TCP flow, whose frames the bursts overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from simoom.models import assumption, bluetooth, tcp_corruption, timing
from simoom.models.assumption import Assumption
from simoom.twin import bulk, medium, saturated
from simoom.twin.air import Exchange
from simoom.twin.inputs import Cell, Flow, choice
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

LONG_PREAMBLE = Assumption("long_preamble", "The network is 802.11b with the long preamble.")
NO_RTS = Assumption("no_rts", "Data frames are sent without RTS and CTS.")

_NAMES = {
    assumed.name: assumed for assumed in (*bluetooth.ASSUMPTIONS, *tcp_corruption.ASSUMPTIONS)
}


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `bluetooth` for a scenario and predict."""
    one = _one_sender(cell)
    checks = [*_voice_checks(cell), one]
    if one.verdict == "broken":
        return Fit("bluetooth", "", tuple(checks))
    flow = cell.flows[0]
    checks += _exchange_checks(cell)
    goodput = float(
        bluetooth.mac_goodput(
            _corruption(cell, flow.packet_bytes, cell.data(flow)),
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
    return Fit("bluetooth", f"mac_goodput: {_rule(cell)}", tuple(checks), _values(flow, goodput))


def fit_tcp(cell: Cell) -> Fit:
    """Check the assumptions of `tcp_corruption` for a scenario and predict."""
    one = _one_tcp_flow(cell)
    checks = [*_voice_checks(cell), one]
    if one.verdict == "broken":
        return Fit("tcp_corruption", "", tuple(checks))
    (flow,), air = cell.flows, cell.air
    data, answer = cell.data(flow), cell.answer(flow)
    found = tcp_corruption.tcp_goodput(
        _corruption(cell, flow.packet_bytes, data),
        _corruption(cell, flow.header_bytes, answer),
        times=bulk.times(cell, [flow]),
        delayed_ack=flow.delayed_ack,
        cw_min=air.cw_min,
        cw_max=air.cw_max,
        attempts=air.attempts,
    )
    goodput = float(found.goodput_mbps)
    checks += [
        *_exchange_checks(cell),
        bulk.persistent(cell),
        stretched(assumption.DECOUPLED, "a back-off goes on while the other node comes and goes"),
        _backlogged(cell, goodput, float(found.segment_loss)),
    ]
    values = _values(flow, goodput) | {
        "total.collision_probability": float(found.collision_probability)
    }
    return Fit("tcp_corruption", f"tcp_goodput: {_rule(cell)}", tuple(checks), values)


def _values(flow: Flow, goodput_mbps: float) -> dict[str, float]:
    return {"total.goodput_mbps": goodput_mbps, f"{flow.path}.goodput_mbps": goodput_mbps}


def _rule(cell: Cell) -> str:
    return "whole slots" if _voice(cell)["rule"] == "slots" else "bursts"


def _voice_checks(cell: Cell) -> list[AssumptionCheck]:
    """Check the network and its voice link."""
    return [
        saturated.one_hop(cell),
        medium.dcf(cell),
        medium.noise(cell),
        _long_preamble(cell),
        _all_along(cell, cell.keys["interferers"][0]),
        _any_overlap(cell),
        _no_avoidance(_voice(cell)),
    ]


def _exchange_checks(cell: Cell) -> list[AssumptionCheck]:
    """Check the exchanges of the first flow, and how they meet the link."""
    flow, independent = cell.flows[0], _NAMES["independent_attempts"]
    return [
        broken(NO_RTS, f"{flow.path} sends RTS") if cell.data(flow).rts else met(NO_RTS),
        met(independent, "the rule draws each anew")
        if _voice(cell)["rule"] == "slots"
        else stretched(independent, "the bursts are periodic, attempts begin at random slots"),
    ]


def _voice(cell: Cell) -> dict[str, Any]:
    """Return the settings of the voice link."""
    return choice(cell.keys["interferers"][0]["source"])[1]


def _corruption(cell: Cell, packet_bytes: int, exchange: Exchange) -> float:
    """Return the probability that an attempt at an IP packet fails without a collision."""
    voice = _voice(cell)
    rate, size = exchange.opening_mbps, packet_bytes + cell.air.overhead_bytes
    if voice["rule"] == "slots":
        if (given := voice["slot_probability"]) is None:
            exact = bluetooth.packet_corruption(size, rate_mbps=rate, voice=voice["format"])
            return float(exact)
        return float(1 - (1 - given) ** (8 * size / rate // bluetooth.DWELL_US))
    # A burst is longer than the SIFS: what overlaps the exchange overlaps one of its frames.
    ack_us = cell.air.ppdu_us(timing.ACK_BYTES, cell.air.response_mbps(rate))
    exposed_us = exchange.exposed_us + cell.air.sifs_us + ack_us
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


def _one_tcp_flow(cell: Cell) -> AssumptionCheck:
    """Check that there is one long TCP flow."""
    if len(cell.flows) > 1:
        return broken(assumption.ONE_FLOW, f"there are {len(cell.flows)} flows")
    if (flow := cell.flows[0]).kind != "bulk" or flow.direction not in ("up", "down"):
        return broken(assumption.ONE_FLOW, f"{flow.path} is no long TCP flow up or down")
    return met(assumption.ONE_FLOW)


def _backlogged(cell: Cell, goodput_mbps: float, segment_loss: float) -> AssumptionCheck:
    """Compare what the window leaves for the sender's queue with a few segments.

    The window is at most W*, sqrt(3 / (2 d p)) if the MAC loses a segment with probability p, and
    half of what fills the queue (RFC 5681).
    """
    assumed, flow = _NAMES["sender_backlogged"], cell.flows[0]
    if flow.control not in bulk.LOSS_DRIVEN:
        return broken(assumed, f"{flow.path} has {flow.control}, which limits its window itself")
    at = cell.keys["ap"] if flow.direction == "down" else cell.stations[flow.station]
    discipline, settings = choice(at["queue"])
    if discipline != "drop_tail":
        return broken(assumed, f"{discipline} keeps the queue short")
    on_wire = 1e6 * goodput_mbps * cell.wire_rtt_s(flow) / (8 * flow.payload_bytes)
    window, why = float(flow.window_segments), "W*"
    room = settings.get("limit_packets") or (settings.get("limit_bytes") or 0) / flow.packet_bytes
    if room and (room + on_wire) < window:
        window, why = (room + on_wire) / 2, "the queue"
    if segment_loss > 0:
        by_loss = np.sqrt(1.5 / (flow.delayed_ack * segment_loss))
        if by_loss < window:
            window, why = float(by_loss), f"the loss of {100 * segment_loss:.2g} % of the segments"
    left = window - on_wire
    how = f"{why} leaves {max(left, 0.0):.2g} segments for the air"
    return graded(assumed, -left, how, good=-6.0, bad=-2.5)
