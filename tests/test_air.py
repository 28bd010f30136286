"""The air in print and on a page: what is drawn, what is said, what is refused."""

from __future__ import annotations

import html
import itertools
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from simoom import plots, trace_page
from simoom.plots import stretch as stretches

US = 1e-6
FRAME = {
    "receiver": "ap",
    "kind": "Data",
    "access_category": "BE",
    "format": "DSSS",
    "rate_mbps": 11.0,
    "mcs": None,
    "streams": 1,
    "width_mhz": 20,
    "psdu_bytes": 1536,
    "mpdus": 1,
    "mpdus_retried": 0,
    "mpdus_received": 1,
    "nav_us": 0.0,
    "outcome": "received",
    "lost_to": None,
    "signal_dbm": None,
}


@dataclass
class Trace:
    frames: pl.DataFrame
    mpdus: pl.DataFrame
    waits: pl.DataFrame
    segments: pl.DataFrame


@dataclass
class Traced:
    """A run as far as `plots.air` reads it."""

    trace: Trace | None
    title: str = "A hand-made trace"
    simulated_s: float = 2.0


def frame(number, at_us, transmitter, **fields):
    start = 1.0 + at_us * US
    length = fields.pop("length_us", 1300)
    times = {"start_s": start, "payload_s": start + 192 * US, "end_s": start + length * US}
    head = {"number": number, "transmitter": transmitter, "exchange": number}
    return {**FRAME, **head, **times, **fields}


def wait(node, kind, start_us, end_us, before=None, after=None, category="BE"):
    return {
        "start_s": 1.0 + start_us * US,
        "end_s": 1.0 + end_us * US,
        "node": node,
        "access_category": category,
        "kind": kind,
        "slots_before": before,
        "slots_after": after,
    }


def trace_of(frames, waits=(), mpdus=()):
    schema = {"receiver": pl.String, "lost_to": pl.String, "mcs": pl.UInt8, "number": pl.UInt64}
    schema |= {"signal_dbm": pl.Float64}
    if not mpdus:
        mpdus = [
            {"frame": f["number"], "packet": f["number"], "flow": "up", "sequence": 7,
             "retry": f["mpdus_retried"] > 0, "bytes": 1536, "received": f["outcome"] == "received"}
            for f in frames if f["kind"] == "Data"
        ]  # fmt: skip
    waits = waits or [wait("sta0", "defer", 0, 1)]
    return Trace(
        pl.DataFrame(frames, schema_overrides=schema, infer_schema_length=None),
        pl.DataFrame(mpdus, schema_overrides={"frame": pl.UInt64}),
        pl.DataFrame(waits, schema_overrides={"slots_before": pl.UInt32, "slots_after": pl.UInt32},
                     infer_schema_length=None),
        pl.DataFrame(),
    )  # fmt: skip


def collision():
    """Two stations collide, and one of them repeats its frame: 802.11b, hand-made."""
    ack = {"kind": "Ack", "rate_mbps": 2.0, "psdu_bytes": 14, "mpdus": 0, "mpdus_received": 0}
    lost = {"outcome": "collision", "mpdus_received": 0}
    return trace_of(
        [
            frame(0, 200, "sta0", lost_to="sta1", **lost),
            frame(1, 200, "sta1", lost_to="sta0", rate_mbps=1.0, length_us=2600, **lost),
            frame(2, 3500, "sta0", mpdus_retried=1),
            frame(3, 4810, "ap", receiver="sta0", length_us=248, **ack),
            frame(4, 5500, "sta1", outcome="noise", mpdus_received=0, mpdus_retried=1),
        ],
        [
            wait("sta0", "backoff", 100, 200, 5, 0),
            wait("sta1", "backoff", 100, 200, 5, 0),
            wait("sta0", "defer", 200, 3240),
            wait("sta0", "backoff", 3240, 3500, 13, 0),
            wait("sta1", "backoff", 3240, 3500, 20, 7),
            wait("sta1", "NAV", 3500, 5058),
            wait("sta2", "NAV", 3500, 5058),
        ],
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
    for kind, (colour, height) in stretches.KINDS.items():
        red, green, blue = to_rgb(colour)
        by_height.setdefault(height, {})[kind] = 0.299 * red + 0.587 * green + 0.114 * blue
    for kinds in by_height.values():
        for one, other in itertools.combinations(kinds, 2):
            if {one, other} != {"CTS", "CTS-to-self"}:
                assert abs(kinds[one] - kinds[other]) > 0.05, (one, other)


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


def page(trace=None, **options):
    return trace_page.page(collision() if trace is None else trace, **options)


@pytest.fixture
def browse(tmp_path):
    """Open a page in Chromium, run a script in it, and return what the script returns."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("CI opens pages in Chromium: apt install chromium")
        pytest.skip("Chromium is not installed (Debian package chromium)")

    def run(text, script, address=""):
        file = tmp_path / "page.html"
        # The script runs after the page has come to rest.
        probe = f"""<script>setTimeout(async () => {{
            const done = document.createElement("pre");
            done.id = "done";
            done.textContent = JSON.stringify(await (async () => {{ {TOOLS} {script} }})());
            document.body.append(done);
        }}, 800)</script>"""
        file.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]
        done = subprocess.run(
            [chromium, *options, "--virtual-time-budget=5000", "--dump-dom",
             f"--user-data-dir={tmp_path / 'profile'}", f"{file.as_uri()}{address}"],
            capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        found = re.search(r'<pre id="done">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stderr
        return json.loads(html.unescape(found[1]))

    return run


TOOLS = """
const lanes = document.getElementById("lanes");
const text = (id) => document.getElementById(id).innerText;
const press = (key, more = {}) =>
  lanes.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
const rest = () => new Promise((done) => setTimeout(done, 400));
const shown = () => location.hash.slice(3).split("&")[0].split(",").map(Number);
const keys = (...names) => names.map((key) => (press(key), text("said")));
"""


def test_a_page_is_self_contained():
    text = page(title="<A & B>")
    assert "&lt;A &amp; B&gt;" in text
    assert re.findall(r"(?:src|href)=|@import|url\(|https?://", text) == []


def test_a_page_says_in_text_what_each_node_sends():
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", page(), re.DOTALL)
    cells = [re.split(r"</td>\s*<td>", row) for row in rows]
    assert cells[1][:5] == ["sta0", "2", "2", "1", "1"]
    assert cells[2][:5] == ["sta1", "2", "2", "2", "1"]
    assert "collision 2; noise 1." in page()


def test_names_in_the_data_cannot_end_the_script():
    trace = trace_of([frame(0, 0, "</script><b>")])
    assert page(trace).count("</script>") == page().count("</script>")


@pytest.mark.parametrize("stretch", [{"end_s": 0.5}, {"start_s": 1.5}])
def test_a_page_without_frames_is_refused(stretch):
    with pytest.raises(ValueError, match="no frame in this stretch"):
        page(**stretch)


def test_a_page_of_too_many_frames_is_refused(monkeypatch):
    monkeypatch.setitem(trace_page.MOST, "frames", 4)
    message = r"^5 frames are in 0.0066 s, and a page holds at most 4: trace about 0.0048 s, or"
    with pytest.raises(ValueError, match=message):
        page()


def test_a_stretch_of_a_trace_can_be_written(tmp_path):
    trace_page.write(collision(), tmp_path / "a.html", start_s=1.003, end_s=1.0045)
    (data,) = re.findall(r'id="data">(.*?)</script>', (tmp_path / "a.html").read_text("utf-8"))
    assert json.loads(data)["frames"]["number"] == [2]


def test_arrow_keys_step_through_the_frames(browse):
    right, again, up, back = browse(page(), """
        return keys("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft");""")  # fmt: skip
    assert right.startswith("Frame 0 at 1.000200 s: sta0 sends Data to ap, 11 Mb/s; lost: ")
    assert right.endswith("; lost: collision with sta1")
    assert again.startswith("Frame 1 at 1.000200 s: sta1 sends Data to ap, 1 Mb/s")
    assert up.startswith("Frame 0 ")
    assert back == up


def test_keys_jump_to_losses_and_retransmissions(browse):
    said = browse(page(), 'return keys("l", "l", "l", "l", "L", "r", "R");')
    assert [re.match(r"Frame (\d)", each)[1] for each in said] == list("0140424")


def test_the_search_finds_frames_by_words_and_by_number(browse):
    found = browse(page(), """
        const form = document.getElementById("search");
        const find = (query) => {
          form.querySelector("input").value = query;
          form.requestSubmit();
          return [text("said"), form.querySelector("output").textContent];
        };
        return ["sta0 retry", "#4", "nonsense"].map(find);""")  # fmt: skip
    assert found[0][0].startswith("Frame 2 ")
    assert found[1][0].startswith("Frame 4 ")
    assert found[1][1] == "1 of 1"
    assert found[2] == ["No frame matches.", "none"]


def test_the_address_chooses_a_frame_whose_fields_are_shown(browse):
    fields = browse(page(), 'return text("details").split(/\\n+/);', "#frame=3")
    assert fields[:2] == ["Ack ap → sta0", "received"]
    assert fields[fields.index("duration") + 1] == "248 µs"
    assert fields[fields.index("begin") + 1] == "1.004810000 s"


def test_the_wheel_zooms_at_the_pointer_and_moves_with_shift(browse):
    # At the right edge, where the end of the stretch stays.
    zoomed, moved = browse(page(), """
        const box = lanes.getBoundingClientRect();
        const wheel = (more) => lanes.dispatchEvent(new WheelEvent("wheel", {
          deltaY: -250, cancelable: true, clientX: box.right, clientY: box.top + 9, ...more }));
        wheel();
        await rest();
        const zoomed = shown();
        wheel({ shiftKey: true });
        await rest();
        return [zoomed, shown()];""", "#t=1.002,1.006")  # fmt: skip
    assert zoomed[1] == pytest.approx(1.006, abs=5e-5)
    assert 1.0025 < zoomed[0] < 1.004
    assert moved[0] < zoomed[0]
    assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], abs=1e-8)


def test_two_fingers_zoom_and_one_moves(browse):
    pinched, moved = browse(page(), """
        const box = lanes.getBoundingClientRect();
        lanes.setPointerCapture = () => undefined;
        const touch = (type, pointerId, x) => lanes.dispatchEvent(new PointerEvent(type, {
          pointerId, pointerType: "touch", clientX: box.left + x, clientY: box.top + 9 }));
        touch("pointerdown", 1, 300), touch("pointerdown", 2, 400);
        touch("pointermove", 1, 250), touch("pointermove", 2, 450);
        touch("pointerup", 1, 250), touch("pointerup", 2, 450);
        await rest();
        const pinched = shown();
        touch("pointerdown", 1, 300), touch("pointermove", 1, 400), touch("pointerup", 1, 400);
        await rest();
        return [pinched, shown()];""", "#t=1.002,1.006")  # fmt: skip
    assert pinched[1] - pinched[0] == pytest.approx(0.002, rel=0.01)
    assert moved[0] < pinched[0]


def test_a_click_chooses_the_frame_under_the_pointer(browse):
    # The Ack of the access point begins at 3,610 of the 4,000 µs shown.
    said = browse(page(), """
        const box = lanes.getBoundingClientRect();
        lanes.setPointerCapture = () => undefined;
        const place = { clientX: box.right - (500 / 4800) * (box.width - 70),
          clientY: box.top + 30 };
        for (const type of ["pointerdown", "pointerup"])
          lanes.dispatchEvent(new PointerEvent(type, { pointerId: 1, ...place }));
        return text("said");""", "#t=1.0007,1.0055")  # fmt: skip
    assert said.startswith("Frame 3 at 1.004810 s: ap sends Ack to sta0")


def test_the_table_lists_the_frames_in_view(browse):
    rows = browse(page(), """
        document.getElementById("table").open = true;
        await rest();
        const rows = document.querySelectorAll("#table tbody tr");
        return Array.from(rows, (row) => row.innerText.split("\\t"));""",
        "#t=1.003,1.005")  # fmt: skip
    assert [row[0] for row in rows] == ["2", "3"]
    assert rows[0][1:] == ["1.003500", "1300.0", "sta0", "ap", "Data", "11 Mb/s", "1", "received"]


def test_frames_are_drawn_to_scale(browse):
    # The data frame of sta0 from 3,500 to 4,800 µs: as far from the right edge as it is long.
    left, right, width = browse(page(), """
        const c = lanes.getContext("2d").getImageData(0, 0, lanes.width, lanes.height);
        let [low, high] = [Infinity, -1];
        for (let n = 0; n < c.data.length; n += 4)
          if (c.data[n] === 0 && c.data[n + 1] === 114 && c.data[n + 2] === 178) {
            const x = (n / 4) % lanes.width;
            [low, high] = [Math.min(low, x), Math.max(high, x + 1)];
          }
        return [low, high, lanes.width];""", "#t=1.0022,1.0061")  # fmt: skip
    # The preamble, 192 µs, is pale.
    scale = (right - left) / (1300 - 192)
    assert (width - right) / scale == pytest.approx(1300, rel=0.02)
