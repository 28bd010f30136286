"""The timeline as a widget: its answers, and its script in a browser with a kernel beside it."""

from __future__ import annotations

import base64
import struct
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import simoom as sm
from simoom import _core
from simoom.show.timeline import WIDGET, answer

CELL = {
    "standard": "11b", "stations": 3, "duration_s": 1.0,
    "flows": [{"from": "sta*", "to": "ap", "traffic": "saturated"}],
}  # fmt: skip
PAGE = """<!DOCTYPE html><html lang="en"><head><title>Notebook</title>
<style>button { color: #fff; background: #fff; }</style></head><body><main><h1>Notebook</h1>
<div id="cell"></div></main>
<script type="module">
import widget from "/widget.js";
const takes = [];
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const model = {
  get: () => "Three stations",
  on: (_, take) => takes.push(take),
  off: (_, take) => takes.splice(takes.indexOf(take), 1),
  send: async (question) => {
    const [found, buffers] = await window.ask(question);
    takes.forEach((take) => take(found, buffers.map(bytes)));
  },
};
window.leave = widget.render({ model, el: document.getElementById("cell") });
</script></body></html>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("air") / "run.air"
    sm.run(CELL, trace=path)
    return _core.AirFile(path)


def ask(file, what, **given):
    return answer(file, {"id": 7, "what": what, **given})


def test_answers_are_those_of_the_trace(file):
    about, none = ask(file, "about")
    assert (about["id"], none) == (7, [])
    assert about["value"]["radios"] == ["ap", "sta0", "sta1", "sta2"]
    assert "looks" in about["value"]
    (found, _), number = ask(file, "find", number=-1, forward=True, lost=True), 0
    number = found["value"]["number"]
    assert found["value"]["is_lost"]
    assert ask(file, "frame", number=number)[0]["value"]["start_ns"] == found["value"]["start_ns"]
    said, (tile,) = ask(file, "tile", level=30, number=0)
    assert said == {"id": 7}
    assert struct.unpack("<I", tile[:4]) == (1,)


def test_frames_of_ofdma_tell_whom_they_name(tmp_path):
    """Stations of 802.11ac are in no Trigger frame, and in no Multi-STA BlockAck."""
    mixed = [{"count": 2}, {"standard": "11ac"}]
    mu = {"uplink": {"access_interval_us": 1000.0}}
    cell = CELL | {"standard": "11ax", "stations": mixed, "duration_s": 0.1, "wlan": {"mu": mu}}
    sm.run(cell, trace=tmp_path / "run.air")
    file = _core.AirFile(tmp_path / "run.air")
    types = ask(file, "about")[0]["value"]["trigger"]
    count = min(400, ask(file, "about")[0]["value"]["frames"])
    frames = [ask(file, "frame", number=number)[0]["value"] for number in range(count)]
    asked = [frame for frame in frames if frame["trigger"] is not None]
    assert {types[frame["trigger"]] for frame in asked} == {"Basic", "BSRP"}
    assert {radio for frame in asked for radio in frame["named"]} == {1, 2}
    answers = [frame for frame in frames if frame["tones"]]
    assert {frame["from"] for frame in answers} == {1, 2}
    assert all(frame["padding_bytes"] is not None for frame in answers)
    acked = [frame["named"] for frame in frames if frame["trigger"] is None and frame["named"]]
    assert acked
    assert all(set(named) <= {1, 2} for named in acked)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"what": "tile", "level": 99, "number": 0}, "there is no such tile"),
        ({"what": "shell"}, "what: must be a part of a timeline, is 'shell'"),
        ({"what": "find", "number": "x", "forward": True}, "number"),
        ({"what": "frame"}, "number"),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_message(file, question, message):
    said, buffers = answer(file, {"id": 1, **question})
    assert message in said["error"]
    assert (said["id"], buffers) == (1, [])


def test_the_widget_shows_and_finds_frames(browser, file):
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.set_default_timeout(60_000)
    faults, asked = [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route("http://notebook.test/", lambda route: route.fulfill(
        body=PAGE, content_type="text/html"))  # fmt: skip
    page.route("http://notebook.test/widget.js", lambda route: route.fulfill(
        body=WIDGET.read_text(encoding="utf-8"), content_type="text/javascript"))  # fmt: skip

    def kernel(question):
        asked.append(question["what"])
        said, buffers = answer(file, question)
        return said, [base64.b64encode(each).decode() for each in buffers]

    page.expose_function("ask", kernel)
    page.goto("http://notebook.test/")
    expect(page.get_by_role("heading", name="Three stations")).to_be_visible()
    expect(page.locator(".view")).to_contain_text(" s to ")
    page.get_by_placeholder("next collision of sta0").fill("next collision of sta1")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".details")).to_contain_text("sta1 →")
    expect(page.locator(".details")).to_contain_text("collision")
    expect(page.locator(".said")).to_contain_text("sta1 sends")
    assert {"about", "tile", "find", "frame"} <= set(asked)
    # The styles of the notebook do not reach it, nor its own the notebook.
    assert page.locator(".bar button").first.evaluate(
        "button => getComputedStyle(button).backgroundColor") != "rgb(255, 255, 255)"  # fmt: skip
    assert page.locator("body").evaluate("body => getComputedStyle(body).margin") == "8px"
    found = Axe().run(page).response["violations"]
    assert [f"{fault['id']}: {fault['nodes'][0]['target']}" for fault in found] == []
    page.evaluate("window.leave()")
    expect(page.get_by_role("heading", name="Three stations")).to_have_count(0)
    assert faults == []


def test_a_run_has_a_widget():
    pytest.importorskip("anywidget")
    run = sm.run(CELL, seed=3)
    widget = run.timeline()
    sent = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._take(widget, {"id": 1, "what": "about"}, [])
    (said, buffers), traced = sent[0], sm.run(CELL, seed=3, trace=True).trace
    assert said["value"]["frames"] == traced.frames.height
    assert not buffers
    assert widget.title == run.title


def test_without_anywidget_the_message_says_what_to_install(monkeypatch):
    # The function hides the module of its name.
    module = sys.modules["simoom.show.timeline"]
    module._widget.cache_clear()
    monkeypatch.delattr(module.anywidget, "AnyWidget")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'simoom\[notebook\]'"):
        sm.timeline(Path("run.air"))
