"""The page of a trace: what it has, what is refused, and how it behaves in a browser."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe

import simoom as sm
from simoom.show import rows

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("hand_made", ROOT / "tests" / "hand_made.py")
hand_made = importlib.util.module_from_spec(SPEC)
sys.modules["hand_made"] = hand_made
SPEC.loader.exec_module(hand_made)
collision, frame, trace_of = hand_made.collision, hand_made.frame, hand_made.trace_of


def page(trace=None, **options):
    return rows.page(collision() if trace is None else trace, **options)


def data_of(text):
    (data,) = re.findall(r'id="data">(.*?)</script>', text)
    return json.loads(data)


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
const air = document.getElementById("air");
const text = (name) => document.querySelector(name).innerText;
const press = (key, more = {}) =>
  air.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
const rest = () => new Promise((done) => setTimeout(done, 400));
const link = () => [...document.querySelectorAll("button")].find((b) => b.innerText === "Link");
const shown = async () => {
  link().click();
  await rest();
  return location.hash.slice(3).split("&")[0].split(",").map(Number);
};
const keys = async (...names) => {
  const said = [];
  for (const key of names) {
    press(key, { shiftKey: key !== key.toLowerCase() });
    await rest();
    said.push(text("#said"));
  }
  return said;
};
"""


def test_a_page_is_self_contained():
    text = page(title="<A & B>")
    assert "&lt;A &amp; B&gt;" in text
    assert re.findall(r"<[^<>]*\s(?:src|href)=|<link|@import|url\(|\bimport\b", text) == []
    # Those of the namespaces that a document may have.
    assert set(re.findall(r"https?://([^/\"]+)", text)) == {"www.w3.org"}


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
    monkeypatch.setitem(rows.MOST, "frames", 4)
    message = r"^5 frames are in 0.0066 s, and a page holds at most 4: trace about 0.0048 s, or"
    with pytest.raises(ValueError, match=message):
        page()


def test_too_many_waits_say_which_stretch_fits_before_there_are_frames(monkeypatch, tmp_path):
    monkeypatch.setitem(rows.MOST, "waits", 4)
    flows = [{"from": "server", "to": "sta0"}]
    scenario = sm.Scenario(standard="11g", stations=1, flows=flows)
    writer = rows.PageWriter(tmp_path, scenario.core)
    message = r"7 waits are in 0.00496 s, and a page holds at most 4: trace about 0.0025 s, or"
    with pytest.raises(OSError, match=message):
        writer.add("waits", collision().waits)


def test_a_stretch_of_a_trace_can_be_written(tmp_path):
    rows.write(collision(), tmp_path / "a.html", start_s=1.003, end_s=1.0045)
    assert data_of((tmp_path / "a.html").read_text("utf-8"))["frames"]["number"] == [2]


def test_a_page_asks_for_nothing(browser, tmp_path):
    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    asked, faults, tab = [], [], browser.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto((tmp_path / "page.html").as_uri())
    tab.wait_for_selector("#air[aria-busy=false]")
    assert [url for url in asked if not url.endswith("page.html")] == faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_no_page_is_wider_than_a_phone(browser, tmp_path, scheme):
    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    tab.goto((tmp_path / "page.html").as_uri() + "#frame=2")
    tab.wait_for_selector(".details")
    tab.get_by_text("Frames in view").click()
    tab.wait_for_selector(".frames tbody th")
    found = Axe().run(tab).response["violations"]
    assert [f"{fault['id']}: {fault['nodes'][0]['target']}" for fault in found] == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_keys_step_through_the_frames(browse):
    first, again, up, back, same, down = browse(page(), """
        return keys("]", "]", "ArrowUp", "[", "}", "ArrowDown");""")  # fmt: skip
    assert first.startswith("Frame 0 at 1.000200 s: sta0 sends Data to ap, 11 Mb/s; lost: ")
    assert first.endswith("; lost: collision, caused by sta1.")
    assert again.startswith("Frame 1 at 1.000200 s: sta1 sends Data to ap, 1 Mb/s")
    assert up.startswith("Frame 0 ")
    assert back == "No earlier frame matches."
    assert same.startswith("Frame 2 at 1.003500 s: sta0 sends Data to ap, 11 Mb/s, a retransm")
    assert down.startswith("Frame 1 ")


def test_keys_jump_to_losses_and_retransmissions(browse):
    said = browse(page(), 'return keys("l", "l", "l", "l", "L", "r", "R");')
    found = [re.match(r"(?:Frame )?(\d|No later|No earlier)", each)[1] for each in said]
    assert found == ["0", "1", "4", "No later", "1", "2", "No earlier"]


def test_the_search_finds_frames_by_words_and_by_number(browse):
    retry, number, none, nonsense = browse(page(), """
        const form = document.querySelector("form.search");
        const find = async (query) => {
          press("Escape");
          const input = form.querySelector("input");
          input.value = query;
          input.dispatchEvent(new Event("input", { bubbles: true }));
          form.requestSubmit();
          await rest();
          return text("#said");
        };
        return [await find("sta0 retry"), await find("#4"), await find("#77"),
          await find("nonsense")];""")  # fmt: skip
    assert retry.startswith("Frame 2 ")
    assert number.startswith("Frame 4 ")
    assert none == "This page has no frame 77."
    assert nonsense.startswith("“nonsense” is no node, kind")


def test_the_address_chooses_a_frame_whose_fields_are_shown(browse):
    fields = browse(page(), 'return text(".details").split(/\\n+/);', "#frame=3")
    assert fields[:2] == ["Ack ap → sta0", "received"]
    assert fields[fields.index("lasts") + 1] == "248 µs"
    assert fields[fields.index("begins") + 1] == "1.004810000 s"


def test_frames_of_ofdma_show_unit_padding_and_trigger(browse):
    ppdu = {"length_us": 1000, "format": "HE", "kind": "Data", "mcs": 7, "rate_mbps": 40.0}
    user = frame(1, 1000, "ap", ru_tones=106, ru_index=1, padding_bytes=500, **ppdu)
    trigger = frame(2, 2500, "ap", receiver=None, kind="Trigger", trigger="MU-BAR", mpdus=0,
                    stations="sta1, 4 RA-RUs")  # fmt: skip
    frames = trace_of([user, trigger])
    fields = browse(page(frames), 'return text(".details").split(/\\n+/);', "#frame=1")
    assert fields[fields.index("resource unit") + 1] == "106 tones, number 1"
    # 4000 bits at 40 Mb/s.
    assert fields[fields.index("padding") + 1] == "500 bytes, 100 µs"
    fields = browse(page(frames), 'return text(".details").split(/\\n+/);', "#frame=2")
    assert fields[fields.index("Trigger") + 1] == "MU-BAR, asks sta1, 4 RA-RUs"
    assert {"padding", "punctured"}.isdisjoint(fields)


def test_frames_show_what_is_punctured(browse):
    frames = trace_of([frame(1, 1000, "ap", format="EHT", width_mhz=80, punctured="3 4")])
    fields = browse(page(frames), 'return text(".details").split(/\\n+/);', "#frame=1")
    assert fields[fields.index("punctured") + 1] == "3 4, of 80 MHz"


def test_the_address_keeps_stretch_and_frame(browse):
    found = browse(page(), "link().click(); await rest(); return location.hash;",
                   "#t=1.002,1.006&frame=2")  # fmt: skip
    assert found == "#t=1.002000000,1.006000000&frame=2"


def test_a_frame_of_the_address_that_is_not_on_the_page_is_reported(browse):
    assert browse(page(), 'return text("#said");', "#frame=77") == "This page has no frame 77."


def test_the_wheel_zooms_at_the_pointer_and_moves_with_shift(browse):
    # At the right edge, where the end of the stretch stays.
    zoomed, moved = browse(page(), """
        const box = air.getBoundingClientRect();
        const wheel = (more) => air.dispatchEvent(new WheelEvent("wheel", {
          deltaY: -250, cancelable: true, clientX: box.right, clientY: box.top + 9, ...more }));
        wheel();
        await rest();
        const zoomed = await shown();
        wheel({ shiftKey: true });
        await rest();
        return [zoomed, await shown()];""", "#t=1.002,1.006")  # fmt: skip
    assert zoomed[1] == pytest.approx(1.006, abs=5e-5)
    assert 1.0025 < zoomed[0] < 1.004
    assert moved[0] < zoomed[0]
    assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], abs=1e-8)


def test_two_fingers_zoom_and_one_moves(browse):
    pinched, moved = browse(page(), """
        const box = air.getBoundingClientRect();
        air.setPointerCapture = () => undefined;
        const touch = (type, pointerId, x) => air.dispatchEvent(new PointerEvent(type, {
          pointerId, pointerType: "touch", clientX: box.left + x, clientY: box.top + 9 }));
        touch("pointerdown", 1, 300), touch("pointerdown", 2, 400);
        touch("pointermove", 1, 250), touch("pointermove", 2, 450);
        touch("pointerup", 1, 250), touch("pointerup", 2, 450);
        await rest();
        const pinched = await shown();
        touch("pointerdown", 1, 300), touch("pointermove", 1, 400), touch("pointerup", 1, 400);
        await rest();
        return [pinched, await shown()];""", "#t=1.002,1.006")  # fmt: skip
    assert pinched[1] - pinched[0] == pytest.approx(0.002, rel=0.01)
    assert moved[0] < pinched[0]


def test_a_click_chooses_the_frame_under_the_pointer(browse):
    # The Ack of the access point begins at 4,110 of the 4,800 µs shown; its lane is the first.
    frame = browse(page(), """
        const box = air.getBoundingClientRect();
        air.setPointerCapture = () => undefined;
        const place = { clientX: box.right - (500 / 4800) * (box.width - 96),
          clientY: box.top + 50 };
        for (const type of ["pointerdown", "pointerup"])
          air.dispatchEvent(new PointerEvent(type, { pointerId: 1, ...place }));
        await rest();
        return text(".details").split(/\\n+/);""", "#t=1.0007,1.0055")  # fmt: skip
    assert frame[0] == "Ack ap → sta0"
    assert frame[frame.index("frame") + 1] == "3"
    assert frame[frame.index("begins") + 1] == "1.004810000 s"


def test_the_users_of_a_ppdu_lie_above_each_other(browse):
    ppdu = {"length_us": 1000, "format": "HE", "kind": "Data"}
    users = [frame(n, 1000, "ap", receiver=f"sta{n - 1}", **ppdu) for n in (1, 2)]
    other = frame(3, 2500, "sta0", receiver="ap", kind="Ack", length_us=200)
    found = browse(page(trace_of([*users, other])), """
        const box = air.getBoundingClientRect();
        air.setPointerCapture = () => undefined;
        const found = [];
        for (let y = box.bottom - 2; y > box.top + 26; y -= 3) {
          const place = { clientX: box.left + 96 + (box.width - 96) / 2, clientY: y };
          for (const type of ["pointerdown", "pointerup"])
            air.dispatchEvent(new PointerEvent(type, { pointerId: 1, ...place }));
          await new Promise((done) => setTimeout(done, 60));
          const own = document.querySelector(".details")?.innerText.split(/\\n+/)[0];
          if (own && own !== found[found.length - 1]) found.push(own);
        }
        return found;""", "#t=1.001,1.002")  # fmt: skip
    assert [name for name in found if name.startswith("Data")] == [
        "Data ap → sta0", "Data ap → sta1",
    ]  # fmt: skip


def test_the_table_lists_the_frames_in_view(browse):
    rows = browse(page(), """
        document.querySelector(".frames").open = true;
        await rest();
        await rest();
        const rows = document.querySelectorAll(".frames tbody tr");
        return Array.from(rows, (row) => row.innerText.split("\\t"));""",
        "#t=1.003,1.005")  # fmt: skip
    assert [row[0].strip() for row in rows] == ["2", "3"]
    assert rows[0][1:] == ["1.003500 s", "1300.0", "sta0", "ap", "Data", "11 Mb/s", "1", "received"]


def test_frames_are_drawn_to_scale(browse):
    # The data frame of sta0 from 3,500 to 4,800 µs: as far from the right edge as it is long.
    left, right, width = browse(page(), """
        const c = air.getContext("2d").getImageData(0, 0, air.width, air.height);
        let [low, high] = [Infinity, -1];
        for (let n = 0; n < c.data.length; n += 4)
          if (c.data[n] === 0 && c.data[n + 1] === 114 && c.data[n + 2] === 178) {
            const x = (n / 4) % air.width;
            [low, high] = [Math.min(low, x), Math.max(high, x + 1)];
          }
        return [low, high, air.width];""", "#t=1.0022,1.0061")  # fmt: skip
    # The preamble, 192 µs, is pale.
    scale = (right - left) / (1300 - 192)
    assert (width - right) / scale == pytest.approx(1300, rel=0.02)


def test_events_of_routers_are_in_the_timeline(browse):
    trace = collision()
    assert "route" not in browse(page(trace), 'return text(".legend");')
    event = {"time_s": 1.004, "node": "sta0", "event": "failed", "destination": "ap", "hops": 0}
    trace.routes = pl.DataFrame([event, {**event, "time_s": 1.9}])
    assert "route or link fails" in browse(page(trace), 'return text(".legend");')
    assert data_of(page(trace))["routes"]["time"] == [3_800_000]


def test_a_packet_shows_its_segment_and_each_frame_that_carried_it(browse):
    carried = [{"frame": number, "packet": 5, "flow": "up", "sequence": 7, "retry": number == 2,
                "bytes": 1536, "received": number == 2} for number in (0, 2)]  # fmt: skip
    trace = trace_of([frame(0, 0, "sta0", outcome="noise"), frame(2, 3500, "sta0")], (), carried)
    fields = {"packet": 5, "flags": "A", "seq": 9, "length_bytes": 1460, "ack": 1}
    trace.segments = pl.DataFrame([{**fields, "retransmission": False}])
    packets, life = browse(page(trace), """
        const packets = text(".packets");
        document.querySelector(".packets button").click();
        await rest();
        return [packets, text(".life")];""", "#frame=0")  # fmt: skip
    assert "Life of packet 5" in packets
    assert "up: A seq 9, 1460 B, ack 1, not received" in " ".join(packets.split())
    assert "sta0 sends it in frame 0, lost" in life
    assert "sta0 sends it in frame 2, again" in life


def test_the_command_writes_the_page_of_a_stretch(simoom, cell_file, tmp_path):
    done = simoom("run", cell_file, "--trace", "a.html", "--trace-from", 1, "--trace-to", 1.1)
    assert done.returncode == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    found = data_of(text)
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
    text = rows.page(run.trace, title=run.title)
    lost = run.trace.frames.filter(run.trace.frames["outcome"] == "collision")["number"]
    said = browse(text, 'press("0"); await rest(); return keys("l", "l", "l");')
    assert [int(re.match(r"Frame (\d+)", each)[1]) for each in said] == lost.to_list()[:3]
