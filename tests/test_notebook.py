"""Notebooks and figures: what they show without further commands."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import simoom as sm
from simoom import plots
from simoom.plots.words import binned, findings
from simoom.runs.axis_text import short
from simoom.scenario.words import words

S = sm.Scenario(
    title="A <b>cell</b>",
    standard="11g",
    stations=2,
    duration_s=1.0,
    flows=[{"from": "server", "to": "sta*"}],
)


@pytest.fixture(scope="module")
def run() -> sm.Run:
    return sm.run(S, probes=["flows[*].goodput_mbps"], trace=True)


def test_each_result_shows_itself_as_html(run: sm.Run) -> None:
    runs = sm.replicate(S, replications=2)
    swept = sm.sweep(S, over={"stations": [1, 2]}, replications=2)
    shown = [S, run, runs, swept, sm.predict(S), run.trace, run.report()]
    for each in shown:
        html = each._repr_html_()
        assert html.startswith("<"), type(each)
        assert "<b>cell</b>" not in html, f"{type(each)}: text is escaped"
    assert "sta1" in run._repr_html_()
    assert "±" in runs._repr_html_()
    assert swept._repr_html_().count("<tr>") == 3


def test_a_figure_shows_itself_without_a_backend(run: sm.Run) -> None:
    for figure in (plots.goodput(run), plots.series(run), plots.overview(run)):
        assert "<svg" in figure._repr_svg_()


def test_labels_are_words_with_units() -> None:
    assert words("total.goodput_mbps") == "total goodput, Mb/s"
    assert words("flows[3].delay_s.p90") == "packet delay, 90 % of flows[3], s"
    assert words("wire.delay_ms") == "delay of wire, ms"


def test_a_series_fits_the_screen() -> None:
    time_s, value = np.arange(1000) * 0.005, np.arange(1000.0)
    shown_s, shown = binned(time_s, value)
    assert shown.size == 200
    assert shown.mean() == pytest.approx(value.mean())
    assert shown_s[0] == pytest.approx(time_s[:5].mean())


def test_a_table_on_an_axis_has_a_short_label() -> None:
    assert short('{"fq_codel" = {"target_ms" = 5.0}}') == "fq_codel 5.0"


def test_delay_bars_say_where_they_begin(run: sm.Run) -> None:
    (axes,) = plots.delay(run).axes
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["median to 99 %", "median to 90 %", "median", "mean"]


def test_many_flows_are_grouped_by_name_and_direction() -> None:
    flows = [
        {"name": "mouse", "from": "server", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 0.01}}},
        {"name": "elephant", "from": "server", "to": "sta0"},
        {"from": "sta*", "to": "server", "traffic": {"cbr": {"rate_mbps": 0.02}}},
    ]
    keys = {"standard": "11n", "stations": 15, "duration_s": 1.0, "flows": flows}
    (axes,) = plots.goodput(sm.run(keys)).axes
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["mouse (15)", "elephant (1)", "sta* → server (15)"]
    assert axes.get_yscale() == "log"


def test_of_many_flows_each_group_has_delays_and_a_colour() -> None:
    flows = [
        {"name": "down", "from": "server", "to": "sta*"},
        {"name": "up", "from": "sta*", "to": "server"},
    ]
    keys = {"standard": "11n", "stations": 20, "duration_s": 1.0, "flows": flows}
    many = sm.run(keys, probes=["flows[*].control.window_segments"])
    (axes,) = plots.delay(many).axes
    names = [label.get_text().split()[0] for label in axes.get_yticklabels()]
    assert (names.count("down"), names.count("up")) == (12, 12)
    assert "24 of 40 flows" in axes.get_xlabel()
    (axes,) = plots.series(many).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["down", "up"]
    assert axes.get_title(loc="left") == "Window by flow, segments"


def test_an_axis_shows_the_differences_of_a_sweep() -> None:
    swept = sm.sweep(S, over={"wlan.cw_min": [15, 31]}, replications=2)
    (axes,) = swept.plot(x="wlan.cw_min", y="total.goodput_mbps").axes
    assert axes.get_ylim()[0] > 0.5 * axes.get_ylim()[1]


def test_text_alternatives_say_the_finding(run: sm.Run) -> None:
    from simoom.show.report import page

    assert findings(run)["Goodput"].startswith("Goodputs are from ")
    assert 'alt="Goodput by flow, 95 % interval. Goodputs are from ' in page(run)


NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_each_cell_shows_something(path: Path) -> None:
    """The cells run one after the other; the last line of each is what the notebook shows."""
    known: dict[str, object] = {}
    cells = json.loads(path.read_text())["cells"]
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]))
        last = body.body.pop()
        assert isinstance(last, ast.Expr)
        exec(compile(body, str(path), "exec"), known)
        shown = eval(compile(ast.Expression(last.value), str(path), "eval"), known)
        assert any(hasattr(shown, f"_repr_{kind}_") for kind in ("html", "svg")), cell["source"]
