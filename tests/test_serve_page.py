"""The page of ``simoom serve`` in a browser, as a user works with it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.serving import CELL, SPACE

import simoom.serve

ROOT = Path(__file__).parents[1]
STATIC = Path(simoom.serve.__file__).parent / "static"
LOST = re.compile("^Lost")


@pytest.fixture(scope="module")
def link(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("page")
    (folder / "cell.toml").write_text(CELL, encoding="utf-8")
    with serve(folder, "cell.toml") as link:
        yield link


@pytest.fixture
def page(open_page, link):
    # An answer that is no success is an error of the console, too.
    with open_page(link, 1440, 900, expected="status of 4") as page:
        page.set_default_timeout(60_000)
        expect(page.locator(".cm-content")).to_contain_text("Two stations")
        yield page
        # The next test finds an empty library.
        page.request.get(link)
        site = link.split("?")[0]
        for kind in ("sweeps", "runs"):
            for each in page.request.get(f"{site}api/{kind}").json():
                page.request.delete(f"{site}api/{kind}/{each['id']}")


def write(page, text):
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def run(page, text=None, seed=1):
    """Run a scenario and wait for its results."""
    page.goto(re.sub(r"#.*", "", page.url) + "#/scenario")
    if text is not None:
        write(page, text)
    page.get_by_label("Seed").fill(str(seed))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("link", name="Open the air")).to_be_visible()


def open_air(page):
    page.get_by_role("link", name="Open the air").click()
    expect(page.locator(".air .view")).to_contain_text(" s to ")


def test_the_built_page_is_current():
    """`make web` writes the hash of the sources; this one is of the same files."""
    web = ROOT / "web"
    names = [
        f"src/{file.relative_to(web / 'src').as_posix()}" for file in (web / "src").rglob("*.*")
    ]
    digest = hashlib.sha256()
    for name in sorted([*names, "build.mjs", "index.html", "package-lock.json"]):
        digest.update(f"{name}\n".encode() + (web / name).read_bytes())
    kept = (STATIC / "sources.txt").read_text().strip()
    assert kept == digest.hexdigest(), "run `make web` and commit the built page"


def test_the_page_loads_nothing_from_elsewhere(browser, link):
    context = browser.new_context()
    page = context.new_page()
    hosts = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page.goto(link)
    page.wait_for_selector(".cm-content")
    context.close()
    assert hosts == {link.split("/")[2]}


def test_a_mistake_is_shown_at_its_place_and_mended(page):
    write(page, CELL.replace("stations = 2", "stations = 2\nwlan.cw_min = 30"))
    fault = page.locator(".issues li")
    expect(fault).to_contain_text("wlan.cw_min")
    expect(fault).to_contain_text("31")
    expect(fault).to_contain_text("line 4")
    expect(page.locator(".cm-lintRange-error")).to_have_text("cw_min = 30")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    write(page, CELL.replace("stations = 2", "stations = 2\nwlan.cw_min = 31"))
    expect(page.locator(".issues")).to_have_text("No faults.")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_the_editor_completes_keys_and_values(page):
    write(page, "dur")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("duration_s")
    write(page, 'standard = "11a')
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("11ax")


def test_form_and_text_are_two_views_of_one_scenario(page):
    page.get_by_role("tab", name="Form").click()
    page.get_by_label("Stations").fill("5")
    page.get_by_label("Stations").press("Tab")
    page.get_by_label("Standard").select_option("11g")
    page.get_by_role("tab", name="Text").click()
    expect(page.locator(".cm-content")).to_contain_text("stations = 5")
    expect(page.locator(".cm-content")).to_contain_text('standard = "11g"')


def test_changes_of_the_form_follow_each_other(page):
    """Each change starts from the text that the one before it left, however late that comes."""
    page.evaluate(
        """() => {
            const own = window.fetch;
            let isFirst = true;
            window.fetch = async (path, ...rest) => {
                const waits = String(path).endsWith("/api/edit") && isFirst;
                if (waits) isFirst = false;
                const answer = await own(path, ...rest);
                if (waits) await new Promise((done) => setTimeout(done, 500));
                return answer;
            };
        }"""
    )
    page.get_by_role("tab", name="Form").click()
    page.get_by_label("Stations").fill("5")
    page.get_by_label("Stations").press("Tab")
    page.get_by_label("Standard").select_option("11g")
    page.get_by_role("tab", name="Text").click()
    expect(page.locator(".cm-content")).to_contain_text("stations = 5")
    expect(page.locator(".cm-content")).to_contain_text('standard = "11g"')


def test_what_is_typed_into_the_form_outlives_a_check(page):
    page.get_by_role("tab", name="Form").click()
    page.get_by_label("Warm-up, s").fill("1.5")
    # The text with the warm-up is checked a quarter of a second later, while the next is typed.
    with page.expect_response(lambda answer: "api/check" in answer.url):
        page.get_by_label("Stations").fill("25")
    page.wait_for_timeout(300)
    expect(page.get_by_label("Stations")).to_have_value("25")
    page.get_by_label("Stations").press("Tab")
    page.get_by_role("tab", name="Text").click()
    expect(page.locator(".cm-content")).to_contain_text("warmup_s = 1.5")
    expect(page.locator(".cm-content")).to_contain_text("stations = 25")


def test_a_node_is_dragged_and_moved_by_keys(page):
    write(page, SPACE)
    node = page.get_by_role("button", name=re.compile("^sta0 at 40"))
    expect(node).to_be_visible()
    expect(page.locator("line.hidden-pair")).to_have_count(1)
    node.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".cm-content")).to_contain_text("position_m = [40, 2]")
    box = page.get_by_role("button", name=re.compile("^sta1 at -40")).locator(".dot").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(page.locator(".cm-content")).not_to_contain_text("[-40, 0]")


def test_a_run_is_watched_and_stopped(page):
    write(page, CELL.replace("duration_s = 3.0", "duration_s = 100000.0"))
    page.get_by_label("Timeline of the air").uncheck()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".chart canvas").first).to_be_visible()
    expect(page.locator(".progress")).to_contain_text("s simulated")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("main")).to_contain_text("Stopped")


def test_a_run_shows_its_report_as_tables(page):
    run(page)
    headline = page.locator(".headline")
    expect(headline).to_contain_text("total goodput")
    assert page.locator(".report strong").all_inner_texts() == [
        "Flows", "Delays by link and node", "Stations", "Airtime", "Analytic twin"
    ]  # fmt: skip
    flows = page.get_by_role("table", name="Flows")
    assert flows.get_by_role("rowheader").all_inner_texts() == ["sta0->ap", "sta1->ap"]
    heads = flows.get_by_role("columnheader").all_inner_texts()
    assert heads[:2] == ["flow", "goodput\nMb/s"]
    assert page.locator(".report th:not([scope])").count() == 0
    assert page.locator("pre").count() == 0


def test_the_air_finds_a_collision_and_follows_a_packet(page):
    run(page)
    open_air(page)
    page.get_by_label("Find frames").fill("next collision of sta1")
    page.get_by_label("Find frames").press("Enter")
    details = page.get_by_label("Selected frame")
    expect(details.locator("h2")).to_have_text("Data sta1 → ap")
    expect(details.locator(".fault")).to_have_text("lost: collision, caused by sta0")
    first = details.locator("dd").first.inner_text()
    page.locator("#air").focus()
    page.keyboard.press("n")
    expect(details.locator("dd").first).not_to_have_text(first)
    page.keyboard.press("Shift+N")
    expect(details.locator("dd").first).to_have_text(first)
    details.locator(".packets button").first.click()
    expect(details.locator(".life li").first).to_contain_text("sent at sta1")
    page.get_by_label("Find frames").fill("nonsense")
    page.get_by_label("Find frames").press("Enter")
    expect(page.locator(".said")).to_contain_text("“nonsense” is no node")


def test_wheel_keys_and_drag_move_the_stretch(page):
    run(page)
    open_air(page)
    canvas = page.locator("#air")
    expect(page.locator(".air .view")).to_contain_text(", 3 s")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.wheel(0, -400)
    expect(page.locator(".air .view")).not_to_contain_text(", 3 s")
    canvas.focus()
    for _ in range(80):
        page.keyboard.press("+")
    expect(page.locator(".air .view")).to_contain_text(", 1 µs")
    page.keyboard.press("0")
    expect(page.locator(".air .view")).to_contain_text("0.000 s to 3.000 s")
    page.keyboard.press("+")
    before = page.locator(".air .view").inner_text()
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 60, steps=5)
    page.mouse.up()
    expect(page.locator(".air .view")).not_to_have_text(before)


def test_a_click_selects_the_frame_under_it(page):
    run(page)
    open_air(page)
    page.get_by_role("button", name=LOST).click()
    details = page.get_by_label("Selected frame")
    heading = details.locator("h2").inner_text()
    number, begins, lasts = (details.locator("dd").nth(n).inner_text() for n in range(3))
    assert lasts.endswith(" ms")
    middle = float(begins.split()[0]) + float(lasts.split()[0]) / 2e3
    start, end = (float(part.split()[0]) for part in shown(page).split(" to "))
    page.locator("#air").focus()
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    box = page.locator("#air").bounding_box()
    x = box["x"] + 96 + (middle - start) / (end - start) * (box["width"] - 96)
    lane = 1 if "sta0 →" in heading else 2
    page.mouse.click(x, box["y"] + 26 + 46 * lane + 28)
    expect(details.locator("dd").first).to_have_text(number)


def shown(page):
    """Return the begin and the end of the stretch in view, as the page writes them."""
    return page.locator(".air .view").inner_text().split(",")[0]


def test_two_runs_are_compared(page):
    run(page, seed=1)
    run(page, CELL.replace('"11b"', '"11g"'), seed=1)
    page.get_by_role("link", name="Runs").click()
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    for number in range(2):
        boxes.nth(number).check()
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.locator(".chart figcaption")).to_contain_text("means over 12.5 ms")
    row = page.locator("tr.differs", has_text="total goodput").first
    expect(row).to_contain_text("Mb/s")
    expect(row.locator("strong")).to_contain_text("%")
    page.get_by_label("Result", exact=True).fill("no such path")
    expect(page.locator("tr.differs")).to_have_count(0)


def test_a_run_is_renamed_and_deleted(page):
    run(page)
    page.get_by_role("link", name="Runs").click()
    page.once("dialog", lambda dialog: dialog.accept("mine"))
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("rowheader")).to_have_text("mine")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("main")).to_contain_text("No runs yet")


def test_a_reload_and_a_shared_link_keep_scenario_and_seed(page):
    text = CELL.replace("Two stations", "Zwei Stationen: ü 😀")
    write(page, text)
    expect(page.locator(".cm-content")).to_contain_text("Zwei Stationen")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("Zwei Stationen")
    page.get_by_label("Seed").fill("42")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".said")).to_contain_text("copied")
    shared = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(shared)
    expect(other.locator(".cm-content")).to_contain_text("Zwei Stationen: ü 😀")
    expect(other.get_by_label("Seed")).to_have_value("42")


def views(page):
    """Show each view in turn and yield its name."""
    write(page, SPACE)
    expect(page.locator(".space")).to_be_visible()
    yield "scenario"
    page.get_by_role("tab", name="Form").click()
    yield "form"
    page.get_by_role("tab", name="Text").click()
    run(page)
    yield "run"
    open_air(page)
    page.get_by_role("button", name=LOST).click()
    expect(page.locator(".packets button").first).to_be_visible()
    page.locator(".packets button").first.click()
    expect(page.locator(".life")).to_be_visible()
    yield "air"
    run(page, CELL)
    page.get_by_role("link", name="Runs").click()
    # The page may have the results of a run before the list has the run.
    expect(page.get_by_role("checkbox")).to_have_count(2)
    for number in range(2):
        page.get_by_role("checkbox").nth(number).check()
    yield "runs"
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.locator("tr.differs").first).to_be_visible()
    yield "compare"
    page.locator(".pair a").first.click()
    page.get_by_role("link", name="Beside theory").click()
    expect(page.locator(".checks").first).to_be_visible()
    yield "twin"
    page.go_back()
    page.get_by_role("link", name="Why so slow?").click()
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".bars")).to_be_visible()
    yield "why"
    page.get_by_role("link", name="Scenario", exact=True).click()
    write(page, SPACE)
    page.get_by_role("link", name="Who hears whom").click()
    expect(page.locator(".matrix")).to_be_visible()
    yield "hearing"
    page.get_by_role("link", name="Scenario", exact=True).click()
    write(page, CELL.replace("3.0", "0.2"))
    page.get_by_role("link", name="Sweep").click()
    fill_sweep(page)
    yield "sweeps"
    page.get_by_role("button", name="Run the sweep").click()
    expect(page.locator(".sweep-plot .point")).to_have_count(4)
    page.locator(".sweep-plot .point").first.press("Enter")
    expect(page.get_by_label("Chosen point")).to_be_visible()
    yield "sweep"
    page.get_by_role("tab", name="Heat map").click()
    expect(page.locator(".heat td")).to_have_count(4)
    yield "heat map"


def fill_sweep(page):
    page.get_by_label("Values").first.fill("1, 3")
    page.get_by_label("Second key").fill("wlan.cw_min")
    page.get_by_label("Values").nth(1).fill("15, 31")


@pytest.mark.parametrize("view", ["sweep/0", "run/0", "why/0", "twin/0", "compare/0/1"])
def test_a_view_without_its_data_has_a_heading_and_says_why(page, view):
    page.evaluate(f"location.hash = '#/{view}'")
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("no such")


def test_no_view_is_wider_than_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    for view in views(page):
        # Charts get their size after the view is drawn.
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, view


@pytest.mark.thorough
def test_axe_finds_nothing_in_any_view(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    for view in views(page):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            faults = [
                f"{f['id']}: {n['target']} {n['failureSummary']}"
                for f in Axe().run(page).response["violations"]
                for n in f["nodes"]
            ]
            assert faults == [], (view, scheme)


def test_a_browser_that_leaves_in_mid_run_ends_no_run(page):
    write(page, CELL.replace("3.0", "20.0"))
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".progress, .headline")
    address = page.url
    other = page.context.new_page()
    page.goto("about:blank")
    other.goto(address)
    expect(other.get_by_role("link", name="Open the air")).to_be_visible()


def test_a_flow_is_explained(page):
    limited = CELL.replace('from = "sta*"\nto = "ap"\ntraffic = "saturated"',
                           'from = "server"\nto = "sta0"\ntcp.window_bytes = 20000')  # fmt: skip
    run(page, limited + "\n[wire]\ndelay_ms = 20.0\n")
    page.get_by_role("link", name="Why so slow?").click()
    page.get_by_role("button", name="Explain").click()
    first = page.locator(".why-found ol li").first
    expect(first).to_contain_text("the receive window of 20,000 B")
    expect(first).to_contain_text("flows[0].tcp.window_bytes=16777216")
    expect(page.locator(".bars .row").first).to_contain_text("as it is")
    # A page that comes later finds the explanation.
    page.reload()
    expect(first).to_contain_text("the receive window of 20,000 B")


def test_points_of_a_sweep_open_their_runs(page):
    write(page, CELL.replace("3.0", "0.2"))
    page.get_by_role("link", name="Sweep").click()
    fill_sweep(page)
    page.get_by_role("button", name="Run the sweep").click()
    point = page.get_by_role("button", name="stations 3, wlan.cw_min 15")
    expect(point).to_contain_text("wlan.cw_min 15")
    point.press("Enter")
    expect(page.get_by_role("heading", name="stations = 3, wlan.cw_min = 15")).to_be_visible()
    page.get_by_role("tab", name="Heat map").click()
    expect(page.locator(".heat [aria-pressed=true]")).to_have_count(1)
    page.get_by_role("link", name="Replication 2").click()
    expect(page.get_by_role("button", name="Open the scenario")).to_be_visible()
    page.get_by_role("button", name="Open the scenario").click()
    expect(page.locator(".cm-content")).to_contain_text("cw_min = 15")
