"""One flow over a chain of radio hops."""

from __future__ import annotations

import numpy as np

from simoom.models import assumption, chain
from simoom.models.assumption import Assumption
from simoom.scenario.routes import Routes, routes
from simoom.twin.inputs import Cell, Flow, choice
from simoom.twin.medium import dcf, fixed_mcs
from simoom.twin.saturated import sent_all_along
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

FULL = Assumption("always_a_packet", "The sender always has a packet or waits for its window.")

_NAMES = {assumed.name: assumed for assumed in chain.ASSUMPTIONS}

MOST_HOPS_WITHOUT_WINDOW = 4
"""With more hops the first node, which senses fewer others, sends more than the chain carries."""

MOST_NODES = 1000
"""The nodes for which the twin looks for the route."""


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `chain` for a scenario and predict."""
    one = _one_flow(cell)
    still = _static_route(cell)
    if "broken" in (one.verdict, still.verdict):
        return Fit("chain", "", (one, still))
    (flow,) = cell.flows
    found = routes(cell.scenario, times_s=[0.0])
    path = found.path(flow.source, flow.sink)
    straight = _straight(found, path)
    if straight.verdict == "broken":
        return Fit("chain", "", (one, still, straight))
    hops, reuse = len(path) - 1, _reuse(cell, path)
    window = float(flow.window_segments) if flow.over_tcp else np.inf
    result = chain.flow(hops, one_hop_mbps=_one_hop_mbps(cell, flow), window=window, reuse=reuse)
    goodput = float(result.throughput_mbps)
    values = {"total.goodput_mbps": goodput, f"{flow.path}.goodput_mbps": goodput}
    values[f"{flow.path}.hops_mean"] = float(hops)
    excess = window / float(result.filling_window)
    checks = (
        one,
        still,
        straight,
        sent_all_along(cell),
        _always_a_packet(flow),
        dcf(cell),
        fixed_mcs(cell),
        _schedule(flow, hops),
        _no_loss(flow, excess),
    )
    plural = "s" * (hops > 1)
    return Fit("chain", f"{hops} hop{plural}, reuse after {reuse:g}", checks, values)


def _one_flow(cell: Cell) -> AssumptionCheck:
    assumed, count = assumption.ONE_FLOW, len(cell.flows)
    if count != 1:
        return broken(assumed, f"{count} flows")
    (flow,) = cell.flows
    if flow.direction != "across":
        return broken(assumed, f"it goes from {flow.source} to {flow.sink}, not between stations")
    return met(assumed)


def _static_route(cell: Cell) -> AssumptionCheck:
    assumed = _NAMES["static_route"]
    if any(station.get("waypoints") or station.get("movement") for station in cell.stations):
        return broken(assumed, "nodes move")
    radio = cell.keys["radio"]
    if radio["fading"] is not None or radio["shadowing_db"]:
        return broken(assumed, "fading and shadowing change the links")
    if (count := len(cell.stations)) > MOST_NODES:
        return broken(assumed, f"the route among {count} nodes is not computed; {MOST_NODES} are")
    protocol, settings = choice(cell.keys["routing"]["protocol"])
    if protocol != "static":
        return broken(assumed, f"{protocol} takes losses by contention for failures of links")
    if settings.get("routes") or settings.get("metric", "hops") != "hops":
        return broken(assumed, "the route need not have the fewest hops")
    return met(assumed)


def _straight(found: Routes, path: tuple[str, ...]) -> AssumptionCheck:
    """Check that hops are equally long. Only neighbours on a shortest route have links."""
    assumed = _NAMES["straight_chain"]
    if len(path) < 2:
        return broken(assumed, "no route joins the ends of the flow")
    places = found.positions_m[0][[found.nodes.index(name) for name in path]]
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    spread = float(lengths.max() / lengths.min() - 1)
    how = f"hops are {lengths.min():.3g} to {lengths.max():.3g} m long" if spread > 0.01 else ""
    return graded(assumed, spread, how, good=0.01, bad=0.5)


def _reuse(cell: Cell, path: tuple[str, ...]) -> int:
    """Return the distance in hops at which the medium is used again.

    Two hops are independent if neither a sender nor a receiver of one detects a node of the other;
    stations that contend leave one more hop between them than a schedule would.
    """
    heard = cell.hearing
    detected = max(
        abs(i - j)
        for i, one in enumerate(path)
        for j, other in enumerate(path)
        if i != j and (abs(i - j) == 1 or heard.detects(one, other))
    )
    return detected + 3


def _one_hop_mbps(cell: Cell, flow: Flow) -> float:
    """Return the goodput of the flow over one hop: data, and its share of TCP ACKs."""
    backoff_us = float(cell.air.backoff_slots()[0] - 1) * cell.air.slot_us
    each_us = cell.data(flow).success_us + backoff_us
    if flow.over_tcp:
        each_us += (cell.answer(flow).success_us + backoff_us) / flow.delayed_ack
    return 8 * flow.payload_bytes / each_us


def _always_a_packet(flow: Flow) -> AssumptionCheck:
    if flow.kind in ("bulk", "saturated"):
        return met(FULL)
    return broken(FULL, f"the traffic is {flow.kind}")


def _schedule(flow: Flow, hops: int) -> AssumptionCheck:
    """Check the ideal schedule, from which contention over many hops departs."""
    assumed = _NAMES["perfect_schedule"]
    if hops < 3:
        return met(assumed)
    if flow.over_tcp or hops <= MOST_HOPS_WITHOUT_WINDOW:
        return stretched(assumed, f"of {hops} hops some are hidden from each other")
    return broken(assumed, f"without a window the first of {hops} hops disturbs the others")


def _no_loss(flow: Flow, excess: float) -> AssumptionCheck:
    assumed = _NAMES["no_tcp_loss_below_window"]
    if not flow.over_tcp or excess <= 1:
        return met(assumed)
    return stretched(assumed, f"the window is {excess:.2g} times the one that fills the chain")
