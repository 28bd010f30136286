"""The processor-sharing queue: Engset's formulas, a chain, and Ciw's processor sharing."""

import ciw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from simoom.models import ps_queue as ps


def test_law_solves_the_birth_and_death_chain():
    capacity = np.array([1.0, 1.7, 2.2, 2.1])
    think, bits = 3.0, 2e6
    rates = np.zeros((5, 5))
    for k in range(4):
        rates[k, k + 1] = (4 - k) / think
        rates[k + 1, k] = capacity[k] * 1e6 / bits
    rates -= np.diag(rates.sum(axis=1))
    law = np.linalg.solve(np.vstack([rates.T[:-1], np.ones(5)]), np.eye(5)[-1])
    queue = ps.solve(4, think_s=think, mean_bits=bits, capacity_mbps=capacity)
    assert queue.active == pytest.approx(law, rel=1e-12)
    assert queue.sessions_per_s == pytest.approx(law @ (4 - np.arange(5)) / think, rel=1e-12)
    assert queue.throughput_mbps == pytest.approx(law[1:] @ capacity, rel=1e-12)


def test_several_numbers_of_sources_at_once():
    capacity = np.linspace(2, 1, 30)
    together = ps.solve([1, 7, 30], think_s=5, mean_bits=1e6, capacity_mbps=capacity)
    for i, m in enumerate((1, 7, 30)):
        alone = ps.solve(m, think_s=5, mean_bits=1e6, capacity_mbps=capacity)
        assert together.mean_delay_s[i] == pytest.approx(alone.mean_delay_s, rel=1e-12)
        assert together.active[i, : m + 1] == pytest.approx(alone.active[: m + 1])
        assert not together.active[i, m + 1 :].any()


def test_limits():
    lone = ps.solve(1, think_s=7, mean_bits=3e6, capacity_mbps=2)
    assert lone.mean_delay_s == pytest.approx(1.5)
    heavy = ps.solve(50, think_s=1e-6, mean_bits=1e6, capacity_mbps=2)
    assert heavy.mean_delay_s == pytest.approx(25.0, rel=1e-4)
    light = ps.solve(50, think_s=1e9, mean_bits=1e6, capacity_mbps=2)
    assert light.mean_delay_s == pytest.approx(0.5, rel=1e-6)
    # capacity that grows with the number in service: no sharing
    free = ps.solve(9, think_s=1, mean_bits=1e6, capacity_mbps=np.arange(1.0, 10))
    assert free.mean_delay_s == pytest.approx(1.0, rel=1e-12)


def test_a_thousand_sources_do_not_overflow():
    queue = ps.solve(1000, think_s=1e-9, mean_bits=1e9, capacity_mbps=1e-3)
    assert np.isfinite(queue.mean_delay_s)
    assert queue.active.sum() == pytest.approx(1)


def ciw_delays(distribution, *, sources, think, servers, seed):
    """Mean time in a processor-sharing node of a closed network, from one run.

    A node of Ciw with threshold s gives k customers min(1, s / k) of a server each: capacity
    C_k = min(k, s), state-dependent for s > 1.
    """
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([1e-9, np.inf]), None],
        batching_distributions=[ciw.dists.Deterministic(sources), ciw.dists.Deterministic(1)],
        service_distributions=[ciw.dists.Exponential(1 / think), distribution],
        number_of_servers=[np.inf, np.inf],
        ps_thresholds=[1, servers],
        routing=[[0.0, 1.0], [1.0, 0.0]],
    )
    ciw.seed(seed)
    run = ciw.Simulation(network, node_class=[ciw.Node, ciw.PSNode])
    run.simulate_until_max_time(900)
    records = [r for r in run.get_all_records() if r.node == 2 and r.arrival_date > 50]
    return np.mean([r.exit_date - r.arrival_date for r in records])


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("shape", ["exponential", "deterministic", "hyperexponential"])
def test_against_ciw(servers, shape):
    distribution = {
        "exponential": ciw.dists.Exponential(1.0),
        "deterministic": ciw.dists.Deterministic(1.0),
        "hyperexponential": ciw.dists.HyperExponential([2.0, 0.4], [0.75, 0.25]),
    }[shape]
    runs = [
        ciw_delays(distribution, sources=5, think=4.0, servers=servers, seed=seed)
        for seed in range(8)
    ]
    half = student.ppf(0.995, len(runs) - 1) * np.std(runs, ddof=1) / np.sqrt(len(runs))
    capacity = np.minimum(np.arange(1.0, 6), servers)
    queue = ps.solve(5, think_s=4.0, mean_bits=1e6, capacity_mbps=capacity)
    assert half < 0.15 * queue.mean_delay_s  # the comparison says something
    assert queue.mean_delay_s == pytest.approx(np.mean(runs), abs=half)


@given(
    m=st.integers(1, 200),
    think=st.floats(1e-3, 1e4),
    bits=st.floats(1, 1e9),
    capacity=st.floats(1e-3, 1e3),
)
@settings(deadline=None)
def test_over_the_parameter_space(m, think, bits, capacity):
    queue = ps.solve(m, think_s=think, mean_bits=bits, capacity_mbps=capacity)
    assert queue.active.sum() == pytest.approx(1)
    alone = bits / capacity / 1e6
    assert alone * (1 - 1e-9) <= queue.mean_delay_s <= m * alone * (1 + 1e-9)
    # Little's law for the whole cycle of think and file
    cycle = think + queue.mean_delay_s
    assert queue.sessions_per_s * cycle == pytest.approx(m, rel=1e-6)
    faster = ps.solve(m, think_s=think, mean_bits=bits, capacity_mbps=2 * capacity)
    assert faster.mean_delay_s < queue.mean_delay_s
