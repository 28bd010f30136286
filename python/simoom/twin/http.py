"""Downloads and web sessions: the models of HTTP over 802.11b with a scenario's durations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simoom.models import assumption, half_duplex, http_queueing, http_sessions, ps_queue
from simoom.models._check import Array
from simoom.models.assumption import Assumption
from simoom.twin import bulk, saturated
from simoom.twin.inputs import Cell, Flow, choice
from simoom.twin.medium import medium
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

SESSIONS_ONLY = Assumption("sessions_only", "All traffic is web sessions, one per station.")
FREE_ENDS = Assumption("free_ends", "The model includes opening and closing a connection.")

CORRECTED = {"backoff": "normalised", "collisions": "single"}
"""The forms of the model with corrected equations."""

MUCH_LARGER = 4
"""From this multiple of d on, W* counts as unlimited in (8)."""

_HTTP = {assumed.name: assumed for assumed in http_sessions.ASSUMPTIONS}


@dataclass(frozen=True)
class AirCell(http_queueing.Cell):
    """The cell of the model with exchanges of any standard, long or short preamble.

    The EIFS of the scenario follows a collision, instead of the paper's DIFS.
    """

    data_exchange_us: float = 0.0
    ack_exchange_us: float = 0.0

    def exchange_us(self, bits: float) -> float:
        """Return the exchange of a segment or, without user data, of a TCP ACK."""
        return self.data_exchange_us if bits else self.ack_exchange_us


def air_cell(cell: Cell, flow: Flow) -> AirCell:
    """Return the cell of the model for a flow, which represents all flows."""
    air, data = cell.air, cell.data(flow)
    control = air.response_mbps(cell.rate_mbps(flow))
    return AirCell(
        slot_us=air.slot_us,
        sifs_us=air.sifs_us,
        difs_us=air.silence_us(data.opening_mbps) - air.sifs_us,
        plcp_us=0.0,
        cw_min=air.cw_min,
        doublings=round(math.log2((air.cw_max + 1) / (air.cw_min + 1))),
        retry_limit=air.attempts,
        data_mbps=cell.rate_mbps(flow),
        control_mbps=control,
        payload_bits=8.0 * flow.payload_bytes,
        tcp_ip_bits=8.0 * flow.header_bytes,
        mac_bits=8.0 * air.overhead_bytes,
        rts_bits=data.exposed_us * control,  # the frame that a collision destroys, RTS or data
        data_exchange_us=data.success_us,
        ack_exchange_us=cell.answer(flow).success_us,
    )


def undisturbed_mbps(model_cell: AirCell, d: int) -> float:
    """Return the throughput of one flow with W* = d: segments and their ACK do not contend."""
    backoff = model_cell.first_backoff_us
    return model_cell.payload_bits / (
        model_cell.data_us + backoff + (model_cell.ack_us + backoff) / d
    )


# --- Long downloads -------------------------------------------------------------------------------


def fit_queueing(cell: Cell) -> Fit:
    """Check the assumptions of `http_queueing` for a scenario and predict long downloads."""
    scope = [saturated.one_hop(cell), bulk.persistent(cell), _downloads(cell)]
    if any(check.verdict == "broken" for check in scope):
        return Fit("http_queueing", "", (*scope, *medium(cell)))
    first, count = cell.flows[0], len(cell.flows)
    model_cell, d, window = air_cell(cell, first), first.delayed_ack, first.window_segments
    window_check = met(_HTTP["window_of_d"])
    if window == d and count == 1:
        total, form = undisturbed_mbps(model_cell, d), "the undisturbed cycle, W* = d"
    elif window == d:
        point = http_queueing.tcp_throughput(
            count, delayed_ack=d, cell=model_cell, law="birth_death", **CORRECTED
        )
        total, form = float(point.total_mbps), "(10) and (12)"
    elif count == 1 and d == 1:
        total = float(http_queueing.window_throughput(window, cell=model_cell, **CORRECTED))
        window_check = met(_HTTP["window_of_d"], f"W*={window}, d=1: (A.3) takes any window")
        form = "(A.3)"
    else:
        total = float(http_queueing.single_flow(d, cell=model_cell, **CORRECTED))
        form, how = "(8)", f"W*={window}, d={d}"
        window_check = broken(_HTTP["window_of_d"], f"{how}, and {count} flows")
        if count == 1:
            ratio = MUCH_LARGER * d / window
            how += ": (8) assumes W* much larger than d"
            window_check = graded(_HTTP["window_of_d"], ratio, how, good=1.0, bad=2.0)
    share = total / count
    values = {"total.goodput_mbps": total}
    for flow in cell.flows:
        values[f"{flow.path}.goodput_mbps"] = share
        rtt = 8e-6 * flow.window_segments * flow.payload_bytes / share
        values[f"{flow.path}.rtt_s.mean"] = rtt
    checks = (
        *scope,
        *bulk.long_flow_checks(cell, total),
        window_check,
        _rts(cell),
        *_uniform(cell),
        met(assumption.DECOUPLED),
        met(assumption.NO_AGGREGATION),
        _one_flow_per_station(cell),
    )
    return Fit("http_queueing", form, checks, values)


def _one_flow_per_station(cell: Cell) -> AssumptionCheck:
    assumed = assumption.ONE_FLOW_PER_STATION
    stations = len({flow.station for flow in cell.flows})
    if stations == len(cell.flows):
        return met(assumed)
    return broken(assumed, f"{len(cell.flows)} flows at {stations} stations")


def _downloads(cell: Cell) -> AssumptionCheck:
    assumed = _HTTP["downloads"]
    upward = next((flow for flow in cell.flows if flow.direction == "up"), None)
    return met(assumed) if upward is None else broken(assumed, f"{upward.path} is an upload")


def _rts(cell: Cell) -> AssumptionCheck:
    """Check which frames have RTS/CTS; without it a collision lasts as long as a data frame."""
    assumed, flow = assumption.RTS_CTS, cell.flows[0]
    data, ack = cell.data(flow).rts, cell.answer(flow).rts
    if data and ack:
        return met(assumed)
    which = "TCP ACKs have none" if data else "none; a collision lasts as long as a data frame"
    return stretched(assumed, which)


def _uniform(cell: Cell) -> tuple[AssumptionCheck, ...]:
    kinds = {(cell.data(f), f.payload_bytes, f.window_segments, f.delayed_ack) for f in cell.flows}
    if len(kinds) == 1:
        return (met(bulk.ALIKE),)
    return (broken(bulk.ALIKE, f"{len(kinds)} kinds of flows"),)


# --- Web sessions ---------------------------------------------------------------------------------


def fit_sessions(cell: Cell) -> Fit:
    """Check the assumptions of `http_sessions` for a scenario and predict the delay of files."""
    if scope := _no_sessions(cell):
        return Fit("http_sessions", "", scope)
    flow, count = cell.flows[0], len(cell.flows)
    model_cell, d = air_cell(cell, flow), flow.delayed_ack
    web = http_sessions.web_cell(
        count,
        think_s=_think_s(flow),
        mean_bytes=_carried_bytes(flow, model_cell, d),
        delayed_ack=d,
        cell=model_cell,
        setup="protected",
        law="birth_death",
        **CORRECTED,
    )
    delay = float(web.mean_delay_s) - _final_ack_s(flow, model_cell)
    window = flow.window_segments
    window_check = met(_HTTP["window_of_d"])
    if window != d:
        window_check = broken(_HTTP["window_of_d"], f"W*={window}, d={d}")
    checks = (
        *_session_scope(cell),
        window_check,
        _session_wire(cell, delay),
        *(met(_HTTP[name]) for name in ("fair_shares", "time_scales", "think_after_file")),
        _closing(cell, model_cell, d),
        *_uniform(cell),
    )
    return Fit("http_sessions", "web_cell: (16) and (17)", checks, _session_values(cell, delay))


def fit_ps(cell: Cell) -> Fit:
    """Check the assumptions of `ps_queue`, with the half-duplex cell as its server."""
    if scope := _no_sessions(cell):
        return Fit("ps_queue", "", scope)
    flow, count = cell.flows[0], len(cell.flows)
    model_cell, d = air_cell(cell, flow), flow.delayed_ack
    opening = 1e-6 * model_cell.setup_us("protected")
    queue = ps_queue.solve(
        count,
        think_s=_think_s(flow),
        mean_bits=8 * _carried_bytes(flow, model_cell, d),
        capacity_mbps=_capacity_mbps(cell, model_cell, count),
    )
    delay = float(queue.mean_delay_s) + opening - _final_ack_s(flow, model_cell)
    checks = (
        *_session_scope(cell),
        bulk.no_tcp_loss(cell),
        _fair_shares(cell),
        met(_HTTP["time_scales"]),
        met(_HTTP["think_after_file"]),
        _session_wire(cell, delay),
        _closing(cell, model_cell, d),
        *_uniform(cell),
    )
    form = "solve, served by the half-duplex cell"
    return Fit("ps_queue", form, checks, _session_values(cell, delay))


def _capacity_mbps(cell: Cell, model_cell: AirCell, count: int) -> Array:
    """Return the total throughput of k sessions."""
    flow, air = cell.flows[0], cell.air
    times, d = bulk.times(cell, [flow]), flow.delayed_ack
    point = half_duplex.cell(
        np.arange(1, count + 1), times=times, delayed_ack=d, cw_min=air.cw_min, cw_max=air.cw_max
    )
    capacity = np.atleast_1d(point.total_mbps).copy()
    if flow.window_segments <= d:
        capacity[0] = undisturbed_mbps(model_cell, d)
    return capacity


def _no_sessions(cell: Cell) -> tuple[AssumptionCheck, ...]:
    """Return the broken assumption about sessions, if there is one."""
    hop = saturated.one_hop(cell)
    other = next((flow for flow in cell.flows if flow.kind != "web"), None)
    if other is not None:
        return (hop, broken(SESSIONS_ONLY, f"{other.path} has {other.kind} traffic"))
    if hop.verdict == "broken":
        return (hop,)
    down = _downloads(cell)
    if down.verdict == "broken":
        return (hop, down)
    stations = len({flow.station for flow in cell.flows})
    if stations < len(cell.flows):
        how = f"{len(cell.flows)} flows at {stations} stations"
        return (hop, down, broken(SESSIONS_ONLY, how))
    return ()


def _session_scope(cell: Cell) -> tuple[AssumptionCheck, ...]:
    flow = cell.flows[0]
    kinds = {repr(sorted(each.traffic.items())) for each in cell.flows}
    alike = met(SESSIONS_ONLY)
    if len(kinds) > 1:
        alike = broken(SESSIONS_ONLY, f"{len(kinds)} kinds of sessions")
    if flow.traffic["files"] is not None:
        alike = broken(SESSIONS_ONLY, f"each flow ends after {flow.traffic['files']} files")
    return (
        saturated.one_hop(cell),
        alike,
        saturated.sent_all_along(cell),
        *medium(cell),
        _rts(cell),
        met(assumption.NO_AGGREGATION),
    )


def _think_s(flow: Flow) -> float:
    return max(float(flow.traffic["think_s"]), 1e-6)


def mean_file_size(flow: Flow) -> tuple[float, float]:
    """Return the mean size of a file in bytes, and its mean number of segments."""
    name, law = choice(flow.traffic["size"])
    segment = float(flow.payload_bytes)
    if name == "pareto":
        mean, shape = float(law["mean_bytes"]), float(law["shape"])
        unit = http_queueing.Cell(payload_bits=8 * segment)
        return mean, float(http_sessions.expected_segments(mean, shape=shape, cell=unit))
    if name == "exponential":  # geometric
        mean = float(law["mean_bytes"])
        return mean, 1 / -math.expm1(-segment / mean)
    if name == "constant":
        return float(law["bytes"]), math.ceil(law["bytes"] / segment)
    weights = law["weights"] or [1.0] * len(law["bytes"])
    each, share = np.array(law["bytes"], dtype=float), np.array(weights) / sum(weights)
    return float(each @ share), float(np.ceil(each / segment) @ share)


def _carried_bytes(flow: Flow, model_cell: AirCell, d: int) -> float:
    """Return the mean effective size: a short last segment also needs an exchange."""
    mean, segments = mean_file_size(flow)
    if flow.table["tcp"]["pad_last_segment"]:
        return segments * flow.payload_bytes
    missing = segments * flow.payload_bytes - mean
    # A shorter last segment saves only the airtime of the missing bytes.
    saved = missing * undisturbed_mbps(model_cell, d) / model_cell.data_mbps
    return segments * flow.payload_bytes - saved


def _final_ack_s(flow: Flow, model_cell: AirCell) -> float:
    """Return the time of the last TCP ACK if a session ends with the last byte, otherwise 0."""
    if flow.traffic["delay"] == "acknowledged":
        return 0.0
    return 1e-6 * (model_cell.ack_us + model_cell.first_backoff_us) / flow.delayed_ack


def _session_values(cell: Cell, delay_s: float) -> dict[str, float]:
    """Return the delay of files and the goodput: one file per think time and delay."""
    values: dict[str, float] = {}
    flow = cell.flows[0]
    mean, _ = mean_file_size(flow)
    each = 8e-6 * mean / (delay_s + _think_s(flow))
    values["total.goodput_mbps"] = each * len(cell.flows)
    values["total.session_delay_s.mean"] = delay_s
    for other in cell.flows:
        values[f"{other.path}.goodput_mbps"] = each
        values[f"{other.path}.session_delay_s.mean"] = delay_s
    return values


def _rounds(flow: Flow) -> float:
    """Return the round trips of a mean file: the set-up and those of slow start."""
    _, segments = mean_file_size(flow)
    window, limit = flow.initial_window_segments, flow.window_segments
    rounds, sent, window = 1.5, 0.0, min(window, limit)
    while sent + window < segments and rounds < 1e6:
        sent += window
        rounds += 1
        window = min(window * (1 + 1 / flow.delayed_ack), limit)
    return rounds


def _session_wire(cell: Cell, delay_s: float) -> AssumptionCheck:
    """Compare the time of a mean file on the wire with its delay."""
    assumed, flow = assumption.FAST_WIRE, cell.flows[0]
    wire_s = cell.wire_rtt_s(flow) * _rounds(flow)
    if wire_s == 0:
        return met(assumed)
    how = f"a file takes {1e3 * wire_s:.3g} ms on it, and {1e3 * delay_s:.3g} ms in the cell"
    return graded(assumed, wire_s / delay_s, how, good=0.01, bad=0.1)


def _fair_shares(cell: Cell) -> AssumptionCheck:
    assumed, flow = _HTTP["fair_shares"], cell.flows[0]
    if choice(cell.keys["ap"]["queue"])[0] == "drr":
        return met(assumed, "deficit round robin")
    window = flow.window_segments
    if window <= flow.delayed_ack:
        return met(assumed)
    name, law = choice(flow.traffic["size"])
    if name == "pareto" and law["shape"] <= 2:
        how = f"one queue, W*={window}, infinite variance of sizes: all wait behind a large file"
        return broken(assumed, how)
    _, segments = mean_file_size(flow)
    how = f"one queue, in which a file of {segments:.3g} segments may have W*={window}"
    return stretched(assumed, how)


def _closing(cell: Cell, model_cell: AirCell, d: int) -> AssumptionCheck:
    """Estimate the time of FIN segments, which the model does not include."""
    flow = cell.flows[0]
    if flow.table["tcp"]["close"] == "none":
        return met(FREE_ENDS)
    # The last data segment carries the first FIN; its ACK, the other FIN and its ACK are extra.
    extra = 2 * (model_cell.ack_us + model_cell.first_backoff_us)
    _, segments = mean_file_size(flow)
    file_us = segments * model_cell.payload_bits / undisturbed_mbps(model_cell, d)
    how = f"FIN segments take {100 * extra / file_us:.2g} % of the files' time, not included"
    return graded(FREE_ENDS, extra / file_us, how, good=0.0, bad=0.3)
