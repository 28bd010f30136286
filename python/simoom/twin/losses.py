"""Losses that TCP detects: the models of TCP under random loss, with and without coding."""

from __future__ import annotations

import numpy as np

from simoom.models import lt_tcp, tcp_loss
from simoom.models.assumption import Assumption
from simoom.twin import bulk, medium, saturated
from simoom.twin.inputs import Cell, Flow
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

ROOM = Assumption("room", "The cell has the capacity for the traffic of its flows.")

RTO_MIN_MS = 1000.0
"""RFC 6298 (2.4)."""

BLOCK_KNOWN = Assumption("block_known", "All blocks have the same, known number of units.")


def least_timeout_ms(cell: Cell, flow: Flow) -> float:
    """Return the minimum retransmission timeout that is set, of the endpoint, or of RFC 6298."""
    path = f"flows[{cell.keys['flows'].index(flow.table)}].tcp.rto_min_ms"
    of_endpoint = (keys[path] for keys in cell.scenario.presets().values() if path in keys)
    given = flow.table["tcp"]["rto_min_ms"]
    return float(next(of_endpoint, RTO_MIN_MS) if given is None else given)


def fit_loss(cell: Cell) -> Fit:
    """Check the assumptions of `tcp_loss`: the residual loss of the MAC limits TCP's windows."""
    assumed = {each.name: each for each in tcp_loss.ASSUMPTIONS}
    scope = [saturated.one_hop(cell), bulk.persistent(cell), *_medium_checks(cell)]
    other = next(
        (flow for flow in cell.flows if flow.over_tcp and flow.control != "new_reno"), None
    )
    if other is not None:
        scope.append(broken(assumed["reno"], f"{other.path} has {other.control}"))
    if any(check.verdict == "broken" for check in scope):
        return Fit("tcp_loss", "", tuple(scope))
    loss = {flow.index: _residual_loss(cell, flow) for flow in cell.flows}
    if min(loss.values()) == 0:
        lossless = next(flow for flow in cell.flows if loss[flow.index] == 0)
        how = f"{lossless.path} loses nothing at random"
        return Fit("tcp_loss", "", (*scope, broken(assumed["loss_halves_once"], how)))
    values = {"total.goodput_mbps": 0.0}
    airtime, share = 0.0, 0.0
    for flow in cell.flows:
        cycle_us = _cycle_us(cell, flow)
        rtt_ms = 1e3 * cell.wire_rtt_s(flow) + 1e-3 * cycle_us
        share = max(share, 1e-3 * cycle_us / rtt_ms)
        goodput = float(
            tcp_loss.pftk_mbps(
                loss[flow.index],
                rtt_ms=rtt_ms,
                rto_ms=max(least_timeout_ms(cell, flow), rtt_ms),
                mss_bytes=flow.payload_bytes,
                segments_per_ack=flow.delayed_ack,
                window_segments=flow.window_segments,
            )
        )
        airtime += goodput * cycle_us / (8 * flow.payload_bytes)
        values["total.goodput_mbps"] += goodput
        values[f"{flow.path}.goodput_mbps"] = goodput
    worst = max(loss.values())
    checks = (
        *scope,
        met(assumed["reno"]),
        graded(
            assumed["round_trip_known"],
            share,
            f"the cell's part of it is {100 * share:.2g} % and more under load",
            good=0.0,
            bad=0.5,
        ),
        met(assumed["loss_halves_once"], f"{100 * worst:.2g} % of the segments, at random"),
        stretched(assumed["no_slow_start"], "each timeout is followed by one"),
        graded(
            ROOM,
            airtime,
            f"they would take {100 * airtime:.3g} % of the airtime",
            good=0.5,
            bad=0.9,
        ),
    )
    return Fit("tcp_loss", "pftk_mbps: full form", checks, values)


def _medium_checks(cell: Cell) -> tuple[AssumptionCheck, ...]:
    """Check the assumptions about the medium of a model that includes loss by noise."""
    return medium.one_cell(cell), medium.dcf(cell), medium.fixed_mcs(cell)


def _residual_loss(cell: Cell, flow: Flow) -> float:
    """Return the probability that all attempts of the MAC at a segment fail."""
    limit = "long_retry_limit" if cell.data(flow).rts else "short_retry_limit"
    frame_loss = float(cell.stations[flow.station]["data_loss"])
    return frame_loss ** int(cell.air.wlan[limit])


def _cycle_us(cell: Cell, flow: Flow) -> float:
    """Return the airtime of a segment and its share of a TCP ACK, including failed attempts."""
    station = cell.stations[flow.station]
    good = (1 - station["data_loss"]) * (1 - station["ack_loss"])
    wait = np.mean(cell.air.backoff_slots()[:1] - 1) * cell.air.slot_us
    data = cell.data(flow).success_us + wait
    answer = cell.answer(flow).success_us + wait
    return float((data + answer / flow.delayed_ack) / good)


def fit_coding(cell: Cell) -> Fit:
    """Check the assumptions of `lt_tcp`, which predicts means over blocks of one known size."""
    assumed = {each.name: each for each in lt_tcp.ASSUMPTIONS}
    hop, flow = saturated.one_hop(cell), cell.coded_flows[0]
    if hop.verdict == "broken":
        return Fit("lt_tcp", "", (hop,))
    loss = _residual_loss(cell, flow)
    random = met(assumed["independent_loss"], f"{100 * loss:.2g} % of the segments, at random")
    if loss == 0:
        random = broken(assumed["independent_loss"], f"{flow.path} loses nothing at random")
    checks = (
        hop,
        random,
        stretched(assumed["loss_known"], f"{flow.path} estimates it, block by block"),
        met(assumed["perfect_code"]),
        met(assumed["fresh_parity"]),
        broken(
            BLOCK_KNOWN,
            f"{flow.path} has blocks of any size: their size follows the window of {flow.control}",
        ),
    )
    return Fit("lt_tcp", "", checks)
