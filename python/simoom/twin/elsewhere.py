"""Noise that TCP sees, and the models whose subject no scenario of this cell has."""

from __future__ import annotations

import numpy as np

from simoom.models import FAMILIES, assumption, tcp_loss
from simoom.models.assumption import Assumption
from simoom.twin import bulk, medium, saturated
from simoom.twin.reading import Cell, Flow
from simoom.twin.verdict import Fit, Held, broken, graded, met, stretched

ROOM = Assumption("room", "The cell carries what its flows would send through it.")

NO_PROTECTION = Assumption(
    "no_protection", "All stations understand all frames, and nothing goes before OFDM frames."
)

IN_RANGE = Assumption(
    "in_range", "The numbers lie in the range for which the model has a solution."
)


def fit_loss(cell: Cell) -> Fit:
    """Hold a scenario against `tcp_loss`: what retries leave over makes TCP's windows."""
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
            f"they would take {100 * airtime:.3g} % of the air",
            good=0.5,
            bad=0.9,
        ),
    )
    return Fit("tcp_loss", "pftk_mbps: full form", held, values)


def _still(cell: Cell) -> tuple[Held, ...]:
    """Hold the medium against what even a model that allows for noise asks of it."""
    return medium.one_cell(cell), medium.dcf(cell), medium.fixed_mcs(cell)


def _residual(cell: Cell, flow: Flow) -> float:
    """Return the probability that no attempt of the MAC brings a segment across."""
    limit = "long_retry_limit" if cell.data(flow).rts else "short_retry_limit"
    spoiled = float(cell.stations[flow.station]["data_loss"])
    return spoiled ** int(cell.air.wlan[limit])


def _cycle_us(cell: Cell, flow: Flow) -> float:
    """Return what a segment and its share of a TCP ACK take, failed attempts included."""
    station = cell.stations[flow.station]
    good = (1 - station["data_loss"]) * (1 - station["ack_loss"])
    wait = np.mean(cell.air.backoff_slots()[:1] - 1) * cell.air.slot_us
    data = cell.data(flow).success_us + wait
    answer = cell.answer(flow).success_us + wait
    return float((data + answer / flow.delayed_ack) / good)


def outside(family: str, error: ValueError) -> Fit:
    """Return a family that refuses the scenario's numbers, ``wlan.cw_min = 0`` for example."""
    return Fit(family, "", (broken(IN_RANGE, str(error)),))


def absent(cell: Cell) -> list[Fit]:
    """Return the families whose subject a scenario cannot have, and what is missing."""
    named = {
        "full_duplex": ("full_duplex_access_point", "it sends or receives, one at a time"),
        "bluetooth": ("bluetooth_voice", "there is no Bluetooth link"),
        "aggregation": ("block_ack", f"{cell.keys['standard']} answers each frame by an ACK"),
        "tcp_aggregation": ("block_ack", f"{cell.keys['standard']} answers each frame by an ACK"),
        "lt_tcp": ("independent_loss", "no flow sends parity units that could make up for it"),
        "chain": ("straight_chain", "a cell has one hop"),
    }
    fits = []
    for family, (name, how) in named.items():
        known = {each.name: each for each in FAMILIES[family].ASSUMPTIONS}
        fits.append(Fit(family, "", (broken(known[name], how),)))
    return fits


def unread(cell: Cell) -> list[Fit]:
    """Return all families for a standard whose frames carry more than one packet."""
    how = f"{cell.keys['standard']} aggregates; exchanges of 11b, 11a and 11g are predicted"
    held: tuple[Held, ...] = (broken(assumption.NO_AGGREGATION, how),)
    return [Fit(family, "", held) for family in FAMILIES]


def protected(cell: Cell) -> str:
    """Say what stations of 802.11b change in a network of 802.11g; nothing is an empty text."""
    if cell.keys["standard"] != "11g":
        return ""
    if any(station.get("standard") == "11b" for station in cell.stations):
        return "stations of 11b in a network of 11g"
    protection = cell.air.wlan.get("protection") or "none"
    return "" if protection == "none" else f"wlan.protection is {protection}"


def unprotected(how: str) -> list[Fit]:
    """Return all families for a network in which OFDM frames are protected, or had better be."""
    return [Fit(family, "", (broken(NO_PROTECTION, how),)) for family in FAMILIES]
