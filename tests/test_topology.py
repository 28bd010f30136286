"""Wired networks from Python: reports of scenarios without a cell."""

import pytest

import simoom as sm

LINKS = [
    {"from": "s", "to": "r", "rate_mbps": 100.0},
    {
        "name": "slow",
        "from": "r",
        "to": "d",
        "rate_mbps": 10.0,
        "delay_ms": 20.0,
        "loss": {"periodic": {"every": 200}},
    },
]


@pytest.fixture(scope="module")
def wired():
    scenario = sm.Scenario(duration_s=10.0, links=LINKS, flows=[{"from": "s", "to": "d"}])
    return sm.run(scenario, probes=["links[1].queue_packets"], check=True)


def test_a_report_shows_links_and_no_cell(wired):
    text = wired.report()
    for word in ("slow", "utilisation", "on wires"):
        assert word in text, text
    for word in ("airtime", "access point", "retry", "station"):
        assert word not in text, text


def test_a_page_and_an_overview_are_drawn_without_a_cell(wired, tmp_path):
    from simoom import plots
    from simoom.show import report

    page = report.page(wired)
    assert ">Links</h2>" in page
    assert ">Stations</h2>" not in page
    assert "Contending" not in page
    plots.save(plots.overview(wired), tmp_path / "overview.png")
    assert (tmp_path / "overview.png").stat().st_size > 1000


def test_losses_on_wires_count_as_lost(wired):
    (flow,) = wired.flows
    assert flow["wire_losses"] > 0
    row = next(line for line in wired.report().splitlines() if line.startswith("s->d"))
    *_, lost, _, _, _ = row.split()  # and what limits the flow: "cwnd 91 %"
    assert lost == str(flow["wire_losses"] + flow["queue_drops"])


def test_a_scenario_of_links_says_so(wired):
    assert repr(wired.scenario) == "Scenario(2 links, 1 flow tables, 10 s)"


def test_paths_reach_links(wired):
    changed = wired.scenario.set("links[1].reverse.rate_mbps", 2.0)
    assert changed.get("links[1].reverse.rate_mbps") == 2.0
    with pytest.raises(sm.ScenarioError, match="no node of a link"):
        sm.run(wired.scenario.set("flows[0].to", "nowhere"))
