import math
from pathlib import Path

import polars as pl
import pytest
from tests.studies.looks import alike, look

from simoom.base.palette import BLACK, CYCLE
from simoom.studies import Figure, Study, Value, reference, report
from simoom.studies.figure import Axis, Curve, Source, curve, shown_x_values
from simoom.studies.study import Results, slug
from simoom_studies import NAMES


def figure(*curves, **options):
    panels = tuple(Axis(q, q) for q in dict.fromkeys(c.quantity for c in curves))
    return Figure("figure 1", "a test", Axis("n", "number"), panels, curves, **options)


LINE = curve("model", Source.ANALYSIS, range(1, 60), lambda n: 1.0 / float(n), "delay_s")
POINTS = curve(
    "W* = 1",
    Source.SIMULATION,
    (1, 10),
    [Value.mean([1.0, 1.2, 1.1]), Value.median([0.1, 0.2])],
    "delay_s",
)


def test_data_comes_before_the_picture():
    data = figure(LINE, POINTS).data
    assert data.columns == [
        "n", "quantity", "series", "source", "value", "ci_low", "ci_high", "statistic", "runs",
    ]  # fmt: skip
    assert data.height == 61
    last = data.filter(pl.col("source") == "simulation").row(1, named=True)
    assert (last["value"], last["statistic"], last["runs"]) == (pytest.approx(0.15), "median", 2)
    assert math.isinf(last["ci_high"])


def test_a_curve_has_as_many_values_as_places():
    with pytest.raises(ValueError, match="2 x values, 1 values"):
        Curve("x", Source.PAPER, (1, 2), (Value.exact(1.0),), "delay_s")


def test_every_curve_needs_a_panel():
    with pytest.raises(ValueError, match="no panel shows delay_s"):
        Figure("figure 1", "", Axis("n", "n"), (Axis("goodput_mbps", ""),), (LINE,))


def test_tables_show_the_places_of_points():
    assert shown_x_values([LINE, POINTS]) == [1, 10]
    thinned = shown_x_values([LINE], most=9)
    assert (len(thinned), thinned[0], thinned[-1]) == (9, 1, 59)


def test_a_picture_shows_all_panels_and_names_all_curves():
    other = curve("W* = 1", Source.SIMULATION, (1, 10), [2.0, 3.0], "goodput_mbps")
    picture = figure(LINE, POINTS, other).plot()
    assert [axes.get_ylabel() for axes in picture.axes] == ["delay_s", "goodput_mbps"]
    assert len(picture.axes[0].lines) >= 2
    names = [text.get_text() for text in picture.legends[0].get_texts()]
    assert names == ["model (analysis)", "W* = 1 (simulation)"]


def test_a_picture_of_names_has_them_at_its_axis():
    named = curve("Table 2", Source.PAPER, ("W* = 1", "W* = 1000"), [1.0, 2.0], "delay_s")
    picture = figure(named).plot()
    assert [text.get_text() for text in picture.axes[0].get_xticklabels()] == [
        "W* = 1",
        "W* = 1000",
    ]


@pytest.mark.parametrize(("word", "rotation"), [("short", 0.0), ("packets of 200 bytes", 90.0)])
def test_names_without_room_side_by_side_are_upright(word, rotation):
    names = [f"{word} {number}" for number in range(9)]
    named = curve("W* = 1", Source.SIMULATION, names, range(9), "delay_s")
    (axes,) = figure(named).plot().axes
    ticks = axes.get_xticklabels()
    assert [tick.get_text() for tick in ticks] == names
    assert {tick.get_rotation() for tick in ticks} == {rotation}


def test_the_same_setting_has_the_same_colour_from_every_source():
    both = figure(POINTS, curve("W* = 1", Source.MONTE_CARLO, (1,), [1.0], "delay_s"))
    (ours, *_, our_form, _), (theirs, *_, their_form, _) = (look(c, both) for c in both.curves)
    assert ours == theirs
    assert our_form != their_form


def drawn(label, source=Source.SIMULATION, x=(1.0, 2.0), **options):
    return curve(label, source, x, [1.0] * len(x), "delay_s", **options)


@pytest.mark.parametrize(
    "curves",
    [
        [drawn("a"), drawn("b", colour=len(CYCLE))],
        [drawn("a", Source.MONTE_CARLO), drawn("b", Source.NS3)],
        # Black, whatever the colour is called.
        [drawn("a", Source.PAPER), drawn("b", Source.PAPER, colour=CYCLE.index(BLACK))],
        # Over names there are no lines.
        [drawn(label, Source.ANALYSIS, "xy", dashed=label == "b") for label in "ab"],
    ],
)
def test_curves_that_look_alike_are_found(curves):
    one, other = curves
    assert alike(figure(one, other)) == [f"figure 1, delay_s: {one.name} and {other.name}"]


def test_curves_of_other_sources_forms_and_panels_are_not_alike():
    curves = [drawn(f"{s} {d}", s, dashed=d) for s in Source for d in (False, True)]
    assert alike(figure(*(c for c in curves if c.source is not Source.NS3))) == []
    assert alike(figure(drawn("a"), curve("b", Source.SIMULATION, (1,), [1.0], "share"))) == []


def test_a_name_has_one_look_in_all_panels():
    other = curve("a", Source.SIMULATION, (1,), [1.0], "share", colour=1)
    assert alike(figure(drawn("a"), other)) == ["figure 1: a (simulation) has several"]


@pytest.mark.parametrize("study", NAMES)
def test_the_figures_of_every_study_are_looked_at(study):
    text = (Path(__file__).parent / f"test_{study}.py").read_text(encoding="utf-8")
    assert "from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart" in text


def test_reference_values_come_with_their_source():
    found = reference.curves("simoom_studies.http_queueing", "figure 5", {"W* = 1": 3})
    assert {c.source for c in found} == {Source.MONTE_CARLO, Source.NS2}
    ns2 = next(c for c in found if c.source is Source.NS2)
    assert ns2.at(10.0) == Value.printed(2.43901, 0.000948)
    assert {c.colour for c in found} == {3}


def test_keys_become_names_of_files():
    assert [slug(k) for k in ("figure A.2", "table 3", "figure fair_queue")] == [
        "figure_a2",
        "table_3",
        "figure_fair_queue",
    ]


def test_what_the_page_shows_is_escaped():
    hostile = "<script>alert('a')</script>"
    made = figure(LINE, POINTS, notes=hostile)
    study = Study("test", hostile, hostile, (), notes=hostile)
    page = report.page([Results(study, (made,))])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 5  # contents, title, reference, notes, notes of a figure
