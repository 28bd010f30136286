"""LT-TCP's parity: the published table, a Monte Carlo of reactive rounds, limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import lt_tcp

LOSS = (0.01, 0.05, 0.10, 0.20, 0.30, 0.50)
TABLE = {  # (N, c): parity and repair probability by loss
    (10, 0): [(1, 0.996), (1, 0.914), (1, 0.736), (2, 0.678), (3, 0.650), (5, 0.623)],
    (10, 1): [(1, 0.996), (2, 0.988), (2, 0.930), (4, 0.967), (5, 0.953), (7, 0.945)],
    (20, 0): [(1, 0.983), (1, 0.736), (2, 0.677), (4, 0.630), (6, 0.608), (10, 0.588)],
    (20, 1): [(1, 0.983), (2, 0.925), (4, 0.957), (6, 0.913), (9, 0.952), (13, 0.942)],
    (40, 0): [(1, 0.939), (2, 0.677), (4, 0.629), (8, 0.593), (12, 0.577), (20, 0.563)],
    (40, 1): [(2, 0.993), (4, 0.952), (6, 0.900), (11, 0.912), (15, 0.885), (24, 0.923)],
}


@pytest.mark.parametrize(("case", "row"), TABLE.items())
def test_published_parity_and_repair(case, row):
    n, c = case
    window = lt_tcp.repair(n, LOSS, c=c)
    assert window.parity_units.tolist() == [parity for parity, _ in row]
    assert window.repair_probability == pytest.approx([p for _, p in row], abs=5.1e-4)


def simulate(n, p, e, *, windows, seed):
    rng = np.random.default_rng(seed)
    rounds = np.zeros(windows)
    sent = np.zeros(windows)
    short = np.maximum(rng.binomial(n, e, windows) - p, 0)
    while short.any():
        on = short > 0
        units = np.where(on, np.ceil(np.round(short / (1 - e), 9)), 0).astype(int)
        rounds += on
        sent += units
        short = np.maximum(short - rng.binomial(units, 1 - e), 0)
    return rounds, sent


@pytest.mark.parametrize(("n", "e", "c"), [(10, 0.1, 0), (20, 0.3, 0), (40, 0.5, 1), (12, 0.02, 1)])
def test_reactive_rounds_against_a_simulation(n, e, c):
    window = lt_tcp.repair(n, e, c=c)
    rounds, sent = simulate(n, int(window.parity_units), e, windows=40_000, seed=5)
    for ours, measured in ((window.reactive_rounds, rounds), (window.reactive_units, sent)):
        error = measured.std() / np.sqrt(measured.size)
        assert ours == pytest.approx(measured.mean(), abs=4 * error)
    data = n - window.parity_units
    assert window.overhead == pytest.approx((window.parity_units + window.reactive_units) / data)


def test_limits():
    none = lt_tcp.repair(20, 0.0)
    assert (none.parity_units, none.reactive_rounds, none.overhead) == (0, 0, 0)
    certain = lt_tcp.repair(2, 0.3, parity=1)
    assert certain.repair_probability == pytest.approx(1 - 0.09)
    # one unit missing: a geometric number of rounds of ceil(1/0.7) = 2 units
    assert certain.reactive_rounds == pytest.approx(0.09 / (1 - 0.09))


@given(
    n=st.integers(2, 60),
    e=st.floats(0, 0.95),
    c=st.floats(0, 3),
)
@settings(max_examples=50, deadline=None)
def test_over_the_parameter_space(n, e, c):
    window = lt_tcp.repair(n, e, c=c)
    assert 0 <= window.parity_units <= n - 1
    assert 0 <= window.repair_probability <= 1
    assert window.reactive_rounds >= 1 - window.repair_probability - 1e-12
    assert window.overhead >= window.parity_units / n
    more = lt_tcp.repair(n, e, c=c + 0.5)
    assert more.parity_units >= window.parity_units
    assert more.repair_probability >= window.repair_probability - 1e-12
    # with any code, data needs at least K / (1 - E) units on average
    if e > 0:
        units = n + window.reactive_units
        assert units * (1 - e) >= (n - window.parity_units) - 1e-9


def test_refusals():
    with pytest.raises(ValueError, match="parity"):
        lt_tcp.repair(10, 0.1, parity=10)
    with pytest.raises(ValueError, match="loss"):
        lt_tcp.repair(10, 1.0)
    with pytest.raises(ValueError, match="units"):
        lt_tcp.repair(1, 0.1)
