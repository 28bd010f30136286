"""Every example scenario runs under the checker and has a description."""

from pathlib import Path

import pytest

import simoom as sm
from simoom.scenario import shipped

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
# A minute of fifty moving nodes, or of several cells, under the checker.
LONG = {"adhoc_50", "grid", "mobile_campus"}


def test_there_are_enough():
    assert len(FILES) >= 8


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[pytest.mark.thorough] if file.stem in LONG else [])
        for file in FILES
    ],
    ids=lambda file: file.stem,
)
def test_a_scenario_runs(file):
    text = file.read_text(encoding="utf-8")
    assert text.removeprefix(shipped.DIRECTIVE).startswith("# ")
    scenario = sm.Scenario.load(file)
    assert scenario.get("title")
    run = sm.run(scenario, check=True)
    assert run.summary["total.goodput_mbps"] > 0
    assert run.simulated_s == pytest.approx(scenario.get("duration_s"))
    assert run.title in run.report()
