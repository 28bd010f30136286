"""The twin in 802.11n, ac, ax and be, compared with the simulator over a grid."""

from __future__ import annotations

import pytest

import simoom as sm
from simoom.twin import aggregates
from simoom.twin.inputs import Cell

STANDARDS = ("11n", "11ac", "11ax", "11be")
FRAMES = (1, 8, None)
"""Limits of the MPDUs of an A-MPDU; None is the window of the standard."""
TOLERANCE = 0.05


def cell(standard: str, stations: int, frames: int | None, flow: dict, **keys) -> sm.Scenario:
    wlan = {"aggregation": {"frames": frames}} if frames else {}
    return sm.Scenario(
        standard=standard,
        stations=stations,
        duration_s=6.0,
        warmup_s=2.0,
        wlan=keys.pop("wlan", {}) | wlan,
        flows=[flow],
        **keys,
    )


UP = {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}
DOWN = {"from": "server", "to": "sta*", "tcp": {"window_segments": 300}}


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("stations", [1, 5, 20])
@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize(("family", "flow"), [("aggregation", UP), ("tcp_aggregation", DOWN)])
def test_the_prediction_is_within_5_percent_of_the_simulator(
    family, flow, standard, stations, frames
):
    keys = {"wire": {"delay_ms": 0.0}} if flow is DOWN else {}
    scenario = cell(standard, stations, frames, flow, **keys)
    twin = sm.predict(scenario)
    assert twin.model is not None, twin.report()
    assert twin.model.family == family
    found = {each.path: each for each in twin.compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE


def test_channels_of_320_mhz_at_6_ghz_are_predicted():
    scenario = cell("11be", 3, None, UP, wlan={"width_mhz": 320, "band_ghz": 6.0})
    found = {each.path: each for each in sm.predict(scenario).compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE


def test_punctured_channels_are_predicted():
    scenario = cell("11be", 3, None, UP, wlan={"width_mhz": 80}, ap={"punctured": [3]})
    run = sm.run(scenario)
    found = {each.path: each for each in sm.predict(scenario).compare(run)}
    assert abs(found["total.goodput_mbps"].percent) < 100 * TOLERANCE
    whole = sm.run(scenario.set("ap.punctured", []))
    assert run.summary["total.goodput_mbps"] < 0.8 * whole.summary["total.goodput_mbps"]


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({"wlan": {"rts_threshold_bytes": 0}}, "usual_exchanges"),
        ({"wlan": {"aggregation": {"missed_block_ack": "retransmit"}}}, "usual_exchanges"),
        ({"wlan": {"band_ghz": 2.4}}, "usual_exchanges"),
        ({"wlan": {"rate_control": "minstrel_ht"}}, "fixed_mcs"),
        ({"wlan": {"edca": {"best_effort": {"txop_limit_us": 0.0}}}}, "few_requests"),
    ],
)
def test_what_the_models_do_not_represent_is_named(keys, name):
    twin = sm.predict(cell("11n", 30, None, UP, **keys))
    assert twin.model is None
    (fit,) = (fit for fit in twin.fits if fit.family == "aggregation")
    assert name in {check.name for check in fit.broken}


def test_small_windows_fill_no_ppdu():
    twin = sm.predict(cell("11ac", 3, None, DOWN | {"tcp": {"window_segments": 20}}, wire={}))
    (fit,) = (fit for fit in twin.fits if fit.family == "tcp_aggregation")
    assert "deep_windows" in {check.name for check in fit.broken}


@pytest.mark.parametrize(("cw_min", "verdict"), [(15, "met"), (7, "stretched"), (63, "broken")])
def test_the_access_point_of_downloads_has_the_window_of_its_stations(cw_min, verdict):
    edca = {"best_effort": {"cw_min": cw_min, "cw_max": 63}}
    twin = sm.predict(cell("11ac", 3, None, DOWN, wire={"delay_ms": 0.0}, ap={"edca": edca}))
    (fit,) = (fit for fit in twin.fits if fit.family == "tcp_aggregation")
    assert {check.name: check.verdict for check in fit.checks}["equal_windows"] == verdict


def test_the_work_is_linear_in_the_stations():
    """Calls of Python functions, which do not depend on the speed of the machine."""
    import sys

    def calls(stations: int) -> int:
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        flow = {"from": "server", "to": "sta*", "tcp": {"window_segments": 10}}
        scenario = sm.Scenario(standard="11g", stations=stations, wire={}, flows=[flow])
        sm.predict(scenario)
        sys.setprofile(note)
        try:
            sm.predict(scenario)
        finally:
            sys.setprofile(None)
        return count

    few, many = calls(100), calls(400)
    assert many < 4.5 * few


@pytest.mark.parametrize("stations", [1, 5])
def test_a_model_without_solution_is_no_error(stations):
    flow = {"from": "sta*", "to": "ap", "traffic": "saturated"}
    wlan = {"cw_min": 1, "cw_max": 1, "short_retry_limit": 1}
    sm.predict(sm.Scenario(standard="11b", stations=stations, wlan=wlan, flows=[flow])).report()


DATAGRAMS = {"from": "ap", "to": "sta*", "traffic": {"saturated": {"payload_bytes": 1472}}}


@pytest.mark.parametrize(("flow", "mu"), [(UP, None), (DATAGRAMS, None), (DATAGRAMS, {})])
@pytest.mark.parametrize("path", ["ap", "wlan"])
def test_an_access_point_has_contention_windows_of_its_own(path, flow, mu):
    wlan = {"mcs": 7, "edca_defaults": "2012"} | ({} if mu is None else {"mu": mu})
    scenario = cell("11ax", 2, None, flow, wlan=wlan)
    if mu is None:
        scenario = scenario.set("wlan.aggregation.frames", 1)
    changed = scenario.set(f"{path}.edca.best_effort.cw_min", 63)
    assert aggregates.windows(Cell(changed), at_access_point=path == "ap")[0] == 63
    assert aggregates.windows(Cell(changed), at_access_point=path != "ap")[0] == 15
    found = {each.path: each for each in sm.predict(changed).compare(sm.run(changed))}
    # Where stations contend, the tolerance is that of the model.
    most = 100 * TOLERANCE if flow is UP else 1.0
    assert abs(found["total.goodput_mbps"].percent) < most


def test_the_largest_window_of_an_access_point_is_that_of_wmm():
    scenario = cell("11ax", 2, None, DATAGRAMS, wlan={"mcs": 7})
    assert aggregates.windows(Cell(scenario), at_access_point=True) == (15, 63)
    assert aggregates.windows(Cell(scenario), at_access_point=False) == (15, 1023)
    own = scenario.set("ap.edca.best_effort.cw_min", 31).set("ap.edca.best_effort.cw_max", 127)
    assert aggregates.windows(Cell(own), at_access_point=True) == (31, 127)
    as_ns3 = scenario.set("wlan.edca_defaults", "ns3")
    assert aggregates.windows(Cell(as_ns3), at_access_point=True) == (15, 1023)


@pytest.mark.parametrize("limit_us", [0.0, 2528.0, 8160.0])
@pytest.mark.parametrize("stations", [1, 2, 6, 10])
def test_the_collision_probability_counts_each_exchange_of_a_txop(stations, limit_us):
    scenario = cell("11ax", stations, None, UP, wlan={"mcs": 7})
    scenario = scenario.set("wlan.edca.best_effort.txop_limit_us", limit_us).set("duration_s", 62.0)
    found = {each.path: each for each in sm.predict(scenario).compare(sm.run(scenario))}
    collision = found["total.collision_probability"]
    assert abs(collision.predicted - collision.measured) < 0.02
