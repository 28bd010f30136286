"""Maps of ad-hoc networks."""

import pytest

import simoom as sm
from simoom import plots

CHAIN = sm.Scenario(
    standard="11b",
    title="A chain",
    duration_s=2.0,
    warmup_s=0.0,
    wlan={"rate_mbps": 2.0},
    radio={"preset": "ns2", "ad_hoc": True},
    routing={"protocol": "aodv"},
    stations={"count": 4, "placement": {"chain": {"spacing_m": 200.0}}},
    flows=[{"from": "sta0", "to": "sta2", "traffic": "bulk"}],
)


@pytest.fixture(scope="module")
def run():
    """Return a run with a trace."""
    return sm.run(CHAIN, trace=True)


def test_links_carry_what_the_trace_says(run):
    carried = plots.carried_mbps(run, 1.5, window_s=1.0)
    # Data to sta2 and acknowledgements to sta0; nothing over the link to sta3 but messages.
    used = {ends for ends, (received, _) in carried.items() if received > 0.01}
    assert used == {("sta0", "sta1"), ("sta1", "sta2"), ("sta2", "sta1"), ("sta1", "sta0")}
    goodput = run.summary["flows[0].goodput_mbps"]
    assert carried["sta0", "sta1"][0] == pytest.approx(goodput, rel=0.35)
    assert carried["sta0", "sta1"][0] > 2 * carried["sta1", "sta0"][0]


def test_a_map_shows_nodes_links_and_use(run):
    figure = plots.network(run, 1.5)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "A chain, 1.5 s"
    links, lost, used = axes.collections[:3]
    assert len(links.get_segments()) == 3
    assert len(used.get_segments()) + len(lost.get_segments()) >= 4
    names = {text.get_text() for text in axes.texts}
    assert names == {"0", "1", "2", "3"}
    assert plots.svg(figure)


def test_a_map_needs_a_trace():
    with pytest.raises(ValueError, match="run: has no trace"):
        plots.network(sm.run(CHAIN), 1.5)


def test_times_are_checked(run):
    with pytest.raises(ValueError, match="at_s"):
        plots.network(run, -1.0)


def test_routes_over_time_have_their_hops_and_what_arrives(run):
    figure = plots.route_courses(run)
    (axes,) = figure.axes
    (row,) = axes.collections
    boxes = [path.get_extents() for path in row.get_paths()]
    lines = [box for box in boxes if box.y0 == 0.0]
    # The route of two hops stands from its discovery to the end, but where a link has failed.
    assert lines[-1].x1 == 2.0
    assert 0.0 < lines[0].x0 < 0.5
    assert sum(box.width for box in lines) > 1.0
    tallest = max(box.height for box in boxes if box.y0 > 0.0)
    assert tallest == pytest.approx(0.75)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["2 hops"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["sta0->sta2"]
    with pytest.raises(ValueError, match="flows: there are 1 flows"):
        plots.route_courses(run, flows=[1])
