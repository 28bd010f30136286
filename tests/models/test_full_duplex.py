"""The full-duplex and the half-duplex cell: their tables and limits."""

import dataclasses
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import full_duplex as fd
from simoom.models import half_duplex as hd
from simoom.models.fixed_point import attempt_probability, backoff_slots

SLOTS = backoff_slots(31, 1023)


def chain_attempts(s, gamma, w0=32, m=5):
    """beta_AP from the stationary distribution of the (stage, counter) chain, (1) to (5)."""
    widths = [w0 * 2**i for i in range(m + 1)]
    start = np.concatenate([[0], np.cumsum(widths)])
    step = np.zeros((start[-1], start[-1]))
    for i, width in enumerate(widths):
        at = start[i] + np.arange(width)
        step[at[1:], at[:-1]] += 1 - s
        step[at[1:, None], np.arange(w0)] += s / w0
        step[at[0], :w0] += (1 - gamma) / w0
        up = min(i + 1, m)
        step[at[0], start[up] : start[up + 1]] += gamma / widths[up]
    law = np.linalg.solve(
        np.vstack([(step.T - np.eye(len(step)))[:-1], np.ones(len(step))]),
        np.eye(len(step))[-1],
    )
    return law[start[:-1]].sum()


@pytest.mark.parametrize(
    ("s", "gamma"), [(1e-7, 0.0), (1e-4, 0.5), (0.02, 0.24), (0.37, 0.6), (1.0, 0.9)]
)
def test_corrected_eq6_is_the_balance_of_the_whole_chain(s, gamma):
    assert fd.ap_attempt_probability(s, gamma) == pytest.approx(chain_attempts(s, gamma), rel=1e-9)


def test_eq6_table(table, same):
    for row in table("models/000_beta_ap"):
        at = f"s={row['s']:g} gamma={row['gamma']:g}"
        for form in ("corrected", "printed"):
            value = fd.ap_attempt_probability(row["s"], row["gamma"], eq6=form)
            same(value, row[f"eq6_{form}"], f"{form} {at}")
        same(fd.ap_attempt_probability(row["s"], row["gamma"]), row["dtmc"], at)


def test_eq8_table(table, same):
    for row in table("models/000_beta_sta"):
        value = attempt_probability(row["gamma"], mean_slots=SLOTS)
        for column in ("dtmc_s0", "eq8_stable", "eq6_corrected_s_to_0"):
            same(value, row[column], column)
        same(fd.ap_attempt_probability(0.0, row["gamma"]), row["eq6_corrected_s_to_0"], "s = 0")


def test_fixed_point_table(table, same):
    rows = table("models/000_fixed_point")
    n = np.array([row["N"] for row in rows])
    point, printed = fd.backoff_point(n), fd.backoff_point(n, eq6="printed")
    columns = {
        "beta_sta": point.station_attempt,
        "gamma_sta": point.station_collision,
        "beta_ap": point.ap_attempt,
        "gamma_ap": point.ap_collision,
        "s_ap": point.ap_secondary,
        "beta_ap_printed6": printed.ap_attempt,
    }
    for i, row in enumerate(rows):
        for name, values in columns.items():
            same(values[i], row[name], f"{name} at N={row['N']:g}")
        # Monte Carlo: noise, and the decoupling error, which is largest for two stations
        assert point.station_attempt[i] == pytest.approx(row["beta_sta_mc"], rel=0.005)
        assert point.station_collision[i] == pytest.approx(row["gamma_sta_mc"], abs=0.004)
        assert point.ap_attempt[i] == pytest.approx(row["beta_ap_mc"], rel=0.03)
        assert point.ap_collision[i] == pytest.approx(row["gamma_ap_mc"], abs=0.0075)


READINGS = {
    "total_eq9_11": {},
    "total_single_count": {"counting": "single"},
    "total_flow_balanced": {"counting": "single", "flow": "capped"},
    "total_with_printed_eq6": {"eq6": "printed"},
}


def test_throughput_table(table, same):
    rows = table("models/000_throughput_mbps")
    where = {
        "stations": np.array([row["N"] for row in rows]),
        "upload_fraction": np.array([row["f_upl"] for row in rows]),
        "cli_rate_mbps": np.array([row["r2"] for row in rows]),
    }
    assert len(rows) == 102
    for column, reading in READINGS.items():
        cell = fd.cell(**where, **reading)
        for value, row in zip(cell.total_mbps, rows, strict=True):
            same(value, row[column], column)
    cell = fd.cell(**where)
    for i, row in enumerate(rows):
        same(cell.download_mbps[i], row["dwl_eq9"], "dwl_eq9")
        same(cell.upload_mbps[i], row["upl_eq10"], "upl_eq10")
        same(cell.half_duplex_mbps[i], row["hd_kuriakose"], "hd_kuriakose")


def test_throughput_against_monte_carlo(table):
    rows = table("models/000_throughput_mbps")
    where = {
        "stations": np.array([row["N"] for row in rows]),
        "upload_fraction": np.array([row["f_upl"] for row in rows]),
        "cli_rate_mbps": np.array([row["r2"] for row in rows]),
    }

    def gap(column, **reading):
        measured = np.array([row[column] for row in rows])
        return np.abs(fd.cell(**where, **reading).total_mbps / measured - 1)

    # saturated queues: the single count is right, the printed one counts an event twice
    assert gap("mc_saturated_bianchi", counting="single").max() < 0.0081
    assert 0.02 < gap("mc_saturated_bianchi").max() < 0.023
    # closed loop: the access point's surplus is paid back
    many = where["stations"] >= 20
    assert gap("mc_closed_bianchi", counting="single", flow="repaid")[many].max() < 0.010
    assert gap("mc_closed_freeze")[many].max() < 0.053
    half = np.array([row["hd_mc_bianchi"] for row in rows])
    assert np.abs(fd.cell(**where).half_duplex_mbps / half - 1).max() < 0.005


CLAIMS = ("f.25_r36", "f.75_r36", "f0_r36", "f.65_r36", "f0_r27", "f1_r27", "f.65_r12")
CLAIM_F = np.array([0.25, 0.75, 0.0, 0.65, 0.0, 1.0, 0.65])
CLAIM_R2 = np.array([36.0, 36.0, 36.0, 36.0, 27.0, 27.0, 12.0])

CONVENTIONS = {
    "as printed (L_d=16000)": ({}, 0.0),
    "L_d=16384": ({"data_bits": 16384.0}, 0.0),
    "collision + CTS timeout of about SIFS+slot (26us)": ({}, 26.0),
    "collision + SIFS + CTS": ({}, 60.0),
    "L_d=16384, collision + 26us": ({"data_bits": 16384.0}, 26.0),
    "TCP header once in TCP ACK (L_a=160)": ({"tcp_ack_bits": 160.0}, 0.0),
    "no DIFS in collision": ({}, -34.0),
}


def test_gains_under_seven_conventions(table, same):
    rows = [row for row in table("models/000_conventions") if row["convention"] != "claims"]
    assert {row["convention"] for row in rows} == set(CONVENTIONS)
    for row in rows:
        changes, timeout = CONVENTIONS[row["convention"]]
        cell = fd.cell(
            80,
            upload_fraction=CLAIM_F,
            cli_rate_mbps=CLAIM_R2,
            times=dataclasses.replace(fd.TABLE_I, **changes),
            cts_timeout_us=timeout,
        )
        same(cell.half_duplex_mbps[0], row["hd_mbps"], row["convention"])
        for column, gain in zip(CLAIMS, cell.gain_percent, strict=True):
            same(gain, row[column], f"{row['convention']} {column}")


def test_gains_follow_the_monte_carlo_under_three_timeouts(table):
    for row in table("models/000_collision_time_mc"):
        if row["slots"] != "bianchi" or row["windows_start"] != "steady":
            continue
        cell = fd.cell(
            80,
            upload_fraction=CLAIM_F,
            cli_rate_mbps=CLAIM_R2,
            cts_timeout_us=row["extra_collision_us"],
            counting="single",
            flow="repaid",
        )
        measured = np.array([row[column] for column in CLAIMS])
        assert np.abs(cell.gain_percent - measured).max() < 1.7  # points
        assert cell.half_duplex_mbps[0] == pytest.approx(row["hd_mbps"], rel=0.004)


def test_gain_claims_table(table, same):
    for row in table("models/000_gain_claims"):
        where = {
            "stations": row["N"],
            "upload_fraction": row["f_upl"],
            "cli_rate_mbps": row["r2"],
        }
        cell = fd.cell(**where)
        same(cell.gain_percent, row["eq9_11_vs_hd_model"], row["claim"])
        implied = cell.total_mbps / (1 + row["claimed_pct"] / 100)
        same(implied, row["hd_implied_by_eq9_11"], row["claim"])
        single = fd.cell(**where, counting="single").gain_percent
        same(single, row["single_count_vs_hd_model"], row["claim"])
        capped = fd.cell(**where, counting="single", flow="capped").gain_percent
        same(capped, row["flow_balanced_vs_hd_model"], row["claim"])


def test_contenders_of_the_half_duplex_cell(table, same):
    cell = hd.cell(50, times=fd.TABLE_I.half_duplex(), upload_fraction=0.25)
    for row in table("models/000_contenders"):
        if row["case"] == "HD":
            n = int(row["stas_contending"])
            same(cell.contenders[n], row["kuriakose_embedded"], f"{n} stations")
            assert cell.contenders[n] == pytest.approx(row["mc_at_successes"], abs=0.05)
            assert cell.contenders_in_time[n] == pytest.approx(row["mc_time_weighted"], abs=0.06)
    assert cell.contenders_in_time[:5] == pytest.approx(
        [0.237, 0.367, 0.249, 0.105, 0.032], abs=6e-4
    )
    assert cell.mean_contenders == pytest.approx(1.5)


def test_half_duplex_against_ns3(table):
    for row in table("ns3/s4_tcp_multi_summary"):
        n = int(row["n"])
        upload = {"down": 0.0, "up": 1.0, "half": (n // 2) / n}[row["dir"]]
        times = hd.cell_times(
            standard="11a",
            payload_bytes=row["mss"],
            rts="data" if row["rts_threshold"] else "all",
            collision="difs",
            rate_mbps=54,
            control_mbps=24,
        )
        cell = hd.cell(n, times=times, upload_fraction=upload, cw_min=15)
        assert cell.total_mbps == pytest.approx(row["goodput_mbps"], rel=0.005)


def test_one_flow_against_ns3(table):
    """The chain truncated at one station, without and with RTS, delayed ACK 1 and 2."""
    seen = 0
    for row in table("ns3/s2_tcp_single_summary"):
        if row["phy"] not in ("a", "b") or row["macq"] != "10000p" or row["cc"] != "TcpNewReno":
            continue
        window, control = {"a": (15, 24), "b": (31, 2)}[row["phy"]]
        times = hd.cell_times(
            standard=f"11{row['phy']}",
            rts="data" if row["rts"] else "none",
            collision="difs",
            control_mbps=control,
        )
        cell = hd.cell(
            1,
            times=times,
            upload_fraction=float(row["dir"] == "up"),
            delayed_ack=row["delack"],
            cw_min=window,
        )
        assert cell.total_mbps == pytest.approx(row["goodput_mbps"], rel=0.02), row
        seen += 1
    assert seen == 12


def test_delayed_ack_reduces_contention_and_raises_throughput():
    times = hd.cell_times(standard="11b", rate_mbps=11, control_mbps=2)
    d = np.array([1, 2, 4, 8, 10**6])
    cell = hd.cell(times=times, delayed_ack=d)
    assert np.all(np.diff(cell.total_mbps) > 0)
    assert np.all(np.diff(cell.mean_contenders) < 0)
    # d to infinity: the access point alone, DIFS + mean back-off + exchange for each segment
    alone = 8 * 1448 / (times.data_us + 15.5 * 20)
    assert cell.total_mbps[-1] == pytest.approx(alone, rel=1e-5)


def test_half_duplex_needs_no_stations_argument_and_takes_infinity():
    times = fd.TABLE_I.half_duplex()
    totals = hd.cell([4, 40, np.inf], times=times).total_mbps
    assert totals[1] == pytest.approx(totals[2], rel=1e-12)
    assert hd.cell(times=times).total_mbps == totals[2]


@given(
    n=st.integers(1, 10_000),
    f=st.floats(0, 1),
    r2=st.floats(1, 54),
    timeout=st.floats(0, 300),
    counting=st.sampled_from(["printed", "single"]),
    flow=st.sampled_from(["open", "capped", "repaid"]),
)
@settings(max_examples=60, deadline=None)
def test_full_duplex_over_the_parameter_space(n, f, r2, timeout, counting, flow):
    point = fd.backoff_point(n)
    for value in dataclasses.astuple(point):
        assert 0 <= value <= 1
    where = {"upload_fraction": f, "cts_timeout_us": timeout, "counting": counting, "flow": flow}
    cell = fd.cell(n, cli_rate_mbps=r2, **where)
    assert cell.total_mbps == pytest.approx(cell.download_mbps + cell.upload_mbps)
    # no more than both directions at the PHY's rates
    assert 0 < cell.total_mbps < 54 + r2
    assert fd.cell(n, cli_rate_mbps=r2 * 1.1, **where).total_mbps >= cell.total_mbps * (1 - 1e-12)
    # with the printed count a single station's collisions have a probability below zero
    longer = {**where, "cts_timeout_us": timeout + 10, "counting": "single"}
    cell = fd.cell(n, cli_rate_mbps=r2, **{**where, "counting": "single"})
    assert fd.cell(n, cli_rate_mbps=r2, **longer).total_mbps <= cell.total_mbps * (1 + 1e-12)


@given(
    s=st.floats(0, 1), gamma=st.floats(0, 1), w=st.sampled_from([1, 3, 31, 63]), m=st.integers(0, 6)
)
@settings(max_examples=100, deadline=None)
def test_eq6_is_a_probability_everywhere(s, gamma, w, m):
    window = {"cw_min": w, "cw_max": (w + 1) * 2**m - 1}
    beta = fd.ap_attempt_probability(s, gamma, **window)
    assert 0 < beta <= 1
    near = fd.ap_attempt_probability(np.clip(s * (1 + 1e-7) + 1e-12, 0, 1), gamma, **window)
    assert near == pytest.approx(beta, rel=1e-3)  # no jump at the seam of the series


def test_eq6_is_continuous_where_the_series_ends():
    for window in (31, 1023):
        s = 0.1 / (window + 1) * (1 + np.array([-1e-9, 1e-9]))
        left, right = fd.ap_attempt_probability(s, 0.0, cw_min=window, cw_max=window)
        assert left == pytest.approx(right, rel=1e-9)


def test_eq6_goes_to_eq8_without_secondary_turns():
    gamma = np.linspace(0, 1, 41)
    assert fd.ap_attempt_probability(0.0, gamma) == pytest.approx(
        attempt_probability(gamma, mean_slots=SLOTS), rel=1e-12
    )


def test_classes_alike_are_the_plain_cell():
    classes = [fd.StationClass(20, True), fd.StationClass(35, False), fd.StationClass(25, False)]
    plain = fd.cell(80, upload_fraction=0.25)
    mixed = fd.mixed(classes)
    assert mixed.total_mbps == pytest.approx(plain.total_mbps, rel=1e-12)
    assert mixed.upload_mbps == pytest.approx(plain.upload_mbps, rel=1e-12)


def test_printed_eq6_leaves_no_probability_for_collisions():
    point = fd.backoff_point(4, eq6="printed")
    attempt, crowd = point.ap_attempt, point.ap_collision
    quiet = (1 - point.station_attempt) ** 4
    events = quiet * (1 - attempt) + point.ap_secondary + attempt * (1 - crowd)
    assert events > 1


def test_a_hundred_thousand_fixed_points_a_second():
    n = np.random.default_rng(1).integers(1, 200, 100_000)
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        fd.backoff_point(n)
        best = min(best, time.process_time() - start)
    assert best < 1.0
