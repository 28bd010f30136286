"""Numbers with intervals, checks, and the verdicts that follow from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simoom import studies
from simoom.runs.evidence import Agreement, Check, Outcome, Reference, Value

INSIDE = Check("inside", Value(1.0, 0.9, 1.1, 5, "mean"), 0.5, 1.5)
OUTSIDE = Check("outside", Value(2.0, 1.9, 2.1, 5, "mean"), 0.5, 1.5)
ACROSS = Check("across", Value(1.4, 1.2, 1.6, 5, "mean"), 0.5, 1.5)


def test_a_mean_has_students_interval():
    value = Value.mean([1.0, 2.0, 3.0, math.nan])
    assert (value.value, value.n) == (2.0, 3)
    assert value.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_one_run_has_no_interval_and_none_no_value():
    assert math.isinf(Value.mean([1.0]).half_width)
    assert math.isinf(Value.median([1.0, 2.0, 3.0, 4.0, 5.0]).half_width)
    assert math.isnan(Value.mean([math.nan]).value)
    assert math.isnan(Value.median([]).value)


# Order statistics that hold the median with 95 %, from tables of the sign test.
@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (30, 10)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(n, rank):
    value = Value.median(np.arange(1.0, n + 1))
    assert (value.low, value.high) == (rank, n + 1 - rank)


def test_the_interval_of_a_median_holds_it_for_heavy_tails():
    draws = np.random.default_rng(1).pareto(1.1, size=(2000, 15)) + 1
    median = 2 ** (1 / 1.1)
    values = [Value.median(row) for row in draws]
    covered = np.mean([value.low <= median <= value.high for value in values])
    assert 0.95 <= covered <= 0.98  # 0.965 by the binomial distribution


def test_a_ratio_has_the_interval_of_the_worst_case():
    ratio = Value(10.0, 9.0, 12.0, 5, "mean").over(Value(2.0, 1.5, 3.0, 4, "mean"))
    assert (ratio.value, ratio.low, ratio.high) == (5.0, 3.0, 8.0)
    undefined = Value.exact(1.0).over(Value(1.0, -0.5, 2.5, 3, "mean"))
    assert (undefined.low, undefined.high) == (-math.inf, math.inf)


def test_a_difference_has_the_interval_of_the_worst_case():
    less = Value(10.0, 9.0, 12.0, 5, "mean").minus(Value(2.0, 1.5, 3.0, 4, "mean"))
    assert (less.value, less.low, less.high) == (8.0, 6.0, 10.5)


def test_exact_numbers_have_no_interval():
    assert Value.exact(2.5).half_width == 0
    assert Value.printed(2.0, 0.5).low == 1.5
    assert str(Value.exact(0.0602549)) == "0.06025"


def test_an_interval_decides_a_check():
    assert INSIDE.outcome is Outcome.HOLDS
    assert OUTSIDE.outcome is Outcome.FAILS
    assert ACROSS.outcome is Outcome.OPEN


@pytest.mark.parametrize("value", [0.5, 1.5])
def test_the_ends_of_a_band_belong_to_it(value):
    assert Check("end", Value.exact(value), 0.5, 1.5).outcome is Outcome.HOLDS


def test_a_value_that_could_not_be_measured_leaves_a_check_open():
    nothing = Value.mean([])
    assert math.isnan(nothing.value)
    assert Check("nothing", nothing, 0.0, 1.0).outcome is Outcome.OPEN
    # One run has no interval, and cannot decide either.
    assert Check("once", Value.mean([0.5]), 0.0, 1.0).outcome is Outcome.OPEN


@pytest.mark.parametrize(("ours", "holds"), [(1.04, True), (0.96, True), (1.06, False)])
def test_agreement_is_a_ratio(ours, holds):
    check = Check.agrees("x", Value.exact(10 * ours), Value.exact(10.0), within=0.05)
    assert (check.outcome is Outcome.HOLDS) is holds


def test_bands_have_a_description():
    value = Value.exact(1.0)
    assert Check("x", value, high=2.0).band == "at most 2.000"
    assert Check("x", value, low=0.5).band == "at least 0.5000"
    assert Check.near("x", value, 1.0, within=0.25).band == "0.7500 to 1.250"


def test_a_reference_has_an_interval_too():
    value, reference = Value(10.5, 10.25, 10.75, 4, "mean"), Reference(10.0, 0.125)
    check = Check.against("x", value, reference, within=0.25)
    assert (check.value.value, check.value.low, check.value.high) == (0.5, 0.125, 0.875)
    assert (check.low, check.high) == (-0.25, 0.25)


sizes = st.floats(0, 100)


@given(st.floats(-100, 100), sizes, st.floats(-100, 100), sizes, sizes)
def test_agreement_is_of_the_number_and_else_of_the_intervals(mean, half, target, its, within):
    value = Value(mean, mean - half, mean + half, 4, "mean")
    check = Check.against("x", value, Reference(target, its), within=within)
    apart = abs(mean - target)
    if apart <= within:
        assert check.agreement is Agreement.AGREES
    elif apart <= value.half_width + its:
        assert check.agreement is Agreement.INTERVAL
    else:
        assert check.agreement is Agreement.DIFFERS
    # Both verdicts follow from one outcome, so that they never contradict each other.
    if check.outcome is not Outcome.OPEN:
        holds = check.outcome is Outcome.HOLDS
        assert check.agreement is (Agreement.AGREES if holds else Agreement.DIFFERS)


def test_studies_show_the_same_names():
    for name in ("Check", "Outcome", "Value", "Verdict"):
        assert getattr(studies, name).__module__ == "simoom.runs.evidence"
