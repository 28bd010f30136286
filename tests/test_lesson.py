"""The lesson without installation: the simulator runs in the browser, with the same results."""

from __future__ import annotations

import http.server
import re
import subprocess
import threading
from functools import partial
from pathlib import Path

import pytest

import simoom as sm
from simoom.scenario import shipped

ROOT = Path(__file__).parents[1]
SIMULATOR = ROOT / "target" / "wasm32-unknown-unknown" / "web" / "simoom.wasm"


def has_target():
    """Whether Rust can build for WebAssembly here."""
    command = ["rustc", "--print", "target-libdir", "--target", "wasm32-unknown-unknown"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or "-").is_dir()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(site_builder, tmp_path_factory):
    """The address of a site with the simulator for browsers."""
    if not has_target():
        pytest.skip("Rust has no target wasm32-unknown-unknown: make lesson installs it")
    subprocess.run(["make", "lesson"], cwd=ROOT, check=True, capture_output=True)
    there = tmp_path_factory.mktemp("site")
    site_builder(there)
    handler = partial(Quiet, directory=str(there))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/lesson/index.html"
        server.shutdown()


@pytest.fixture
def page(site, browser):
    """The lesson in a browser."""
    page = browser.new_page()
    page.goto(site)
    yield page
    page.close()


@pytest.mark.parametrize("name", ["one_station", "hidden_nodes", "office_11ac"])
def test_a_run_in_the_browser_is_the_same_run(page, name):
    page.get_by_label("Scenario").select_option(name)
    text = page.get_by_label("Its text").input_value()
    assert text == next(each.text for each in shipped.scenarios() if each.name == name)
    page.get_by_label("Its text").fill(re.sub(r"duration_s = \S+", "duration_s = 6.0", text))
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Done.").wait_for(timeout=120_000)
    native = sm.run(sm.Scenario.load(name).set("duration_s", 6.0), seed=7)
    assert page.locator("#digest").inner_text() == native.digest
    shown = page.locator("#figures").inner_text()
    assert f"{native.summary['total.goodput_mbps']:.3g}" in shown


def test_a_fault_is_told_at_its_place_and_a_run_is_stopped(page):
    page.get_by_label("Its text").fill('standard = "11x"')
    page.get_by_role("button", name="Run").click()
    page.get_by_text("standard: must be one of").wait_for()
    page.get_by_label("Scenario").select_option("saturation_11b")
    text = page.get_by_label("Its text").input_value()
    page.get_by_label("Its text").fill(re.sub(r"duration_s = \S+", "duration_s = 1e6", text))
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Ready.").wait_for()
