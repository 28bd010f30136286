"""The catalogue of observables, and what is derived from it."""

import json
import re
import warnings
from pathlib import Path

import pytest

import simoom as sm
from simoom.base import kinds, palette
from simoom.cli import main
from simoom.runs.sweep import sweep
from simoom.scenario import observables

ROOT = Path(__file__).parents[1]
KINDS = ["cafe", "dumbbell", "lt_tcp", "three_cells"]
"""Scenario files: a cell with a wire, links alone, coded flows, cells with radios."""

WIRED = """
standard = "11g"
stations = 1
duration_s = 2.0
wire.rate_mbps = 20.0
flows = [{ from = "server", to = "sta0" }]
"""


def test_every_observable_says_what_it_is():
    for path, each in observables.catalogue().items():
        assert path == each.path
        assert each.unit, path
        assert each.heading, path
        assert each.title, path
        assert re.fullmatch(r"[A-Z`].+\.", each.meaning), path


def test_every_path_is_declared_once():
    paths = [
        f"{place}.{entry['name']}" for entry in observables.declared() for place in entry["places"]
    ]
    assert len(paths) == len(set(paths))


def test_every_use_of_the_airtime_is_a_result_and_has_a_look():
    found = (re.fullmatch(r"airtime\.(\w+)_fraction", path) for path in observables.catalogue())
    airtime = [kind[1] for kind in found if kind]
    assert airtime == list(kinds.AIRTIME) == list(palette.USES)
    assert palette.USES["idle"] == palette.REST
    looks = [*palette.AIRTIME_LOOKS, palette.REST]
    assert len({look.colour for look in looks}) == len({look.shade for look in looks}) == len(looks)


def test_every_cause_of_losses_is_a_result_of_flows():
    counted = [cause.result for cause in kinds.CAUSES if cause.result]
    assert {f"flows[i].{result}" for result in counted} <= set(observables.catalogue())
    assert len(counted) == len(set(counted)) == len(kinds.CAUSES) - 1, "messages of routers"


@pytest.mark.parametrize("name", KINDS)
def test_the_probes_of_a_scenario_are_those_that_it_has(name):
    scenario = sm.Scenario.load(ROOT / "scenarios" / f"{name}.toml")
    scenario = scenario.set("duration_s", 8).set("warmup_s", 7)
    probes = scenario.probes()
    run = sm.run(scenario, probes=[probe.path for probe in probes])
    assert len(run.probes) == sum(probe.series for probe in probes)
    for path in run.probes:
        each = observables.observable(path)
        assert (each.unit, each.meaning) in {(probe.unit, probe.meaning) for probe in probes}


@pytest.mark.parametrize("name", KINDS)
def test_the_command_lists_the_probes(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    file = ROOT / "scenarios" / f"{name}.toml"
    assert main(["probes", str(file), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed == [probe._asdict() for probe in sm.Scenario.load(file).probes()]
    assert main(["probes", str(file)]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    for probe in listed:
        assert re.search(rf"^{re.escape(probe['path'])} +{probe['series']} ", printed, re.MULTILINE)


def test_a_narrow_terminal_shows_whole_paths_and_meanings(capsys, monkeypatch, cell_file):
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["probes", str(cell_file)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for probe in sm.Scenario.load(cell_file).probes():
        heading = probe.path if probe.unit == "1" else f"{probe.path}, {probe.unit}"
        assert f"{heading} {probe.meaning}" in printed


def test_a_faulty_scenario_has_no_probes(capsys, cell_file):
    assert main(["probes", str(cell_file), "--set", "wire.rate_mbps=-1"]) == 2
    assert capsys.readouterr().err.startswith("wire.rate_mbps: ")


def test_a_former_name_gives_the_value_with_a_warning():
    scenario = sm.Scenario.parse(WIRED)
    run = sm.run(scenario)
    with pytest.warns(DeprecationWarning, match=r"wire\.down\.utilisation") as warnings_seen:
        busy = run.summary["wire.down.busy_fraction"]
    assert len(warnings_seen) == 1
    assert warnings_seen[0].filename == __file__
    assert busy == run.summary["wire.down.utilisation"] > 0.5
    assert "wire.down.busy_fraction" not in dict(run.summary)
    with pytest.warns(DeprecationWarning, match="utilisation"):
        mean = sm.replicate(scenario, replications=2).mean("wire.up.busy_fraction").mean
    with pytest.warns(DeprecationWarning, match="utilisation"):
        swept = sweep(scenario, over={"stations": [1]}).mean("wire.up.busy_fraction")["mean"][0]
    assert 0 < mean < 1
    assert 0 < swept < 1


def test_a_present_name_gives_no_warning():
    run = sm.run(sm.Scenario.parse(WIRED))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run.summary["wire.down.utilisation"] > 0
        with pytest.raises(KeyError, match="utilisation"):
            run.summary["wire.down.utilization"]
