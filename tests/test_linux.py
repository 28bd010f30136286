"""Agreement with a Linux kernel in virtual time: the points, and some of them simulated."""

from __future__ import annotations

import pytest
from validation import linux, linux_page
from validation.linux import Rules

import simoom as sm


def the(name: str) -> linux.Point:
    return next(point for point in linux.points() if point.name == name)


def test_every_group_has_points_and_every_point_a_scenario() -> None:
    points = linux.points()
    assert {point.group for point in points} == set("abcdef")
    for point in points:
        if point.group != "e":
            sm.Scenario(**linux.path(point, linux.PRESET, 0)).check()


def test_no_point_has_a_setting_of_its_own() -> None:
    ends = {
        str(flow["tcp"]["endpoint"])
        for point in linux.points("abcdf")
        for flow in linux.path(point, linux.PRESET, 0)["flows"]
        if "tcp" in flow
    }
    assert len(ends) == 1


@pytest.mark.parametrize(
    "name", ["bbr_r10_d48_q25", "cubic_r20_d48_q100", "reno_loss5", "cubic_short"]
)
def test_a_point_agrees_in_all_its_values(name: str) -> None:
    (compared,) = linux.measure([the(name)])
    assert compared.judged
    assert all(compared.agrees(quantity) for quantity in compared.judged)


def test_a_queue_of_bbr_needs_the_quanta_in_flight() -> None:
    without = Rules(control={"bbr": {"inflight_quanta": False}})
    (compared,) = linux.measure([the("bbr_r10_d48_q25")], without)
    assert compared.error("ping_p50_ms") < -0.05


def test_a_value_beyond_band_and_interval_differs() -> None:
    point = the("bbr_r10_d48_q25")
    kernel = point.measured["ping_p50_ms"].value
    for factor, agrees in ((1.04, True), (1.06, False), (0.94, False)):
        compared = linux.Compared(point, {"ping_p50_ms": factor * kernel})
        assert compared.agrees("ping_p50_ms") is agrees
        assert ("**differs**" in linux_page.row(compared, "ping_p50_ms")) is not agrees


def test_check_lists_what_the_endpoint_has_set_and_a_key_set_by_hand_wins() -> None:
    flow = {"from": "a", "to": "b", "control": {"cubic": {"growth": "rfc9438"}}}
    flow["tcp"] = {"endpoint": {"linux": {"version": "6.1"}}}
    link = {"from": "a", "to": "b", "rate_mbps": 10.0}
    found = sm.Scenario(duration_s=5.0, links=[link], flows=[flow]).presets()
    values = found["flows[0].tcp.endpoint"]
    assert values["flows[0].control.cubic.hystart_rule"] == "linux"
    assert values["flows[0].tcp.ssthresh_from"] == "window"
    assert "flows[0].control.cubic.growth" not in values
