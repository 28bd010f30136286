"""Distance takes time: long links, and carrier sense that is late by it.

802.11-2020 clauses 10.3.2.9, 10.3.7 and 10.21.5, and table 9-95.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import simoom as sm

RATE_MBPS = 24.0
PAYLOAD = 1000
OVERHEAD = 64
"""UDP, IP, LLC, MAC header and FCS."""


def cell(*places: list[float], delay: str = "on", **wlan: Any) -> sm.Scenario:
    """Return stations of 802.11a at these places, which send saturated to the access point."""
    return sm.Scenario(
        standard="11a",
        duration_s=4,
        radio={
            "propagation": {"log_distance": {"exponent": 2.0}},
            "tx_power_dbm": 60,
            "propagation_delay": delay,
        },
        wlan={"rate_mbps": RATE_MBPS, **wlan},
        stations=[{"position_m": place} for place in places],
        flows=[{"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": PAYLOAD}}}],
    )


def delay_us(distance_m: float) -> float:
    """Return the propagation delay in microseconds, rounded up to nanoseconds."""
    return math.ceil(distance_m / 0.299792458) / 1000


def closed_form(distance_m: float, coverage_class: int) -> float:
    """Return the goodput in Mb/s of a link with a contention window of 0 or 1 slot."""

    def airtime(psdu_bytes: int) -> float:
        parts = sm.airtime("11a", psdu_bytes=psdu_bytes, rate_mbps=RATE_MBPS)
        return parts["total_us"]

    slot, sifs = 9 + 3 * coverage_class, 16
    difs = sifs + 2 * slot
    exchange = airtime(PAYLOAD + OVERHEAD) + sifs + airtime(14) + 2 * delay_us(distance_m)
    return 8 * PAYLOAD / (difs + slot / 2 + exchange)


@pytest.mark.parametrize(("distance_m", "coverage_class"), [(299, 0), (10e3, 23), (30e3, 67)])
def test_a_long_link_has_its_delay_twice_in_each_exchange(
    distance_m: float, coverage_class: int
) -> None:
    """A coverage class adds 3 us to the slot time, room for the way there and back (table 9-95)."""
    link = cell([distance_m, 0], coverage_class=coverage_class, cw_min=1, cw_max=1)
    goodput = sm.run(link, check=True).summary["total.goodput_mbps"]
    assert goodput == pytest.approx(closed_form(distance_m, coverage_class), rel=1e-3)


def test_without_a_coverage_class_no_ack_comes_in_time() -> None:
    """AckTimeout is a SIFS, a slot and the PHY's start delay (clause 10.3.2.9); over 10 km an ACK
    comes 67 us later than over none. Each frame arrives and is sent 7 times, in vain."""
    link = cell([10e3, 0])
    summary = sm.run(link, check=True).summary
    assert summary["stations[0].sent"] == 0
    assert summary["stations[0].retry_drops"] > 100
    assert summary["ap.duplicates"] == pytest.approx(
        6 * summary["stations[0].retry_drops"], rel=0.01
    )
    covered = sm.run(link.set("wlan.coverage_class", 23)).summary
    assert summary["total.goodput_mbps"] < 0.2 * covered["total.goodput_mbps"]
    (caveat,) = link.caveats()
    assert "no response comes in time without wlan.coverage_class = 23" in caveat
    assert link.set("wlan.coverage_class", 23).caveats() == []


def test_stations_collide_as_at_no_distance_where_the_slot_has_room() -> None:
    """Two stations 600 m or 6 km apart: a slot in which a signal and its response cross the cell
    leaves collisions to equal back-offs alone (clause 10.3.7)."""

    def collisions(distance_m: float, **keys: Any) -> float:
        run = sm.run(cell([distance_m, 0], [-distance_m, 0], **keys))
        return run.summary["total.collision_probability"]

    for distance_m, coverage_class in [(300, 0), (3000, 7)]:
        by_delay = [
            collisions(distance_m, delay=delay, coverage_class=coverage_class)
            for delay in ("on", "off")
        ]
        assert by_delay[0] == pytest.approx(by_delay[1], rel=0.02)


def test_by_default_delays_are_simulated_beyond_300_m() -> None:
    """1 us is what the slot has room for without a coverage class (table 9-95)."""
    for distance_m, same_as in [(300, "off"), (301, "on")]:
        digests = {
            delay: sm.run(cell([distance_m, 0], delay=delay)).digest
            for delay in ("auto", "on", "off")
        }
        assert digests["auto"] == digests[same_as]
        assert digests["on"] != digests["off"]


def test_delays_that_cannot_be_told_are_refused() -> None:
    link = cell([10, 0])
    with pytest.raises(sm.ScenarioError, match=r'radio\.propagation_delay: "on" needs distances'):
        link.set("radio.losses_db", [[0, 50], [50, 0]]).check()
    duplex = cell([10, 0], [0, 10], full_duplex={}, rts_threshold_bytes=0)
    with pytest.raises(sm.ScenarioError, match=r'radio\.propagation_delay: "on" is not supported'):
        duplex.check()


def test_a_network_over_kilometres_keeps_the_rules(tmp_path) -> None:
    """The checker computes when each frame arrives where, and a trace changes nothing."""
    scenario = sm.Scenario(
        standard="11n",
        duration_s=1,
        radio={
            "propagation": {"log_distance": {"exponent": 2.0}},
            "tx_power_dbm": 60,
            "propagation_delay": "on",
            "fading": {"coherence_ms": 5.0},
        },
        wlan={"edca": {}, "aggregation": {}, "beacons": {}, "coverage_class": 12},
        stations=[
            {"position_m": [2000, 500]},
            {
                "waypoints": [
                    {"at_s": 0.0, "position_m": [-1500, 0]},
                    {"at_s": 60.0, "position_m": [1500, 100]},
                ]
            },
            {"position_m": [-4000, 1500], "cell": 1},
        ],
        cells=[{"position_m": [-3000, 1000]}],
        flows=[
            {"from": "sta*", "to": "server"},
            {"from": "server", "to": "sta*"},
            {"from": "ap", "to": "broadcast", "traffic": {"cbr": {"rate_mbps": 0.5}}},
        ],
    )
    run = sm.run(scenario, check=True)
    assert run.summary["total.goodput_mbps"] > 1
    traced = sm.run(scenario, trace=tmp_path / "trace.txt")
    assert traced.digest == run.digest
