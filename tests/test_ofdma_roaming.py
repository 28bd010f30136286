"""OFDMA with stations that change their access points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import simoom as sm

SEQUENCES = ("bar_chain", "mu_bar", "aggregated_mu_bar")


def walk(mu: Mapping[str, Any], **roaming: object) -> sm.Scenario:
    """A station that walks from the first of two access points to the second, each with another."""
    return sm.Scenario(
        standard="11ax",
        duration_s=3.0,
        warmup_s=0.3,
        wlan={"mcs": 5, "beacons": {}, "mu": dict(mu)},
        radio={},
        ap={"position_m": [0.0, 0.0], "channel": 36},
        cells=[{"position_m": [40.0, 0.0], "channel": 52}],
        stations=[
            {
                "waypoints": [
                    {"at_s": 0.0, "position_m": [10.0, 3.0]},
                    {"at_s": 3.0, "position_m": [36.0, 3.0]},
                ],
                "roaming": {"threshold_dbm": -40.0, "short_interval_s": 0.4, **roaming},
            },
            {"position_m": [2.0, 3.0]},
            {"position_m": [38.0, 3.0], "cell": 1},
        ],
        flows=[
            {"from": "server", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 8.0}}},
            {"from": "sta*", "to": "server", "traffic": {"cbr": {"rate_mbps": 4.0}}},
        ],
    )


def run_of(scenario: sm.Scenario) -> tuple[sm.Run, pl.DataFrame, float]:
    """Return a run, its frames, and when the station has changed."""
    run = sm.run(scenario, check=True, trace=True)
    assert run.trace is not None
    assert run.summary["total.handovers"] == 1
    return run, run.trace.frames, run.summary["stations[0].roaming.handover_at_s[0]"]


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("protection", ["none", "mu_rts"])
def test_who_stays_is_served_as_if_nobody_roamed(sequence: str, protection: str) -> None:
    """Access points know all stations that may come, and serve their own as without them."""

    def summary(stations: Mapping[str, Any]) -> dict[str, float]:
        own = {
            "waypoints": [
                {"at_s": 0.0, "position_m": [1.0, 2.0]},
                {"at_s": 1.0, "position_m": [2.0, 2.0]},
            ],
            "count": 2,
            **stations,
        }
        mu = {
            "acknowledgement": sequence,
            "protection": protection,
            "uplink": {"access_interval_us": 2000.0, "random_access": {}},
            "edca": {"best_effort": {"timer": 5}},
        }
        scenario = sm.Scenario(
            standard="11ax",
            duration_s=0.5,
            wlan={"beacons": {}, "mu": mu},
            radio={},
            ap={"position_m": [0.0, 0.0]},
            cells=[{"position_m": [5.0, 0.0]}],
            stations=[own, {**own, "cell": 1}],
            flows=[{"from": "sta*", "to": "server"}, {"from": "server", "to": "sta*"}],
        )
        return sm.run(scenario, check=True).summary

    without, roaming = summary({}), summary({"roaming": {}})
    assert without["ap.mu.ppdus"] > 50
    assert {path for path in without if not _equal(without[path], roaming[path])} == set()


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_station_shares_ppdus_of_its_access_point_with_others(sequence: str) -> None:
    mu = {"acknowledgement": sequence, "uplink": {"access_interval_us": 2000.0}}
    run, frames, at = run_of(walk(mu))
    data = frames.filter((pl.col("kind") == "Data") & pl.col("ru_tones").is_not_null())
    for user, other in (("receiver", "transmitter"), ("transmitter", "receiver")):
        own = data.filter(pl.col(user) == "sta0")
        before = own.filter(pl.col("start_s") < at)[other].unique().to_list()
        after = own.filter(pl.col("start_s") > at)[other].unique().to_list()
        assert (before, after) == (["ap"], ["cells[0]"]), user
    # What both access points have sent to it counts.
    to_it = data.filter((pl.col("receiver") == "sta0") & (pl.col("start_s") >= 0.3))
    assert run.summary["stations[0].mu.ppdus"] == len(to_it) > 200


def test_access_points_ask_their_own_stations() -> None:
    """Until a station has told another that it comes, its access point does not know it."""
    run, frames, at = run_of(walk({"uplink": {"access_interval_us": 2000.0}}))
    asks = frames.filter(pl.col("trigger").is_in(["BSRP", "Basic"]))
    asks = asks.filter(pl.col("stations").str.split(", ").list.contains("sta0"))
    before, after = asks.filter(pl.col("start_s") < at), asks.filter(pl.col("start_s") > at)
    assert before["transmitter"].unique().to_list() == ["ap"]
    assert after["transmitter"].unique().to_list() == ["cells[0]"]
    counted = asks.filter(pl.col("start_s") >= 0.3)
    assert run.summary["stations[0].mu.triggers"] == len(counted)


def test_what_waits_for_a_station_that_has_left_is_flushed() -> None:
    """Also what is in service while the access point serves another station."""

    def lost(forward: bool) -> float:
        scenario = walk({}, forward=forward, authentication_ms=100.0)
        run, frames, at = run_of(scenario.set("flows[0].traffic.cbr.rate_mbps", 4.0))
        late = (pl.col("transmitter") == "ap") & (pl.col("start_s") > at + 0.01)
        data = frames.filter(late & (pl.col("kind") == "Data"))
        assert data["receiver"].unique().to_list() == ["sta1"]
        return run.summary["ap.roaming_drops"]

    # 160 ms with 500 packets/s, of which a few are in service.
    assert lost(forward=False) > 60
    assert lost(forward=True) < 20


def test_random_access_begins_anew_with_the_association() -> None:
    """The checker computes each counter and window."""
    uplink = {"access_interval_us": 2000.0, "random_access": {"units": 2, "eocw_min": 1}}
    run, _, _ = run_of(walk({"uplink": uplink}))
    assert run.summary["stations[0].mu.ra_attempts"] > 10


def test_stations_that_roam_have_the_channel_of_all_cells() -> None:
    scenario = walk({})
    scenario = scenario.set("stations[2].width_mhz", 40)
    with pytest.raises(sm.ScenarioError, match="the width of the channel"):
        sm.run(scenario)
