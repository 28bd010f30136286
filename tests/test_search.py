"""Sensitivity and optimisation over noisy runs."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import simoom as sm
from simoom.runs import search as search_module
from simoom.runs.designs import scaled
from simoom.runs.search import constraints
from simoom.runs.stats import Estimate
from simoom.runs.sweep import Point
from simoom.store.store import Store

Y = "total.goodput_mbps"


@pytest.fixture
def cell() -> sm.Scenario:
    return sm.Scenario(
        standard="11b",
        stations=8,
        duration_s=1.0,
        flows=[{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    )


# --- sensitivity ----------------------------------------------------------------------------------


def test_settings_that_move_a_result_are_found(cell, tmp_path):
    space = {"wire.delay_ms": (1.0, 9.0), "stations": (1, 30), "wlan.cw_min": [7, 15, 31, 63]}
    found = sm.sensitivity(cell, space, points=16, replications=2, store=tmp_path)
    assert {effect.path for effect in found.effects[:2]} == {"stations", "wlan.cw_min"}
    # A cell without wired traffic does not depend on the wire.
    assert found["wire.delay_ms"].total.mean == pytest.approx(0.0, abs=1e-9)
    assert 0.0 < found.noise < 0.2
    assert found.frame().columns == ["path", "total", "total_low", "total_high",
                                     "first", "first_low", "first_high"]  # fmt: skip
    made = len(Store(tmp_path))
    again = sm.sensitivity(cell, space, points=16, replications=2, store=tmp_path)
    assert again.frame().equals(found.frame())
    assert len(Store(tmp_path)) == made
    ranked = sm.sensitivity(cell, space, method="morris", points=4, replications=2, store=tmp_path)
    assert ranked.effects[-1].path == "wire.delay_ms"
    assert ranked["stations"].total.mean > 0.5
    assert "spread" in ranked.frame().columns


def test_indices_are_those_of_a_known_function(monkeypatch, cell):
    """Ishigami's function: S1 = 0.314, 0.442, 0; ST = 0.558, 0.442, 0.244 (Saltelli et al.)."""

    class Runs:
        def __init__(self, point):
            a, b, c = (-math.pi + 2 * math.pi * point[p] for p in ("a", "b", "c"))
            value = math.sin(a) + 7 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)
            self.runs = [type("R", (), {"summary": {Y: value}})()]

        def measured(self, _path):
            return True

        def __iter__(self):
            return iter(self.runs)

    def fake(_scenario, *, over, **_):
        return type("S", (), {"points": [Point(point, Runs(point)) for point in over]})()

    monkeypatch.setattr(sys.modules["simoom.runs.sensitivity"], "sweep", fake)
    space = dict.fromkeys("abc", (0.0, 1.0))
    found = sm.sensitivity(cell, space, points=2048, replications=1)
    first = [found[path].first.mean for path in "abc"]
    total = [found[path].total.mean for path in "abc"]
    assert first == pytest.approx([0.314, 0.442, 0.0], abs=0.03)
    assert total == pytest.approx([0.558, 0.442, 0.244], abs=0.03)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"method": "fast"}, ValueError, "method: must be one of sobol, morris"),
        ({"points": 12}, ValueError, "points: must be a power of two"),
        ({"space": {"stations": (1, 4)}}, ValueError, "at least two paths"),
        ({"space": {"stations": (1, 4), "wlan.cw_mni": (7, 9)}}, sm.ScenarioError, "cw_mni"),
        ({"result": "total.goodputs_mbps"}, ValueError, "result: there is no result"),
        ({"result": "total.queue_drops"}, ValueError, "is 0 at all points"),
        ({"result": "total.session_delay_s.mean"}, ValueError, "has no value in any run"),
    ],
)
def test_what_no_sensitivity_can_be_found_of_is_refused(cell, changes, error, message):
    arguments = {"space": {"stations": (1, 4), "wire.delay_ms": (1.0, 2.0)}, "points": 2,
                 "replications": 1} | changes  # fmt: skip
    with pytest.raises(error, match=message):
        sm.sensitivity(cell, **arguments)


def test_a_missing_package_is_named(cell, monkeypatch):
    monkeypatch.setitem(sys.modules, "SALib.sample.sobol", None)
    with pytest.raises(ImportError, match=r"a sensitivity analysis needs .*'simoom\[design\]'"):
        sm.sensitivity(cell, {"stations": (1, 4), "wire.delay_ms": (1.0, 2.0)}, points=2)


# --- optimise -------------------------------------------------------------------------------------


def test_the_best_of_lists_has_an_interval_of_other_runs(cell, tmp_path):
    over = {"wlan.cw_min": [7, 31, 127]}
    found = sm.optimise(cell, over=over, replications=5, store=tmp_path)
    assert found.at == {"wlan.cw_min": 127}
    assert found.estimate.n == 5
    assert found.value == found.estimate.mean
    assert found.ahead.ci_low > 0
    seeds = {record.run.seed for record in Store(tmp_path).records()}
    assert seeds == {1, 2, 3}
    # The interval is from the third seed alone.
    alone = sm.replicate(cell.set("wlan.cw_min", 127), replications=5, seed=3)
    assert found.estimate == alone.mean(Y)
    assert sm.optimise(cell, over=over, replications=5, store=tmp_path).tried == found.tried
    assert sm.optimise(cell, over=over, replications=5, maximise=False).at == {"wlan.cw_min": 7}


def test_constraints_are_met_by_the_winner(cell):
    """Without the bound the largest window has the most goodput; delays grow with the queue."""
    scenario = cell.set("duration_s", 2.0)
    over = {"stations": [1, 2, 4, 8]}
    free = sm.optimise(scenario, over=over, objective="total.delay_s.p99", replications=3)
    assert free.at == {"stations": 8}
    bound = sm.optimise(scenario, over=over, objective="total.delay_s.p99",
                        given="total.collision_probability < 0.17", replications=3)  # fmt: skip
    assert bound.at == {"stations": 4}
    (held,) = bound.given
    assert held.verdict == "met"
    assert held.estimate.ci_high < 0.17
    assert [row["feasible"] for row in bound.tried][-1] is False
    with pytest.raises(ValueError, match=r"none of 4 points has .* <= 1e-09; the nearest has"):
        sm.optimise(scenario, over={"stations": [2, 4, 6, 8]}, replications=2,
                    given=["total.collision_probability < 1e-9"])  # fmt: skip


def test_a_range_is_searched_by_optuna_and_equal_calls_are_equal(cell):
    pytest.importorskip("optuna")
    over = {"wlan.cw_min": [7, 15, 31, 63, 127, 255, 511], "stations": (1, 40)}
    arguments = {"over": over, "replications": 2, "trials": 14, "given": "total.jain_index > 0.2"}
    found = sm.optimise(cell, **arguments)
    assert len(found.tried) <= 14
    assert found.value > np.mean([row["value"] for row in found.tried])
    assert sm.optimise(cell, **arguments).tried == found.tried


def test_the_twin_has_constraints_too(cell):
    over = {"wlan.cw_min": [7, 31, 127]}
    free = sm.optimise(cell, over=over)
    bound = sm.optimise(cell, over=over, maximise=False, given="total.collision_probability < 0.2")
    assert free.at == {"wlan.cw_min": 127}
    assert bound.at["wlan.cw_min"] in (31, 127)
    with pytest.raises(ValueError, match="given: none of 3 points has"):
        sm.optimise(cell, over=over, given="total.collision_probability < 0.001")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"given": "total.delay_s.p99"}, 'write "RESULT < NUMBER UNIT"'),
        ({"given": "total.delay_s.p99 < 5 Mb/s"}, "the unit of total.delay_s.p99 is s"),
        ({"given": "total.delays < 5"}, "given: there is no result 'total.delays'"),
        ({"replications": 1}, "replications: must be at least 2"),
        ({"trials": 0}, "trials: must be at least 1"),
        ({"over": {}}, "over: names no path"),
        ({"over": {"stations": (5, 5)}}, "the first must be less than the second"),
        ({"using": sm.run}, "using: is for single evaluations"),
        ({"objective": "total.goodput"}, "objective: there is no result"),
        ({"objective": "total.session_delay_s.mean"}, "has no value in some runs"),
    ],
)
def test_what_cannot_be_searched_is_refused(cell, changes, message):
    arguments = {"over": {"stations": [1, 2]}, "replications": 2} | changes
    with pytest.raises(ValueError, match=message):
        sm.optimise(cell, **arguments)


def test_a_constraint_has_a_verdict_at_its_confidence():
    (bound,) = constraints("total.delay_s.p99 <= 50 ms")
    assert bound.bound == pytest.approx(0.05)
    inside = Estimate(0.05, 0.04, 0.06, 9)
    assert bound.verdict(inside) == "undecided"
    assert bound.verdict(Estimate(0.02, 0.01, 0.03, 9)) == "met"
    assert bound.verdict(Estimate(0.08, 0.07, 0.09, 9)) == "violated"
    (above,) = constraints(["total.goodput_mbps > 5 Mb/s"])
    assert above.verdict(Estimate(6.0, 5.5, 6.5, 9)) == "met"


def test_the_interval_of_the_winner_holds_as_often_as_it_says(monkeypatch, cell):
    """Ten points with equal means: the best mean of the search is too good, the interval is not."""
    rng = np.random.default_rng(3)

    class Runs(list):
        def mean(self, path):
            raise AssertionError(path)

    def fake(_scenario, *, over, replications, **_):
        def runs() -> Runs:
            drawn = rng.normal(5, 1, replications)
            return Runs(type("R", (), {"summary": {Y: x}})() for x in drawn)

        return type("S", (), {"points": tuple(Point(point, runs()) for point in over)})()

    monkeypatch.setattr(search_module, "sweep", fake)
    held, naive = 0, []
    for _ in range(400):
        found = sm.optimise(cell, over={"stations": list(range(1, 11))}, replications=5)
        held += 5.0 in found.estimate
        naive.append(max(row["value"] for row in found.tried))
    assert 0.92 <= held / 400 <= 0.98
    assert np.mean(naive) > 5.5


def test_the_scale_of_a_design_is_public():
    assert scaled({"a": (0.0, 10.0)}, (), np.array([[0.5]])) == [{"a": 5.0}]
