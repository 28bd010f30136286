"""Counts of reports say what they count: what is lost, and who is on the air."""

from __future__ import annotations

import pytest

import simoom as sm
from simoom.results.tables import nodes
from simoom.scenario import shipped
from simoom.show.report import text
from simoom.show.sections import headline

IDLE = {
    "standard": "11g",
    "duration_s": 5,
    "warmup_s": 0,
    "radio": {},
    "stations": [{"position_m": [5, 0]}],
    "wlan": {"beacons": {}},
    "flows": [{"from": "sta0", "to": "ap", "traffic": {"cbr": {"rate_mbps": 0.01}}}],
}


def test_an_access_point_is_on_the_air_with_its_beacons():
    run = sm.run(sm.Scenario(**IDLE))
    ap, _ = nodes(run.summary)
    beacons = run.summary["ap.airtime.beacon_fraction"]
    assert beacons > 0.001
    assert ap["on_air"] == pytest.approx(beacons + run.summary["ap.airtime.ack_fraction"])


def test_a_station_is_on_the_air_with_frames_of_power_save():
    stations = [{"position_m": [5, 0], "power_save": "legacy"}]
    _, station = nodes(sm.run(sm.Scenario(**IDLE | {"stations": stations})).summary)
    assert station["airtime.power_save_fraction"] > 0
    parts = [value for key, value in station.items() if key.startswith("airtime.")]
    assert station["on_air"] == pytest.approx(sum(parts))


def test_a_station_that_roams_loses_packets_by_other_causes_than_queues():
    run = sm.run(sm.Scenario.load(shipped.resolved("roaming")))
    lost = [int(flow["lost"]) for flow in run.flows]
    causes = ("queue_drops", "roaming_drops", "broadcast_losses", "wire_losses")
    parts = [sum(int(flow[cause]) for cause in causes) for flow in run.flows]
    assert all(a >= b for a, b in zip(lost, parts, strict=True))
    assert sum(lost) == run.summary["total.lost"]
    assert sum(lost) > 2 * run.summary["total.queue_drops"]
    roaming = sum(int(flow["roaming_drops"]) for flow in run.flows)
    told = dict(headline(run.summary))["packets lost"]
    assert told.endswith(f"at the retry limit, {roaming} by roaming")


def test_discards_of_frames_that_have_arrived_are_no_losses():
    scenario = sm.Scenario(
        standard="11a",
        duration_s=2,
        warmup_s=0,
        stations={"ack_loss": 0.9},
        flows=[{"from": "sta0", "to": "ap", "traffic": "saturated"}],
    )
    run = sm.run(scenario)
    discarded = run.summary["stations[0].retry_drops"]
    assert discarded > 100
    assert f"0 by all causes; discarded: 0 in queues, {discarded} at the retry limit" in text(run)
