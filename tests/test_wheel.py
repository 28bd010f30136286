"""The wheel: the page of ``simoom serve`` opens from it, without Node and without the sources."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[1]
WAIT_S = 1800
"""A build of the simulator, where none is current, on a slow machine."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a Python that imports Simoom from the installed wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    made = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", folder]
    subprocess.run(made, cwd=ROOT, check=True, timeout=WAIT_S, stderr=subprocess.DEVNULL)
    (wheel,) = folder.glob("simoom-*.whl")
    place = folder / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", place, wheel], check=True, timeout=WAIT_S)
    return {**os.environ, "PYTHONPATH": str(place)}


def test_the_page_of_the_installed_wheel_runs_a_scenario(installed, browser, serve, tmp_path):
    where = subprocess.run(
        [sys.executable, "-c", "import simoom; print(simoom.__file__)"], cwd=tmp_path,
        env=installed, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert where.stdout.startswith(installed["PYTHONPATH"])
    with serve(tmp_path, env=installed) as link:
        page = browser.new_page()
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("requestfailed", lambda request: faults.append(request.url))
        page.goto(link)
        expect(page.locator(".cm-content")).to_contain_text("standard")
        page.get_by_role("tab", name="Form").click()
        page.get_by_label(re.compile("^Simulated time")).fill("4")
        page.get_by_label(re.compile("^Simulated time")).press("Tab")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("link", name="Open the air").click()
        expect(page.locator("#air[aria-busy=false]")).to_be_visible()
        expect(page.locator(".air .heading")).to_contain_text("frames")
        page.close()
    assert faults == []
