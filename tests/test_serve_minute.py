"""The first minute with the page: finding a scenario, trying, running. One server for all tests."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

RUN = {"name": "Run", "exact": True}


@pytest.fixture(scope="module")
def link(tmp_path_factory, serve):
    with serve(tmp_path_factory.mktemp("minute"), "cafe") as link:
        yield link


@pytest.fixture
def page(open_page, link):
    with open_page(link, 1280, 800) as page:
        expect(page.locator(".cm-content")).to_contain_text("A café")
        yield page


def names(page):
    return page.locator(".entry strong").all_inner_texts()


def test_search_knows_names_titles_and_texts_without_accents_and_the_best_is_first(page):
    search = page.get_by_label("Search the gallery")
    for words, first in (
        ("cafe", "cafe"),
        ("CAFÉ", "cafe"),
        ("office_11ac", "office 11ac"),
        ("hidden nodes", "hidden nodes"),
        ("slow station", "performance anomaly"),
    ):
        search.fill(words)
        expect(page.locator(".entry strong").first).to_have_text(first)
    search.fill("no such words")
    expect(page.locator(".gallery")).to_contain_text("Nothing matches.")


def test_a_link_that_names_no_scenario_of_the_gallery_says_so_and_searches(open_page, link):
    for asked, said in (
        ("hidden", "names hidden, which the gallery does not have; a search for it finds hidden_"),
        ("zebra", "names zebra, which the gallery does not have."),
    ):
        with open_page(f"{link}#/scenario?entry={asked}", 1280, 800) as page:
            expect(page.locator(".said")).to_contain_text(said)


def test_a_lesson_opens_its_scenario_and_says_what_to_do(page):
    page.get_by_role("button", name="Two senders that cannot hear each other").click()
    expect(page.locator(".cm-content")).to_contain_text("hidden")
    steps = page.get_by_label("Lesson")
    expect(steps).to_contain_text("Press Run")
    page.get_by_role("link", name="Runs").click()
    expect(steps).to_contain_text("press L")
    steps.get_by_role("button", name="End the lesson").click()
    expect(steps).to_have_count(0)


def test_what_to_try_is_a_button_and_begins_from_the_scenario_as_it_came(page):
    text = page.locator(".cm-content")
    more, less = (page.get_by_role("button", name=name) for name in ("more room", "less waiting"))
    more.click()
    expect(text).to_contain_text("limit_packets = 1000")
    expect(more).to_have_attribute("aria-pressed", "true")
    less.click()
    expect(text).to_contain_text("limit_packets = 50")
    page.get_by_role("button", name="a queue for each flow").click()
    expect(text).to_contain_text('queue.drr.per = "flow"')
    expect(text).to_contain_text("A café: one access point")
    page.get_by_role("button", name="as it came").click()
    expect(text).to_contain_text("limit_packets = 300")


def test_the_gallery_is_one_stop_of_tab_and_control_enter_runs(page):
    page.get_by_label("Search the gallery").fill("saturat")
    page.get_by_label("Search the gallery").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    second = names(page)[1]
    expect(page.locator(".entry:focus strong")).to_have_text(second)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", **RUN)).to_be_focused()
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text('standard = "11b"\nstations = 1\nduration_s = 1.0\n'
                              '[[flows]]\nfrom = "sta0"\nto = "ap"\n')  # fmt: skip
    expect(page.locator(".issues")).to_have_text("No faults.")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("#/run/"))
    expect(page.locator(".headline")).to_be_visible()


def test_the_first_stop_of_tab_skips_to_the_content(page):
    page.locator("body").press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    expect(page.locator(".cm-content")).to_be_visible()


def test_on_a_phone_the_gallery_closes_when_a_scenario_is_picked(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    page.locator(".gallery summary").click()
    page.get_by_label("Search the gallery").fill("cafe")
    page.locator(".entry").first.click()
    expect(page.locator(".entry").first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


MANY = """title = "Many flows"
standard = "11g"
stations = 14
duration_s = 40000.0

[[flows]]
name = "files"
from = "server"
to = "sta0-12"
traffic = "web"

[[flows]]
name = "talk"
from = "sta13"
to = "server"
traffic = "call"
"""


def write(page, text):
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    expect(page.locator(".issues")).to_have_text("No faults.")


def curves(page, title="flows: goodput"):
    chart = page.locator(".chart", has=page.get_by_text(title, exact=False))
    return chart.locator(".u-legend .u-label")


def test_curves_have_names_while_a_run_goes_on_and_a_stopped_run_can_be_repeated(page):
    write(page, MANY)
    page.get_by_label("Timeline of the air").uncheck()
    page.get_by_role("button", **RUN).click()
    expect(page.locator(".progress")).to_contain_text("left")
    # Calls come first, whatever their place in the scenario.
    expect(curves(page)).to_contain_text(["talk", "files sta0"])
    page.get_by_text("12 of 14 flows drawn").click()
    page.get_by_label("files sta12").check()
    expect(curves(page)).to_contain_text(["files sta12", "talk"])
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("main")).to_contain_text("Stopped after")
    expect(curves(page)).to_contain_text(["files sta12", "talk"])
    page.get_by_role("button", name="Open the scenario").click()
    expect(page.locator(".cm-content")).to_contain_text("Many flows")
    page.go_back()
    page.get_by_role("button", name=re.compile("^Run the first .* with results")).click()
    expect(page.locator(".headline")).to_contain_text("MOS")
    expect(page.locator(".headline dt").first).to_have_text("calls")
    expect(curves(page)).to_contain_text(["talk", "files sta0"])
    page.get_by_role("link", name="Runs").click()
    page.get_by_role("link", name="Many flows").last.click()
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator(".progress")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("main")).to_contain_text("Stopped")


def test_on_a_phone_runs_are_cards_with_their_buttons_in_sight(page):
    page.set_viewport_size({"width": 390, "height": 844})
    write(page, MANY.replace("40000.0", "1.0"))
    page.get_by_role("button", **RUN).click()
    expect(page.locator(".headline")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    box = page.get_by_role("button", name="Delete").first.bounding_box()
    assert box["x"] + box["width"] <= 390


def assert_fit(page):
    """A view is as wide as a phone, and axe finds nothing in both themes."""
    page.set_viewport_size({"width": 390, "height": 844})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1280, "height": 800})


WINDOW = """title = "A small window"
standard = "11n"
stations = 1
duration_s = 2.0
wire.delay_ms = 25.0

[[flows]]
name = "down"
from = "server"
to = "sta0"
tcp.window_bytes = 65535
"""


def test_a_list_that_comes_late_does_not_hide_the_end_of_a_run(page):
    def late(route):
        answer = route.fetch()
        # The run ends meanwhile, and the socket says so.
        time.sleep(3.0)
        route.fulfill(response=answer)

    page.route("**/api/runs", lambda route: (
        late(route) if route.request.method == "GET" else route.continue_()))  # fmt: skip
    write(page, WINDOW)
    page.get_by_label("Timeline of the air").uncheck()
    page.get_by_label("Seed").fill("77")
    page.get_by_role("button", **RUN).click()
    expect(page.get_by_role("link", name="Why so slow?")).to_be_visible(timeout=20_000)


def test_a_cause_can_be_tried_and_compared(page):
    write(page, WINDOW)
    page.get_by_label("Timeline of the air").uncheck()
    page.get_by_role("button", **RUN).click()
    page.get_by_role("link", name="Why so slow?").click()
    page.get_by_role("button", name="Explain").click()
    cause = page.locator(".why-found ol li").first
    expect(cause).to_contain_text("--set 'flows[0].tcp.window_bytes=16777216'")
    expect(cause).to_contain_text(" to +")
    cause.get_by_role("button", name="Try it").click()
    expect(page).to_have_url(re.compile("#/compare/"))
    expect(page.locator("tr.differs", has_text="total goodput").first).to_contain_text("+")
    keys = page.get_by_label("Keys that differ")
    expect(keys).to_contain_text("flows[0].tcp.window_bytes6553516777216")
    expect(page.get_by_role("main")).to_contain_text("a difference may be chance")
    page.get_by_role("button", name="Compare with ten pairs").click()
    goodput = page.get_by_label("Ten pairs").locator("tr", has_text="total goodput, Mb/s")
    expect(goodput).to_contain_text("better")
    assert_fit(page)
    page.get_by_role("link", name="flows[0].tcp.window_bytes=16777216").click()
    page.get_by_role("button", name="Open the scenario").click()
    expect(page.locator(".cm-content")).to_contain_text("window_bytes = 16777216")


def test_pairs_that_end_between_two_lists_of_runs_are_shown(page):
    def hide(message):
        told = json.loads(message)
        runs = told.get("runs", [])
        if any("compares" in run and run["state"] in ("waiting", "running") for run in runs):
            return
        told_of.send(message)

    def pass_on(socket):
        nonlocal told_of
        told_of = socket
        socket.connect_to_server().on_message(hide)

    told_of = None
    page.route_web_socket(re.compile("ws://"), pass_on)
    page.reload()
    write(page, WINDOW.replace("2.0", "0.1"))
    page.get_by_label("Timeline of the air").uncheck()
    for seed in ("91", "92"):
        page.get_by_role("link", name="Scenario", exact=True).click()
        page.get_by_label("Seed").fill(seed)
        page.get_by_role("button", **RUN).click()
        expect(page.get_by_role("link", name="Why so slow?")).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    for seed in ("91", "92"):
        page.get_by_role("checkbox", name=f"Compare A small window, seed {seed}").check()
    page.get_by_role("button", name="Compare two runs").click()
    page.get_by_role("button", name="Compare with ten pairs").click()
    expect(page.get_by_label("Ten pairs")).to_contain_text("total goodput")
    page.get_by_role("link", name="Runs", exact=True).click()
    pairs = page.get_by_role("row", name="Ten pairs of runs").filter(
        has=page.locator("[data-name=seed]", has_text=re.compile("^91$"))
    )
    expect(pairs).to_have_count(1)
    expect(pairs.get_by_role("checkbox")).to_have_count(0)
    page.once("dialog", lambda dialog: dialog.accept())
    pairs.get_by_role("button", name="Delete").click()
    expect(pairs).to_have_count(0)


COLOURED = """() => {
    const canvas = document.querySelector("#air");
    const below = canvas.height - 220;
    const { data } = canvas.getContext("2d").getImageData(0, below, canvas.width, 220);
    let count = 0;
    for (let n = 0; n < data.length; n += 4) {
        count += data[n + 2] > data[n] + 60;
    }
    return count;
}"""
"""Blue pixels of the tracks: of their first lines, and of the signs of these in the headings."""


def test_tracks_hold_their_value_and_keys_work_without_a_click_on_the_picture(page):
    write(page, WINDOW.replace("wire.delay_ms = 25.0", "wire.delay_ms = 100.0"))
    page.get_by_role("button", **RUN).click()
    page.get_by_role("link", name="Open the air").click()
    expect(page.locator(".air .view")).to_contain_text("0.000 s to 2.000 s")
    # In the pause of the second half of a round trip no window changes.
    for _ in range(50):
        page.keyboard.press("+")
    expect(page.locator(".air .view")).not_to_contain_text(", 2 s")
    expect(page.locator("#air")).to_have_attribute("aria-busy", "false")
    assert page.evaluate(COLOURED) > 600
    page.keyboard.press("0")
    page.keyboard.press("]")
    expect(page.locator(".said")).to_contain_text("Frame 0 at")
    page.keyboard.press("?")
    expect(page.locator("#air-keys")).to_be_visible()


def test_files_of_a_run_can_be_taken_away(page):
    write(page, WINDOW)
    page.get_by_role("button", **RUN).click()
    page.locator(".menu summary").click()
    assert_fit(page)
    for words, begin in (
        ("Scenario (TOML)", b"title ="),
        ("Results (CSV)", b"path,value,unit\n"),
        ("Time series (CSV)", b"path,time_s,value\n"),
        ("Report (HTML)", b"<!DOCTYPE html>"),
        ("Picture (SVG)", b"<?xml"),
        ("Picture (PNG)", b"\x89PNG"),
        ("Captures (pcapng)", b"PK"),
    ):
        with page.expect_download() as taken:
            page.get_by_role("button", name=words).click()
        found = Path(taken.value.path()).read_bytes()
        assert found.lower().startswith(begin.lower()), words
