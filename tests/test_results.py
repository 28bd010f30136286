"""A comparison with a record finds differences, and random scenarios are reproducible."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULT = {
    "digest": "00c0ffee00c0ffee",
    "values": {"total.goodput_mbps": "1.5", "flows[12].fec.units": "7", "ap.name": '"a b"'},
    "series": {"flows[12].srtt_s": "100 00000000000000ab"},
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    return importlib.import_module


def test_equal_results_do_not_differ(bench: Callable[[str], ModuleType]) -> None:
    results = bench("results")
    values = dict(reversed(RESULT["values"].items()))
    again = RESULT | {"values": values}
    assert results.compare("a", results.row(RESULT), again, RESULT) == []


@pytest.mark.parametrize(
    ("change", "expected_lines"),
    [
        ({"digest": "0"}, ["a: digest"]),
        (
            {"values": RESULT["values"] | {"total.goodput_mbps": "1.5000000000000002"}},
            ["a: values", "    total.goodput_mbps: 1.5000000000000002, was 1.5"],
        ),
        (
            {"values": {"ap.name": '"a b"', "flows[12].fec.units": "7", "new": "1"}},
            ["a: values", "    total.goodput_mbps: missing, was 1.5", "    new: 1, was missing"],
        ),
        (
            {"series": {"flows[12].srtt_s": "100 00000000000000ac"}},
            [
                "a: series",
                "    series flows[12].srtt_s: 100 00000000000000ac, was 100 00000000000000ab",
            ],
        ),
    ],
)
def test_a_difference_is_reported(
    bench: Callable[[str], ModuleType], change: dict[str, object], expected_lines: list[str]
) -> None:
    results = bench("results")
    assert results.compare("a", results.row(RESULT), RESULT | change, RESULT) == expected_lines
    assert results.compare("a", results.row(RESULT), RESULT | change, None) == expected_lines[:1]


def test_a_renamed_path_is_no_difference(
    bench: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = bench("results")
    names = {"flows[*].fec.units": "flows[*].code.units", "ap.name": None}
    monkeypatch.setattr(results, "RENAMED", names)
    after = {"total.goodput_mbps": "1.5", "flows[12].code.units": "7", "ap.name": '"other"'}
    after = RESULT | {"values": after}
    assert results.compare("a", results.row(RESULT), after, RESULT) == []
    after["values"]["flows[12].code.units"] = "8"
    assert results.differences(RESULT, after) == ["flows[12].code.units: 8, was 7"]


def test_only_the_paths_of_issues_are_compared(bench: Callable[[str], ModuleType]) -> None:
    results = bench("results")
    issues = [["stations", "there are none"], ["flows", "there are none"]]
    refused = results.result({"issues": issues})
    said_otherwise = results.result({"issues": [[path, "none"] for path, _ in reversed(issues)]})
    assert results.row(refused) == results.row(said_otherwise)
    assert refused["digest"] == "refused"
    assert results.row(refused) != results.row(results.result({"issues": issues[:1]}))


def test_the_record_has_every_run(bench: Callable[[str], ModuleType], tmp_path: Path) -> None:
    results = bench("results")
    assert list(results.read_record()) == list(results.runner_inputs(tmp_path))


def test_a_scenario_depends_only_on_its_number(bench: Callable[[str], ModuleType]) -> None:
    scenario = bench("random_scenarios").scenario
    texts = [json.dumps(scenario(number)) for number in range(40)]
    assert texts == [json.dumps(scenario(number)) for number in range(40)]
    assert len(set(texts)) == 40
    assert texts[0] != json.dumps(scenario(0, seed=2))


def test_half_of_the_scenarios_have_a_radio(bench: Callable[[str], ModuleType]) -> None:
    scenarios = [bench("random_scenarios").scenario(number) for number in range(80)]
    assert sum("radio" in made for made in scenarios) == pytest.approx(40, abs=2)
    high = sum(made.get("standard") in ("11n", "11ac", "11ax") for made in scenarios)
    assert high == pytest.approx(30, abs=2)
