"""Two scenarios compared by pairs of runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import simoom as sm
from simoom.runs.stats import holm, paired_p_value

Y = "total.goodput_mbps"


@pytest.fixture
def small() -> sm.Scenario:
    return sm.Scenario(
        standard="11g",
        stations=2,
        duration_s=1.0,
        wire={"rate_mbps": 10.0, "delay_ms": 5.0, "loss": {"uniform": {"probability": 0.01}}},
        flows=[{"name": "down", "from": "server", "to": "sta*"}],
    )


def test_p_values_are_those_of_the_paired_t_test() -> None:
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 12))
    assert paired_p_value(a, b) == pytest.approx(ttest_rel(b, a).pvalue)
    assert paired_p_value([1, 2], [1, 2]) == 1
    assert paired_p_value([1, 2], [2, 3]) == 0


def test_verdicts_together_err_as_often_as_one() -> None:
    # Ten results without any difference, many times.
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        p = [paired_p_value(*rng.normal(size=(2, 10))) for _ in range(10)]
        wrong += min(holm(p)) < 0.05
    assert wrong / 400 < 0.08
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_equal_scenarios_are_equal(small) -> None:
    done = sm.compare(small, small, replications=3)
    assert {row.verdict for row in done} == {"equal"}
    assert done[Y].difference.mean == 0


def test_a_faster_wire_is_better(small) -> None:
    paths = [Y, "total.delay_s.mean", 'sum(flows["down"].packets_sent)', "total.attempts"]
    done = sm.compare(small, small.set("wire.rate_mbps", 100.0), results=paths, replications=8)
    assert [row.path for row in done] == paths
    row = done[Y]
    assert (row.unit, row.verdict) == ("Mb/s", "better")
    first, second = done.first, done.second
    pairs = sm.paired_difference(first.values(Y), second.values(Y))
    assert row.difference == pairs
    assert row.p_value >= paired_p_value(first.values(Y), second.values(Y))
    assert done[paths[2]].verdict == "higher"
    back = sm.compare(small.set("wire.rate_mbps", 100.0), small, results=paths, replications=8)
    assert back[Y].verdict == "worse"
    assert back[Y].difference.mean == pytest.approx(-row.difference.mean)
    assert done.frame().columns[:4] == ["result", "unit", "first", "second"]
    with pytest.raises(KeyError, match=r"nearest (is|are) total\.goodput_mbps"):
        done["total.goodput"]


def test_pairs_are_run_until_the_difference_is_precise(small) -> None:
    other = small.set("flows[*].control", "cubic")
    done = sm.compare(small, other, until="5 %", results=[Y])
    row = done[Y]
    assert done.reached[0].reached
    assert row.difference.half_width <= 0.05 * row.first.mean
    assert len(done.first) == len(done.second) >= 20
    with pytest.warns(UserWarning, match=r"difference of total\.goodput_mbps: .* 20 runs; ±"):
        sm.compare(small, other, until="0.01 %", max_replications=20, results=[Y])


def test_faults_are_said(small) -> None:
    with pytest.raises(ValueError, match="at least 2, is 1"):
        sm.compare(small, small, replications=1)
    with pytest.raises(ValueError, match=r"results: there is no result 'total\.x'"):
        sm.compare(small, small, results=["total.x"])
    with pytest.raises(ValueError, match="must name at least one"):
        sm.compare(small, small, results=[])
    with pytest.raises(ValueError, match="confidence"):
        sm.compare(small, small, confidence=95)
    with pytest.raises(KeyError, match=r"there is no 'flows\[9\]"):
        sm.compare(small, small, results=["flows[9].goodput_mbps"], replications=2)


def test_the_command_line(simoom, cell_file) -> None:
    common = ["compare", cell_file, "--set", "duration_s=1", "-n", 4]
    done = simoom(*common, "--change", "wire.rate_mbps=1")
    assert done.returncode == 0, done.stderr
    assert "worse" in done.stdout
    assert "Holm" in done.stdout
    path = 'flows["down"].goodput_mbps'
    done = simoom(*common, cell_file, "--change", "wire.rate_mbps=1", "--result", path, "--json")
    (row,) = json.loads(done.stdout)["results"]
    assert (row["result"], row["verdict"], row["n"]) == (path, "worse", 4)
    for options, message in (
        ([], "OTHER: name a second scenario"),
        (["nofile.toml"], "nofile.toml: there is no such file"),
        (["--change", "wire.rate=1"], "did you mean rate_mbps"),
        (["--change", "stations=4", "--result", "total.x"], "--result: there is no result"),
        (["--change", "stations=4", "--result", "flows[9].timeouts"], "--result: there is no"),
    ):
        done = simoom(*common, *options)
        assert done.returncode == 2, options
        assert message in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("width", [80, 40])
def test_the_table_cuts_no_number(simoom, cell_file, monkeypatch, width) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    common = [cell_file, "--set", "duration_s=1"]
    compared = simoom("compare", *common, "-n", 4, "--change", "wire.rate_mbps=1")
    until = simoom("run", *common, "--until", "20 %")
    for done in (compared, until):
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert max(map(len, lines)) <= width
        # Names may be cut where there is no room for them, and nothing else.
        assert not [line for line in lines if "…" in line.lstrip()[28:]]
        assert " ± " in done.stdout
        assert "│" not in done.stdout
