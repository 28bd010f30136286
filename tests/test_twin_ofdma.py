"""The twin of saturated downlink OFDMA, compared with the simulator over a grid."""

from __future__ import annotations

import pytest

import simoom as sm
from simoom.models.ofdma import SEQUENCES

TOLERANCE = 0.03
"""Written before the first comparison."""
DOWN = {"from": "ap", "to": "sta*", "traffic": {"saturated": {"payload_bytes": 1472}}}


def cell(stations: int, mcs: int = 7, *, how: str = "mu_bar", **keys) -> sm.Scenario:
    wlan = {"mcs": mcs, "edca_defaults": "ns3", "mu": {"acknowledgement": how}}
    return sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=4.0,
        warmup_s=1.0,
        wlan=wlan | keys.pop("wlan", {}),
        flows=[DOWN | keys.pop("flow", {})],
        **keys,
    )


@pytest.mark.parametrize("how", SEQUENCES)
@pytest.mark.parametrize(
    ("stations", "mcs"), [(2, 0), (3, 2), (4, 4), (5, 7), (8, 9), (9, 5), (12, 7)]
)
def test_the_prediction_is_within_3_percent_of_the_simulator(stations, mcs, how):
    scenario = cell(stations, mcs, how=how)
    twin = sm.predict(scenario)
    assert twin.model is not None, twin.report()
    assert twin.model.family == "ofdma"
    assert twin.model.stretched == ()
    found = {each.path: each for each in twin.compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE
    flows = [each.percent for path, each in found.items() if path.startswith("flows[")]
    assert len(flows) == stations
    assert max(map(abs, flows)) < 200 * TOLERANCE


def test_packets_of_other_sizes_and_the_durations_of_ns3():
    scenario = cell(
        4, wlan={"ppdu_timing": "ns3"}, flow={"traffic": {"saturated": {"payload_bytes": 300}}}
    )
    found = {each.path: each for each in sm.predict(scenario).compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE


@pytest.mark.parametrize("small_1024_qam", [False, True])
@pytest.mark.parametrize(("stations", "mcs"), [(2, 10), (4, 11)])
def test_1024_qam_is_for_whole_channels_unless_stations_have_it(stations, mcs, small_1024_qam):
    scenario = cell(stations, mcs).set("wlan.mu.small_1024_qam", small_1024_qam)
    found = {each.path: each for each in sm.predict(scenario).compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE


@pytest.mark.parametrize(
    ("changes", "name", "how"),
    [
        ({"wlan.edca_defaults": "2016"}, "no_txop_limit", "2528 us"),
        ({"wlan.mu.scheduler": "backlog"}, "equal_units", "backlog"),
        ({"wlan.width_mhz": 40}, "equal_units", "wlan.width_mhz is 40"),
        ({"wlan.mu.uplink": {}}, "several_users", "wlan.mu.uplink"),
        ({"wlan.mu.protection": "mu_rts"}, "several_users", "mu_rts"),
        ({"stations": 1}, "several_users", "1 station"),
        ({"flows[0].from": "sta*", "flows[0].to": "ap"}, "one_sender", "no download"),
        ({"wlan.aggregation.frames": 4}, "full_ppdus", "4 of 7 MPDUs"),
        ({"wlan.aggregation.bytes": 6000}, "full_ppdus", "3 of 7 MPDUs"),
        ({"wlan.rate_control": "minstrel_ht"}, "fixed_mcs", "minstrel"),
    ],
)
def test_what_the_model_does_not_have_is_said(changes, name, how):
    scenario = cell(4)
    for path, value in changes.items():
        scenario = scenario.set(path, value)
    twin = sm.predict(scenario)
    (fit,) = (fit for fit in twin.fits if fit.family == "ofdma")
    assert not fit.fits
    assert any(check.name == name and how in check.how for check in fit.broken), fit.broken


def test_a_load_below_the_capacity_is_not_predicted():
    light = cell(4, flow={"traffic": {"cbr": {"rate_mbps": 5.0}}})
    (fit,) = (fit for fit in sm.predict(light).fits if fit.family == "ofdma")
    assert [check.name for check in fit.broken] == ["saturated", "full_ppdus"]
    heavy = cell(4, flow={"traffic": {"cbr": {"rate_mbps": 30.0, "payload_bytes": 1472}}})
    assert sm.predict(heavy).model.family == "ofdma"
