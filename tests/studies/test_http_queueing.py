"""Web traffic over 802.11b: one quick run of the whole study, and the verdicts on its claims."""

from pathlib import Path

import polars as pl
import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

from simoom.models import http_sessions
from simoom.studies import Lab, Verdict, report
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import http_queueing
from simoom_studies.http_queueing import fairness, split
from simoom_studies.http_queueing.paper import PAPER, SEGMENTS_PER_FILE, web

REPRODUCED = """
    two_nodes_collide drops_negligible delayed_ack_gains single_station_model
    insensitive_to_downloads aggregate_model ten_downloads_model large_window_faster_alone
    insensitive_alone queueing_model insensitive window_matters_little delayed_ack_sessions
    tuned_timer_helps delayed_ack_beats_dynamic no_more_than_five initial_window_below_d
    delayed_ack_model contention_costs_less_than_waiting contention_falls window_raises_throughput
    window_model fair_queue_shares fair_queue_insensitive elephant_starves_browsers
    small_window_protects red_protects_browsers mice_lose_up_to_buffer small_window_fair
"""
IN_PART = """
    window_raises_collisions session_delay_alone analytical_session_delay uploads_beat_downloads
"""
NOT_REPRODUCED = "two_backlogged queueing_model_as_printed"
UNDECIDED = """
    stage_independent drop_formula elephants_hurt think_time_model delay_grows_up_to_buffer
    flat_beyond_buffer worst_at_buffer delayed_ack_beats_standard delayed_ack_helps_crowds
    fair_queue_helps_mice red_helps_mice fair_queue_protects window_trades_mice_for_elephants
    elephants_lose_beyond_buffer
"""
"""A full run has more replications, which decide most of them."""
NOT_CHECKABLE = "compared_model"
DOCS = Path(__file__).parents[2] / "docs"
EXPECTED = {
    Verdict.REPRODUCED: REPRODUCED,
    Verdict.IN_PART: IN_PART,
    Verdict.NOT_REPRODUCED: NOT_REPRODUCED,
    Verdict.UNDECIDED: UNDECIDED,
    Verdict.NOT_CHECKABLE: NOT_CHECKABLE,
}
STUDY = http_queueing.STUDY


def test_verdict(expected, claims):
    name, verdict = expected
    assert claims[name].verdict is verdict, claims[name].reason


def simulated(figure, label, quantity):
    return next(
        c
        for c in figure.curves
        if (c.label, c.quantity, c.source.value) == (label, quantity, "simulation")
    )


# ns-2.35: 0.35211 ms a segment, that is 0.1074 s for the expected file; the paper 0.1095 to 0.1099.
def test_a_session_of_one_station_takes_0_107_s(results):
    each = simulated(results["table 2"], "one station", "delay_per_segment_ms")
    file_s = 1e-3 * SEGMENTS_PER_FILE * each.at("Pareto, W* = 1").value
    assert file_s == pytest.approx(0.1074, rel=0.01)


# ns-2.35, medians over seeds, in ms a segment.
@pytest.mark.parametrize(("window", "ns2"), [(5, 4.166), (15, 4.461), (25, 4.729), (35, 4.820)])
def test_a_small_buffer_delays_as_in_ns2(window, ns2, results):
    curve = simulated(results["figure 10"], "drop-tail, 30 packets", "delay_per_segment_ms")
    assert curve.at(window).value == pytest.approx(ns2, rel=0.08)


# ns-2.35 with its heartbeat of 40 ms, in ms a segment.
@pytest.mark.parametrize(("scheme", "ns2"), [("d = 1", 3.454), ("d = 2, heartbeat", 3.218)])
def test_delayed_acks_cost_and_save_as_in_ns2(scheme, ns2, results):
    curve = simulated(results["table 3"], "W* = 1000", "delay_per_segment_ms")
    assert curve.at(scheme).value == pytest.approx(ns2, rel=0.03)


def test_every_session_ends_before_the_run_ends():
    with Lab(quick=True) as lab:
        scenario = web(5, window=1000, files=100)
        found = lab.sample({0: scenario}, http_queueing.paper.measure, replications=6)
    assert list(found[0]["files"]) == [500.0] * 6


# Pareto with shape 1.5 from 10000 bytes on: 3^-1.5 of the files have more than 30000 bytes, and
# these 90000 on average, so that the others have (30000 - 0.19245 * 90000) / 0.80755 = 15703.
def test_mice_and_elephants_together_have_the_sizes_of_the_paper():
    sizes = split.mouse_bytes()
    assert (min(sizes) // 100, max(sizes) // 1000) == (100, 29)
    assert sum(sizes) / len(sizes) == pytest.approx(15703, rel=0.005)
    larger = split.ELEPHANTS / (split.MICE + split.ELEPHANTS)
    assert larger == pytest.approx(0.19245, abs=0.01)
    flows = split.apart(5, None).to_dict()["flows"]
    assert flows[1]["traffic"]["web"]["size"]["pareto"]["mean_bytes"] == 90_000


# One customer that never leaves and k others: with one other each has half of the cell.
def test_browsers_share_with_an_elephant_as_in_a_processor_sharing_queue():
    alone = float(http_sessions.web_cell(10, think_s=10.0, mean_bytes=30_000).mean_delay_s)
    assert 1.8 * alone < fairness.shared_with_elephant_s() < 2.5 * alone


def test_the_model_of_delayed_acks_adds_the_timer_of_half_the_files():
    bare = float(http_sessions.web_cell(1, think_s=10.0, mean_bytes=30_000, delayed_ack=2)
                 .mean_delay_s)  # fmt: skip
    # Half of the geometric numbers of segments are odd: 1 / (1 + exp(-1 / 30)) = 0.5083.
    assert split.predicted_s(2, 2) - bare == pytest.approx(0.5083 * 0.04, rel=1e-3)


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    # Of these the paper says how they change with W*, with the sizes or with n, and no values.
    assert silent_subjects(results) == {
        "contention_us by simulation",
        "delay_per_segment_ms",
        "drop_probability by analysis",
    }


def test_the_paper_scenario_is_table_1():
    keys = PAPER.to_dict()
    assert keys["standard"] == "11b"
    assert keys["wlan"]["rts_threshold_bytes"] == 0
    assert keys["wlan"]["basic_rates_mbps"] == [2.0]
    # L_MAC = 272 bits, m = 7.
    assert keys["wlan"]["mac_header_bytes"] + 4 == 34
    assert keys["wlan"]["short_retry_limit"] == keys["wlan"]["long_retry_limit"] == 7
    PAPER.check()


def test_everything_is_written(results, tmp_path):
    names = report.write(results, tmp_path)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")) == sorted(
        names
    )
    for figure in results:
        stem = tmp_path / "http_queueing" / report.slug(figure.key)
        written = pl.read_parquet(f"{stem}.parquet")
        assert written.equals(figure.data)
        assert pl.read_csv(f"{stem}.csv").height == written.height
        assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    table = pl.read_csv(tmp_path / "http_queueing" / "claims.csv")
    assert table["verdict"].to_list() == [claim.verdict.value for _, claim in results.claims]


def test_the_page_is_self_contained_and_has_every_verdict(results):
    page = report.page([results])
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert page.count('<div class="claim') == len(results.claims)
    assert page.count('<div class="claim not-reproduced"') == sum(
        claim.verdict is Verdict.NOT_REPRODUCED for _, claim in results.claims
    )
    assert page.count("<img ") == len(results.figures)


def test_the_page_has_all_claims(results):
    page = (DOCS / "studies" / "http_queueing.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    missing = [claim.statement for _, claim in results.claims if claim.statement not in text]
    assert not missing
