"""The strip of the whole run above a timeline, by pointer and by keys."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

CELL = """title = "Two stations"
standard = "11b"
stations = 2
duration_s = 4.0

[[flows]]
from = "sta*"
to = "ap"
traffic = "saturated"
"""

INK = """() => {
    const { width, height } = document.querySelector(".strip canvas");
    const data = document.querySelector(".strip canvas").getContext("2d")
        .getImageData(0, 0, width, height).data;
    let count = 0;
    for (let n = 3; n < data.length; n += 4) count += data[n] > 0;
    return count / (width * height);
}"""
"""The part of the strip that is drawn."""


@pytest.fixture(scope="module")
def link(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("overview")
    (folder / "cell.toml").write_text(CELL, encoding="utf-8")
    with serve(folder, "cell.toml") as link:
        yield link


@pytest.fixture
def page(open_page, link):
    with open_page(link, 1280, 800) as page:
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("link", name="Open the air").click()
        expect(page.locator(".air .view")).to_contain_text("0.000 s to 4.000 s")
        expect(page.locator(".strip")).to_be_visible()
        yield page


def stretch(page):
    """Return begin and end of the stretch that is shown, in seconds."""
    page.wait_for_timeout(50)  # The view is written with the next frame of the page.
    text = page.locator(".air .view").inner_text()
    return [float(number) for number in re.findall(r"(\d+\.\d+) s", text)[:2]]


def drag(page, begin, end):
    """Drag in the strip, from one instant to another, in seconds."""
    box = page.locator(".strip").bounding_box()
    places = [box["x"] + at / 4.0 * box["width"] for at in (begin, end)]
    y = box["y"] + box["height"] / 2
    page.mouse.move(places[0], y)
    page.mouse.down()
    page.mouse.move(sum(places) / 2, y)
    page.mouse.move(places[1], y)
    page.mouse.up()


def test_a_drag_chooses_moves_and_stretches_what_is_shown(page):
    drag(page, 1.0, 2.0)
    assert stretch(page) == pytest.approx([1.0, 2.0], abs=0.02)
    drag(page, 1.5, 2.5)
    assert stretch(page) == pytest.approx([2.0, 3.0], abs=0.02)
    drag(page, 3.0, 3.5)
    assert stretch(page) == pytest.approx([2.0, 3.5], abs=0.02)
    # A click beside it shows what is there.
    drag(page, 1.0, 1.0)
    assert stretch(page) == pytest.approx([0.25, 1.75], abs=0.02)


def test_keys_of_the_strip_move_the_stretch_and_say_it(page):
    strip = page.get_by_role("slider", name="Stretch of the run")
    expect(strip).to_have_attribute("aria-valuenow", "50")
    strip.focus()
    for key in ("+", "+", "+", "+", "Home"):
        page.keyboard.press(key)
    begin, end = stretch(page)
    assert begin == 0.0
    page.keyboard.press("PageDown")
    assert stretch(page) == pytest.approx([end, 2 * end], abs=0.01)
    page.keyboard.press("ArrowRight")
    assert stretch(page)[0] == pytest.approx(9 / 8 * end, abs=0.01)
    page.keyboard.press("End")
    assert stretch(page)[1] == 4.0
    expect(strip).to_have_attribute("aria-valuetext", re.compile(r"to 4\.0+ s, .* of 4\.0+ s"))
    page.keyboard.press("0")
    assert stretch(page) == [0.0, 4.0]


def eventually(page, condition):
    """Wait for a condition, which the page's own policy does not allow it to evaluate from text."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def test_the_strip_has_the_air_of_the_whole_run_on_a_phone_too(page):
    eventually(page, f"({INK})() > 0.5")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".strip")).to_be_visible()
    eventually(
        page,
        "() => { const own = document.querySelector('.strip canvas');"
        " return own.width === Math.round(own.getBoundingClientRect().width); }",
    )
    eventually(page, f"({INK})() > 0.5")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert Axe().run(page).response["violations"] == []
