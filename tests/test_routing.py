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
