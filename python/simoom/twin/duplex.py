"""Long TCP flows in a cell with a full-duplex access point.

The twin takes the readings of `full_duplex` that fit closed loops: an attempt of the access point
together with that of one station counts once, and the access point sends no more than TCP ACKs
return.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, full_duplex
from simoom.models._check import Array
from simoom.models.assumption import Assumption
from simoom.twin import bulk, saturated
from simoom.twin.air import Air
from simoom.twin.inputs import Cell, Flow
from simoom.twin.verdict import AssumptionCheck, Fit, broken, graded, met, stretched

SAME_SIZES = Assumption("same_sizes", "All segments have one size, and all TCP ACKs.")
FIRST_PACKET = Assumption(
    "first_packet",
    "While it receives, the access point sends the first packet for another station.",
)
GIVEN_RATE = Assumption(
    "given_secondary_rate",
    "Secondary frames have a given rate, and what is sent at once does not interfere.",
)

_NAMES = {assumed.name: assumed for assumed in full_duplex.ASSUMPTIONS}


@dataclass(frozen=True, kw_only=True)
class AirTimes(full_duplex.RtsTimes):
    """Durations of exchanges under the options of a scenario."""

    air: Air
    packet_bytes: int
    """A segment with its headers."""
    answer_bytes: int
    """A TCP ACK."""

    def exchange_us(self, payload_bits: ArrayLike, rate_mbps: ArrayLike) -> Array:
        """Return how long an exchange lasts whose data frame has the given rate.

        RTS, CTS and ACK are those of the rate of the cell.
        """
        is_segment = np.asarray(payload_bits) == self.data_bits
        packet = self.packet_bytes if is_segment else self.answer_bytes
        usual, psdu = self.air.rate_mbps, packet + self.air.overhead_bytes
        fixed = self.air.exchange(packet, usual).success_us - self.air.data_us(psdu, usual)
        lasts = np.vectorize(lambda rate: fixed + self.air.data_us(psdu, float(rate)))
        return np.asarray(lasts(rate_mbps), dtype=np.float64)


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `full_duplex` for a scenario and predict."""
    scope = [saturated.one_hop(cell), bulk.persistent(cell), _same_sizes(cell), _given_rate(cell)]
    if any(check.verdict == "broken" for check in scope):
        return Fit("full_duplex", "", tuple(scope))
    air, flows = cell.air, cell.flows
    stations = len({flow.station for flow in flows})
    exchange = cell.data(flows[0])
    times = AirTimes(
        slot_us=air.slot_us,
        sifs_us=air.sifs_us,
        difs_us=air.difs_us,
        rts_us=exchange.exposed_us,
        data_bits=8.0 * flows[0].payload_bytes,
        tcp_ack_bits=0.0,
        air=air,
        packet_bytes=flows[0].packet_bytes,
        answer_bytes=flows[0].header_bytes,
    )
    point = full_duplex.backoff_point(stations, cw_min=air.cw_min, cw_max=air.cw_max)
    solved = full_duplex.mixed(
        _classes(cell),
        times=times,
        cts_timeout_us=air.silence_us(exchange.opening_mbps) - air.difs_us,
        counting="single",
        flow="repaid",
        cw_min=air.cw_min,
        cw_max=air.cw_max,
    )
    total = float(solved.total_mbps)
    values = {
        "total.goodput_mbps": total,
        "full_duplex.station_attempt_probability": float(point.station_attempt),
        "full_duplex.station_collision_probability": float(point.station_collision),
        "full_duplex.secondary_probability": float(point.ap_secondary),
        "contending.stations_mean": float(stations),
    }
    values |= bulk.flows(
        cell, {"down": float(solved.download_mbps), "up": float(solved.upload_mbps)}
    )
    checks = (
        *scope,
        *bulk.long_flow_checks(cell, total),
        bulk.one_flow_per_station(cell),
        _slots(cell),
        met(_NAMES["full_duplex_access_point"]),
        _rts_cts(cell),
        _delayed_ack(cell),
        _backlogged(stations),
        _first_packet(cell),
    )
    count = Counter(flow.direction for flow in flows)
    directions = ", ".join(f"{number} {direction}" for direction, number in sorted(count.items()))
    return Fit("full_duplex", f"cell: {directions}", checks, values)


def _classes(cell: Cell) -> list[full_duplex.StationClass]:
    """Return the stations by direction and rate."""
    given = cell.keys["wlan"]["full_duplex"]["secondary_rate_mbps"]
    kinds = Counter((flow.direction == "up", cell.rate_mbps(flow)) for flow in cell.flows)
    return [
        full_duplex.StationClass(number, up, rate_mbps=rate, cli_rate_mbps=given or rate)
        for (up, rate), number in kinds.items()
    ]


def _same_sizes(cell: Cell) -> AssumptionCheck:
    def sizes(flow: Flow) -> tuple[int, int]:
        return flow.packet_bytes, flow.header_bytes

    kinds = len({sizes(flow) for flow in cell.flows if flow.over_tcp})
    if kinds > 1:
        return broken(SAME_SIZES, f"{kinds} sizes of segments and TCP ACKs")
    return met(SAME_SIZES)


def _given_rate(cell: Cell) -> AssumptionCheck:
    if cell.is_full_duplex and cell.keys["radio"] is not None:
        return broken(GIVEN_RATE, "the places of radios decide what can be sent at once")
    return met(GIVEN_RATE)


def _slots(cell: Cell) -> AssumptionCheck:
    if cell.keys["wlan"]["countdown"] == "bianchi":
        return met(assumption.BIANCHI_SLOTS)
    how = "counters are frozen; an effect of up to 3 % with 80 stations"
    return stretched(assumption.BIANCHI_SLOTS, how)


def _rts_cts(cell: Cell) -> AssumptionCheck:
    flow = cell.flows[0]
    if cell.answer(flow).rts and cell.data(flow).rts:
        return met(assumption.RTS_CTS)
    return broken(assumption.RTS_CTS, "no RTS precedes packets as short as TCP ACKs")


def _delayed_ack(cell: Cell) -> AssumptionCheck:
    assumed = _NAMES["no_delayed_ack"]
    most = max(flow.delayed_ack for flow in cell.flows)
    return met(assumed) if most == 1 else broken(assumed, f"one TCP ACK for {most} segments")


def _backlogged(stations: int) -> AssumptionCheck:
    how = f"{stations} stations"
    return graded(_NAMES["all_backlogged"], -stations, how, good=-20, bad=-3)


def _first_packet(cell: Cell) -> AssumptionCheck:
    serve = cell.keys["wlan"]["full_duplex"]["serve"]
    if serve == "first":
        return met(FIRST_PACKET)
    return stretched(FIRST_PACKET, f"wlan.full_duplex.serve is {serve}")
