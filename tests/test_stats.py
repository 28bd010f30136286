import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simoom as sm

numbers = st.floats(-1e6, 1e6)


def test_the_interval_is_students():
    # Mean 2.33, s = 2.002, t(9, 0.975) = 2.262 (Student, Biometrika 6:1, 1908, section IX).
    estimate = sm.mean_ci([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    assert estimate.mean == pytest.approx(2.33)
    assert estimate.half_width == pytest.approx(2.262 * 2.0022 / math.sqrt(10), abs=1e-3)
    assert 2.0 in estimate
    assert 0.5 not in estimate


def test_the_interval_contains_the_mean_with_the_stated_confidence():
    rng = np.random.default_rng(1)
    held = sum(0.0 in sm.mean_ci(rng.normal(size=5), confidence=0.9) for _ in range(2000))
    assert 0.88 < held / 2000 < 0.92


@given(st.lists(numbers, min_size=2, max_size=20), numbers)
def test_a_shift_moves_the_interval_and_nothing_else(values, shift):
    before, after = sm.mean_ci(values), sm.mean_ci([value + shift for value in values])
    scale = 1e-9 * (1 + abs(shift) + max(map(abs, values)))
    assert after.mean == pytest.approx(before.mean + shift, abs=scale)
    assert after.half_width == pytest.approx(before.half_width, rel=1e-6, abs=100 * scale)


def test_one_value_has_an_infinite_interval():
    assert sm.mean_ci([3.0]).half_width == math.inf


def test_no_values_and_bad_confidence_are_refused():
    with pytest.raises(ValueError, match="values"):
        sm.mean_ci([])
    with pytest.raises(ValueError, match="confidence"):
        sm.mean_ci([1.0, 2.0], confidence=95)


def test_pairs_must_match():
    with pytest.raises(ValueError, match="2 and 1"):
        sm.paired_difference([1.0, 2.0], [1.0])


def test_common_random_numbers_narrow_a_difference():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=20)
    paired = sm.paired_difference(noise, noise + 0.1 + 0.01 * rng.normal(size=20))
    assert 0.0 not in paired
    assert paired.mean == pytest.approx(0.1, abs=0.01)
