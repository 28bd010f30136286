"""A small share of the campaign, with fixed numbers; docs/reliability.md has the whole."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from campaign import features, inputs, interrupts, laws, repairs, requests, trials
from campaign.minimise import minimised

import simoom as sm
from simoom.scenario import control


@pytest.mark.parametrize("number", range(40))
def test_a_random_scenario_obeys_all_laws_or_is_refused(number):
    assert trials.scenario(inputs.scenario(number)) == ""


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_mutated_files_and_scripts_are_read_or_refused(first):
    for number in range(first, first + 100):
        assert trials.mutated(*inputs.mutated(number)) == "", number


@pytest.mark.parametrize("number", range(len(features.ORDER)))
def test_runs_of_each_class_obey_the_laws_of_runs(number):
    assert trials.law(inputs.scenario(number)) == ""


def test_requests_are_answered_and_the_library_of_others_runs_nothing(monkeypatch):
    monkeypatch.setattr(control, "find", control.find)  # the site replaces it
    try:
        for number in range(200):
            assert requests.trial(number, lambda _: None) == "", number
    finally:
        requests.site().close()
        requests.site.cache_clear()


@pytest.mark.parametrize("number", range(8))
def test_closed_descriptors_end_no_command_by_a_traceback(number):
    assert interrupts.closed(number, str(Path(sm.__file__).parents[1])) == ""


def test_a_store_that_is_killed_damaged_and_compacted_gives_the_same_sweep():
    path = str(Path(sm.__file__).parents[1])
    assert interrupts.store(0, path) == ""


def test_random_scenarios_are_taken_and_refused_and_use_every_table():
    """Otherwise the campaign would show nothing."""

    def tables(value) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(tables, value))
        if isinstance(value, dict):
            return set(value).union(*map(tables, value.values()))
        return set()

    ends, sound = [], []
    for number in range(200):
        try:
            left = repairs.scenario(inputs.scenario(number), lambda _: "").to_dict()
        except repairs.Refused:
            ends.append((features.class_of(number), False))
        else:
            sound.append({key: value for key, value in left.items() if value})
            ends.append((features.class_of(number), True))
    for name in set(features.ORDER):
        taken = [is_taken for each, is_taken in ends if each == name]
        assert sum(taken) >= 0.7 * len(taken), name
    assert sum(is_taken for _, is_taken in ends) >= 0.9 * len(ends)
    places = {"wire", "links", "cells", "radio", "edca", "aggregation", "placement", "movement"}
    news = {"routing", "interferers", "full_duplex", "waypoints", "rate_control", "fec", "roaming",
            "mu", "uplink", "standard", "bandwidth_operation"}  # fmt: skip
    assert places | news <= tables(sound)


def test_networks_in_channels_that_overlap_leave_out_what_is_busy():
    """Most that may, leave out a part of their channel or narrow it, with OFDMA and without."""
    sent: dict[tuple[str, bool], list[bool]] = {}
    for number in range(16):
        draw = features.Draw(number)
        made = features.overlaps(draw, features.Values(random.Random(number), wild=False))
        inputs.shorten(made, 0.1)
        built = repairs.scenario(made, lambda _: "")
        operation = built.get("wlan.bandwidth_operation")
        if operation == "static":
            continue
        summary = sm.run(built).summary
        kinds = ("narrower_ppdus",) + ("punctured_ppdus",) * (operation == "punctured")
        is_confined = any(value for path, value in summary.items() if path.endswith(kinds))
        sent.setdefault((operation, "mu" in made["wlan"]), []).append(is_confined)
    assert len(sent) == 4
    assert all(sum(each) >= 0.5 * len(each) for each in sent.values()), sent


@pytest.mark.parametrize("kind", ["toml", "script", *inputs.MOVEMENTS])
def test_most_mutated_texts_are_repaired(kind):
    chosen = [text for name, text in map(inputs.mutated, range(300)) if name == kind]
    left = [repairs.text(text, lambda each: trials._fault_of(kind, each))[1] for text in chosen]
    assert left.count("") >= 0.5 * len(left)


def test_a_repair_deletes_what_the_message_names():
    made = {"standard": "11g", "stations": 2, "wlan": {"cw_min": 30, "slot": "short"}, "nothing": 1}
    built = repairs.scenario(made, lambda _: "")
    assert built.get("wlan.slot") == "short"
    assert built.get("wlan.cw_min") != 30
    # Flows were missing: the message says what to write.
    assert built.get("flows[0].to") == "sta*"
    with pytest.raises(AssertionError, match="unclear"):
        repairs.scenario(made, lambda _: "unclear")


def test_the_laws_find_what_they_look_for(small, monkeypatch):
    run = sm.run(small)
    assert laws.limits(small, run) == ""
    fast = replace(run, summary=sm.run(small).summary)
    fast.summary["flows[0].goodput_mbps"] = 70.0
    assert "over an air of" in laws.limits(small, fast)
    late = replace(run, summary=sm.run(small).summary)
    late.summary["flows[0].delay_s.max"] = 23.9
    assert "longer than the run" in laws.limits(small, late)
    made = {"standard": "11g", "stations": 1, "flows": [{"from": "server", "to": "sta0"}]}
    other = sm.run(small, seed=2)
    monkeypatch.setattr(laws.sm, "run", lambda *_, **__: other)
    assert laws.broken(small, made, run, lambda _: None) == "the same seed changes the run"


def test_the_minimiser_removes_all_that_does_not_matter():
    def fails(made):
        flows = made.get("flows", [])
        return made.get("stations", 0) > 2 and any(f.get("to") == "sta1" for f in flows)

    made = inputs.scenario(1) | {"stations": 12}
    made["flows"] = [{"from": "server", "to": "sta0"}, {"from": "server", "to": "sta1"}]
    assert minimised(made, fails) == {"stations": 3, "flows": [{"to": "sta1"}]}
