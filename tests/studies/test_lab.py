import threading

import numpy as np
import pytest

import simoom as sm
from simoom.studies import Check, Figure, Lab, Value, Verdict
from simoom.studies.claim import claim
from simoom.studies.figure import Axis
from simoom.studies.lab import figure_function
from simoom_studies import http_queueing
from simoom_studies.http_queueing.paper import measure, web

QUICK_WEB = {"window": 1, "files": 20}


@pytest.fixture
def cells():
    return {n: web(n, **QUICK_WEB) for n in (1, 3)}


def numbers(found):
    return {key: {name: list(row) for name, row in each.items()} for key, each in found.items()}


def test_results_do_not_depend_on_the_number_of_workers(cells):
    with Lab(workers=1) as one, Lab(workers=7) as many:
        first = numbers(one.sample(cells, measure, replications=5))
        # Asked for in another order.
        back = many.sample(dict(reversed(cells.items())), measure, replications=5)
    np.testing.assert_equal(numbers(back), first)


def test_a_run_that_two_figures_need_is_executed_once(cells):
    with Lab() as lab:
        lab.sample(cells, measure, replications=2)
        assert lab.runs == 4
        lab.sample(cells, measure, replications=3)
        assert lab.runs == 6


def test_settings_have_the_same_files_so_that_they_can_be_compared_in_pairs():
    with Lab() as lab:
        found = lab.sample(
            {w: web(4, window=w, files=50) for w in (1, 1000)}, measure, replications=3
        )
    sizes = [found[w]["segments_per_file"] for w in (1, 1000)]
    np.testing.assert_allclose(sizes[0], sizes[1], rtol=1e-12)
    assert len(set(sizes[0])) == 3  # and replications others


def test_progress_ends_at_one_and_never_goes_back(cells):
    seen = []
    with Lab(progress=seen.append) as lab:
        lab.sample(cells, measure, replications=4)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_faults_of_a_case_are_reported():
    bad = web(1, **QUICK_WEB).set("duration_s", -1.0)
    with Lab() as lab, pytest.raises(sm.ScenarioError, match="duration_s"):
        lab.sample({0: bad}, measure, replications=1)


def test_closing_ends_long_runs():
    endless = http_queueing.PAPER.set("duration_s", 1e6)
    lab = Lab(workers=1)
    failed = []

    def ask():
        try:
            lab.sample({0: endless}, measure, replications=2)
        except BaseException as error:  # noqa: BLE001  whichever ends it
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not lab._runner.submitted:
        thread.join(0.01)
    lab.close()
    thread.join(5)
    assert not thread.is_alive()
    assert failed


def test_quick_picks_the_small_grid():
    with Lab(quick=True) as quick, Lab() as full:
        assert (quick.pick("all", "some"), full.pick("all", "some")) == ("some", "all")


def undecided_until(replications, asked):
    """Return a figure function whose claim is decided from a number of replications on."""

    @figure_function("figure 1")
    def figure(lab):
        runs = len(lab.sample({0: web(1, **QUICK_WEB)}, measure, replications=2)[0]["files"])
        asked.append(runs)
        half = 0.1 if runs >= replications else 2.0
        checks = [Check("", Value(1.0, 1 - half, 1 + half, runs, "mean"), 0.5, 1.5)]
        claims = (claim("it", "It is so.", paper="so", checks=checks),)
        return Figure("figure 1", "", Axis("x", "x"), (), (), claims)

    return figure


@pytest.mark.parametrize(
    ("decided_at", "quick", "asked", "verdict"),
    [
        (2, False, [2], Verdict.REPRODUCED),
        (4, False, [2, 4], Verdict.REPRODUCED),
        (9, False, [2, 4, 8], Verdict.UNDECIDED),
        (4, True, [2], Verdict.UNDECIDED),
    ],
)
def test_more_replications_decide_up_to_four_times_as_many(decided_at, quick, asked, verdict):
    found = []
    with Lab(quick=quick) as lab:
        figure = undecided_until(decided_at, found)(lab=lab)
        assert lab.runs == asked[-1]  # each run once
    assert found == asked
    assert figure.claims[0].verdict is verdict


def test_a_lab_may_look_once():
    found = []
    with Lab(most_times=1) as lab:
        figure = undecided_until(4, found)(lab=lab)
    assert found == [2]
    assert figure.claims[0].verdict is Verdict.UNDECIDED
