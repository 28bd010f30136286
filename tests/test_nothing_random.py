"""Runs in which nothing is random have no interval: what shows them says so instead."""

import pytest

import simoom as sm
from simoom.show import notebook
from simoom.show.sweep_table import text

SAME = "all runs of a point are the same: nothing in them is random"


@pytest.fixture(scope="module")
def wired():
    wire = {"from": "a", "to": "b", "rate_mbps": 10, "delay_ms": 5, "queue": "codel"}
    return sm.Scenario(links=[wire], flows=[{"from": "a", "to": "b"}], duration_s=1.0)


def swept(scenario, probabilities, **options):
    done = sm.sweep(scenario, over={"links[0].loss.uniform.probability": probabilities}, **options)
    path = "total.goodput_mbps"
    return done, text(done, {path: done.mean(path).to_dicts()}, 100, groups=True)


def test_a_sweep_without_anything_random_has_no_intervals(wired):
    done, table = swept(wired, [0.0], replications=3)
    assert not done.points[0].replications.is_random
    assert "±" not in table
    assert "±" not in notebook.sweep(done)
    assert SAME in table


def test_a_sweep_of_which_some_is_random_says_where(wired):
    done, table = swept(wired, [0.0, 0.01], replications=3)
    assert [point.replications.is_random for point in done.points] == [False, True]
    assert table.count("±") == 1
    assert "but where nothing is random and all runs are the same" in " ".join(table.split())


def test_one_run_does_not_tell_whether_anything_is_random(wired):
    done, table = swept(wired, [0.0], replications=1)
    assert done.points[0].replications.is_random
    assert "one run of each point" in table


def test_a_comparison_without_anything_random_is_exact(wired):
    slower = wired.set("links[0].rate_mbps", 5.0)
    assert "each difference is exact" in sm.compare(wired, slower, replications=2).caption
    lossy = wired.set("links[0].loss.uniform.probability", 0.01)
    assert "common random numbers" in sm.compare(wired, lossy, replications=2).caption
