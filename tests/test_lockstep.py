"""What begins at one instant does not collide for ever, and a run whose source does so says it.

The values are those of crates/sim/tests/lockstep.rs, which holds the phases and the jitter.
"""

from __future__ import annotations

from typing import Any

import pytest

import simoom as sm
from simoom.show.report import text

CHAIN: dict[str, Any] = {
    "standard": "11b",
    "duration_s": 20,
    "radio": {"preset": "ns2", "ad_hoc": True},
    "stations": {"count": 3, "placement": {"chain": {"spacing_m": 200}}},
}
CBR = {"cbr": {"rate_mbps": 0.02, "payload_bytes": 512}}
BROADCAST: dict[str, Any] = {
    "standard": "11g",
    "duration_s": 10,
    "warmup_s": 0,
    "radio": {},
    "stations": [{"position_m": [5, 0]}],
}


def chain(routing: dict[str, Any], traffic: Any = CBR, **keys: Any) -> sm.Run:
    """Two flows over three nodes, one in each direction."""
    ends = ("sta0", "sta2"), ("sta2", "sta0")
    flows = [{"from": a, "to": b, "traffic": traffic, **keys} for a, b in ends]
    return sm.run(sm.Scenario(**CHAIN, routing=routing, flows=flows), check=True)


def cell(**keys: Any) -> sm.Run:
    """A broadcast of the access point, and datagrams of the station at the same rate."""
    ends = ("ap", "broadcast"), ("sta0", "ap")
    flows = [{"from": a, "to": b, "traffic": {"cbr": {"rate_mbps": 0.1}}, **keys} for a, b in ends]
    return sm.run(sm.Scenario(**BROADCAST, flows=flows))


@pytest.mark.parametrize("run", [
    lambda: chain({"protocol": {"aodv": {"preset": "ns2"}}}, start_spread_s=0),
    lambda: chain({"protocol": "static", "arp": "ns2"}, start_spread_s=0),
    lambda: cell(start_spread_s=0),
])  # fmt: skip
def test_a_run_whose_source_loses_all_by_collisions_says_so(run):
    found = run()
    flow = found.flows[0]
    assert flow["packets_sent"] > 80
    assert flow["goodput_mbps"] == 0
    assert "nothing arrives, because all frames collide" in text(found)
    assert str(flow["name"]) in text(found)


@pytest.mark.parametrize("run", [
    lambda: chain({"protocol": "aodv"}),
    lambda: chain({"protocol": "static", "arp": "rfc826"}, "bulk"),
    cell,
])  # fmt: skip
def test_other_runs_say_nothing_of_collisions(run):
    found = run()
    assert all(flow["goodput_mbps"] > 0 for flow in found.flows)
    assert "all frames collide" not in text(found)


def test_replications_differ_in_the_phases_of_periodic_sources():
    runs = [sm.run(sm.Scenario(**BROADCAST, flows=[
        {"from": "ap", "to": "sta0", "traffic": {"ping": {"interval_ms": 1000}}},
    ]), replication=n) for n in range(3)]  # fmt: skip
    assert len({run.digest for run in runs}) == len(runs)
