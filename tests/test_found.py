"""Scenarios in which the campaign found a fault; each obeys all laws now."""

from __future__ import annotations

import pytest
from campaign import trials

import simoom as sm

AT_ORIGIN = {"position_m": [0.0, 0.0]}

FOUND = {
    "what was sent before the window is delivered in it": {
        "standard": "11g",
        "duration_s": 0.3,
        "warmup_s": 0.078,
        "stations": {"count": 2, "placement": {"chain": {"spacing_m": 10.0}}},
        "radio": {"ad_hoc": True},
        "routing": {},
        "flows": [{"from": "sta1", "to": "sta0", "traffic": {"bulk": {"size_bytes": 300_000}}}],
    },
    "the jammer's burst ends during the acknowledgement": {
        "standard": "11a",
        "duration_s": 0.3,
        "stations": [
            {"position_m": [58.0, 39.0]},
            {"count": 3, "ring_m": 20.0, "cell": 1},
        ],
        "ap": AT_ORIGIN,
        "cells": [AT_ORIGIN],
        "links": [{"from": "h0", "to": "ap"}],
        "flows": [{"from": "sta1", "to": "h0", "start_spread_s": 0.1395}],
        "radio": {"propagation": "two_ray"},
        "interferers": [
            {
                "source": {"reactive": {"burst_us": 5.0}},
                "start_s": 0.0253,
                "position_m": [37.0, 41.0],
                "tx_power_dbm": 3.0,
            }
        ],
    },
    "two stations to which the access point sends in different modes": {
        "standard": "11n",
        "duration_s": 0.3,
        "stations": [{"ap_mcs": 2}, {}, {"mcs": 5, "width_mhz": 40}],
        "wlan": {"mcs": 0, "full_duplex": {}, "rts_threshold_bytes": 0},
        "flows": [
            {"from": "sta*", "to": "server", "traffic": "saturated"},
            {"from": "server", "to": "sta*", "traffic": "saturated"},
        ],
    },
}


@pytest.mark.parametrize("made", FOUND.values(), ids=FOUND)
def test_a_scenario_that_failed_obeys_all_laws(made):
    assert trials.scenario(made) == ""


def test_a_secondary_frame_that_is_lost_is_no_collision_of_an_attempt():
    """The access point's frames to sta1 are lost to those of sta0 beside it."""
    near = [{"position_m": [-20.0, 0.0]}, {"position_m": [-19.0, 0.0]}]
    summary = sm.run(
        sm.Scenario(
            standard="11a",
            duration_s=0.5,
            ap=AT_ORIGIN,
            stations=near,
            radio={},
            wlan={
                "rate_mbps": 6.0,
                "rts_threshold_bytes": 0,
                "full_duplex": {"secondary_rate_mbps": 12.0},
            },
            flows=[
                {"from": "sta0", "to": "ap", "traffic": "saturated"},
                {"from": "ap", "to": "sta1", "traffic": "saturated"},
            ],
        )
    ).summary
    assert summary["full_duplex.secondary"] > 2 * summary["full_duplex.secondary_sent"]
    assert summary["ap.collisions"] <= summary["ap.attempts"]


def test_secondary_frames_have_the_mode_of_the_access_points_frames():
    cell = FOUND["two stations to which the access point sends in different modes"]
    summary = sm.run(sm.Scenario(**cell)).summary
    rates = [summary[f"full_duplex.rates[{i}].rate_mbps"] for i in range(3)]
    assert rates == pytest.approx([6.5, 19.5, 108.0])


def test_the_steps_of_the_backoff_have_no_probabilities_within_a_txop():
    cell = FOUND["two stations to which the access point sends in different modes"]
    summary = sm.run(sm.Scenario(**cell)).summary
    assert summary["full_duplex.steps"] > 0
    assert "full_duplex.ap_attempt_probability" not in summary
