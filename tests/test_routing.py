"""Networks whose nodes forward: probes, traces and reports of a chain."""

from __future__ import annotations

import functools
from pathlib import Path

import polars as pl

import simoom as sm

SCENARIOS = Path(__file__).parents[1] / "scenarios"


@functools.cache
def chain() -> sm.Run:
    """Return a traced run of three seconds of a chain of four hops."""
    scenario = sm.Scenario.load(SCENARIOS / "chain.toml").set("duration_s", 3.0)
    probes = ["flows[0].route_hops", "routing.forwarded"]
    return sm.run(scenario.set("warmup_s", 0.0), probes=probes, trace=True)


def test_a_route_has_its_number_of_hops_at_any_time():
    hops = chain().series("flows[0].route_hops")["value"]
    assert hops.len() > 100
    assert (hops == 4.0).all()
    assert chain().summary["flows[0].hops_mean"] == 4.0


def test_the_trace_shows_a_packet_at_each_node_that_forwards_it():
    steps = chain().trace.packets
    arrived = steps.filter(step="arrived")["packet"].unique()
    received = steps.filter(pl.col("packet").is_in(arrived.to_list()), step="received")
    counts = received.group_by("packet").agg(pl.col("place").n_unique().alias("radios"))
    assert counts.height > 100
    assert (counts["radios"] == 4).all()


def test_the_report_says_how_far_packets_go_and_which_links_fail():
    text = chain().report()
    assert "hops" in text
    failures = chain().summary["routing.link_failures"]
    assert f"{failures}, {failures} to neighbours in range" in text


@functools.cache
def interrupted(route_failure: str) -> sm.Run:
    """Return a traced run of two hops whose middle node is away from 11 s to 24 s."""
    away = [(10.0, 0.0), (12.0, 1000.0), (23.0, 1000.0), (25.0, 0.0)]
    waypoints = [{"at_s": at, "position_m": [200.0, north]} for at, north in away]
    scenario = sm.Scenario(
        standard="11b",
        duration_s=40.0,
        warmup_s=1.0,
        wlan={"rate_mbps": 2.0, "basic_rates_mbps": [1.0]},
        radio={"preset": "ns2", "ad_hoc": True},
        routing={"protocol": "dsr"},
        stations=[
            {"position_m": [0.0, 0.0]},
            {"waypoints": waypoints},
            {"position_m": [400.0, 0.0]},
        ],
        flows=[{"from": "sta0", "to": "sta2", "tcp": {"route_failure": route_failure}}],
    )
    return sm.run(scenario, check=True, trace=True)


def test_the_trace_has_the_failure_of_a_route_and_the_next_one():
    events = interrupted("ignore").trace.routes.filter(node="sta0", destination="sta2")
    changed = events.filter(event="changed")
    assert changed["hops"].to_list()[0] == 2
    failed = events.filter(event="failed")["time_s"]
    restored = events.filter(event="restored")["time_s"]
    assert any(10.0 < at < 12.0 for at in failed)
    assert any(24.0 < at < 36.0 for at in restored)
    assert changed.filter(pl.col("hops").is_null()).height == failed.len()


def test_a_sender_on_stand_by_only_probes_while_the_route_is_gone():
    usual, waiting = interrupted("ignore"), interrupted("stand_by")
    assert usual.summary["flows[0].timeouts"] >= 3
    assert waiting.summary["flows[0].timeouts"] < usual.summary["flows[0].timeouts"]
    sent = waiting.trace.segments.filter(event="sent", direction="forward")
    meanwhile = sent.filter(pl.col("time_s").is_between(12.0, 24.0))
    assert meanwhile["length_bytes"].to_list() == [0] * 6
    assert meanwhile["time_s"].diff().drop_nulls().round(9).to_list() == [2.0] * 5
    assert meanwhile["cwnd_bytes"].n_unique() == 1
    assert sent.filter(pl.col("time_s") > 30.0)["length_bytes"].sum() > 100_000
