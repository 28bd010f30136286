"""The twin of a flow over a chain of hops, against the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

import simoom as sm

SCENARIOS = Path(__file__).parents[1] / "scenarios"
CHAIN = sm.Scenario.load(SCENARIOS / "chain.toml").set("duration_s", 60.0)
UDP = {"saturated": {"payload_bytes": 1024}}


def chain(hops: int, **flow: object) -> sm.Scenario:
    """Return a chain of hops of 200 m; one flow over all of them."""
    scenario = CHAIN.set("stations.count", hops + 1)
    tcp = {"mss_bytes": 1024}
    own = {"from": "sta0", "to": f"sta{hops}", "traffic": "bulk", "tcp": tcp} | flow
    return scenario.set("flows", [own])


def verdict(scenario: sm.Scenario) -> str:
    """Return the assumption of the chain that the scenario breaks."""
    (fit,) = [fit for fit in sm.predict(scenario).fits if fit.family == "chain"]
    return next(str(check) for check in fit.checks if check.verdict == "broken")


# Losses of hidden nodes, which the model leaves out, begin with four hops.
@pytest.mark.parametrize(
    ("hops", "flow", "low", "high"),
    [
        (1, {}, -0.03, 0.03),
        (2, {}, -0.03, 0.03),
        (3, {}, -0.04, 0.04),
        (4, {}, 0.0, 0.1),
        (6, {}, 0.0, 0.1),
        (2, {"traffic": UDP, "tcp": {}}, -0.01, 0.01),
        (4, {"traffic": UDP, "tcp": {}}, 0.0, 0.08),
    ],
)
def test_the_twin_predicts_a_chain(
    hops: int, flow: dict[str, object], low: float, high: float
) -> None:
    scenario = chain(hops, **flow)
    twin, run = sm.predict(scenario), sm.run(scenario)
    assert twin.model.family == "chain"
    assert twin.summary["flows[0].hops_mean"] == run.summary["flows[0].hops_mean"] == hops
    predicted, measured = (each.summary["total.goodput_mbps"] for each in (twin, run))
    assert low <= predicted / measured - 1 <= high


def test_the_window_limits_the_throughput() -> None:
    one, many = (
        sm.predict(chain(6, tcp={"mss_bytes": 1024, "window_segments": window}))
        for window in (1, 100)
    )
    ratio = many.summary["total.goodput_mbps"] / one.summary["total.goodput_mbps"]
    assert ratio == pytest.approx(6 / 5)
    assert one.model.form == "6 hops, reuse after 5"


def test_other_networks_are_refused_with_the_reason() -> None:
    assert "dsr takes losses" in verdict(chain(4).set("routing.protocol", "dsr"))
    listed = chain(4).set("routing.protocol", {"static": {"metric": "etx"}})
    assert "fewest hops" in verdict(listed)
    assert "disturbs the others" in verdict(chain(6, traffic=UDP, tcp={}))
    assert "the traffic is web" in verdict(chain(2, traffic="web"))
    two = chain(2).set("flows[0].to", "sta1-2")
    assert verdict(two) == "one_flow: broken, 2 flows"
    uneven = [{"position_m": [x, 0.0]} for x in (0.0, 50.0, 290.0)]
    assert "50 to 240 m" in verdict(chain(2).set("stations", uneven))
    moving = {"random_waypoint": {"area_m": [300.0, 300.0]}}
    walk = chain(2).set("stations", {"count": 3, "movement": moving})
    assert verdict(walk) == "static_route: broken, nodes move"
