"""Saturated stations: Bianchi's model under a scenario's options."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from simoom.models import assumption, saturation
from simoom.models.assumption import Assumption
from simoom.twin.air import Exchange
from simoom.twin.inputs import Cell, Flow
from simoom.twin.medium import medium
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

ONE_HOP = Assumption(
    "one_hop", "Every packet is transmitted once by radio, between a node and its access point."
)
SENT_ALL_ALONG = Assumption("sent_all_along", "Flows last from the warm-up to the end of the run.")

_NAMES = {assumed.name: assumed for assumed in saturation.ASSUMPTIONS}


@dataclass(frozen=True)
class Sender:
    """A node that sends datagrams of one kind."""

    name: str
    flows: tuple[Flow, ...]
    exchange: Exchange


def senders(cell: Cell) -> list[Sender]:
    """Return the sending nodes and their exchanges, in the order of their first flow."""
    nodes: dict[str, list[Flow]] = {}
    for flow in cell.flows:
        nodes.setdefault(flow.sender, []).append(flow)
    return [Sender(name, tuple(flows), cell.data(flows[0])) for name, flows in nodes.items()]


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `saturation` for a scenario and predict."""
    scope = [one_hop(cell), sent_all_along(cell)]
    udp = [flow for flow in cell.flows if flow.kind in ("saturated", "cbr")]
    if scope[0].verdict == "broken" or len(udp) < len(cell.flows):
        return Fit("saturation", "", (*scope, saturated(cell, None), *_common(cell)))
    nodes = senders(cell)
    kinds = list(dict.fromkeys((node.exchange, _bits(node)) for node in nodes))
    even = all(_alike(cell, node) for node in nodes)
    if len(kinds) == 1:
        values, total, beta = _equal(cell, nodes)
        form = "bianchi: one class"
        alike = met(assumption.EQUAL_STATIONS)
    else:
        values, total, beta = _classes(cell, nodes, kinds)
        form = f"mixed: {len(kinds)} classes"
        alike = met(assumption.EQUAL_STATIONS, f"{len(kinds)} kinds of stations, which are classes")
    if not even:
        alike = broken(assumption.EQUAL_STATIONS, "one node sends packets of several kinds")
    checks = (
        *scope,
        saturated(cell, values),
        *_common(cell),
        alike,
        _two_parties(nodes, beta, grid=cell.air.wlan["slot_grid"] not in ("shared", "difs")),
        *(_head_start(cell, nodes) if len(kinds) > 1 else ()),
    )
    values = {"total.goodput_mbps": total, **values}
    return Fit("saturation", form, checks, values)


def _bits(node: Sender) -> int:
    return 8 * node.flows[0].payload_bytes


def _alike(cell: Cell, node: Sender) -> bool:
    return len({(cell.data(flow), flow.payload_bytes) for flow in node.flows}) == 1


def _equal(cell: Cell, nodes: list[Sender]) -> tuple[dict[str, float], float, float]:
    """Predict identical stations."""
    air, exchange = cell.air, nodes[0].exchange
    frozen = air.wlan.get("countdown", "standard") == "standard"
    point = saturation.saturation(
        len(nodes),
        mean_slots=air.backoff_slots(),
        forever=False,
        slot_us=air.slot_us,
        success_us=exchange.success_us,
        collision_us=exchange.exposed_us + air.silence_us(exchange.opening_mbps),
        payload_bits=_bits(nodes[0]),
        countdown="frozen" if frozen else "bianchi",
        head_slots=air.head_slots(exchange.opening_mbps) if frozen else 0.0,
    )
    total = float(point.throughput_mbps)
    values = {"total.collision_probability": float(point.collision_probability)}
    if all(flow.kind == "saturated" and flow.source != "server" for flow in cell.flows):
        # A datagram is generated when the service of the one before it begins.
        behind = Counter(len(node.flows) for node in nodes)
        if set(behind) == {1}:
            values["total.delay_s.mean"] = 1e-3 * _delay_ms(cell, point)
    values |= _shares(nodes, dict.fromkeys((node.name for node in nodes), total / len(nodes)))
    return values, total, float(point.attempt_probability)


def _delay_ms(cell: Cell, point: saturation.Saturation) -> float:
    """Return the mean delay of a delivered datagram: its service time and that of the one before.

    A discarded datagram passes through all stages and takes longer than a delivered one.
    """
    slots, gamma = cell.air.backoff_slots(), point.collision_probability
    mean = np.sum(gamma ** np.arange(slots.size) * slots)
    lost = float(point.drop_probability)
    own = (1 - lost * np.sum(slots) / mean) / (1 - lost)
    return float(point.service_time_ms * (1 + own))


def _classes(
    cell: Cell, nodes: list[Sender], kinds: list[tuple[Exchange, int]]
) -> tuple[dict[str, float], float, float]:
    """Predict several classes of stations."""
    air = cell.air
    of = {node.name: kinds.index((node.exchange, _bits(node))) for node in nodes}
    count = Counter(of.values())
    point = saturation.mixed_saturation(
        [count[kind] for kind in range(len(kinds))],
        mean_slots=[air.backoff_slots()] * len(kinds),
        forever=[False] * len(kinds),
        slot_us=air.slot_us,
        success_us=[exchange.success_us for exchange, _ in kinds],
        collision_us=[e.exposed_us + air.silence_us(e.opening_mbps) for e, _ in kinds],
        payload_bits=[float(bits) for _, bits in kinds],
    )
    number = np.array([count[kind] for kind in range(len(kinds))])
    attempts = number * point.attempt_probability
    collision = float(np.sum(attempts * point.collision_probability) / np.sum(attempts))
    each = {name: float(point.throughput_mbps[kind]) / count[kind] for name, kind in of.items()}
    values = {"total.collision_probability": collision} | _shares(nodes, each)
    beta = float(np.sum(attempts) / np.sum(number))
    return values, float(np.sum(point.throughput_mbps)), beta


def _shares(nodes: list[Sender], each: dict[str, float]) -> dict[str, float]:
    """Divide the throughput of nodes among their flows."""
    shares = {
        flow.index: each[node.name] / len(node.flows) for node in nodes for flow in node.flows
    }
    return {f"flows[{index}].goodput_mbps": shares[index] for index in sorted(shares)}


def one_hop(cell: Cell) -> AssumptionCheck:
    """Check that all flows have one radio hop, to one receiver."""
    for flow in cell.flows:
        what = {
            "across": "has two radio hops, through the access point",
            "broadcast": "is broadcast, without ACK and retries",
            "wired": "has no radio hop",
        }.get(flow.direction)
        if what:
            return broken(ONE_HOP, f"{flow.path} {what}")
    return met(ONE_HOP)


def sent_all_along(cell: Cell) -> AssumptionCheck:
    """Check for which fraction of the measured time a flow is inactive."""
    missing = 0.0
    for flow in cell.flows:
        table = flow.table
        late = flow.latest_start_s - cell.warmup_s
        stop = table["stop_s"]
        early = 0.0 if stop is None else cell.duration_s - stop
        missing = max(missing, max(late, 0.0) + max(early, 0.0))
    share = missing / cell.measured_s
    how = f"a flow is inactive for up to {100 * share:.2g} % of the measured time"
    return graded(SENT_ALL_ALONG, share, how if share else "", good=0.0, bad=0.05)


def _common(cell: Cell) -> tuple[AssumptionCheck, ...]:
    return *medium(cell), decoupled(cell)


def decoupled(cell: Cell) -> AssumptionCheck:
    """Check the number of stations, on which the accuracy of the decoupling depends."""
    count = len({flow.sender for flow in cell.flows})
    assumed = assumption.DECOUPLED
    if count == 2:
        return stretched(assumed, "two stations, the least accurate case (0.4 points of gamma)")
    return met(assumed, f"{count} stations")


def saturated(cell: Cell, values: dict[str, float] | None) -> AssumptionCheck:
    """Check that every sender always has a frame."""
    assumed = assumption.SATURATED
    least, worst = np.inf, None
    for flow in cell.flows:
        if flow.kind in ("bulk", "web"):
            inside = "files with pauses" if flow.kind == "web" else "a window that grows"
            if flow.kind == "bulk" and flow.has_fixed_window:
                inside = f"W*={flow.window_segments}"
            return broken(assumed, f"no, {flow.path} is TCP ({flow.kind}, {inside})")
        if flow.kind not in ("saturated", "cbr"):
            return broken(assumed, f"{flow.path} has {flow.kind} traffic")
        if flow.kind == "cbr" and values is not None:
            served = values[f"{flow.path}.goodput_mbps"]
            load = flow.traffic["rate_mbps"] / served
            if load < least:
                least, worst = load, flow
    if worst is None:
        return met(assumed) if values is not None else broken(assumed, "no sender was checked")
    offered = worst.traffic["rate_mbps"]
    how = f"{worst.path} offers {offered:.3g} Mb/s, {least:.2g} times what a saturated cell serves"
    return graded(assumed, 1 / least, how, good=0.95, bad=1.0)


def _two_parties(nodes: list[Sender], beta: float, *, grid: bool) -> AssumptionCheck:
    """Check how often three or more stations collide; irrelevant if all resume together."""
    assumed, n = _NAMES["two_parties"], len(nodes)
    pair = n * (n - 1) / 2 * beta**2 * (1 - beta) ** (n - 2)
    clash = 1 - (1 - beta) ** n - n * beta * (1 - beta) ** (n - 1)
    more = 1 - pair / clash if n > 2 and clash > 0 else 0.0
    how = f"{100 * more:.2g} % of the collisions have three or more"
    return graded(assumed, more if grid else 0.0, how, good=0.25, bad=1.0)


def _head_start(cell: Cell, nodes: list[Sender]) -> tuple[AssumptionCheck, ...]:
    """Check that all stations resume together, as the model of classes assumes."""
    assumed = assumption.BIANCHI_SLOTS
    head = max(abs(cell.air.head_slots(node.exchange.opening_mbps)) for node in nodes)
    frozen = cell.air.wlan.get("countdown", "standard") == "standard"
    if not frozen and head == 0:
        return (met(assumed),)
    how = f"counters are frozen, and colliding stations resume {head:.2g} slots apart from others"
    return (stretched(assumed, how),)
