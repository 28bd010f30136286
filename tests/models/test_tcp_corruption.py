"""A TCP flow between two nodes whose frames are corrupted."""

from __future__ import annotations

import numpy as np
import pytest

from simoom.models.fixed_point import backoff_slots, fixed_point
from simoom.models.half_duplex import cell_times
from simoom.models.tcp_corruption import tcp_goodput

TIMES = cell_times(standard="11b", rate_mbps=11)


def test_without_delayed_acks_both_nodes_are_saturated():
    """Each node then has half of the successes, and collides as one of two saturated stations."""
    both = tcp_goodput(0.0, 0.0, times=TIMES)
    assert both.receiver_contends == pytest.approx(1.0)
    known = fixed_point(2, mean_slots=backoff_slots(31, 1023, attempts=7), forever=False)
    assert both.collision_probability == pytest.approx(known.collision_probability, rel=1e-6)
    u = known.attempt_probability
    idle, won, clash = (1 - u) ** 2, 2 * u * (1 - u), u**2
    each = (idle * 20 + clash * TIMES.data_collision_us) / won
    expected = TIMES.payload_bits / (2 * each + TIMES.data_us + TIMES.ack_us)
    assert both.goodput_mbps == pytest.approx(float(expected), rel=1e-6)


def test_a_sender_with_hardly_any_acks_has_the_time_of_its_attempts():
    """The sum over stages is then exact: attempts, back-offs and the airtime of failures."""
    loss, d = 0.5, 10**6
    stages = np.arange(7)
    reach = loss**stages
    slots = np.minimum(32 * 2**stages, 1024) - 1
    each = np.sum(reach * (slots / 2 * 20 + (1 - loss) * 1618 + loss * TIMES.data_collision_us))
    expected = TIMES.payload_bits * (1 - loss**7) / each
    found = tcp_goodput(loss, 0.0, times=TIMES, delayed_ack=d).goodput_mbps
    assert found == pytest.approx(float(expected), rel=1e-4)


def test_corruption_of_either_frame_costs_goodput_and_all_of_it_leaves_nothing():
    loss = np.array([0.0, 0.1, 0.3, 0.6, 0.9, 1.0])
    for both in ((loss, 0.0), (0.0, loss)):
        goodput = tcp_goodput(*both, times=TIMES).goodput_mbps
        assert np.all(np.diff(goodput) < 0)
        assert goodput[-1] < 1e-6


def test_arguments_out_of_range_are_named():
    with pytest.raises(ValueError, match="data_corruption"):
        tcp_goodput(1.1, 0.0, times=TIMES)
    with pytest.raises(ValueError, match="delayed_ack"):
        tcp_goodput(0.1, 0.0, times=TIMES, delayed_ack=0)
