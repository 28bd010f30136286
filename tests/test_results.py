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
    "values": {"total.goodput_mbps": "1.5", "flows[12].fec.units": "7", "ap.name": "'a b'"},
    "series": {"flows[12].srtt_s": "100 00000000000000ab"},
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    return importlib.import_module


def test_equal_results_do_not_differ(bench: Callable[[str], ModuleType]) -> None:
    results = bench("results")
    again = RESULT | {"values": dict(reversed(RESULT["values"].items()))}
    assert results.compare("a", results.row("a", RESULT), results.row("a", again)) is None
    assert results.compare_run("a", RESULT, again) == []


@pytest.mark.parametrize(
    ("change", "part", "expected_lines"),
    [
        ({"digest": "0"}, "digest", []),
        (
            {"values": RESULT["values"] | {"total.goodput_mbps": "1.5000000000000002"}},
            "values",
            ["total.goodput_mbps: 1.5000000000000002, was 1.5"],
        ),
        (
            {"values": {"ap.name": "'a b'", "flows[12].fec.units": "7", "new": "1"}},
            "values",
            ["total.goodput_mbps: missing, was 1.5", "new: 1, was missing"],
        ),
        (
            {"series": {"flows[12].srtt_s": "100 00000000000000ac"}},
            "series",
            ["series flows[12].srtt_s: 100 00000000000000ac, was 100 00000000000000ab"],
        ),
    ],
)
def test_a_difference_is_reported(
    bench: Callable[[str], ModuleType],
    change: dict[str, object],
    part: str,
    expected_lines: list[str],
) -> None:
    results = bench("results")
    after = RESULT | change
    before, now = results.row("a", RESULT), results.row("a", after)
    assert results.compare("a", before, now) == f"a: {part}"
    expected = ["    a", *(f"        {line}" for line in expected_lines)]
    assert results.compare_run("a", RESULT, after) == expected


@pytest.mark.parametrize("changed", ["terminal", "html", "json", "notebook"])
def test_each_form_of_a_report_is_compared(
    bench: Callable[[str], ModuleType], changed: str
) -> None:
    results = bench("results")
    report = dict.fromkeys(("terminal", "html", "json", "notebook"), b"1.5 Mb/s")
    name = "report/scenarios/cafe"
    before, after = (results.row(name, each) for each in (report, report | {changed: b"1.6"}))
    assert results.compare(name, before, after) == f"{name}: {changed}"


def test_fifty_random_runs_share_a_line_that_differs_if_one_does(
    bench: Callable[[str], ModuleType],
) -> None:
    results = bench("results")
    rows = {f"random/{n:04}": results.row("random", RESULT) for n in range(100)}
    lines = results.lines_of(rows)
    assert list(lines) == ["random/0000-0049", "random/0050-0099"]
    rows["random/0073"] = results.row("random", RESULT | {"digest": "0"})
    now = results.lines_of(rows)
    told = [results.compare(line, hashes, now[line]) for line, hashes in lines.items()]
    assert told == [None, "random/0050-0099: digest"]


def test_a_pattern_chooses_runs_and_the_whole_of_their_lines(
    bench: Callable[[str], ModuleType],
) -> None:
    results = bench("results")
    names = [f"random/{n:04}" for n in range(100)] + ["scenarios/cafe", "report/scenarios/cafe"]
    runs = dict.fromkeys(names)
    assert list(results.chosen(runs, ["random/0073"])) == names[50:100]
    assert list(results.chosen(runs, ["cafe"])) == names[100:]
    assert list(results.chosen(runs, ["report/*"])) == names[101:]
    assert list(results.chosen(runs, [])) == names


def test_a_renamed_path_is_no_difference(
    bench: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = bench("results")
    names = {"flows[*].fec.units": "flows[*].code.units", "ap.name": None}
    monkeypatch.setattr(results, "RENAMED", names)
    after = {"total.goodput_mbps": "1.5", "flows[12].code.units": "7", "ap.name": "'other'"}
    after = RESULT | {"values": after}
    assert results.compare_run("a", RESULT, after) == []
    after["values"]["flows[12].code.units"] = "8"
    assert results.differences(RESULT, after) == ["flows[12].code.units: 8, was 7"]


def test_only_the_paths_of_issues_are_compared(bench: Callable[[str], ModuleType]) -> None:
    results, outputs = bench("results"), bench("outputs")

    def refused(*paths: str) -> tuple[str, ...]:
        return results.row("a", {"digest": "refused", "values": outputs.refusal(paths)})

    assert refused("stations", "flows") == refused("flows", "stations")
    assert refused("stations", "flows") != refused("stations")


def test_the_record_has_every_run(bench: Callable[[str], ModuleType], tmp_path: Path) -> None:
    results, outputs = bench("results"), bench("outputs")
    lines = dict.fromkeys(map(results.line_of, outputs.inputs(tmp_path)))
    assert list(results.read_record()) == list(lines)
    shapes = {name: len(hashes) for name, hashes in results.read_record().items()}
    assert shapes == {name: len(outputs.parts(name)) for name in lines}


def test_a_scenario_depends_only_on_its_number(bench: Callable[[str], ModuleType]) -> None:
    scenario = bench("random_scenarios").scenario
    texts = [json.dumps(scenario(number)) for number in range(40)]
    assert texts == [json.dumps(scenario(number)) for number in range(40)]
    assert len(set(texts)) == 40
    assert texts[0] != json.dumps(scenario(0, seed=2))


def test_half_of_the_scenarios_have_a_radio(bench: Callable[[str], ModuleType]) -> None:
    random = bench("random_scenarios")
    scenarios = [random.scenario(number) for number in range(80)]
    assert sum("radio" in made for made in scenarios) == pytest.approx(40, abs=2)
    high = sum(made.get("standard") in random.HIGH for made in scenarios)
    assert high == pytest.approx(30, abs=2)
