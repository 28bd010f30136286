"""Control variates: a smaller interval, the same mean."""

from __future__ import annotations

import numpy as np
import pytest

import simoom as sm
from simoom.runs.variates import LEAST_RUNS, controlled, controls

Y = "total.goodput_mbps"


@pytest.fixture
def lossy() -> sm.Scenario:
    return sm.Scenario(
        standard="11g",
        stations=1,
        duration_s=4.0,
        wire={"rate_mbps": 50.0, "delay_ms": 10.0, "loss": {"uniform": {"probability": 0.01}}},
        flows=[{"from": "server", "to": "sta*"}],
    )


def test_the_mean_of_a_control_is_zero(lossy):
    """Over 200 runs, at four standard errors; the runs end at times that the losses do not set."""
    runs = sm.replicate(lossy.set("duration_s", 1.0), replications=200)
    for each in controls(lossy):
        values = np.array([each.value(run.summary) for run in runs])
        assert abs(values.mean()) < 4 * values.std(ddof=1) / 200**0.5
        assert values.std() > 1


def test_goodput_over_a_lossy_wire_has_a_narrower_interval(lossy):
    runs = sm.replicate(lossy, replications=40)
    found = runs.controlled(Y)
    assert found.plain == runs.mean(Y)
    assert found.names == ("wire.down.losses", "wire.up.losses")
    assert found.saved > 0.5
    assert found.estimate.half_width < 0.75 * found.plain.half_width
    assert abs(found.estimate.mean - found.plain.mean) < found.plain.half_width
    assert runs.controlled("total.delay_s.mean") is not None


def test_a_comparison_has_both_differences_and_the_plain_verdict(lossy):
    other = lossy.set("wire.delay_ms", 20.0)
    found = sm.compare(lossy, other, results=[Y], replications=30)
    row = found[Y]
    assert row.controlled.saved > 0.3
    assert row.verdict == "worse"
    (plain,) = found.to_dicts()
    assert plain["controlled"] == row.controlled.estimate.mean
    without = sm.compare(lossy.unset("wire.loss"), other.unset("wire.loss"), results=[Y],
                         replications=3)  # fmt: skip
    assert without.rows[0].controlled is None


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ["wire.down.losses", "wire.up.losses"]),
        ({"wire.loss_direction": "up"}, ["wire.up.losses"]),
        ({"wire.loss": {"gilbert_elliott": {"good_ms": 1000.0, "bad_ms": 100.0}}}, []),
    ],
)
def test_what_has_no_known_mean_is_no_control(lossy, changes, names):
    for path, value in changes.items():
        lossy = lossy.set(path, value)
    assert [each.name for each in controls(lossy)] == names


def test_too_few_runs_or_a_control_that_does_not_vary_give_nothing():
    y, c = list(range(LEAST_RUNS)), np.arange(float(LEAST_RUNS)).reshape(-1, 1)
    assert controlled(y, c, ["c"]) is None
    assert controlled([*y, 11, 12], np.zeros((LEAST_RUNS + 2, 1)), ["c"]) is None


@pytest.mark.parametrize("runs", [22, 40])
def test_means_are_unbiased_and_intervals_hold_for_skewed_results(runs):
    """The result depends on the square of the control, for which the usual coefficient is biased.

    With the coefficient of all runs, the mean would be off by more than eight of the
    standard errors of this experiment.
    """
    rng = np.random.default_rng(5)
    means, pooled, held, times = [], [], 0, 2000
    for _ in range(times):
        c = rng.exponential(1.0, runs) - 1.0
        y = 3.0 + c + c**2 + 0.5 * rng.normal(size=runs)
        done = controlled(y, c.reshape(-1, 1), ["c"])
        means.append(done.estimate.mean)
        held += 4.0 in done.estimate
        slope = np.cov(y, c)[0, 1] / c.var(ddof=1)
        pooled.append(y.mean() - slope * c.mean())
    error = np.std(means) / times**0.5
    assert abs(np.mean(means) - 4.0) < 4 * error
    assert abs(np.mean(pooled) - 4.0) > 8 * np.std(pooled) / times**0.5
    assert held / times > 0.78


def test_intervals_hold_for_normal_results():
    rng = np.random.default_rng(6)
    held, widths = 0, []
    for _ in range(2000):
        c = rng.normal(size=(25, 2))
        y = 1.0 + c @ [1.0, -2.0] + rng.normal(size=25)
        done = controlled(y, c, ["a", "b"])
        held += 1.0 in done.estimate
        widths.append(done.estimate.half_width / done.plain.half_width)
    assert 0.935 < held / 2000 < 0.975
    assert np.mean(widths) < 0.6


def test_the_command_prints_both_tables(simoom):
    done = simoom(
        "compare", "one_station", "--set", "wire.loss.uniform.probability=0.01", "-n", "30",
        "--set", "duration_s=2", "--change", "wire.delay_ms=20", "--result", Y,
    )  # fmt: skip
    plain, controlled = done.stdout.split("second minus first")
    assert "second" in plain
    assert Y in controlled
    assert "the same by control variates" in controlled
