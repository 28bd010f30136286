"""The page without a server: its runs are those of the command, and it needs no network."""

from __future__ import annotations

import gzip
import http.server
import json
import re
import shutil
import subprocess
import threading
from functools import partial
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import simoom as sm
from simoom.base.files import finite
from simoom.results.tables import used
from simoom.scenario import shipped
from simoom.serve.start import alone
from simoom.serve.tasks import differing, owners_of
from simoom.show.sections import SECTIONS, Table, headline

ROOT = Path(__file__).parents[1]
SIMULATOR = ROOT / "target" / "wasm32-unknown-unknown" / "web" / "simoom.wasm"
MOST_BYTES = 3_000_000
RUN = {"name": "Run", "exact": True}


def has_target():
    """Whether Rust can build for WebAssembly here."""
    command = ["rustc", "--print", "target-libdir", "--target", "wasm32-unknown-unknown"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or "-").is_dir()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the playground."""
    if not has_target():
        pytest.skip("Rust has no target wasm32-unknown-unknown: make playground installs it")
    subprocess.run(["make", "playground"], cwd=ROOT, check=True, capture_output=True)
    there = tmp_path_factory.mktemp("playground")
    for name, text in alone().items():
        (there / name).write_text(text, encoding="utf-8")
    shutil.copy(SIMULATOR, there)
    return there


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def link(folder):
    handler = partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(open_page, link):
    with open_page(link, 1280, 800) as page:
        expect(page.locator(".cm-content")).to_contain_text("performance anomaly")
        yield page


def write(page, text):
    page.locator(".cm-content").fill(text)
    expect(page.locator(".cm-content")).to_contain_text(text.strip().splitlines()[-1])


def run(page):
    page.get_by_role("link", name="Scenario", exact=True).click()
    page.get_by_role("button", **RUN).click()
    expect(page.get_by_role("link", name="Open the air")).to_be_visible()


def choose_all(page, runs):
    """Chooses the `runs` of the list: the page may show results before the list has the run."""
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(runs)
    for number in range(runs):
        boxes.nth(number).check()


def cell(**keys):
    written = "".join(f"{key} = {value}\n" for key, value in keys.items())
    flows = '[[flows]]\nfrom = "sta*"\nto = "ap"\n'
    return f'standard = "11b"\nduration_s = 4.0\nstations = 2\n{written}{flows}'


# --- In Node: the simulator, and what the worker makes of its results -----------------------------


@pytest.fixture(scope="module")
def runs(folder, program):
    """A short run of each shipped scenario, as the worker tells it and as Python has it."""
    node = program("node", package="nodejs")
    scenarios = {}
    for name in shipped.names():
        whole = sm.Scenario.load(name)
        scenarios[name] = whole.set("duration_s", (whole.get("warmup_s") or 0.0) + 1.0)
    ask = {"do": "run", "seed": 7, "wanted": [], "series": 0, "air_mib": 0}
    asked = [{**ask, "text": scenario.to_toml()} for scenario in scenarios.values()]
    command = [node, str(ROOT / "tests" / "playground.mjs"), str(folder)]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    native = [sm.run(scenario, seed=7) for scenario in scenarios.values()]
    return dict(zip(scenarios, zip(told, native, strict=True), strict=True))


@pytest.mark.parametrize("name", shipped.names())
def test_every_shipped_scenario_has_the_results_of_the_command_to_the_last_bit(runs, name):
    told, native = runs[name]
    assert told["digest"] == native.digest
    assert told["events"] == native.events
    assert told["summary"] == finite(dict(native.summary))


@pytest.mark.parametrize("name", shipped.names())
def test_headline_and_sections_are_those_of_a_report(runs, name):
    told, native = runs[name]
    assert told["headline"] == [list(line) for line in headline(native.summary)]
    assert told["owners"] == owners_of(native.scenario)
    expected = []
    for section in SECTIONS:
        # The page has no models.
        has = section.find(native) if section.title != "Analytic twin" else None
        if has and has.rows:
            expected.append(Table(section, used(section.columns, has.rows), has.rows).data())
    assert told["tables"] == expected


def test_it_takes_at_most_three_megabytes_compressed(folder):
    sizes = {each.name: len(gzip.compress(each.read_bytes())) for each in folder.iterdir()}
    assert sizes.keys() >= {"simoom.wasm", "app.js", "worker.js", "index.html"}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


# --- In Chromium ----------------------------------------------------------------------------------


def test_a_run_has_the_digest_and_the_tables_of_the_command(page):
    text = (ROOT / "scenarios" / "hidden_nodes.toml").read_text(encoding="utf-8")
    text = re.sub(r"duration_s = \S+", "duration_s = 6.0", text)
    write(page, text)
    page.get_by_label("Seed").fill("7")
    run(page)
    native = sm.run(sm.Scenario.parse(text), seed=7)
    expect(page.locator(".heading")).to_contain_text(f"digest {native.digest}")
    for name, said in headline(native.summary):
        expect(page.locator(".headline")).to_contain_text(name)
        expect(page.locator(".headline")).to_contain_text(said)
    expect(page.locator(".chart").first).to_be_visible()


def test_all_faults_are_told_with_path_and_message_as_the_command_tells_them(page):
    text = cell(statoins=3, **{"wlan.cw_min": 30}).replace('"11b"', '"11x"')
    with pytest.raises(sm.ScenarioError) as raised:
        sm.Scenario.parse(text).check()
    write(page, text)
    issues = page.locator(".issues")
    expect(issues).to_contain_text("statoins")
    told = [line.inner_text() for line in issues.locator("li > span").all()]
    assert told == [f"{issue.path} {issue.text}" for issue in raised.value.issues]
    expect(page.get_by_role("button", **RUN)).to_be_disabled()


def test_a_run_is_stopped_and_the_next_one_begins(page):
    write(page, cell().replace("4.0", "1e6"))
    page.get_by_role("button", **RUN).click()
    expect(page.locator(".progress")).to_contain_text(re.compile(r"[1-9][\d.]* s simulated"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped after")).to_be_visible()
    page.get_by_role("button", name="Open the scenario").click()
    write(page, cell())
    run(page)


def test_the_timeline_finds_lost_frames_and_follows_a_packet(page):
    write(page, cell())
    run(page)
    page.get_by_role("link", name="Open the air").click()
    expect(page.locator(".air .heading")).to_contain_text("frames")
    page.get_by_role("button", name=re.compile("^Lost")).click()
    expect(page.locator(".said")).to_contain_text("collision")
    page.locator(".packets button").first.click()
    expect(page.locator(".life li").first).to_be_visible()


def test_two_runs_are_compared_and_the_keys_that_differ_stand_first(page):
    texts = [cell(), cell(**{"wlan.cw_min": 63})]
    for text in texts:
        write(page, text)
        run(page)
        page.get_by_role("link", name="Scenario", exact=True).click()
    page.get_by_role("link", name="Runs", exact=True).click()
    choose_all(page, 2)
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.get_by_text("a difference may be chance")).to_be_visible()
    # The runs made last stand first.
    second, first = (sm.run(sm.Scenario.parse(text), seed=1) for text in texts)
    page.get_by_label("equal results too").check()
    own = differing(first, second)
    shown = page.get_by_label("Keys that differ").locator("tbody tr").all_inner_texts()
    assert [row.split() for row in shown] == [
        [path, *(part for value in values for part in (value or "default").split())]
        for path, *values in own["keys"]
    ]
    said = own["words"]["total.goodput_mbps"].removesuffix(", Mb/s")
    expect(page.get_by_label("Results of both runs")).to_contain_text(said)


def test_a_link_holds_scenario_and_seed(page, open_page):
    text = cell(title='"Zwei Stationen, größer"')
    write(page, text)
    page.get_by_label("Seed").fill("11")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".said")).to_contain_text("The link is copied")
    address = page.evaluate("navigator.clipboard.readText()")
    assert "#/scenario?seed=11&z=" in address
    with open_page(address, 390, 844) as other:
        expect(other.locator(".cm-content")).to_contain_text("Zwei Stationen, größer")
        expect(other.get_by_label("Seed")).to_have_value("11")


def test_a_link_names_a_scenario_of_the_gallery(open_page, link):
    with open_page(f"{link}#/scenario?entry=hidden_nodes", 1280, 800) as page:
        expect(page.locator(".cm-content")).to_contain_text("Two hidden stations")
        expect(page.get_by_role("button", name="all nodes detect each other")).to_be_visible()


def test_it_asks_nothing_of_others_and_works_without_a_network(open_page, link):
    # A browser without a network says so of each file that it looks for.
    with open_page(link, 1280, 800, expected="ERR_INTERNET_DISCONNECTED") as page:
        asked = []
        page.context.on("request", lambda own: asked.append((own.method, own.url)))
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.context.set_offline(offline=True)
        page.reload()
        expect(page.locator(".cm-content")).to_contain_text("performance anomaly")
        write(page, cell())
        run(page)
        assert {url.split("/")[2] for _, url in asked} == {link.split("/")[2]}
        assert {method for method, _ in asked} == {"GET"}


def test_what_the_page_lacks_is_not_offered(page):
    expect(page.get_by_role("link", name="Runs", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Sweep")).to_have_count(0)
    page.get_by_role("button", name="A call behind a backup").click()
    expect(page.get_by_label("Lesson")).not_to_contain_text("Why so slow?")
    write(page, cell())
    run(page)
    for name in ("Why so slow?", "Beside theory"):
        expect(page.get_by_role("link", name=name)).to_have_count(0)
    expect(page.get_by_text("Download")).to_have_count(0)


def test_a_copy_without_the_simulator_says_what_is_missing(open_page, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "site")
    (tmp_path / "site" / "simoom.wasm").unlink()
    handler = partial(Quiet, directory=str(tmp_path / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = f"http://127.0.0.1:{server.server_port}/"
        with open_page(there, 1280, 800, expected="404") as page:
            expect(page.get_by_text("lacks simoom.wasm: make site")).to_be_visible()
        server.shutdown()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_accessible(open_page, link, width):
    with open_page(link, width, 844) as page:
        expect(page.locator(".cm-content")).to_contain_text("performance anomaly")
        write(page, cell())
        views = {}

        def look(name):
            found = Axe().run(page).response["violations"]
            views[name] = [(fault["id"], fault["nodes"][0]["html"]) for fault in found]
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name}: {wide} pixels wide"

        look("scenario")
        run(page)
        look("run")
        page.get_by_role("link", name="Open the air").click()
        expect(page.locator(".air .heading")).to_contain_text("frames")
        look("air")
        page.get_by_role("link", name="Runs", exact=True).click()
        look("runs")
        run(page)
        page.get_by_role("link", name="Runs", exact=True).click()
        choose_all(page, 2)
        page.get_by_role("button", name="Compare two runs").click()
        expect(page.get_by_label("Results of both runs")).to_be_visible()
        look("compare")
        assert not any(views.values()), views
