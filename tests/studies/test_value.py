import math

import numpy as np
import pytest

from simoom.studies import Value


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
