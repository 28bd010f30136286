"""The fixed point and the saturated cell: closed forms, a chain, a Monte Carlo, ns-3, limits."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import saturation as sat
from simoom.models.fixed_point import (
    attempt_probability,
    backoff_slots,
    fixed_point,
    frozen_fixed_point,
)

SLOTS = backoff_slots(31, 1023)
SPLIT = ("standard", "staggered")


def bianchi_tau(p, w=32, m=5):
    """Equation (7) of Bianchi's paper, away from p = 1/2."""
    return 2 * (1 - 2 * p) / ((1 - 2 * p) * (w + 1) + p * w * (1 - (2 * p) ** m))


def test_infinite_retries_are_bianchis_closed_form():
    p = np.array([0.0, 0.1, 0.3, 0.499, 0.501, 0.7, 0.9, 1.0])
    ours = attempt_probability(p, mean_slots=SLOTS)
    assert ours == pytest.approx(bianchi_tau(p), rel=1e-12)
    assert attempt_probability(0.5, mean_slots=SLOTS) == pytest.approx(2 / (32 + 1 + 5 * 16))


def test_attempt_probabilities_of_the_half_duplex_chain():
    expected = [0.06061, 0.05704, 0.05372, 0.05065, 0.04785]
    point = fixed_point(np.arange(1, 6), mean_slots=SLOTS)
    assert point.attempt_probability == pytest.approx(expected, abs=5e-6)


def test_retry_limit_is_the_finite_sum_of_kumar():
    slots = backoff_slots(31, 1023, attempts=7)
    assert slots.tolist() == [16.5, 32.5, 64.5, 128.5, 256.5, 512.5, 512.5]
    for gamma in (0.0, 0.2, 0.5, 1.0):
        power = gamma ** np.arange(7)
        value = attempt_probability(gamma, mean_slots=slots, forever=False)
        assert value == pytest.approx(power.sum() / (power @ slots), rel=1e-14)


@pytest.mark.parametrize("attempts", [None, 1, 4, 7])
@pytest.mark.parametrize("cw_min", [0, 3, 15, 31])
def test_one_to_ten_thousand_stations(attempts, cw_min):
    n = np.arange(1, 10_001)
    slots = backoff_slots(cw_min, 1023, attempts=attempts)
    point = fixed_point(n, mean_slots=slots, forever=attempts is None)
    beta, gamma = point.attempt_probability, point.collision_probability
    assert np.all((beta > 0) & (beta <= 1) & (gamma >= 0) & (gamma <= 1))
    assert gamma == pytest.approx(1 - (1 - beta) ** (n - 1), abs=1e-13)
    assert beta == pytest.approx(
        attempt_probability(gamma, mean_slots=slots, forever=attempts is None), rel=1e-12
    )
    assert np.all(np.diff(gamma) >= 0)
    if cw_min == 0:
        with pytest.raises(ValueError, match="mean_slots"):
            frozen_fixed_point(n, mean_slots=slots)
        return
    frozen = frozen_fixed_point(n, mean_slots=slots, forever=attempts is None)
    share = frozen.collision_probability
    assert np.all((share >= 0) & (share <= 1))


def simulate(n, windows, *, frozen, retry, transmissions, seed):
    """Simulate slots: the fraction of failed attempts, and idle slots per success."""
    rng = np.random.default_rng(seed)
    windows = np.asarray(windows)
    stage = np.zeros(n, int)
    counter = rng.integers(0, windows[0], n)
    sent = failed = won = idle = 0
    while sent < transmissions:
        gap = counter.min()
        idle += gap
        counter -= gap
        # frozen counters stand at 0 only for those who transmit now
        now = counter == 0
        sent += now.sum()
        if not frozen:
            counter -= 1  # the busy period counts as one slot for the others
            idle += 0
        if now.sum() == 1:
            won += 1
            stage[now] = 0
        else:
            failed += now.sum()
            stage[now] += 1
            gone = stage >= retry
            stage[gone] = 0
        counter[now] = rng.integers(0, windows[stage[now]])
    return failed / sent, idle / won


@pytest.mark.parametrize("n", [3, 10])
@pytest.mark.parametrize("retry", [3, 7])
def test_collisions_against_a_simulation(n, retry):
    slots = backoff_slots(15, 1023, attempts=retry)
    windows = (2 * slots - 1).astype(int)
    run = {"retry": retry, "transmissions": 30_000, "seed": 7}
    measured, idle = simulate(n, windows, frozen=False, **run)
    point = fixed_point(n, mean_slots=slots, forever=False)
    beta, gamma = point.attempt_probability, point.collision_probability
    assert gamma == pytest.approx(measured, abs=0.012)
    per_success = (1 - beta) ** n / (n * beta * (1 - beta) ** (n - 1))
    assert per_success == pytest.approx(idle, rel=0.05)


def simulate_frozen(n, windows, *, head, retry, transmissions, seed):
    """Frozen counters: only idle slots count, and a station that draws zero sends first and alone.

    After a collision the colliding stations count `head` slots before all others.
    """
    rng = np.random.default_rng(seed)
    windows = np.asarray(windows)
    stage = np.zeros(n, int)
    counter = rng.integers(1, windows[0], n)
    sent = failed = won = idle = 0
    saved = clashes = 0
    while sent < transmissions:
        now = counter == 0
        if not now.any():
            gap = counter.min()
            idle += gap
            counter -= gap
            now = counter == 0
        sent += now.sum()
        if now.sum() == 1:
            won += 1
            stage[now] = 0
        else:
            failed += now.sum()
            clashes += 1
            stage[now] += 1
            stage[stage >= retry] = 0
        counter[now] = rng.integers(0, windows[stage[now]])
        if now.sum() > 1:
            ahead = min(counter[now].min(), head)
            counter[now] -= ahead
            saved += head - ahead
    return failed / sent, idle / won, clashes / won, saved / clashes


@pytest.mark.parametrize("head", [0, 5])
@pytest.mark.parametrize("n", [3, 10])
def test_frozen_countdown_against_a_simulation(n, head):
    slots = backoff_slots(15, 1023, attempts=7)
    windows = (2 * slots - 1).astype(int)
    measured, idle, clashes, saved = simulate_frozen(
        n, windows, head=head, retry=7, transmissions=30_000, seed=3
    )
    point = frozen_fixed_point(n, mean_slots=slots, forever=False, head_slots=head)
    assert point.collision_probability == pytest.approx(measured, abs=0.012)
    success = (1 - point.drop_probability) * n / point.slots_per_frame
    assert 1 / success == pytest.approx(idle, rel=0.05)
    beta = point.attempt_probability
    clash = 1 - (1 - beta) ** n - n * beta * (1 - beta) ** (n - 1)
    clash += n * point.repeats_per_frame / point.slots_per_frame / 2
    assert clash / success == pytest.approx(clashes, rel=0.05)
    assert point.saved_slots == pytest.approx(saved, rel=0.1)


def ns3_row(row, **reading):
    return sat.bianchi(
        row["n"],
        standard=f"11{row['phy']}",
        payload_bytes=row["payload"],
        rts=bool(row["rts"]),
        retry_limit=None if row["rts"] else 7,  # ns-3.37 never drops on failed RTS
        **reading,
    )


def test_saturation_against_ns3(table):
    """Reading and worst deviation of throughput (percent) and of collision probability."""
    bounds = {
        ("staggered", "frozen"): (1.3, 0.013),
        ("difs", "frozen"): (1.1, 0.013),
        ("standard", "frozen"): (5.4, 0.015),
        ("difs", "bianchi"): (2.2, 0.028),
        ("timeout", "bianchi"): (4.8, 0.028),
        ("eifs", "bianchi"): (6.4, 0.028),
    }
    rows = table("ns3/s1_saturation_summary")
    assert len(rows) == 24
    for (collision, countdown), (percent, absolute) in bounds.items():
        cells = [ns3_row(row, collision=collision, countdown=countdown) for row in rows]
        off = [
            100 * abs(cell.throughput_mbps / row["goodput_mbps"] - 1)
            for cell, row in zip(cells, rows, strict=True)
        ]
        missed = [
            abs(cell.collision_probability - row["p_coll"])
            for cell, row in zip(cells, rows, strict=True)
        ]
        assert 0.8 * percent < max(off) < percent, (collision, countdown, max(off))
        assert max(missed) < absolute, (collision, countdown, max(missed))


def test_one_station_has_no_collisions_and_no_convention(table):
    for row in table("ns3/s1_saturation_summary"):
        if row["n"] == 1:
            cells = [
                ns3_row(row, collision=collision, countdown=countdown)
                for collision in sat.COLLISIONS
                for countdown in ("bianchi", "frozen")
                if countdown == "frozen" or collision not in SPLIT
            ]
            for cell in cells:
                assert cell.collision_probability == pytest.approx(0.0, abs=1e-12)
                assert cell.throughput_mbps == pytest.approx(row["goodput_mbps"], rel=5e-4)


def test_bianchis_maximum_throughput():
    """Equation (28): the best window is about n sqrt(2 T_c / slot), the maximum 0.82 of 1 Mb/s."""
    n = np.array([5, 10, 20, 50])
    times = {"slot_us": 50, "payload_bits": 8184}
    best = []
    for count in n:
        cw = np.arange(1, 2000)
        one_stage = backoff_slots(cw, cw)
        s = sat.saturation(
            count, mean_slots=one_stage, success_us=8982, collision_us=8713, **times
        ).throughput_mbps
        best.append(s.max())
        optimum = count * np.sqrt(2 * 8713 / 50)
        assert cw[s.argmax()] == pytest.approx(optimum, rel=0.25)
    k = np.sqrt(8713 / 100)
    limit = 8184 / (8982 + 50 * k + 8713 * (k * (np.exp(1 / k) - 1) - 1))
    assert best[-1] == pytest.approx(limit, rel=2e-3)
    assert np.all(np.diff(best) < 0)


def test_alike_classes_are_one_class():
    for retry in (None, 7):
        parts = [sat.StationClass(3, retry_limit=retry), sat.StationClass(4, retry_limit=retry)]
        mixed = sat.mixed(parts, standard="11a")
        one = {"collision": "eifs", "countdown": "bianchi"}
        whole = sat.bianchi(7, standard="11a", retry_limit=retry, **one)
        assert mixed.throughput_mbps.sum() == pytest.approx(whole.throughput_mbps, rel=1e-9)
        assert mixed.collision_probability == pytest.approx(
            [whole.collision_probability] * 2, rel=1e-9
        )
        assert mixed.throughput_mbps[0] / 3 == pytest.approx(mixed.throughput_mbps[1] / 4)


def test_classes_differ_as_they_should():
    eager, shy = sat.StationClass(5, cw_min=7, cw_max=15), sat.StationClass(5)
    mixed = sat.mixed([eager, shy], standard="11a")
    assert mixed.throughput_mbps[0] > 3 * mixed.throughput_mbps[1]
    assert mixed.collision_probability[0] < mixed.collision_probability[1]
    # the long frames of a slow class take the airtime, not the accesses
    slow = sat.mixed(
        [sat.StationClass(5, rate_mbps=54), sat.StationClass(5, rate_mbps=6)], standard="11a"
    )
    assert slow.throughput_mbps[0] == pytest.approx(slow.throughput_mbps[1])
    assert slow.airtime_share[1] > 5 * slow.airtime_share[0]


@given(
    n=st.integers(1, 10_000),
    cw_min=st.integers(0, 255),
    doublings=st.integers(0, 6),
    retry=st.one_of(st.none(), st.integers(1, 12)),
    collision=st.sampled_from(sat.COLLISIONS),
    countdown=st.sampled_from(["bianchi", "frozen"]),
    standard=st.sampled_from(["11b", "11a", "11g", "11n", "11ac", "11ax", "11be"]),
    payload=st.integers(1, 2000),
    rts=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_over_the_parameter_space(
    n, cw_min, doublings, retry, collision, countdown, standard, payload, rts
):
    countdown = "frozen" if collision in SPLIT else countdown
    cw_min = max(cw_min, countdown == "frozen")
    cell = sat.bianchi(
        n,
        standard=standard,
        payload_bytes=payload,
        rts=rts,
        retry_limit=retry,
        cw_min=cw_min,
        cw_max=(cw_min + 1) * 2**doublings - 1,
        collision=collision,
        countdown=countdown,
    )
    for name in ("attempt_probability", "collision_probability", "drop_probability"):
        assert 0 <= getattr(cell, name) <= 1 + 1e-12
    shares = cell.idle_share, cell.success_share, cell.collision_share
    assert all(share >= -1e-12 for share in shares)
    assert sum(shares) == pytest.approx(1)
    assert 0 <= cell.throughput_mbps < 145


@given(n=st.integers(2, 500), cw=st.integers(1, 1023), more=st.integers(1, 500))
@settings(deadline=None)
def test_monotone_where_theory_says(n, cw, more):
    slots = backoff_slots(cw, 1023) if cw < 1023 else backoff_slots(cw, cw)
    few, many = fixed_point([n, n + more], mean_slots=slots).collision_probability
    assert few <= many
    wider = fixed_point(n, mean_slots=slots + more)
    assert wider.attempt_probability <= fixed_point(n, mean_slots=slots).attempt_probability
    patient = fixed_point(n, mean_slots=backoff_slots(cw, cw, attempts=3), forever=False)
    forever = fixed_point(n, mean_slots=backoff_slots(cw, cw))
    # with one window for all stages the retry limit changes nothing
    assert patient.collision_probability == pytest.approx(forever.collision_probability, rel=1e-9)


def test_arrays_broadcast():
    cell = sat.bianchi(np.arange(1, 6)[:, None], standard="11a", payload_bytes=[500, 1500])
    assert cell.throughput_mbps.shape == (5, 2)
    assert cell.throughput_mbps[4, 1] == pytest.approx(
        sat.bianchi(5, standard="11a", payload_bytes=1500).throughput_mbps
    )
    for field in dataclasses.fields(cell):
        assert np.all(np.isfinite(getattr(cell, field.name)))
