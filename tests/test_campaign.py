"""A small share of the campaign, with fixed numbers; docs/reliability.md has the whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign import inputs, interrupts, trials
from campaign.minimise import minimised

import simoom as sm


@pytest.mark.parametrize("number", range(40))
def test_a_random_scenario_obeys_all_laws_or_is_refused(number):
    assert trials.scenario(inputs.scenario(number)) == ""


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_mutated_files_and_scripts_are_read_or_refused(first):
    for number in range(first, first + 100):
        assert trials.mutated(*inputs.mutated(number)) == "", number


@pytest.mark.parametrize("number", range(6))
def test_what_only_looks_at_a_run_does_not_change_it(number):
    assert trials.law(inputs.scenario(number)) == ""


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

    def is_sound(made) -> bool:
        try:
            sm.Scenario(**made).check()
        except sm.ScenarioError:
            return False
        return True

    made = [inputs.scenario(number) for number in range(120)]
    sound = [each for each in made if is_sound(each)]
    assert 0.3 * len(made) <= len(sound) <= 0.95 * len(made)
    places = {"wire", "links", "cells", "radio", "edca", "aggregation", "placement", "movement"}
    news = {"routing", "interferers", "full_duplex", "waypoints", "rate_control", "fec"}
    assert places | news <= tables(sound)


def test_the_minimiser_removes_all_that_does_not_matter():
    def fails(made):
        flows = made.get("flows", [])
        return made.get("stations", 0) > 2 and any(f.get("to") == "sta1" for f in flows)

    made = inputs.scenario(1) | {"stations": 12}
    made["flows"] = [{"from": "server", "to": "sta0"}, {"from": "server", "to": "sta1"}]
    assert minimised(made, fails) == {"stations": 3, "flows": [{"to": "sta1"}]}
