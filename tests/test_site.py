"""The documentation site: it is built, complete, and needs no other host."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import simoom as sm
from simoom.scenario import shipped

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(site_builder, tmp_path_factory):
    there = tmp_path_factory.mktemp("site")
    site_builder(there)
    return there


def anchors(file):
    return set(re.findall(r'id="([^"]+)"', file.read_text("utf-8")))


def test_every_scenario_has_its_text_in_the_gallery(site):
    assert set(shipped.names()) <= anchors(site / "scenarios.html")


def test_every_public_name_has_its_documentation(site):
    documented = {anchor.rpartition(".")[2] for anchor in anchors(site / "python.html")}
    assert set(sm.__all__) - {"designs"} <= documented
    assert "latin_hypercube" in documented


def test_every_page_is_in_the_navigation(site):
    written = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    home = (site / "index.html").read_text("utf-8")
    linked = set(re.findall(r'href="([^"#]+\.html)"', home))
    pages = {
        str(page.with_name("index.html") if page.name == "README.md" else page.with_suffix(".html"))
        for page in written
    }
    assert pages - linked - {"index.html"} == set()


def test_every_table_of_keys_has_its_page(site):
    assert "mss_bytes" in (site / "scenario" / "tcp.html").read_text("utf-8")
    index = (site / "scenario.html").read_text("utf-8")
    links = re.findall(r'href="scenario/(\w+)\.html#(\w+)"', index)
    assert len(links) > 150
    missing = [(p, a) for p, a in links if a not in anchors(site / "scenario" / f"{p}.html")]
    assert missing == []
    script = (site / "tcp-script.html").read_text("utf-8")
    assert 'href="scenario/tcp.html#tcp"' in script
    assert 'href="scenario/tcp.html"' in script, "the navigation"


def test_nothing_comes_from_another_host(site):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(r'(?:src|<link[^>]*href)="(https?:[^"]*)', text)
        assert loaded == [], page.name


def test_text_does_not_need_scripts(site):
    lesson = (site / "tutorial" / "1-one-station.html").read_text("utf-8")
    assert "total goodput          24.4" in re.sub("<[^>]+>", "", lesson)


QUESTIONS = {
    "unit of a delay": ("delay_s", "results.html"),
    "a lower rate": ("rate_mbps", "scenario.html"),
    "fair queues": ("FQ-CoDel", "tutorial/3-queues.html"),
    "own congestion control": ("on_ack", "own-controller.html"),
    "moving nodes": ("waypoint", "movement.html"),
    "bluetooth": ("Bluetooth", "interference.html"),
    "wireshark": ("Wireshark", "trace-pcapng.html"),
    "how many runs": ("until", "sweep.html"),
    "why slow": ("simoom why", "why.html"),
    "long frame": ("simoom airtime", "background/aggregation.html"),
}


@pytest.mark.parametrize(("word", "page"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_search_finds_the_answer(site, word, page):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    found = [entry["location"] for entry in index["docs"] if word in entry["text"]]
    assert any(location.startswith(page) for location in found)
