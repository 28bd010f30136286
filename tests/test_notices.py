"""What misleads about a run is told: in `run.notices`, the report and the page, with the key."""

from __future__ import annotations

from typing import Any

import pytest

import simoom as sm
from simoom.results.notices import MOST
from simoom.serve.tasks import results
from simoom.show import report

SHIPPED = "cafe", "office_11ac", "home", "performance_anomaly", "hidden_nodes", "rrul"
DOWN: dict[str, Any] = {"name": "download", "from": "server", "to": "sta0"}
BLOATED: dict[str, Any] = {
    "standard": "11g", "stations": 1, "duration_s": 10.0,
    "wire": {"rate_mbps": 100.0, "delay_ms": 5.0}, "flows": [DOWN],
}  # fmt: skip
LONG_PATH: dict[str, Any] = {
    "links": [{"from": "a", "to": "b", "rate_mbps": 100.0, "delay_ms": 20.0}], "duration_s": 5.0,
    "flows": [{"name": "copy", "from": "a", "to": "b", "tcp": {"window_max_bytes": 65536}}],
}  # fmt: skip
FAR: dict[str, Any] = {
    "standard": "11n", "duration_s": 5.0, "radio": {}, "stations": [{"position_m": [40.0, 0.0]}],
    "flows": [{"name": "up", "from": "sta0", "to": "ap", "traffic": {"cbr": {"rate_mbps": 1.0}}}],
}  # fmt: skip
LOSSY: dict[str, Any] = {
    "standard": "11g", "duration_s": 5.0, "stations": 1,
    "wire": {"loss": {"uniform": {"probability": 0.999}}}, "flows": [DOWN],
}  # fmt: skip

CASES = {
    "a queue without a limit": (
        BLOATED, "the queue of ap has no limit and held ",
        ("ap.queue.drop_tail.limit_packets", 1000),
    ),
    "a receive window": (
        LONG_PATH, "the receive window limits copy for ", ("flows[*].tcp.window_max_bytes", 2**20),
    ),
    "a fixed mode that is too fast": (
        FAR, "the fixed mode is too fast for sta0", ("wlan.rate_control", "minstrel_ht"),
    ),
    "a source that loses all": (
        LOSSY, "nothing arrives of download: packets are lost on wires (their loss)",
        ("wire.loss", {"uniform": {"probability": 0.0}}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_misleads_is_told_with_the_key_that_ends_it(case):
    keys, begin, (path, value) = CASES[case]
    scenario = sm.Scenario(**keys)
    run = sm.run(scenario)
    (notice,) = run.notices
    assert notice.startswith(begin)
    assert path.split(".")[-1] in notice
    assert notice in run.report(width=400)
    assert results(run)["notices"] == [notice]
    assert not any(each.startswith(begin) for each in sm.run(scenario.set(path, value)).notices)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_realistic_needs_no_notice(name):
    scenario = sm.Scenario.load(name)
    assert sm.run(scenario.set("duration_s", 6.0).set("warmup_s", 1.0)).notices == []


def test_a_window_that_the_scenario_fixes_is_meant():
    scenario = sm.Scenario(**LONG_PATH).unset("flows[0].tcp.window_max_bytes")
    scenario = scenario.set("flows[0].tcp.window_bytes", 65535)
    run = sm.run(scenario)
    assert run.flows[0]["limited_by.receive_window_fraction"] > 0.9
    assert run.notices == []


def test_the_page_of_a_report_has_the_notices():
    run = sm.run(sm.Scenario(**LOSSY))
    assert f'<p role="note">{run.notices[0]}</p>' in report.page(run)


def test_a_report_has_three_notices_at_most():
    # Four tables fall back, and nothing arrives.
    flows = [{**DOWN, "name": f"prague {n}", "control": "prague"} for n in range(4)]
    run = sm.run(sm.Scenario(**{**LOSSY, "flows": flows}))
    assert len(run.notices) > MOST
    assert run.notices[0].startswith("nothing arrives of prague 0, prague 1, prague 2 and 1 more")
    lines = run.report(width=400).splitlines()
    assert [notice in lines for notice in run.notices] == [True] * MOST + [False] * (
        len(run.notices) - MOST
    )


def test_stations_of_a_ring_are_told_apart():
    ring = {**FAR, "stations": {"count": 2, "ring_m": 40.0}}
    scenario = sm.Scenario(**ring)
    assert scenario.get('stations["sta1"].ring_m') == 40.0
    (notice,) = sm.run(scenario).notices
    assert notice.startswith("the fixed mode is too fast for sta0")


@pytest.mark.parametrize(
    ("of_all", "own", "key"),
    [("fixed", None, "wlan.rate_control"), ("arf", "fixed", "ap.rate_control")],
)
def test_the_key_of_a_fixed_mode_is_that_of_the_node(of_all, own, key):
    down = {"from": "ap", "to": "sta0", "traffic": {"cbr": {"rate_mbps": 1.0}}}
    scenario = sm.Scenario(**{**FAR, "flows": [down]}).set("wlan.rate_control", of_all)
    scenario = scenario if own is None else scenario.set("ap.rate_control", own)
    (notice,) = sm.run(scenario).notices
    assert notice.startswith("the fixed mode is too fast for ap")
    assert notice.endswith(f"{key}=minstrel_ht")
