"""Runs until results are precise enough: the rule, its coverage, the warm-up, and its messages."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import simoom as sm
from simoom.runs.precision import LEAST_RUNS, Target, decide, required, targets
from simoom.runs.transient import assess, mser5
from simoom.store.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "benches"))
from precision import coverage, stops, stops_naively

Y = "total.goodput_mbps"


@pytest.fixture
def small(small: sm.Scenario) -> sm.Scenario:
    return small.set("warmup_s", 0.4)


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("normal, sd 20 %", 0.2),
        ("normal, sd 20 %", 0.05),
        ("uniform", 0.1),
        ("gamma, shape 4", 0.1),
        ("exponential", 0.1),
        ("0 or 1, 30 % ones", 0.2),
    ],
)
def test_intervals_contain_the_mean_as_often_as_they_say(name: str, width: float) -> None:
    held, _ = coverage(name, width, 1000, stops)
    # 94 %, less twice the standard error of so many repetitions.
    assert held >= 0.94 - 2 * math.sqrt(0.95 * 0.05 / 1000)


@pytest.mark.parametrize("name", ["normal, sd 20 %", "gamma, shape 4", "0 or 1, 30 % ones"])
def test_the_naive_rule_covers_too_seldom(name: str) -> None:
    held, _ = coverage(name, 0.1, 600, stops_naively)
    assert held < 0.93


def test_how_many_runs_a_result_needs() -> None:
    rng = np.random.default_rng(1)
    sample = rng.normal(10.0, 1.0, 100)
    # Student's quantile for 99 degrees of freedom is 1.984; four runs more of a hundred.
    for_width = 1.04 * (1.984 * sample.std(ddof=1) / 0.2) ** 2
    assert required(sample, Target(Y, 0.2, relative=False)) == pytest.approx(for_width, rel=1e-3)
    assert required(sample, Target(Y, 0.02, relative=True)) == pytest.approx(
        required(sample, Target(Y, 0.02 * sample.mean(), relative=False))
    )
    assert required(sample[:5], Target(Y, 9.0, relative=False)) == LEAST_RUNS
    # One value of another size makes a narrow interval that says nothing.
    rare = [0.0] * 99 + [1.0]
    assert required(rare, Target(Y, 0.02, relative=False)) > 1000
    assert required(rare, Target(Y, 1.0, relative=False)) == 100
    assert required(sample - sample.mean(), Target(Y, 0.1, relative=True)) > 1e9


def test_equal_values_have_no_interval() -> None:
    target = Target(Y, 0.02, relative=True)
    assert not decide(target, [3.0] * 30).reached
    done = decide(target, [3.0] * 60)
    assert done.reached
    assert "no interval" in str(done)
    none = decide(target, [math.nan] * 30)
    assert (none.estimate, none.reached) == (None, False)


@pytest.mark.parametrize(
    ("until", "error", "message"),
    [
        ("2 ms", ValueError, "the result has 'Mb/s'"),
        ("two", ValueError, 'write a half-width such as "2 %"'),
        ("-2 %", ValueError, "must be above 0"),
        (0, ValueError, "must be above 0"),
        (True, TypeError, "write a half-width"),
        ({}, ValueError, "names no result"),
        ({"total.goodput": "2 %"}, ValueError, "nearest (is|are) total.goodput_mbps"),
        ({"total.delay_s": "2 %"}, ValueError, "there is no result 'total.delay_s'"),
        ({"flows[0].name": "2 %"}, ValueError, "is text"),
    ],
)
def test_what_is_no_precision_is_refused(small, until, error, message) -> None:
    with pytest.raises(error, match=message):
        sm.replicate(small, until=until)


def test_a_precision_has_a_unit_or_is_relative() -> None:
    assert targets("2%") == targets({Y: "2 %"}) == (Target(Y, 0.02, relative=True),)
    assert targets(0.5) == targets("0.5 Mb/s") == (Target(Y, 0.5, relative=False),)
    assert [str(t) for t in targets({Y: 0.5, "total.jain_index": "1e-2"})] == ["0.5 Mb/s", "0.01"]


def test_runs_end_when_all_results_are_precise(small) -> None:
    until = {Y: "10 %", "total.attempts": "12 %"}
    done = sm.replicate(small, until=until)
    assert [each.reached for each in done.reached] == [True, True]
    for path, width in ((Y, 0.1), ("total.attempts", 0.12)):
        assert done.mean(path).half_width <= width * done.mean(path).mean
    plain = sm.replicate(small, replications=len(done))
    assert [run.digest for run in plain] == [run.digest for run in done]
    assert not any(run.probes for run in done)  # the series of the warm-up are dropped


def test_a_bound_on_runs_is_said(small) -> None:
    with pytest.warns(UserWarning, match=r"30 runs; ±.* and not ±0.1 %, which needs about"):
        done = sm.replicate(small, until="0.1 %", max_replications=30)
    assert (len(done), done.reached[0].reached) == (30, False)
    with pytest.raises(ValueError, match="max_replications: must be at least 20, is 5"):
        sm.replicate(small, until="2 %", max_replications=5)
    with pytest.raises(ValueError, match=r"until=\.\.\., which is missing"):
        sm.replicate(small, max_replications=50)


def test_each_point_of_a_sweep_has_the_runs_that_it_needs(small, tmp_path) -> None:
    over = {"wire.delay_ms": [1.0, 20.0]}
    done = sm.sweep(small, over=over, until="10 %", store=tmp_path)
    counts = [len(point.replications) for point in done.points]
    assert counts[0] != counts[1]
    assert f"{min(counts)} to {max(counts)} runs each" in repr(done)
    for point, count in zip(done.points, counts, strict=True):
        alone = sm.replicate(point.replications.scenario, until="10 %")
        assert len(alone) == count
    assert len(Store(tmp_path)) == sum(counts) == len(done)

    class NoExecutor:
        def submit(self, *_: object, **__: object) -> None:
            raise AssertionError("nothing is to be run")

    again = sm.sweep(small, over=over, until="10 %", store=tmp_path, executor=NoExecutor())
    assert again.frame().equals(done.frame())


def test_a_result_that_one_point_lacks_does_not_hold_up_the_sweep(small) -> None:
    until = {"flows[1].goodput_mbps": "20 %"}
    done = sm.sweep(small, over={"stations": [1, 2]}, until=until)
    assert [point.replications.reached[0].reached for point in done.points] == [False, True]
    with pytest.raises(KeyError, match=r"nearest (is|are)"):
        sm.sweep(small, over={"stations": [1]}, until={"flows[7].goodput_mbps": "20 %"})


def test_quantiles_have_intervals_of_order_statistics(small) -> None:
    # Conover's table: of 20 observations the 6th and the 15th enclose the median with 95.9 %.
    estimate = sm.quantile_ci(range(20, 0, -1), 0.5)
    assert (estimate.mean, estimate.ci_low, estimate.ci_high) == (10.5, 6.0, 15.0)
    assert sm.quantile_ci([1.0, 2.0, 3.0], 0.9).ci_high == math.inf
    rng = np.random.default_rng(4)
    true = math.log(10)
    held = sum(true in sm.quantile_ci(rng.exponential(size=60), 0.9) for _ in range(400))
    assert held / 400 >= 0.94
    for bad in (0, 1, 95):
        with pytest.raises(ValueError, match="probability"):
            sm.quantile_ci([1.0], bad)
    runs = sm.replicate(small, replications=8)
    assert runs.quantile(Y, 0.5).mean == pytest.approx(np.median(runs.values(Y)))
    frame = sm.sweep(small, over={"stations": [1, 2]}, replications=8).quantile(Y, 0.5)
    assert frame.columns == ["stations", "quantile", "ci_low", "ci_high", "n"]
    assert frame["quantile"][0] == runs.quantile(Y, 0.5).mean


def series(transient, runs: int = 10, seed: int = 3):
    """Runs of a correlated series around 10, with a transient at the beginning."""
    rng = np.random.default_rng(seed)
    time_s = 0.1 * np.arange(1, 1001)
    noise = rng.normal(size=(runs, 1000))
    for n in range(1, 1000):
        noise[:, n] += 0.5 * noise[:, n - 1]
    return [(time_s, 10 + transient(time_s) + row) for row in noise]


def test_mser_5_finds_the_end_of_a_transient() -> None:
    assert mser5(np.ones(100)) == 0
    step = np.concatenate([np.zeros(40), np.full(160, 10.0)])
    assert mser5(step + 0.1 * np.random.default_rng(1).normal(size=200)) in (40, 45)
    slow = assess(Y, series(lambda t: -8 * np.exp(-t / 8)), 10.0)
    assert slow is not None
    assert slow.too_short
    assert slow.steady
    assert 15 < slow.advised_s < 45
    assert "set warmup_s=" in str(slow)
    rising = assess(Y, series(lambda t: 0.1 * t), 10.0)
    assert rising is not None
    assert rising.too_short
    assert "not steady" in str(rising)


def test_a_sufficient_warmup_is_not_blamed() -> None:
    judged = [assess(Y, series(lambda t: -8 * np.exp(-t), seed=n), 10.0) for n in range(60)]
    assert sum(each is None or each.too_short for each in judged) <= 2
    assert assess(Y, series(lambda t: 0 * t)[:1], 10.0) is None


def test_a_short_warmup_is_said() -> None:
    slow = sm.Scenario(
        standard="11g", stations=1, duration_s=20.0, warmup_s=0.1,
        wire={"rate_mbps": 10.0, "delay_ms": 100.0}, flows=[{"from": "server", "to": "sta*"}],
    )  # fmt: skip
    with pytest.warns(UserWarning, match="warmup_s: is 0.1, which is too short: by MSER-5 total"):
        sm.replicate(slow, until="10 %")
    judged = sm.warmup(slow, replications=5)
    assert judged.too_short
    assert not sm.warmup(slow.set("warmup_s", 5.0), replications=5).too_short
    with pytest.warns(UserWarning, match=r"too short.*\(at wire.rate_mbps=8.0\)"):
        sm.sweep(slow, over={"wire.rate_mbps": [8.0]}, until="10 %")


def test_the_command_line(simoom, cell_file) -> None:
    short = ["--set", "duration_s=1", "--set", "warmup_s=0.4"]
    done = simoom(
        "run", cell_file, *short, "--until", "10 %", "--until", "total.delay_s.p99=0.05 s"
    )
    assert done.returncode == 0, done.stderr
    assert "± 10 %" in done.stdout
    assert "± 0.05 s" in done.stdout
    done = simoom("run", cell_file, *short, "--until", "sum(flows[to=sta*].goodput_mbps)=9 %",
                  "--json")  # fmt: skip
    (row,) = json.loads(done.stdout)["results"]
    assert row["reached"]
    assert row["until"] == "9 %"
    done = simoom("sweep", cell_file, *short, "--over", "wire.delay_ms=1,30", "--until", "0.2 %",
                  "--max-replications", 24, "--json")  # fmt: skip
    assert [each["n"] for each in json.loads(done.stdout)[Y]] == [24, 24]
    assert "24 runs; ±" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "2 ms"], "--until 2 ms: total.goodput_mbps: is '2 ms'; the result has 'Mb/s'"),
        (["--until", "=2 %"], "--until =2 %: there is no result ''"),
        (["--until", "2 %", "--until", f"{Y}=1 %"], "is named twice"),
        (["--until", "2 %", "--probe", Y], "--probe: is about one run"),
        (["--max-replications", "30"], "--until, which is missing"),
        (["--until", "2 %", "--max-replications", "3"], "--max-replications 3: must be from 20"),
        (["--until", "flows[99].goodput_mbps=2 %"], "--until: there is no 'flows[99]"),
    ],
)
def test_the_command_line_says_what_is_wrong(simoom, cell_file, options, message) -> None:
    done = simoom("run", cell_file, "--set", "duration_s=0.5", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_precision_that_cannot_be_reached_ends_at_a_bound_that_is_said():
    scenario = sm.Scenario(
        standard="11b", stations=2, duration_s=0.5, flows=[{"from": "server", "to": "sta*"}]
    )
    bound = r"needs about [\d,]+ runs; the bound, max_replications, is 25 runs"
    arguments = {"until": "0.0001 %", "max_replications": 25}
    with pytest.warns(UserWarning, match=bound):
        assert len(sm.replicate(scenario, **arguments)) == 25
    with pytest.warns(UserWarning, match=bound):
        assert len(sm.sweep(scenario, over={"stations": [2]}, **arguments)) == 25
    with pytest.warns(UserWarning, match=bound):
        sm.compare(scenario, scenario.set("stations", 3), **arguments)
