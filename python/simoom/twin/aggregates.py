"""802.11n, ac, ax and be: saturated cells and downloads with A-MPDUs in TXOPs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from simoom.models import aggregation, assumption, tcp_aggregation, timing
from simoom.models.assumption import Assumption
from simoom.models.fixed_point import backoff_slots
from simoom.models.txop import Sender
from simoom.twin import bulk, saturated
from simoom.twin.air import overhead_bytes
from simoom.twin.inputs import Cell
from simoom.twin.medium import fixed_mcs, no_capture, noise, one_cell
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

USUAL = Assumption(
    "usual_exchanges",
    "A-MPDUs, TXOPs and block acks are those of the standard at 5 and 6 GHz, with default options.",
)
ONE_CATEGORY = Assumption("one_category", "All packets are of the category best effort.")
FEW_REQUESTS = Assumption(
    "few_requests", "Back-off stages are independent, also where requests and data alternate."
)
ROOM_FOR_ACKS = Assumption(
    "room_for_acks", "A TXOP of a station has room for the TCP ACKs of a TXOP of data."
)
DEEP_WINDOWS = Assumption(
    "deep_windows", "Windows hold several full TXOPs, so that the access point's queue has them."
)

EQUAL_WINDOWS = Assumption(
    "equal_windows", "The access point and its stations have the same smallest contention window."
)

USED = {
    "ppdu_timing": "standard",
    "eifs": "standard",
    "slot_grid": "standard",
    "idle_access": "standard",
    "countdown": "standard",
    "backoff_draw": "standard",
    "collisions": "standard",
    "rts_threshold_bytes": 2347,
    "model_header_us": None,
    "full_duplex": None,
    "mu": None,
    "rate_mbps": None,
    "coding": None,
    "he_ltf": None,
}
"""Keys of ``wlan`` and the values that the models represent."""
RULES = {
    "amsdu_bytes": 0,
    "retries": "lifetime",
    "missed_block_ack": "bar",
    "delivery": "ppdu",
}
"""The same of ``wlan.aggregation``."""
OWN = (
    *("standard", "rate_mbps", "mcs", "streams", "width_mhz", "guard_ns", "ap_mcs", "ap_streams"),
    *("ap_guard_ns", "legacy_rate_mbps", "ap_legacy_rate_mbps"),
)
"""Keys of stations that would make their frames differ."""

TXOP_LIMIT_US = {"2016": 2528.0, "2012": 0.0, "ns3": 0.0}
"""The TXOP limit of best effort by ``wlan.edca_defaults``."""


def fit_saturated(cell: Cell) -> Fit:
    """Check the assumptions of `aggregation.cell` for a scenario and predict."""
    scope = (saturated.one_hop(cell), saturated.sent_all_along(cell), *_common(cell))
    udp = all(flow.kind in ("saturated", "cbr") for flow in cell.flows)
    if any(check.verdict == "broken" for check in scope) or not udp:
        return Fit("aggregation", "", (*scope, saturated.saturated(cell, None)))
    flow, nodes = cell.flows[0], dict.fromkeys(flow.sender for flow in cell.flows)
    sends = sender(cell, flow.packet_bytes, at_access_point=flow.sender == "ap")
    own = contention(cell, at_access_point=set(nodes) == {"ap"})
    point = aggregation.cell(len(nodes), sends, payload_bytes=flow.payload_bytes, **own)
    total, collision = float(point.throughput_mbps), float(point.collision_probability)
    values = {
        "total.goodput_mbps": total,
        "total.collision_probability": float(point.collided_exchanges),
    }
    behind = {name: sum(flow.sender == name for flow in cell.flows) for name in nodes}
    values |= {
        f"{flow.path}.goodput_mbps": total / len(nodes) / behind[flow.sender] for flow in cell.flows
    }
    full = saturated.saturated(cell, values)
    checks = (
        *scope,
        full,
        AssumptionCheck(assumption.FULL_PPDUS, full.verdict, f"{point.mpdus} MPDUs in a TXOP"),
        equal(cell),
        saturated.decoupled(cell),
        _few_requests(sends, collision),
    )
    plural = "s" if len(nodes) > 1 else ""
    return Fit("aggregation", f"cell: {len(nodes)} station{plural}", checks, values)


def fit_downloads(cell: Cell) -> Fit:
    """Check the assumptions of `tcp_aggregation.downloads` for a scenario and predict."""
    scope = [saturated.one_hop(cell), bulk.persistent(cell), *_common(cell)]
    up = next((flow for flow in cell.flows if flow.direction == "up"), None)
    if up is not None:
        how = f"{up.path} uploads; the chain is one of downloads"
        scope.append(broken(assumption.ONE_FLOW, how))
    if any(check.verdict == "broken" for check in scope):
        return Fit("tcp_aggregation", "", tuple(scope))
    flow = cell.flows[0]
    data = sender(cell, flow.packet_bytes, at_access_point=True)
    acks = sender(cell, flow.header_bytes, at_access_point=False)
    point = tcp_aggregation.downloads(
        data=data,
        acks=acks,
        payload_bytes=flow.payload_bytes,
        delayed_ack=flow.delayed_ack,
        **contention(cell),
    )
    total = float(point.throughput_mbps)
    values = {"total.goodput_mbps": total}
    window = sum(flow.window_segments for flow in cell.flows)
    values |= {
        f"{flow.path}.goodput_mbps": total * flow.window_segments / window for flow in cell.flows
    }
    due = point.mpdus / flow.delayed_ack
    room = f"{point.ack_mpdus} TCP ACKs fit, {due:.3g} are due"
    checks = (
        *scope,
        _equal_windows(cell),
        _deep_windows(cell, point.mpdus),
        met(assumption.FULL_PPDUS, f"{point.mpdus} segments in a TXOP"),
        graded(ROOM_FOR_ACKS, due / point.ack_mpdus, room, good=1.0, bad=1.0),
        bulk.no_tcp_loss(cell),
        _window_reached(cell),
        bulk.fast_wire(cell, total),
        bulk.one_flow_per_station(cell),
        equal(cell),
        stretched(assumption.BIANCHI_SLOTS, "counters are frozen, with two contenders"),
    )
    count = len(cell.flows)
    return Fit("tcp_aggregation", f"downloads: {count} flow{'s' * (count > 1)}", checks, values)


def _common(cell: Cell) -> tuple[AssumptionCheck, ...]:
    """Check what both models assume of the medium and of the standard's options."""
    together = one_cell(cell)
    known = (usual(cell), one_category(cell), fixed_mcs(cell), met(assumption.BLOCK_ACK))
    if together.verdict == "broken":
        return (together, *known)
    return (together, noise(cell), no_capture(cell), *known)


def usual(cell: Cell, used: Mapping[str, Any] = USED) -> AssumptionCheck:
    """Check the options on which the durations of exchanges depend."""
    wlan = cell.keys["wlan"]
    given = [(f"wlan.{key}", wlan[key], value) for key, value in used.items()]
    given += [
        (f"wlan.aggregation.{key}", wlan["aggregation"][key], value) for key, value in RULES.items()
    ]
    if wlan["band_ghz"] == 2.4:
        return broken(USUAL, f"wlan.band_ghz is {wlan['band_ghz']:g}")
    if wlan["qos"] is False:
        return broken(USUAL, "wlan.qos is false")
    if wlan["packet_extension_us"]:
        return broken(USUAL, f"wlan.packet_extension_us is {wlan['packet_extension_us']}")
    for path, value, wanted in given:
        if value != wanted:
            return broken(USUAL, f"{path} is {'given' if wanted is None else value}")
    if any(best_effort(cell, ap)["aifsn"] is not None for ap in (True, False)):
        return broken(USUAL, "the AIFSN of best effort is given")
    return met(USUAL)


def one_category(cell: Cell) -> AssumptionCheck:
    """Check that all packets are of best effort."""
    for flow in cell.flows:
        if flow.table["class"] != "best_effort":
            return broken(ONE_CATEGORY, f"{flow.path} is of class {flow.table['class']}")
    return met(ONE_CATEGORY)


def equal(cell: Cell) -> AssumptionCheck:
    """Check that all frames are alike."""
    for number in sorted({number for flow in cell.flows for number in flow.stations}):
        table = cell.stations[number]
        key = next((key for key in OWN if table.get(key) is not None), None)
        if key is not None:
            return broken(assumption.EQUAL_STATIONS, f"sta{number} has its own {key}")
    if len({(flow.packet_bytes, flow.payload_bytes) for flow in cell.flows}) > 1:
        return broken(assumption.EQUAL_STATIONS, "flows have packets of several sizes")
    if len({flow.direction for flow in cell.flows}) > 1:
        return stretched(assumption.EQUAL_STATIONS, "the access point has a TXOP limit of its own")
    return met(assumption.EQUAL_STATIONS)


def _few_requests(sender: Sender, collision: float) -> AssumptionCheck:
    """Check how often a collision is followed by requests that contend without data."""
    if sender.limit_us or not sender.aggregates:
        return met(FEW_REQUESTS)
    how = f"{100 * collision:.2g} % of the attempts collide, and requests contend on their own"
    return graded(FEW_REQUESTS, collision, how, good=0.2, bad=0.4)


def _equal_windows(cell: Cell) -> AssumptionCheck:
    """Compare the smallest contention windows of the access point and of the stations."""
    own, theirs = (windows(cell, at_access_point=who)[0] for who in (True, False))
    how = f"{own} at the access point, {theirs} at the stations"
    ratio = (max(own, theirs) + 1) / (min(own, theirs) + 1)
    return graded(EQUAL_WINDOWS, ratio, how, good=1, bad=2)


def _deep_windows(cell: Cell, mpdus: int) -> AssumptionCheck:
    """Compare the smallest window with the segments of a TXOP."""
    least = min(flow.window_segments for flow in cell.flows)
    how = f"W*={least}, {least / mpdus:.3g} times the {mpdus} segments of a TXOP"
    return graded(DEEP_WINDOWS, mpdus / least, how, good=1 / 6, bad=1 / 3)


def _window_reached(cell: Cell) -> AssumptionCheck:
    """Check that windows grow until they hold full TXOPs, which is long before their limit."""
    assumed = assumption.WINDOW_REACHED
    for flow in cell.flows:
        if flow.control not in bulk.LOSS_DRIVEN:
            how = f"{flow.path} has {flow.control}, which limits its window itself"
            return broken(assumed, how)
    return met(assumed)


def best_effort(cell: Cell, at_access_point: bool) -> Mapping[str, Any]:
    """Return the contention parameters that the scenario gives."""
    own: Mapping[str, Any] = cell.keys["ap" if at_access_point else "wlan"]["edca"]["best_effort"]
    return own


def windows(cell: Cell, *, at_access_point: bool) -> tuple[int, int]:
    """Return the smallest and the largest contention window.

    The largest of an access point is 63 where the smallest of the standard is 15 (WMM specification
    1.2, table 14), unless it is given.
    """
    own = best_effort(cell, at_access_point)
    known = timing.standard(cell.keys["standard"])
    is_smaller = at_access_point and cell.keys["wlan"]["edca_defaults"] != "ns3"
    usual = min(4 * known.cw_min + 3, known.cw_max) if is_smaller else known.cw_max
    least, most = own["cw_min"], own["cw_max"]
    return (known.cw_min if least is None else int(least), usual if most is None else int(most))


def sender(cell: Cell, packet_bytes: int, *, at_access_point: bool) -> Sender:
    """Return how a node sends packets of this size."""
    wlan, known = cell.keys["wlan"], timing.standard(cell.keys["standard"])
    rules = wlan["aggregation"]
    window = int(rules["window"] or known.block_ack_window)
    given = best_effort(cell, at_access_point)["txop_limit_us"]
    limit = TXOP_LIMIT_US[wlan["edca_defaults"]] if given is None else float(given)
    width, streams = int(wlan["width_mhz"] or 20), int(wlan["streams"] or 1)
    mcs = wlan["mcs"]
    index = timing.highest_mcs(known.name, width, streams) if mcs is None else int(mcs)
    if known.family == "ht" and index > known.max_mcs:  # 802.11n may count over all streams
        index, streams = index % 8, index // 8 + 1
    basic = wlan["basic_rates_mbps"] or known.basic_rates_mbps
    elicited = timing.reference_rate_mbps(index)
    control = max((rate for rate in basic if rate <= elicited), default=6.0)
    overhead = 2 + overhead_bytes(wlan)
    return Sender(
        standard=known.name,
        mpdu_bytes=int(packet_bytes + overhead),
        mcs=index,
        most_mpdus=int(rules["frames"] or window),
        most_bytes=float(rules["bytes"] or known.max_ampdu_bytes),
        most_us=float(rules["duration_us"]),
        limit_us=limit,
        control_mbps=float(control),
        # The bitmap has 64 bits, or 256 (9.3.1.8.2).
        block_ack_bytes=timing.BLOCK_ACK_BYTES + (24 if window > 64 else 0),
        format={
            "width_mhz": width,
            "punctured_mhz": 20 * len(set(cell.keys["ap"]["punctured"] or ())),
            "streams": streams,
            "guard_ns": wlan["guard_ns"],
        },
    )


def contention(cell: Cell, *, at_access_point: bool = False) -> dict[str, Any]:
    """Return the arguments of both models that describe back-off and collisions."""
    wlan, known = cell.keys["wlan"], timing.standard(cell.keys["standard"])
    least, most = windows(cell, at_access_point=at_access_point)
    silence = timing.eifs_us(known.name)
    # Colliding stations resume at the slot boundary after their timeout (10.3.4.3).
    timeout = timing.response_timeout_us(known.name) - known.aifs_us
    resume = known.aifs_us + math.ceil(max(timeout, 0.0) / known.slot_us) * known.slot_us
    return {
        "mean_slots": backoff_slots(least, most, attempts=int(wlan["short_retry_limit"])),
        "silence_us": silence,
        "head_slots": (silence - resume) / known.slot_us,
        "slot_us": known.slot_us,
    }
