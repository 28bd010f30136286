"""The scenarios that come with Simoom are found by name, listed and copied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import simoom as sm
from simoom.scenario import shipped

NAMES = sorted(file.stem for file in (Path(__file__).parents[1] / "scenarios").glob("*.toml"))


def test_a_name_stands_for_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = sm.Scenario.load("performance_anomaly")
    assert named.get("standard") == "11b"
    # A file of the user goes first.
    Path("performance_anomaly").write_text('standard = "11g"', encoding="utf-8")
    assert sm.Scenario.load("performance_anomaly").get("standard") == "11g"


def test_each_has_a_title_and_says_what_it_shows():
    for each in shipped.scenarios():
        assert each.name in NAMES
        assert len(each.about) > 15
        assert each.title == sm.Scenario.load(each.name).get("title")


def test_no_shipped_scenario_needs_another_file():
    """A copy would lack it."""
    assert not any(sm.Scenario.load(name).core.files() for name in shipped.names())


def test_all_are_listed_or_those_with_a_word(simoom):
    listed = json.loads(simoom("scenarios", "--json").stdout)
    assert [each["name"] for each in listed] == NAMES
    assert "bluetooth\n    A Bluetooth headset" in simoom("scenarios", "HEADSET").stdout
    assert "cafe" not in simoom("scenarios", "HEADSET").stdout


def test_a_copy_is_one_s_own_file(simoom, tmp_path):
    done = simoom("new", "chain", "mine.toml")
    assert done.returncode == 0
    assert sm.Scenario.load(tmp_path / "mine.toml") == sm.Scenario.load("chain")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new", "chian"), "chian: no scenario of this name comes with Simoom; the nearest is"),
        (("new", "chain", "there"), "there: exists; name another file"),
        (("scenarios", "xyzzy"), "xyzzy: no scenario has this word; simoom scenarios lists all"),
        (("run", "chian"), "chian: there is no such file or scenario; the nearest is"),
        (("serve", "chian"), "chian: there is no such file or scenario; the nearest is"),
        (("run", "xyzzy"), "xyzzy: there is no such file or scenario; simoom scenarios lists"),
    ],
)
def test_a_wrong_name_is_one_message(simoom, tmp_path, arguments, message):
    (tmp_path / "there").touch()
    done = simoom(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
