"""Sweeps on the page of ``simoom serve``: keys that it offers, points as they come, and files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.serving import SWEPT, client_of, swept

import simoom as sm
from simoom.scenario.shipped import resolved
from simoom.serve.drafts import Desk, Draft
from simoom.serve.offers import offers_of
from simoom.serve.requests import AddSweep
from simoom.serve.sweeps import plan_of

CELL = """title = "Two stations"
standard = "11b"
stations = 2
duration_s = 4.0

[[flows]]
name = "up"
from = "sta*"
to = "ap"
traffic = "saturated"
"""


@pytest.fixture(scope="module")
def link(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("sweeps")
    (folder / "cell.toml").write_text(CELL, encoding="utf-8")
    with serve(folder, "cell.toml") as link:
        yield link


@pytest.fixture
def page(open_page, link):
    # A sweep that waits has no points yet.
    with open_page(link, 1280, 800, expected="status of 404") as page:
        expect(page.locator(".cm-content")).to_contain_text("Two stations")
        page.get_by_role("link", name="Sweep").click()
        expect(page.get_by_label("Key", exact=True)).not_to_have_value("")
        yield page


@pytest.mark.parametrize("name", ["cafe", "rrul", "dumbbell", "roaming"])
def test_every_key_that_is_offered_runs_with_all_its_values(name):
    desk, text = Desk(Path.cwd()), resolved(name).read_text(encoding="utf-8")
    offers = offers_of(Draft(text, desk))
    for offer in offers:
        values = ", ".join([offer["values"], *offer["more"]])
        asked = AddSweep(text, "", 1, {offer["path"]: values}, 1)
        assert plan_of(asked, desk, 1000).runs > 1, offer["path"]
    assert len(offers) > 20


def test_keys_that_a_scenario_has_are_offered_first_and_those_of_no_interest_after_them():
    text = SWEPT + 'control = "cubic"\n'
    offers = {offer["path"]: offer for offer in offers_of(Draft(text, Desk(Path.cwd())))}
    first = list(offers)[:4]
    assert first == ["stations", "flows[0].control", "flows[*].control", "standard"]
    assert offers["stations"]["values"] == "1, 2, 4"
    control = offers["flows[0].control"]
    assert control["values"].startswith("cubic, new_reno, ")
    assert "bbr" in control["more"]
    assert "python" not in control["more"]
    assert list(offers).index("flows[*].tcp.timestamps") > 4


def test_the_files_of_a_sweep_have_what_python_gives(tmp_path):
    with client_of(tmp_path) as page:
        key = swept(page, {"stations": "1, 2", "flows[*].control": "new_reno, cubic"})
        path = "flows[0].goodput_mbps"
        table, runs = (
            page.get(f"/api/sweeps/{key}/take/{name}?path={path}").text
            for name in ("points.csv", "runs.csv")
        )
        axes = {"stations": [1, 2], "flows[*].control": ["new_reno", "cubic"]}
        expected = sm.sweep(sm.Scenario.parse(SWEPT), over=axes, replications=2)
        rows = list(csv.DictReader(io.StringIO(table)))
        assert [float(row["ci_high"]) for row in rows] == [
            row["ci_high"] for row in expected.means(path)
        ]
        rows = list(csv.DictReader(io.StringIO(runs)))
        assert [float(row[path]) for row in rows] == [run.summary[path] for run in expected]
        # The second station is in half of the runs.
        second = [row["flows[1].goodput_mbps"] for row in rows]
        assert [value != "" for value in second] == [False] * 4 + [True] * 4
        for name in ("runs.txt", "..%2frun.csv"):
            assert page.get(f"/api/sweeps/{key}/take/{name}").status_code == 404
        assert page.get(f"/api/sweeps/{'0' * 64}/take/runs.csv").status_code == 404


def test_a_sweep_that_was_stopped_keeps_its_points_and_goes_on(tmp_path):
    with client_of(tmp_path) as page:
        text = SWEPT.replace("0.2", "2.0")
        body = {"text": text, "over": {"stations": "1, 2"}, "replications": 400, "seed": 1,
                "name": ""}  # fmt: skip
        key = page.post("/api/sweeps", json=body).json()["id"]
        while (found := page.get(f"/api/sweeps/{key}").json()).get("done", 0) < 4:
            pass
        page.delete(f"/api/runs/{key}")
        found = page.get(f"/api/sweeps/{key}").json()
        assert found["done"] < found["runs"] == 800
        assert [point["mean"] is not None for point in found["points"]] == [True, True]
        assert found["words"]["stations"] == "stations"
        assert page.get(f"/api/sweeps/{key}/take/points.csv").status_code == 200
        page.delete(f"/api/sweeps/{key}")
        assert page.get("/api/sweeps").json() == []


def test_a_key_of_the_scenario_brings_values_with_which_it_runs(page):
    expect(page.get_by_label("Key", exact=True)).to_have_value("stations")
    expect(page.get_by_label("Values").first).to_have_value("1, 2, 4, 8")
    page.get_by_label("Key", exact=True).fill("wlan.rate_control")
    expect(page.get_by_label("Values").first).to_have_value("fixed, arf, aarf, simple")
    expect(page.locator(".new-sweep")).to_contain_text("Also: cara")
    page.get_by_label("Values").first.fill("fixed, minstrel")
    page.get_by_role("button", name="Run the sweep").click()
    expect(page.locator(".sweep-plot .point")).to_have_count(2)


def test_an_answer_that_comes_late_is_not_shown_after_a_later_one(page):
    page.get_by_label("Values").first.fill("1, 2")
    page.get_by_role("button", name="Run the sweep").click()
    plot = page.locator(".sweep-plot")
    expect(page.get_by_role("region", name="Points").locator("tbody tr")).to_have_count(2)
    page.get_by_label("Result").select_option("total.attempts")
    expect(plot).to_contain_text("attempts")
    late = []

    def hold(route):
        late.append(route)

    page.route("**/api/sweeps/*path=total.goodput_mbps", hold)
    page.get_by_label("Result").select_option("total.goodput_mbps")
    page.get_by_label("Result").select_option("flows[0].goodput_mbps")
    expect(plot).to_contain_text("goodput of up")
    late[0].continue_()
    page.wait_for_timeout(1000)
    expect(plot).to_contain_text("goodput of up")


def test_points_are_there_while_a_sweep_goes_on_with_names_and_as_a_table(page):
    page.get_by_label("Values").first.fill("1, 2")
    page.get_by_label("Runs of each point").fill("900")
    page.get_by_role("button", name="Run the sweep").click()
    points = page.get_by_role("region", name="Points")
    expect(points.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("main")).to_contain_text("of 1800 runs so far")
    expect(page.get_by_role("heading", name="Two stations")).to_be_visible()
    expect(points).to_contain_text("total goodput, Mb/s")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("main")).to_contain_text("Stopped")
    expect(page.locator(".sweep-plot .point")).to_have_count(2)
    page.get_by_label("Result").select_option("flows[0].goodput_mbps")
    expect(page.locator(".sweep-plot")).to_contain_text("goodput of up")
    page.locator(".menu summary").click()
    assert Axe().run(page).response["violations"] == []
    for words, begin in (
        ("Picture (SVG)", b"<?xml"),
        ("Picture (PNG)", b"\x89PNG"),
        ("Points of this result (CSV)", b"stations,mean,"),
        ("All results of all runs (CSV)", b"stations,seed,"),
    ):
        with page.expect_download() as taken:
            page.get_by_role("button", name=words).click()
        assert Path(taken.value.path()).read_bytes().startswith(begin), words
