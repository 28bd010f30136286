"""Long TCP flows: the half-duplex cell under a scenario's options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from simoom.models import assumption, half_duplex
from simoom.models.assumption import Assumption
from simoom.twin import saturated
from simoom.twin.air import Exchange
from simoom.twin.inputs import Cell, Flow, choice
from simoom.twin.medium import medium
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

ACK_CLOCK = Assumption("ack_clock", "W* is at least d, so that no TCP ACK waits for its timer.")
FIXED_WINDOW = Assumption("fixed_window", "The receive window of every flow is fixed.")
ALIKE = Assumption("alike", "All flows have the same segments, rates and windows.")

LOSS_DRIVEN = ("new_reno", "reno", "cubic", "bic")
"""Congestion controllers that fill the window if nothing is lost."""

_NAMES = {assumed.name: assumed for assumed in half_duplex.ASSUMPTIONS}


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `half_duplex` for a scenario and predict."""
    scope = [saturated.one_hop(cell), persistent(cell)]
    if any(check.verdict == "broken" for check in scope):
        return Fit("half_duplex", "", (*scope, *medium(cell)))
    point, directions = _point(cell)
    total = float(point.total_mbps)
    values = {
        "total.goodput_mbps": total,
        "total.collision_probability": float(point.collision_probability),
        "contending.stations_mean": float(
            np.sum(np.arange(point.contenders_in_time.size) * point.contenders_in_time)
        ),
    }
    values |= flows(cell, {"down": float(point.download_mbps), "up": float(point.upload_mbps)})
    checks = (
        *scope,
        *long_flow_checks(cell, total),
        _alike(cell),
        one_flow_per_station(cell),
        _slots(cell),
        met(assumption.NO_AGGREGATION),
        _many_stations(cell),
        _backlogged(cell, total, float(point.mean_contenders)),
        _retry_limit(cell, float(point.collision_probability)),
    )
    return Fit("half_duplex", f"cell: {directions}", checks, values)


def _mean(flows: Sequence[Flow], values: Sequence[float]) -> float:
    """Return a mean weighted by windows: all packets of all windows share one queue."""
    weight = np.array([float(flow.window_segments) for flow in flows])
    return float(np.dot(weight / weight.sum(), values))


def times(cell: Cell, flows: Sequence[Flow]) -> half_duplex.CellTimes:
    """Return the durations of the flows' exchanges, or their means if they differ."""
    air, mean = cell.air, partial(_mean, flows)
    data, answers = [cell.data(flow) for flow in flows], [cell.answer(flow) for flow in flows]

    def collision_us(exchanges: Sequence[Exchange]) -> float:
        return mean([each.exposed_us + air.silence_us(each.opening_mbps) for each in exchanges])

    return half_duplex.CellTimes(
        slot_us=air.slot_us,
        data_us=mean([each.success_us for each in data]),
        ack_us=mean([each.success_us for each in answers]),
        data_collision_us=collision_us(data),
        ack_collision_us=collision_us(answers),
        payload_bits=8 * mean([flow.payload_bytes for flow in flows]),
    )


def _point(cell: Cell) -> tuple[half_duplex.HalfDuplex, str]:
    """Solve the cell."""
    air, flows = cell.air, cell.flows
    upward = sum(flow.window_segments for flow in flows if flow.direction == "up")
    # A quotient of whole numbers: exactly 1 if all flows upload.
    up = upward / sum(flow.window_segments for flow in flows)
    stations = len({flow.station for flow in flows})
    d = round(_mean(flows, [flow.delayed_ack for flow in flows]))
    point = half_duplex.cell(
        stations,
        times=times(cell, flows),
        upload_fraction=up,
        delayed_ack=d,
        cw_min=air.cw_min,
        cw_max=air.cw_max,
    )
    count = Counter(flow.direction for flow in flows)
    directions = ", ".join(f"{number} {direction}" for direction, number in sorted(count.items()))
    return point, f"{directions}, d={d}"


def flows(cell: Cell, totals: dict[str, float]) -> dict[str, float]:
    """Divide the goodput of each direction by windows; round trips follow from Little's law."""
    values: dict[str, float] = {}
    bits = {flow.index: 8 * flow.window_segments * flow.payload_bytes for flow in cell.flows}
    together = dict.fromkeys(totals, 0)
    for flow in cell.flows:
        together[flow.direction] += bits[flow.index]
    for flow in cell.flows:
        goodput = totals[flow.direction] * bits[flow.index] / together[flow.direction]
        values[f"{flow.path}.goodput_mbps"] = goodput
        values[f"{flow.path}.rtt_s.mean"] = 1e-6 * bits[flow.index] / goodput
    return values


# --- Assumptions of all models of long flows ------------------------------------------------------


def long_flow_checks(cell: Cell, total_mbps: float) -> tuple[AssumptionCheck, ...]:
    """Check the assumptions that all models of long flows share."""
    return (
        *medium(cell),
        no_tcp_loss(cell),
        _fixed_window(cell),
        _ack_clock(cell),
        _window_reached(cell, total_mbps),
        fast_wire(cell, total_mbps),
    )


def persistent(cell: Cell) -> AssumptionCheck:
    """Check that all flows always have data to send."""
    assumed = assumption.PERSISTENT_FLOWS
    for flow in cell.flows:
        if flow.kind != "bulk":
            return broken(assumed, f"{flow.path} has {flow.kind} traffic")
        if (size := flow.traffic.get("size_bytes")) is not None:
            return broken(assumed, f"{flow.path} ends after {size} bytes")
    here = saturated.sent_all_along(cell)
    return AssumptionCheck(assumed, here.verdict, here.how)


def no_tcp_loss(cell: Cell) -> AssumptionCheck:
    """Compare the largest backlog by the windows with the limits of the queues."""
    assumed = assumption.NO_TCP_LOSS
    ap = [flow for flow in cell.flows if flow.direction == "down"]
    up = [flow for flow in cell.flows if flow.direction == "up"]
    queues = [("the access point", cell.keys["ap"]["queue"], ap, up)]
    at: dict[int, tuple[list[Flow], list[Flow]]] = {}
    for flow in cell.flows:
        if flow.direction in ("up", "down"):
            at.setdefault(flow.station, ([], []))[flow.direction == "down"].append(flow)
    for number, (own, others) in sorted(at.items()):
        queues.append((f"sta{number}", cell.stations[number]["queue"], own, others))
    wire = cell.keys["wire"]
    if wire and wire["rate_mbps"]:
        for name, far in (("the wire down", ap), ("the wire up", up)):
            ends = [flow for flow in far if "server" in (flow.source, flow.sink)]
            queues.append((name, wire["queue"], ends, []))
    worst = met(assumed)
    for name, queue, data, acks in queues:
        discipline, settings = choice(queue)
        if discipline not in ("drop_tail", "drr"):
            return broken(assumed, f"{discipline} of {name} marks or drops to keep its queue short")
        packets = [*((flow.window_segments, flow.packet_bytes) for flow in data)]
        packets += [
            (-(-flow.window_segments // flow.delayed_ack), flow.header_bytes) for flow in acks
        ]
        is_per_flow = discipline == "drr"  # the queue of each flow has its own limit
        for key, of in (
            ("limit_packets", [n for n, _ in packets]),
            ("limit_bytes", [n * size for n, size in packets]),
        ):
            limit, need = settings.get(key), max(of, default=0) if is_per_flow else sum(of)
            if limit is not None and need > limit:
                unit = key.removeprefix("limit_")
                how = f"{name} holds {limit} {unit}, the windows {need}"
                # Bursts of slow start fill the wire's queue; later the backlog is at the cell.
                if "wire" not in name:
                    return broken(assumed, how)
                worst = stretched(assumed, how)
    return worst


def _fixed_window(cell: Cell) -> AssumptionCheck:
    for flow in cell.flows:
        if not flow.has_fixed_window:
            how = f"the window of {flow.path} grows; tcp.window_segments would fix it"
            return broken(FIXED_WINDOW, how)
    return met(FIXED_WINDOW)


def _ack_clock(cell: Cell) -> AssumptionCheck:
    for flow in cell.flows:
        if flow.window_segments < flow.delayed_ack:
            how = f"{flow.path} has W*={flow.window_segments} and d={flow.delayed_ack}"
            return broken(ACK_CLOCK, how)
    return met(ACK_CLOCK)


def _window_reached(cell: Cell, total_mbps: float) -> AssumptionCheck:
    """Estimate when windows are full: slow start adds a segment per ACK, later 1/W of one."""
    assumed = assumption.WINDOW_REACHED
    needed = 0.0
    for flow in cell.flows:
        if flow.control not in LOSS_DRIVEN:
            return broken(
                assumed, f"{flow.path} has {flow.control}, which limits its window itself"
            )
        tcp, limit = flow.table["tcp"], flow.window_segments
        start = min(flow.initial_window_segments, limit)
        ssthresh = min(tcp["initial_ssthresh_segments"] or limit, limit)
        acks = max(ssthresh - start, 0) + (limit**2 - max(ssthresh, start) ** 2) / 2
        needed += 8e-6 * max(acks, 0.0) * flow.delayed_ack * flow.payload_bytes
    starts = max(flow.latest_start_s for flow in cell.flows)
    when = starts + needed / total_mbps
    largest = max(flow.window_segments for flow in cell.flows)
    after = (when - cell.warmup_s) / cell.measured_s
    how = f"W*={largest} after about {when:.2g} s, with a warm-up of {cell.warmup_s:g} s"
    return graded(assumed, after, how, good=0.0, bad=0.2)


def fast_wire(cell: Cell, total_mbps: float) -> AssumptionCheck:
    """Compare the time on the wire with the round trip, and its rate with the cell's."""
    assumed = assumption.FAST_WIRE
    wire_s = max(cell.wire_rtt_s(flow) for flow in cell.flows)
    rate = cell.wire["rate_mbps"]
    if rate and rate < total_mbps:
        return broken(
            assumed, f"the wire's {rate:g} Mb/s are less than the cell's {total_mbps:.3g}"
        )
    if wire_s == 0:
        return met(assumed)
    bits = sum(8 * flow.window_segments * flow.payload_bytes for flow in cell.flows)
    rtt_s = 1e-6 * bits / total_mbps
    how = f"{1e3 * wire_s:.3g} ms of a round trip of {1e3 * rtt_s:.3g} ms"
    return graded(assumed, wire_s / rtt_s, how, good=0.1, bad=1.0)


def _alike(cell: Cell) -> AssumptionCheck:
    kinds = {(cell.data(f), f.payload_bytes, f.window_segments, f.delayed_ack) for f in cell.flows}
    if len(kinds) == 1:
        return met(ALIKE)
    if len({flow.delayed_ack for flow in cell.flows}) > 1:
        return stretched(ALIKE, f"{len(kinds)} kinds of flows; d and exchanges are averaged")
    return stretched(ALIKE, f"{len(kinds)} kinds of flows; their exchanges are averaged")


def one_flow_per_station(cell: Cell) -> AssumptionCheck:
    """Check that no station has two flows."""
    assumed = assumption.ONE_FLOW_PER_STATION
    most = max(Counter(flow.station for flow in cell.flows).values())
    return met(assumed) if most == 1 else stretched(assumed, f"up to {most} flows at one station")


def _slots(cell: Cell) -> AssumptionCheck:
    assumed = assumption.BIANCHI_SLOTS
    if cell.air.wlan.get("countdown", "standard") == "bianchi":
        return met(assumed)
    return stretched(assumed, "counters are frozen; an effect of about 1 % with few contenders")


def _many_stations(cell: Cell) -> AssumptionCheck:
    number = len({flow.station for flow in cell.flows})
    how = f"{number} station{'s' * (number > 1)}"
    return graded(_NAMES["many_stations"], -number, how, good=-4, bad=-1)


def _backlogged(cell: Cell, total_mbps: float, contenders: float) -> AssumptionCheck:
    """Estimate the number of packets in the access point's queue."""
    assumed = _NAMES["access_point_backlogged"]
    waiting = 0.0
    for flow in cell.flows:
        share = total_mbps / len(cell.flows)
        on_wire = 1e6 * share * cell.wire_rtt_s(flow) / (8 * flow.payload_bytes)
        unit = flow.delayed_ack if flow.direction == "up" else 1
        waiting += (flow.window_segments - on_wire) / unit
    waiting -= contenders * cell.flows[0].delayed_ack
    how = f"{max(waiting, 0.0):.3g} packets are in its queue"
    return graded(assumed, -waiting, how, good=-4, bad=-0.5)


def _retry_limit(cell: Cell, collision_probability: float) -> AssumptionCheck:
    """Estimate how often the MAC discards a packet at the retry limit."""
    assumed = assumption.NO_TCP_TIMEOUT
    lost = collision_probability**cell.air.attempts
    how = f"the MAC discards a fraction of {lost:.1g} of the packets" if lost > 1e-6 else ""
    return graded(assumed, lost, how, good=1e-5, bad=1e-3)
