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


FAR_DB = 200.0
LATE = {
    "standard": "11g",
    "duration_s": 0.3,
    "stations": [{"rate_mbps": 5.5}, {}, {"data_loss": 0.5}],
    "wlan": {"full_duplex": {"secondary_rate_rule": "link"}, "rts_threshold_bytes": 0},
    # The access point receives sta0, which receives nothing, and neither sta1 nor sta2 does.
    "radio": {
        "losses_db": [
            [FAR_DB, FAR_DB, 60.0, 60.0],
            [60.0, FAR_DB, FAR_DB, FAR_DB],
            [60.0, FAR_DB, FAR_DB, 60.0],
            [60.0, FAR_DB, 60.0, FAR_DB],
        ]
    },
    "flows": [
        {"from": "sta0", "to": "ap", "traffic": "saturated"},
        {"from": "ap", "to": "sta1", "traffic": "saturated"},
        {"from": "ap", "to": "sta2", "traffic": "saturated"},
    ],
}
"""Each RTS of sta0 lets the access point send a frame whose ACK is delayed by 2 ms. The next RTS of
sta0 ends the wait for that ACK."""


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(5, id="the ACK of an earlier frame acknowledges no other"),
        pytest.param(1, id="a delayed ACK follows other frames for its transmitter"),
        pytest.param(12, id="an RTS that begins with a data frame is not answered"),
    ],
)
def test_delayed_acks_that_nobody_waits_for(seed):
    summary = sm.run(sm.Scenario(**LATE), seed=seed, check=True).summary
    assert summary["full_duplex.secondary"] > 0


def test_copies_of_a_datagram_count_once():
    """The next hop has most packets that DSR salvages: only acknowledgements are lost."""
    summary = sm.run(
        sm.Scenario(
            standard="11g",
            duration_s=1.0,
            stations={"count": 3, "placement": {"chain": {"spacing_m": 5.0}}, "ack_loss": 0.7},
            radio={"ad_hoc": True},
            wlan={"short_retry_limit": 2, "long_retry_limit": 2},
            routing={"protocol": "dsr"},
            flows=[{"from": "sta0", "to": "sta2", "traffic": {"cbr": {"rate_mbps": 1.0}}}],
        ),
        check=True,
    ).summary
    assert 0 < summary["flows[0].late_fraction"] < 1
    assert 0 < summary["flows[0].goodput_mbps"] < 1


def bidirectional(rate_mbps, up_bytes, to_sta1_bytes, serve):
    """A full-duplex cell in which the RTSs of both sides often begin together; sta0 and sta1 do not
    receive each other."""

    def saturated(size):
        return {"saturated": {"payload_bytes": size}}

    return sm.Scenario(
        standard="11b",
        duration_s=0.1,
        stations=[{}, {"rate_mbps": rate_mbps}],
        wlan={
            "cw_min": 3,
            "rts_threshold_bytes": 0,
            "full_duplex": {
                "bidirectional": True,
                "secondary_rate_rule": "link",
                "serve": serve,
            },
        },
        radio={"losses_db": [[FAR_DB, 60.0, 60.0], [60.0, FAR_DB, FAR_DB], [60.0, FAR_DB, FAR_DB]]},
        flows=[
            {"from": "sta*", "to": "ap", "traffic": saturated(up_bytes)},
            {"from": "ap", "to": "sta0", "traffic": saturated(100)},
            {"from": "ap", "to": "sta1", "traffic": saturated(to_sta1_bytes)},
        ],
    )


@pytest.mark.parametrize(
    ("cell", "seed"),
    [
        pytest.param(
            (2.0, 1472, 100, "first"), 4, id="no response while the own frame is on the air"
        ),
        pytest.param(
            (11.0, 100, 1400, "random"), 4, id="the frame that an RTS announced is answered"
        ),
    ],
)
def test_a_station_answers_an_access_point_that_gave_way_to_another(cell, seed):
    summary = sm.run(bidirectional(*cell), seed=seed, check=True).summary
    assert summary["full_duplex.joint"] > 0


def test_a_full_duplex_access_point_uses_no_sequence_number_twice():
    """A frame that stepped aside for another and was never transmitted freed the other's number;
    the next frame was then discarded as a duplicate."""
    summary = sm.run(
        sm.Scenario(
            standard="11b",
            duration_s=0.4,
            warmup_s=0.0,
            wlan={"full_duplex": {"cancellation_db": 90}, "rts_threshold_bytes": 0},
            ap={"position_m": [1, 51]},
            stations=[
                {"position_m": [1, 1]},
                {"count": 2, "data_loss": 0.4, "position_m": [7, 24]},
                {"count": 3, "ring_m": 13},
            ],
            flows=[
                {"from": "server", "to": "sta0-5", "start_spread_s": 0.1},
                {"from": "server", "to": "sta*"},
                {"from": "sta*", "to": "server"},
            ],
            radio={"tx_power_dbm": 1, "shadowing_db": 6},
        ),
        check=True,
    ).summary
    assert summary["full_duplex.joint"] > 0


def test_only_an_attempt_of_a_full_duplex_access_point_collides():
    """Acknowledgements that were lost after their exchange had ended counted as attempts."""
    summary = sm.run(
        sm.Scenario(
            standard="11b",
            duration_s=0.5,
            wlan={
                "cw_min": 1,
                "preamble": "short",
                "full_duplex": {"secondary_rate_mbps": 1},
                "rts_threshold_bytes": 0,
            },
            stations={"count": 2, "cell": 2},
            flows=[
                {
                    "from": "sta*",
                    "to": "server",
                    "traffic": {"saturated": {}},
                    "start_spread_s": 0.1,
                },
                {"from": "server", "to": "sta0"},
                {"from": "sta*", "to": "server", "start_spread_s": 0.033},
            ],
            radio={"losses_db": [[1.0] * 5, [1.0, 1.0, 6.0, 1.0, 1.0], *[[1.0] * 5] * 3]},
            cells=[{}, {}],
        )
    ).summary
    assert 0 < summary["cells[1].collision_probability"] <= 1


def test_airtime_of_secondary_frames_is_the_mean_of_the_access_points():
    """The airtime of two access points was added and divided by the time of one."""
    cell = {"count": 3, "ring_m": 1}
    summary = sm.run(
        sm.Scenario(
            standard="11b",
            duration_s=2.0,
            wlan={"rts_threshold_bytes": 1, "full_duplex": {"secondary_rate_mbps": 1}},
            ap={"channel": 6},
            stations=[cell | {"cell": 0}, cell | {"cell": 1}],
            flows=[
                {"from": "sta*", "to": "ap", "traffic": "saturated"},
                {"from": "ap", "to": "sta*", "traffic": "saturated"},
            ],
            radio={},
            cells=[{}],
        )
    ).summary
    assert 0.5 < summary["full_duplex.rates[0].airtime_fraction"] < 1
    assert 0 < summary["full_duplex.two_frames_fraction"] < 0.5
