"""HTTP over 802.11b: every number of the tables, the Monte Carlo, and limits."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import http_queueing as http
from simoom.models import http_sessions as web

SHORT_RTS = dataclasses.replace(http.TABLE_1, rts_bits=160.0)


def test_times_of_section_2():
    cell = http.TABLE_1
    assert cell.data_us == pytest.approx(1831.09, abs=0.005)
    assert cell.ack_us == pytest.approx(1103.82, abs=0.005)
    assert cell.cycle_us == pytest.approx(3554.91, abs=0.005)
    assert cell.setup_us() == pytest.approx(1678.18, abs=0.005)
    assert cell.setup_us("protected") == pytest.approx(2827.6, abs=0.05)


def test_collision_table(table, same):
    rows = table("models/001_collision_drop")
    n = np.array([row["nb"] for row in rows])
    point = http.collision_point(n)
    columns = {
        "Pc_eq1_2": point.collision_probability,
        "Pdrop": point.drop_probability,
        "Tb_us": point.backoff_us,
        "Tcoll_us_eq3": point.collision_us,
        "TW_us_eq4": point.wasted_us,
        "Ttbo_us_eq5": point.waiting_us,
    }
    for i, row in enumerate(rows):
        for name, values in columns.items():
            same(values[i], row[name], f"{name} at {row['nb']:g}")
        # (1) and (2) are 2 to 6 % above the Monte Carlo
        assert point.collision_probability[i] == pytest.approx(row["Pc_mc_freeze_retry7"], rel=0.06)


def test_bianchi_beside_it(table, same):
    from simoom.models.fixed_point import backoff_slots, fixed_point

    slots = backoff_slots(31, 1023)
    for row in table("models/001_collision_drop"):
        point = fixed_point(row["nb"], mean_slots=slots)
        same(point.collision_probability, row["Pc_bianchi"], f"n={row['nb']:g}")


def test_single_flow_table(table, same):
    for row in table("models/001_fig3_single_mbps"):
        d = row["d"]
        same(http.single_flow(d), row["eq8_with_Tslot"], f"(8) d={d:g}")
        same(http.tcp_throughput(1, delayed_ack=d).total_mbps, row["eq12_nc1"], f"(12) d={d:g}")
        single = http.single_flow(d, collisions="single")
        same(single, row["eq8_single_counted_collisions"], f"single d={d:g}")
        assert single == pytest.approx(row["mc_W_large"], rel=0.002)
        assert http.single_flow(d) == pytest.approx(row["mc_W_large"], rel=0.021)


def test_eq8_as_printed_counts_slots_as_seconds():
    assert http.single_flow(2, eq8="printed") * 1e6 == pytest.approx(1032, abs=1)
    assert http.single_flow(1, eq8="printed") == http.single_flow(1)


def test_aggregate_table(table, same):
    for row in table("models/001_fig4_fig5_aggregate"):
        n = row["nc"]
        same(http.tcp_throughput(n).total_mbps, row["eq10_mbps"], f"n_c={n:g}")
        balanced = http.tcp_throughput(n, law="birth_death").total_mbps
        same(balanced, row["eq10_birth_death_mbps"], f"n_c={n:g}")
        same(http.collision_point(2).collision_probability, row["Pc_model_E_nb_2"])
        law = http.backlogged_pmf(n)
        share = np.sum(law / np.arange(1, law.shape[-1] + 1))
        same(share, row["AP_success_share_implied_by_eq9"], f"share n_c={n:g}")
        if n > 1:
            assert http.tcp_throughput(n).total_mbps == pytest.approx(row["mc_W1_mbps"], rel=0.039)
            single = http.tcp_throughput(n, law="birth_death", collisions="single").total_mbps
            assert single == pytest.approx(row["mc_W1_mbps"], rel=0.012)


def test_delayed_ack_table(table, same):
    for row in table("models/001_fig6_nc10_bps"):
        flow = http.tcp_throughput(10, delayed_ack=row["d"]).per_flow_mbps
        same(flow * 1e6, row["eq12"], f"d={row['d']:g}")
        assert flow * 1e6 == pytest.approx(row["mc_W_eq_d"], rel=0.039)


def test_window_table(table, same):
    for row in table("models/001_appendixA_mbps"):
        value = http.window_throughput(row["W"])
        same(value, row["eqA3"], f"W={row['W']:g}")
        same(value, row["chain_A1_A2"], f"W={row['W']:g}")
        assert value == pytest.approx(row["mc"], rel=0.025)
        single = http.window_throughput(row["W"], collisions="single")
        assert single == pytest.approx(row["mc"], rel=0.014)


@pytest.mark.parametrize("w", [1, 2, 3, 7, 40])
def test_a3_is_the_algebra_of_the_chain(w):
    """(A.1) as the stationary distribution of the walk on 0..W*, and (A.2) summed over it."""
    step = np.zeros((w + 1, w + 1))
    for a in range(w + 1):  # a packets at the sender, w - a at the receiver
        up, down = (1.0, 0.0) if a == 0 else (0.0, 1.0) if a == w else (0.5, 0.5)
        step[a, min(a + 1, w)] += up
        step[a, max(a - 1, 0)] += down
    law = np.linalg.solve(
        np.vstack([(step.T - np.eye(w + 1))[:-1], np.ones(w + 1)]), np.eye(w + 1)[-1]
    )
    cell, two = http.TABLE_1, http.collision_point(2)
    inner = (cell.data_us + cell.ack_us) / 2 + two.waiting_us + two.wasted_us
    ends = law[0] * (cell.ack_us + cell.first_backoff_us)
    ends += law[w] * (cell.data_us + cell.first_backoff_us)
    acked = law[1:w].sum() / 2 + law[0]
    throughput = cell.payload_bits * acked / (law[1:w].sum() * inner + ends)
    assert http.window_throughput(w) == pytest.approx(throughput, rel=1e-9)


def test_window_limits():
    assert http.window_throughput(1) == pytest.approx(
        http.TABLE_1.payload_bits / http.TABLE_1.cycle_us, rel=1e-12
    )
    assert http.window_throughput(10**9) == pytest.approx(http.single_flow(1), rel=1e-8)
    assert np.all(np.diff(http.window_throughput(np.arange(1, 200))) > 0)


@pytest.mark.parametrize("cell", [http.TABLE_1, SHORT_RTS])
def test_table_2_readings(table, same, cell):
    for row in table("models/001_table2_readings_s"):
        if row["RTS_bits"] != cell.rts_bits:
            continue
        mean = float(row["mean_file"].split()[0])
        same(web.expected_segments(mean), row["E_packets"])
        same(web.mean_session_delay(mean, cell=cell), row["eq15_affine"])
        same(web.session_delay(mean, cell=cell), row["eq14_at_mean"])
        exact = web.mean_session_delay(mean, shape=1.5, cell=cell)
        same(exact, row["eq14_exact_expectation"])
        full = web.mean_session_delay(mean, shape=1.5, cell=cell, last_packet="full")
        same(full, row["eq14_expectation_full_last_packet"])
        protected = web.mean_session_delay(mean, cell=cell, setup="protected")
        same(protected, row["eq15_with_RTS_and_MAC_header_in_setup"])


def test_expected_segments_against_a_sum():
    for mean, shape in [(30_000, 1.5), (30_720, 1.5), (2_000, 3.0), (123_456, 1.2)]:
        scale = mean * (1 - 1 / shape)
        k = np.arange(0, 2_000_000)
        tail = np.minimum(1.0, (scale / np.maximum(1000 * k, 1e-9)) ** shape)
        rest = (scale / 1000) ** shape * (k[-1] + 0.5) ** (1 - shape) / (shape - 1)
        assert web.expected_segments(mean, shape=shape) == pytest.approx(
            tail.sum() + rest, rel=1e-6
        )


FIG8 = {
    "eq16_17_lambda_fixed": {"c1": "printed"},
    "same_C1_without_contention": {},
    "eq17_printed_lambda": {"c1": "printed", "arrivals": "printed"},
}


def test_delay_against_stations(table, same):
    for row in table("models/001_fig8_delay_s"):
        at = {"stations": row["n"] - 1, "think_s": 10.0}
        for column, reading in FIG8.items():
            cell = web.web_cell(**at, mean_bytes=30_000, **reading)
            same(cell.mean_delay_s, row[column], f"{column} n={row['n']:g}")
        printed = web.web_cell(**at, mean_bytes=30_000, c1="printed")
        same(printed.offered_load, row["load"])
        larger = web.web_cell(**at, mean_bytes=30_720, c1="printed")
        same(larger.mean_delay_s, row["same_30720B"])
        ours = web.web_cell(**at, mean_bytes=30_000).mean_delay_s
        assert ours == pytest.approx(row["mc_exp_W1"], abs=row["ci"] + 0.013 * ours)


def test_delay_against_think_time(table, same):
    for row in table("models/001_fig9_think_s"):
        at = {"stations": 10, "think_s": row["think_s"], "mean_bytes": 30_000}
        printed = web.web_cell(**at, c1="printed")
        same(printed.mean_delay_s, row["eq16_17_lambda_fixed"])
        same(printed.offered_load, row["load"])
        cell = web.web_cell(**at)
        same(cell.mean_delay_s, row["same_C1_without_contention"])
        assert cell.mean_delay_s == pytest.approx(
            row["mc_exp_W1"], abs=row["ci"] + 0.013 * cell.mean_delay_s
        )


def test_throughput_against_ns2(table):
    """ns-2 has an RTS of 160 bits and draws its first back-off from {0..30}."""
    cell = dataclasses.replace(SHORT_RTS, cw_min=30)
    for row in table("ns2/p1a"):
        if row["W"] == 1:
            flow = http.tcp_throughput(row["nc"], cell=cell, law="birth_death", collisions="single")
            value = flow.total_mbps if row["nc"] > 1 else http.window_throughput(1, cell=cell)
            assert value == pytest.approx(row["agg_bps"] / 1e6, rel=0.03)
    for row in table("ns2/p1b"):
        if row["nc"] == 1 and row["Wstar"] == 1000:
            value = http.single_flow(row["d"], cell=cell, collisions="single")
            assert value == pytest.approx(row["agg_bps"] / 1e6, rel=0.01)


def test_session_with_delayed_ack():
    cell = http.TABLE_1
    one, two = (web.session_delay(4_000, delayed_ack=d) for d in (1, 2))
    assert one - two == pytest.approx(2 * (cell.ack_us + cell.first_backoff_us) / 1e6)
    odd = web.session_delay(5_000, delayed_ack=2, delack_timeout_ms=40)
    even = web.session_delay(4_000, delayed_ack=2, delack_timeout_ms=40)
    assert odd > even + 0.040
    # the session that ends with the last segment does not see its TCP ACK
    free = web.session_delay(4_000, last_ack="free")
    assert one - free == pytest.approx((cell.ack_us + cell.first_backoff_us) / 1e6)


def test_web_cell_limits():
    alone = web.web_cell(1, think_s=10, mean_bytes=30_000).mean_delay_s
    assert alone == pytest.approx(web.mean_session_delay(30_000), rel=1e-12)
    rare = web.web_cell([1, 10, 100], think_s=1e7, mean_bytes=30_000).mean_delay_s
    assert rare == pytest.approx([alone] * 3, rel=1e-4)
    # when nobody thinks, n sessions share the capacity of n
    busy = web.web_cell(10, think_s=1e-6, mean_bytes=30_000).mean_delay_s
    shared = 10 * 240_000 / (http.tcp_throughput(10).total_mbps * 1e6)
    assert busy - http.TABLE_1.setup_us() / 1e6 == pytest.approx(shared, rel=1e-4)


def test_printed_arrival_rate_is_wrong_by_the_number_of_stations():
    at = {"think_s": 10.0, "mean_bytes": 30_000, "c1": "printed"}
    right, wrong = (
        web.web_cell(30, **at, arrivals=a).mean_delay_s for a in ("corrected", "printed")
    )
    assert 20 < wrong / right < 31


def test_smaller_root_of_eqs_1_and_2():
    point = http.collision_point([100, 185]).collision_probability
    assert np.all(point < 0.812)
    with pytest.raises(ValueError, match="backlogged"):
        http.collision_point(200)
    n = np.arange(1, 10_001)
    for collisions in ("printed", "single"):
        many = http.collision_point(n, backoff="normalised", collisions=collisions)
        assert np.all(np.diff(many.collision_probability) >= 0)
        assert np.all(np.isfinite(many.wasted_us) & np.isfinite(many.waiting_us))


@given(
    n=st.integers(1, 10_000),
    d=st.integers(1, 50),
    law=st.sampled_from(["binomial", "birth_death"]),
    backoff=st.sampled_from(["printed", "normalised"]),
    collisions=st.sampled_from(["printed", "single"]),
)
@settings(max_examples=60, deadline=None)
def test_throughput_over_the_parameter_space(n, d, law, backoff, collisions):
    reading = {"law": law, "backoff": backoff, "collisions": collisions}
    law_of = http.backlogged_pmf(n, delayed_ack=d, law=law)
    assert law_of.sum() == pytest.approx(1, abs=1e-10)
    mean = np.sum(law_of * np.arange(law_of.size))
    assert mean <= 1.5 + 1e-12
    if law == "binomial":
        assert mean == pytest.approx(1 / d, rel=1e-9)
    cell, more = (http.tcp_throughput(n, delayed_ack=x, **reading).total_mbps for x in (d, d + 1))
    assert 2 < cell < more < 8000 / http.TABLE_1.data_us


@given(size=st.floats(1, 1e7), d=st.integers(1, 10))
@settings(deadline=None)
def test_session_delay_grows_with_the_file(size, d):
    small, large = web.session_delay([size, size + 1000], delayed_ack=d, delack_timeout_ms=0)
    assert small < large
