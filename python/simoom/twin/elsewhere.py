"""Losses that TCP detects, scenarios without a model, and models that do not concern a scenario."""

from __future__ import annotations

import numpy as np

from simoom.models import FAMILIES, assumption, lt_tcp, tcp_loss
from simoom.models.assumption import Assumption
from simoom.twin import bulk, medium, saturated
from simoom.twin.reading import Cell, Flow
from simoom.twin.verdict import Fit, Held, broken, graded, met, stretched

READ = ("11b", "11a", "11g")
"""Standards whose exchanges the twin can compute from a scenario."""

ROOM = Assumption("room", "The cell has the capacity for the traffic of its flows.")

NO_PROTECTION = Assumption(
    "no_protection", "All stations decode all frames, and no protection precedes OFDM frames."
)

BLOCK_KNOWN = Assumption("block_known", "All blocks have the same, known number of units.")

IN_RANGE = Assumption("in_range", "The values lie in the range in which the model has a solution.")


def fit_loss(cell: Cell) -> Fit:
    """Check the assumptions of `tcp_loss`: the residual loss of the MAC limits TCP's windows."""
    known = {each.name: each for each in tcp_loss.ASSUMPTIONS}
    scope = [saturated.one_hop(cell), bulk.persistent(cell), *_still(cell)]
    odd = next((flow for flow in cell.flows if flow.over_tcp and flow.control != "new_reno"), None)
    if odd is not None:
        scope.append(broken(known["reno"], f"{odd.path} has {odd.control}"))
    if any(held.verdict == "broken" for held in scope):
        return Fit("tcp_loss", "", tuple(scope))
    loss = {flow.index: _residual(cell, flow) for flow in cell.flows}
    if min(loss.values()) == 0:
        lossless = next(flow for flow in cell.flows if loss[flow.index] == 0)
        how = f"{lossless.path} loses nothing at random"
        return Fit("tcp_loss", "", (*scope, broken(known["loss_halves_once"], how)))
    values = {"total.goodput_mbps": 0.0}
    airtime, share = 0.0, 0.0
    for flow in cell.flows:
        cycle_us = _cycle_us(cell, flow)
        trip_ms = 1e3 * cell.wire_rtt_s(flow) + 1e-3 * cycle_us
        share = max(share, 1e-3 * cycle_us / trip_ms)
        goodput = float(
            tcp_loss.pftk_mbps(
                loss[flow.index],
                rtt_ms=trip_ms,
                rto_ms=max(flow.table["tcp"]["rto_min_ms"], trip_ms),
                mss_bytes=flow.payload_bytes,
                segments_per_ack=flow.delayed_ack,
                window_segments=flow.window_segments,
            )
        )
        airtime += goodput * cycle_us / (8 * flow.payload_bytes)
        values["total.goodput_mbps"] += goodput
        values[f"{flow.path}.goodput_mbps"] = goodput
    worst = max(loss.values())
    held = (
        *scope,
        met(known["reno"]),
        graded(
            known["round_trip_known"],
            share,
            f"the cell's part of it is {100 * share:.2g} % and more under load",
            good=0.0,
            bad=0.5,
        ),
        met(known["loss_halves_once"], f"{100 * worst:.2g} % of the segments, at random"),
        stretched(known["no_slow_start"], "each timeout is followed by one"),
        graded(
            ROOM,
            airtime,
            f"they would take {100 * airtime:.3g} % of the airtime",
            good=0.5,
            bad=0.9,
        ),
    )
    return Fit("tcp_loss", "pftk_mbps: full form", held, values)


def _still(cell: Cell) -> tuple[Held, ...]:
    """Check the assumptions about the medium of a model that allows for noise."""
    return medium.one_cell(cell), medium.dcf(cell), medium.fixed_mcs(cell)


def _residual(cell: Cell, flow: Flow) -> float:
    """Return the probability that all attempts of the MAC at a segment fail."""
    limit = "long_retry_limit" if cell.data(flow).rts else "short_retry_limit"
    spoiled = float(cell.stations[flow.station]["data_loss"])
    return spoiled ** int(cell.air.wlan[limit])


def _cycle_us(cell: Cell, flow: Flow) -> float:
    """Return the airtime of a segment and its share of a TCP ACK, including failed attempts."""
    station = cell.stations[flow.station]
    good = (1 - station["data_loss"]) * (1 - station["ack_loss"])
    wait = np.mean(cell.air.backoff_slots()[:1] - 1) * cell.air.slot_us
    data = cell.data(flow).success_us + wait
    answer = cell.answer(flow).success_us + wait
    return float((data + answer / flow.delayed_ack) / good)


def outside(family: str, error: ValueError) -> Fit:
    """Return the verdict on a family that rejects a value, for example ``wlan.cw_min = 0``."""
    return Fit(family, "", (broken(IN_RANGE, str(error)),))


def coded(cell: Cell) -> list[Flow]:
    """Return the flows that send data in blocks with parity."""
    return [flow for flow in cell.flows if flow.over_tcp and flow.table["tcp"]["fec"] is not None]


def fit_coding(cell: Cell) -> Fit:
    """Check the assumptions of `lt_tcp`, which predicts for a block the means of a run."""
    known = {each.name: each for each in lt_tcp.ASSUMPTIONS}
    hop, flow = saturated.one_hop(cell), coded(cell)[0]
    if hop.verdict == "broken":
        return Fit("lt_tcp", "", (hop,))
    loss = _residual(cell, flow)
    random = met(known["independent_loss"], f"{100 * loss:.2g} % of the segments, at random")
    if loss == 0:
        random = broken(known["independent_loss"], f"{flow.path} loses nothing at random")
    held = (
        hop,
        random,
        stretched(known["loss_known"], f"{flow.path} estimates it, block by block"),
        met(known["perfect_code"]),
        met(known["fresh_parity"]),
        broken(
            BLOCK_KNOWN,
            f"{flow.path} has blocks of any size: their size follows the window of {flow.control}",
        ),
    )
    return Fit("lt_tcp", "", held)


def lacking(cell: Cell) -> dict[str, Held]:
    """Return the families that do not concern a scenario, and what the scenario lacks."""
    named = {
        "full_duplex": (
            "full_duplex_access_point",
            "the access point does not send and receive at the same time",
        ),
        "bluetooth": ("bluetooth_voice", "there is no Bluetooth link"),
        "chain": ("straight_chain", "a cell has one hop"),
    }
    standard = cell.keys["standard"]
    if standard is None or standard in READ:
        how = f"{standard} answers each frame by an ACK"
        named |= dict.fromkeys(("aggregation", "tcp_aggregation"), ("block_ack", how))
    if not coded(cell):
        how = "no flow sends parity units"
        named["lt_tcp"] = ("independent_loss", how)
    return {
        family: broken(next(a for a in FAMILIES[family].ASSUMPTIONS if a.name == name), how)
        for family, (name, how) in named.items()
    }


def unread(cell: Cell) -> Held | None:
    """Return a property of a scenario that no model represents, if there is one."""
    standard = cell.keys["standard"]
    if standard is None:
        return broken(assumption.ONE_CELL, "there is no cell, only links")
    if standard not in READ:
        how = f"{standard} aggregates; the twin predicts only 11b, 11a and 11g"
        return broken(assumption.NO_AGGREGATION, how)
    if how := protected(cell):
        return broken(NO_PROTECTION, how)
    return None


def protected(cell: Cell) -> str:
    """Return how 802.11b stations change an 802.11g network; an empty text if there are none."""
    if cell.keys["standard"] != "11g":
        return ""
    if any(station.get("standard") == "11b" for station in cell.stations):
        return "11b stations in an 11g network"
    protection = cell.air.wlan.get("protection") or "none"
    return "" if protection == "none" else f"wlan.protection is {protection}"
