"""The page of a trace: what it has, what is refused, and how it behaves in a browser."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simoom as sm
from simoom.show import trace_page

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("hand_made", ROOT / "tests" / "hand_made.py")
hand_made = importlib.util.module_from_spec(SPEC)
sys.modules["hand_made"] = hand_made
SPEC.loader.exec_module(hand_made)
collision, frame, trace_of = hand_made.collision, hand_made.frame, hand_made.trace_of


def page(trace=None, **options):
    return trace_page.page(collision() if trace is None else trace, **options)


@pytest.fixture
def browse(tmp_path, chromium):
    """Open a page in Chromium, run a script in it, and return what the script returns."""

    def run(text, script, address=""):
        file = tmp_path / "page.html"
        # The script runs after the page has come to rest.
        probe = f"""<script>setTimeout(async () => {{
            const done = document.createElement("pre");
            done.id = "done";
            done.textContent = JSON.stringify(await (async () => {{ {TOOLS} {script} }})());
            document.body.append(done);
        }}, 800)</script>"""
        text = text.replace("<head>", f"<head><script>{FRAMES}</script>")
        file.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        done = subprocess.run(
            [chromium, *options, "--window-size=1200,900", "--virtual-time-budget=5000",
             "--dump-dom", f"--user-data-dir={tmp_path / 'profile'}",
             f"{file.as_uri()}{address}"],
            capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        found = re.search(r'<pre id="done">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stderr
        return json.loads(html.unescape(found[1]))

    return run


# A loaded machine shows few frames in virtual time: they come from a timer.
FRAMES = """
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
window.cancelAnimationFrame = clearTimeout;
"""
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


def test_a_frame_of_the_address_that_is_not_on_the_page_is_reported(browse):
    assert browse(page(), 'return text("said");', "#frame=77") == "This page has no frame 77."


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


def test_the_command_writes_the_page_of_a_stretch(simoom, cell_file, tmp_path):
    done = simoom("run", cell_file, "--trace", "a.html", "--trace-from", 1, "--trace-to", 1.1)
    assert done.returncode == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'id="data">(.*?)</script>', text)
    found = json.loads(data)
    assert found["lanes"] == ["ap", "sta0", "sta1", "sta2"]
    assert found["end_ns"] == pytest.approx(0.1e9, rel=0.05)
    assert "A small cell" in text
    # Data frames of TCP name their segments.
    assert any("seq" in segment for segment in found["mpdus"]["segment"])


def test_a_page_that_would_be_too_large_is_refused_by_its_name(simoom, cell_file, tmp_path):
    done = simoom("run", cell_file, "--trace", "a.html", "--set", "duration_s=60")
    assert done.returncode == 2
    assert re.search(r"a\.html: .* a page holds at most .*: trace about .* s, or fewer nodes",
                     " ".join(done.stderr.split()))  # fmt: skip
    assert not (tmp_path / "a.html").exists()


def test_a_real_trace_is_drawn_without_an_error(browse):
    scenario = sm.Scenario.load(ROOT / "scenarios" / "edca.toml").set("duration_s", 0.2)
    run = sm.run(scenario.set("warmup_s", 0.0), trace=True)
    text = trace_page.page(run.trace, title=run.title)
    lost = run.trace.frames.filter(run.trace.frames["outcome"] == "collision")["number"]
    said = browse(text, 'press("0"); await rest(); return keys("l", "l", "l");')
    assert [int(re.match(r"Frame (\d+)", each)[1]) for each in said] == lost.to_list()[:3]
