"""In no picture does a text lie over another one, or end outside the picture."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import simoom as sm
from simoom import plots, twin
from simoom.scenario.observables import PING_PROBES
from simoom.show.predictions import variation
from simoom.why.draw import figure as causes
from simoom_studies.lt_tcp.bluetooth import figure_corruption

ROOT = Path(__file__).parents[1]
SIZES = 1.0, 0.85
"""Of the size at which a figure is drawn by default."""
TOUCH = 1.0
"""Texts may share this many pixels: a box has a margin around the letters."""

CHAIN = {
    "standard": "11b", "duration_s": 6, "radio": {"ad_hoc": True, "preset": "ns2"},
    "stations": {"count": 4, "placement": {"chain": {"spacing_m": 200}}},
    "routing": {"protocol": "aodv"},
    "flows": [{"name": "far", "from": "sta0", "to": "sta3"}],
}  # fmt: skip
"""A network with routes."""


TWO_WAYS = {
    "standard": "11g", "stations": 2, "duration_s": 3,
    "wire": {"rate_mbps": 20.0, "delay_ms": 5.0},
    "flows": [{"name": "down", "from": "server", "to": "sta0"},
              {"name": "up", "from": "sta1", "to": "server"}],
}  # fmt: skip


@cache
def run(name: str, *probes: str, seconds: float = 5.0, trace: bool = False) -> sm.Run:
    """A short run of a scenario that comes with Simoom."""
    scenario = sm.Scenario.load(name).set("warmup_s", 1.0).set("duration_s", seconds)
    return sm.run(scenario, probes=probes, trace=trace)


@cache
def chain() -> sm.Run:
    return sm.run(sm.Scenario(**CHAIN), trace=True)


def swept(y: str, **more: list[int]) -> Figure:
    scenario = sm.Scenario.load("performance_anomaly").set("warmup_s", 0.5).set("duration_s", 2.0)
    over = {"stations[1].rate_mbps": [1.0, 2.0, 5.5, 11.0], **more}
    return sm.sweep(scenario, over=over, replications=2).plot(x="stations[1].rate_mbps", y=y)


def many() -> sm.Run:
    """A run of forty flows with long names."""
    return sm.run(sm.Scenario(standard="11g", stations=40, duration_s=1.0, flows=[
        {"name": "a long name", "from": "ap", "to": "sta0-19", "traffic": "saturated"},
        {"name": "upload", "from": "sta20-39", "to": "ap", "traffic": "saturated"},
    ]))  # fmt: skip


def tutorial(name: str) -> Figure:
    return runpy.run_path(str(ROOT / "docs/tutorial/pictures.py"))[name]()


PICTURES: dict[str, Callable[[], Figure]] = {
    "overview of a café": lambda: plots.overview(run("cafe", "total.goodput_mbps")),
    "overview of a flat": lambda: plots.overview(run("home", "total.goodput_mbps")),
    "overview with radios": lambda: plots.overview(run("hidden_nodes", "total.goodput_mbps")),
    "overview of many flows": lambda: plots.overview(many()),
    "airtime": lambda: plots.airtime(run("performance_anomaly")),
    "airtime of radios": lambda: plots.airtime(run("three_cells")),
    "calls": lambda: plots.calls(run("home")),
    "goodput": lambda: plots.goodput(run("cafe")),
    "goodput of many flows": lambda: plots.goodput(many()),
    "delay": lambda: plots.delay(run("cafe")),
    "time per file": lambda: plots.delay(run("cafe"), "session_delay_s"),
    "round-trip time": lambda: plots.delay(run("cafe"), "rtt_s"),
    "contenders": lambda: plots.contenders(run("performance_anomaly")),
    "series": lambda: plots.series(run("home", "flows[*].goodput_mbps", "ap.queue_packets")),
    "response": lambda: plots.response(run("rrul", *PING_PROBES, seconds=12.0)),
    "air": lambda: plots.air(run("performance_anomaly", trace=True), 3.0, 3.02),
    "map": lambda: plots.network(chain(), 3.0),
    "routes": lambda: plots.route_courses(chain()),
    "sweep": lambda: swept("total.goodput_mbps"),
    "sweep of delays, with a legend": lambda: swept(
        "flows[0].delay_s.mean", **{"wlan.cw_min": [15, 31]}
    ),
    "variation": lambda: variation(
        twin.vary(sm.Scenario.load("saturation_11b"), over={"stations": [1, 5, 10, 20]})
    ),
    "causes": lambda: causes(sm.why(TWO_WAYS, replications=2)),
    "study": lambda: figure_corruption(quick=True).plot(),
    "tutorial: queues": lambda: tutorial("queues"),
    "tutorial: air": lambda: tutorial("air"),
}


def texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Draw a figure, and yield each text that is drawn, with its box in pixels."""
    drawn: list[Text] = []
    draw = Text.draw

    def recorded(text: Text, *arguments: object, **options: object) -> None:
        if text.get_visible() and text.get_text().strip():
            drawn.append(text)
        draw(text, *arguments, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", recorded)
        FigureCanvasAgg(figure).draw()
    for text in dict.fromkeys(drawn):
        yield text.get_text(), text.get_window_extent()


def faults(figure: Figure) -> list[str]:
    """Return what is wrong with the texts of a figure."""
    found = list(texts(figure))
    assert len(found) > 5
    edges = figure.bbox.padded(TOUCH)
    outside = [f"{text!r} is cut" for text, box in found if not edges.fully_contains(box.x0, box.y0)
               or not edges.fully_contains(box.x1, box.y1)]  # fmt: skip
    return outside + [
        f"{one!r} lies over {other!r}"
        for (one, box), (other, place) in combinations(found, 2)
        if box.padded(-TOUCH).overlaps(place.padded(-TOUCH))
    ]


@pytest.mark.parametrize("name", PICTURES)
def test_texts_lie_beside_each_other_and_within_the_picture(name: str) -> None:
    figure = PICTURES[name]()
    width, height = figure.get_size_inches()
    for size in SIZES:
        figure.set_size_inches(size * width, size * height)
        assert faults(figure) == [], f"at {size} of its size"


def test_a_text_over_another_and_a_cut_one_are_found() -> None:
    figure = Figure()
    for place in range(4):
        figure.text(0.2, 0.1 + 0.2 * place, f"text {place}")
    figure.text(0.2, 0.5, "over it")
    figure.text(0.9, 0.9, "a text that is too long")
    assert faults(figure) == ["'a text that is too long' is cut", "'text 2' lies over 'over it'"]


def test_the_picture_of_the_readme_is_that_of_the_demo(simoom: Any, tmp_path: Path) -> None:
    scenario = ROOT / "scenarios" / "cafe.toml"
    assert simoom("run", scenario, "--out", tmp_path, "--quiet").returncode == 0
    demo, shown = (imread(path) for path in (tmp_path / "report.png", ROOT / "docs" / "cafe.png"))
    assert demo.shape == shown.shape, "python tools/reference.py draws it anew"
    # Another version of a font moves edges of letters.
    assert np.abs(demo - shown).mean() < 0.002, "python tools/reference.py draws it anew"


def test_files_are_named_after_results_and_both_for_screens_and_print(tmp_path: Path) -> None:
    name = plots.file_name("sweep", 'mean(flows["call *"].delay_s.mean)')
    assert plots.save_both(plots.goodput(run("home")), tmp_path, name) == [
        "sweep.mean-flows-call.delay_s.mean.png", "sweep.mean-flows-call.delay_s.mean.svg"
    ]  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())
