"""The air in print: what is drawn, what is said, what is refused."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from simoom import plots
from simoom.base import palette

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("hand_made", ROOT / "tests" / "hand_made.py")
hand_made = importlib.util.module_from_spec(SPEC)
sys.modules["hand_made"] = hand_made
SPEC.loader.exec_module(hand_made)
Traced, collision, frame, trace_of, wait = (
    hand_made.Traced,
    hand_made.collision,
    hand_made.frame,
    hand_made.trace_of,
    hand_made.wait,
)


@pytest.fixture
def run():
    return Traced(collision())


def drawn(figure, kind):
    return [each for each in figure.findobj(kind) if each.get_visible()]


def texts(figure):
    return {text.get_text() for text in drawn(figure, Text)} - {""}


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def hatches(figure):
    return {each.get_hatch() for each in drawn(figure.axes[0], PolyCollection)} - {None}


def test_frames_are_labelled_with_kind_receiver_mode_and_retry(run):
    shown = texts(plots.air(run, 1.0, 1.007))
    assert {"Data → ap\n11 Mb/s", "Data → ap\n1 Mb/s", "Data → ap\n11 Mb/s, retry"} <= shown
    assert "Ack → sta0" in shown
    assert {"ap", "sta0", "sta1", "sta2"} <= shown


def test_each_back_off_shows_its_counter(run):
    assert {"13→0", "20→7"} <= texts(plots.air(run, 1.003, 1.004))


def test_a_back_off_that_goes_on_is_labelled_in_its_visible_part(run):
    # Of 20→7, from 3,240 to 3,500 µs, the second half is in the picture.
    (label,) = [t for t in plots.air(run, 1.00337, 1.0036).axes[0].texts if "20" in t.get_text()]
    assert label.get_position()[0] == pytest.approx((1.00337 + 1.0035) / 2)


def test_the_mark_of_a_retransmission_is_above_every_frame(run):
    collections = drawn(plots.air(run, 1.0, 1.007).axes[0], PolyCollection)
    black = [each for each in collections if tuple(each.get_facecolor()[0]) == (0, 0, 0, 1)]
    (marks,) = black
    assert len(marks.get_paths()) == 2
    assert all(marks.zorder > each.zorder for each in collections if each is not marks)


def test_losses_are_hatched_by_cause_and_the_legend_names_them(run):
    figure = plots.air(run, 1.0, 1.007)
    assert hatches(figure) == {"////", "...."}
    assert legend(figure)[2:4] == ["lost: collision", "lost: noise"]
    crosses = [line for line in drawn(figure.axes[0], Line2D) if line.get_marker() == "x"]
    assert len(crosses) == 3


def test_the_legend_names_only_what_is_drawn(run):
    figure = plots.air(run, 1.0034, 1.0052)
    assert legend(figure) == [
        "Data",
        "Ack",
        "on top: retransmission",
        "back-off, in slots",
        "NAV",
    ]


def test_a_lost_mpdu_of_a_received_a_mpdu_is_hatched():
    mpdus = [
        {"frame": 0, "packet": n, "flow": "up", "sequence": n, "retry": n == 0, "bytes": 1000,
         "received": n != 2}
        for n in range(4)
    ]  # fmt: skip
    frames = [frame(0, 0, "sta0", mcs=7, mpdus=4, mpdus_retried=1, mpdus_received=3)]
    figure = plots.air(Traced(trace_of(frames, mpdus=mpdus)), 1.0, 1.0013)
    assert "Data → ap\nMCS 7, 4 MPDUs, 1 retry" in texts(figure)
    assert "MPDU not received" in legend(figure)
    (lost,) = [each for each in drawn(figure.axes[0], PolyCollection) if each.get_hatch()]
    (box,) = lost.get_paths()
    # The third quarter of the time after the preamble.
    x = 1e6 * (box.vertices[:, 0] - 1.0)
    assert x.min() == pytest.approx(192 + 1108 / 2)
    assert x.max() == pytest.approx(192 + 1108 * 3 / 4)


def test_access_categories_have_rows_of_their_own():
    frames = [
        frame(0, 0, "sta0", access_category="VO", length_us=300),
        frame(1, 400, "sta0", access_category="BK", length_us=300),
    ]
    waits = [wait("sta0", "backoff", 300, 400, 5, 0, category) for category in ("BK", "VO")]
    figure = plots.air(Traced(trace_of(frames, waits)), 1.0, 1.001)
    rows = [t for t in drawn(figure, Text) if t.get_text() in ("VO", "BK")]
    assert [row.get_text() for row in sorted(rows, key=lambda row: row.xy[1])] == ["VO", "BK"]
    assert "Data VO → ap\n11 Mb/s" in texts(figure)


@pytest.mark.parametrize("width_in", [3.4, 6.4])
def test_no_text_overlaps_another_or_leaves_the_figure(run, width_in):
    for figure in (plots.air(run, 1.0, 1.007, width_in=width_in), crowd(width_in)):
        FigureCanvasAgg(figure).draw()
        boxes = [t.get_window_extent() for t in drawn(figure, Text) if t.get_text().strip()]
        assert len(boxes) > 10
        for number, box in enumerate(boxes):
            assert figure.bbox.x0 <= box.x0
            assert box.x1 <= figure.bbox.x1 + 1
            for other in boxes[:number]:
                # Two pixels of 150 dpi: extents include the space around letters.
                assert not box.padded(-2).overlaps(other.padded(-2))


def crowd(width_in):
    """Return the picture of 40 nodes."""
    frames = [frame(n, 1500 * n, f"sta{n}") for n in range(39)]
    return plots.air(Traced(trace_of(frames)), 1.0, 1.06, width_in=width_in)


def test_kinds_can_be_told_apart_without_colour():
    by_height = {}
    for colour, height in dict.fromkeys(palette.FRAME_LOOKS):
        red, green, blue = to_rgb(colour)
        by_height.setdefault(height, []).append(0.299 * red + 0.587 * green + 0.114 * blue)
    for greys in by_height.values():
        for one, other in itertools.combinations(greys, 2):
            assert abs(one - other) > 0.05, (one, other)
    looks = list(palette.KINDS.values())
    twice = [kind for kind, look in palette.KINDS.items() if looks.count(look) > 1]
    assert twice == ["CTS", "CTS-to-self", "Null", "QoS Null"]


def test_a_kind_of_another_version_can_be_drawn():
    kinds = [frame(0, 0, "ap"), frame(1, 2000, "ap") | {"kind": "Frame of 2035"}]
    figure = plots.air(Traced(trace_of(kinds)), 1.0, 1.001)
    figure.canvas.draw()


def test_lanes_can_be_chosen_and_ordered(run):
    figure = plots.air(run, 1.0, 1.007, nodes=["sta1", "ap"])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["sta1", "ap"]


def test_access_points_come_first_then_nodes_by_number():
    frames = [frame(n, 10 * n, name) for n, name in enumerate(["sta10", "sta2", "relay", "ap1"])]
    figure = plots.air(Traced(trace_of(frames)), 1.0, 1.01)
    lanes = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert lanes == ["ap", "ap1", "relay", "sta0", "sta2", "sta10"]


def test_the_axis_is_in_microseconds_for_a_short_stretch(run):
    assert plots.air(run, 1.0, 1.007).axes[0].get_xlabel() == "time, ms"
    assert plots.air(run, 1.0, 1.0015).axes[0].get_xlabel() == "time since 1.000000 s, µs"


def test_equal_stretches_give_equal_bytes(run):
    assert plots.svg(plots.air(run, 1.0, 1.007)) == plots.svg(plots.air(run, 1.0, 1.007))


def test_a_picture_can_be_drawn_on_given_axes(run):
    with plots.style():
        axes = Figure().subplots()
        plots.draw_air(axes, run, 1.0, 1.007)
    assert "Data → ap\n11 Mb/s" in {text.get_text() for text in axes.texts}


EMPTY = "start_s, end_s: no frame is on the air"


@pytest.mark.parametrize(
    ("start_s", "end_s", "message"),
    [
        (1.0, 3.0, "end_s: 3 is outside the run, which lasts from 0 to 2 s"),
        (-1.0, 1.0, "start_s: -1 is outside the run, which lasts from 0 to 2 s"),
        (1.2, 1.1, "start_s, end_s: from 1.2 to 1.1 s is no stretch of time"),
        (0.1, 0.2, f"{EMPTY} from 0.1 to 0.2 s; the next begins at 1.000200 s"),
        (1.5, 1.6, f"{EMPTY} from 1.5 to 1.6 s; the last begins at 1.005500 s"),
    ],
)
def test_a_stretch_without_frames_is_refused(run, start_s, end_s, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        plots.air(run, start_s, end_s)


def test_an_unknown_node_is_refused(run):
    with pytest.raises(ValueError, match=r"^nodes: there is no 'sta01' .*; the nearest is sta1$"):
        plots.air(run, 1.0, 1.007, nodes=["sta01"])


def test_a_run_without_a_trace_is_refused():
    message = r"^run: has no trace; make it with run\(\.\.\., trace=True\)$"
    with pytest.raises(ValueError, match=message):
        plots.air(Traced(None), 1.0, 1.1)


def test_more_frames_than_print_can_show_are_refused():
    frames = [frame(n, 10 * n, "sta0", length_us=200) for n in range(4000)]
    message = "4,000 frames are in 0.05 s, and at most 3,000 can be shown; choose about 0.034 s"
    with pytest.raises(ValueError, match=message):
        plots.air(Traced(trace_of(frames)), 1.0, 1.05)
