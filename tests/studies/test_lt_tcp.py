"""LT-TCP and SACK over lossy links: one quick run of the figures, and the verdicts on claims."""

import math

import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

import simoom as sm
from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import lt_tcp
from simoom_studies.lt_tcp import advice, captures, cell, link, second_cell

REPRODUCED = """
    lt_tcp_does_not_collapse sack_breaks_at_few_percent sack_falls_with_loss_and_rtt
    lt_tcp_tolerates_loss lt_tcp_beats_sack lt_tcp_minds_rtt_less code_beats_window_alone
    parity_for_mean_costs_less slower_is_worse highest_rate_is_best mac_goodput_by_formula
    three_attempts_last adaptation_drops_hv1 timeouts_near_hv1 sack_follows_residual_loss
    highest_rate_is_best_for_tcp goodput_below_55_percent preamble_costs_3_mbps fast_mac_acks_pay
    preamble_costs_by_simulation table_iv_lt_tcp no_timeouts_without_interference
    lt_tcp_timeouts_fall sack_still_collapses tolerates_250_ms code_decides_little
    probes_decide_captures no_timeouts_with_500_ms
    lt_tcp_keeps_its_window_with_500_ms bbr_needs_no_code bbr3_answers_losses cubic_is_no_remedy
    bbr_survives_captures fq_codel_costs_lt_tcp
    cara_does_not_tell_interference minstrel_keeps_the_rate
    download_is_unaffected rts_does_not_prevent_it lost_acks_explain_the_rule
    ratio_of_10_db_protects
"""
IN_PART = """
    lt_tcp_is_graceful sack_collapses rate_adaptation_fails seven_attempts_last
    timeouts_near_hv3 adapted_near_hv1 table_vi_lt_tcp no_timeouts_with_seven_attempts
    seven_attempts_mac seven_attempts_fail_beyond_half_a_second source_stands_for_cell
    rule_stands_for_cell lt_tcp_declines_less_beside_cell
"""
NOT_REPRODUCED = """
    channel_fraction slots_conservative lt_tcp_near_hv3 mac_near_hv3 timeouts_in_a_run_near_hv3
    lt_tcp_near_hv1 mac_near_hv1 adapted_mac_near_hv1 table_v_sack table_v_lt_tcp
    sack_comparable_nearby sack_falls_precipitously lt_tcp_declines_less sack_idles_the_mac
    capture_bound persistence_helps_sack lt_tcp_competitive_nearby limit_attempts_to_three
    download_captures_channel
"""
UNDECIDED = """
    sack_as_in_ns2 sack_as_pftk sack_near_hv3 adapted_near_hv3 adaptation_drops_hv3
    mac_of_sack_near_hv3 adapted_mac_near_hv3 sack_near_hv1 mac_of_sack_near_hv1
    timeouts_in_a_run_near_hv1 hv1_worse_than_hv3 adaptation_worse_near_hv1
    residual_loss_breaks_sack fitted_round_trip_time table_iv_sack
    comparable_without_interference mac_without_interference sack_timeouts_grow
    lt_tcp_has_fewer_timeouts lt_tcp_idles_the_mac table_vi_sack lt_tcp_superior_far_away
    larger_buffers_survive_capture table_v_sack_with_500_ms minstrel_needs_packets afh_ends_it
    files_capture_channel code_does_not_survive_captures fq_codel_leaves_bbr
    bursts_are_worse_than_slots
"""
"""A full run has more replications, which decide most of them."""
EXPECTED = {
    Verdict.REPRODUCED: REPRODUCED,
    Verdict.IN_PART: IN_PART,
    Verdict.NOT_REPRODUCED: NOT_REPRODUCED,
    Verdict.UNDECIDED: UNDECIDED,
}
STUDY = lt_tcp.STUDY


def test_verdict(expected, claims):
    name, verdict = expected
    assert claims[name].verdict is verdict, claims[name].reason


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    # Of these the paper gives an order, an upper bound or a wide band, and no values.
    assert silent_subjects(results) == {
        "packet_corruption by analysis",
        "overhead",
        "overhead_fraction by simulation",
        "goodput of the window alone by simulation",
        "goodput of CUBIC by simulation",
        "timeouts of LT-TCP by simulation",
        "goodput by the law",
    }


def simulated(figure, label):
    return next(
        c
        for c in figure.curves
        if (c.label, c.source.value, c.quantity) == (label, "simulation", "goodput_mbps")
    )


# ns-2.35, Sack1 with ECN over the same link, 20 to 220 s, five seeds.
@pytest.mark.parametrize(
    ("rtt", "loss", "ns2"),
    [
        ("10 ms", 0.0, 9.66888),
        ("10 ms", 0.01, 8.67016),
        ("200 ms", 0.0, 8.26998),
        ("200 ms", 0.01, 0.668913),
    ],
)
def test_sack_has_the_goodput_of_ns2(rtt, loss, ns2, results):
    found = simulated(results["figure 2"], rtt).at(loss)
    assert found.value == pytest.approx(ns2, rel=0.05)


def test_goodput_falls_with_loss_and_is_below_what_the_link_delivers(results):
    for key in ("figure 1", "figure 3"):
        figure = results[key]
        limit = next(c for c in figure.curves if c.label == "what arrives")
        for curve in figure.curves:
            if curve.label.startswith("LT-TCP") or (key == "figure 3" and curve is not limit):
                values = [value.value for value in curve.values]
                assert values == sorted(values, reverse=True), curve.label
                assert all(curve.at(x).value <= limit.at(x).value for x in curve.x)


# A capacity of 10 Mb/s, 1448 of 1500 bytes, half lost: 4.83 Mb/s.
def test_with_half_of_the_packets_lost_the_goodput_is_a_third_of_the_capacity(results):
    near = simulated(results["figure 3"], "10 ms").at(0.5).value
    assert 3.0 < near < 4.83
    assert simulated(results["figure 2"], "10 ms").at(0.5).value < 0.05


@pytest.mark.parametrize("kind", [link.UNIFORM, link.BURSTY, link.ERASED])
@pytest.mark.parametrize("loss", [0.05, 0.5])
def test_each_kind_loses_as_much_on_average(kind, loss):
    model = link.loss_model(kind, loss)
    if kind == link.UNIFORM:
        assert model == {"uniform": {"probability": loss}}
        return
    channel = model["gilbert_elliott"]
    good, bad = channel["good_ms"], channel["bad_ms"]
    mean = (good * channel["good_loss"] + bad * channel["bad_loss"]) / (good + bad)
    assert math.isclose(mean, loss)
    assert bad == 10.0


def test_a_cell_is_shut_out_for_an_eighth_of_the_time():
    source = cell.hidden_cell(cell.SHUT_S)["source"]["duty_cycle"]
    assert source["on_ms"] / source["period_ms"] == 0.125
    run = sm.run(cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=20.0, is_shut=True))
    clean = sm.run(cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=20.0))
    assert run.summary["total.goodput_mbps"] < 0.875 * clean.summary["total.goodput_mbps"]
    assert run.summary["total.retry_drops"] > 20 * clean.summary["total.retry_drops"]


def near_voice(voice, **keys):
    return sm.run(
        cell.upload(
            "SACK",
            rtt_ms=10.0,
            attempts=3,
            measured_s=20.0,
            interferers=[cell.headset(voice)],
            **keys,
        )
    ).summary


# PCR of the paper at 11 and 1 Mb/s near HV1: 0.27 and 0.9975; TCP ACKs are never lost.
def test_frames_are_lost_by_the_rule_of_the_paper():
    at_11 = near_voice("HV1")
    lost = at_11["stations[0].interference_losses"] / at_11["stations[0].attempts"]
    assert lost == pytest.approx(0.27, abs=0.03)
    assert at_11["ap.interference_losses"] == 0
    at_1 = near_voice("HV1", rate_mbps=1.0)
    assert at_1["stations[0].interference_losses"] > 0.95 * at_1["stations[0].attempts"] - 3


def test_the_papers_rate_adaptation_ends_at_1_mbps():
    summary = near_voice("HV3", rate_control="simple")
    assert summary["stations[0].data_rate_mbps"] < 2.0
    assert summary["total.goodput_mbps"] < 0.1 * near_voice("HV3")["total.goodput_mbps"]


# 5.89 Mb/s in Table IV; the paper does not define it.
def test_the_mac_throughput_counts_preambles_and_mac_acks():
    run = sm.run(cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=20.0))
    assert cell.measure(run)[cell.MAC_MBPS] == pytest.approx(5.89, rel=0.02)


# The MAC throughput in space is from airtimes, and without radios from counts.
@pytest.mark.parametrize("protocol", ["SACK", "LT-TCP"])
def test_both_ways_to_count_the_bits_on_the_air_agree(protocol):
    keys = {"rtt_ms": 10.0, "attempts": 3, "measured_s": 20.0}
    by_count = cell.measure(sm.run(cell.upload(protocol, **keys)))
    in_space = second_cell.measure_shut_outs(
        sm.run(second_cell.alone(protocol, **keys), probes=second_cell.PROBES)
    )
    assert in_space[cell.MAC_MBPS] == pytest.approx(by_count[cell.MAC_MBPS], rel=0.005)


# Tables V and VI: the second cell disturbs what BS-1 receives, the rule both directions.
def test_tables_5_and_6_are_judged_beside_the_second_cell(results):
    for key in ("table 5", "table 6"):
        for claim in results[key].claims:
            assert "second cell" in claim.reading, claim.name
            assert captures.RULE in [each.name for each in claim.others], claim.name


def test_thresholds_keep_their_share_of_the_buffer():
    assert advice.scaled_red(100)["red"] == link.RED
    red = advice.scaled_red(400)["red"]
    assert (red["min_packets"], red["max_packets"], red["limit_packets"]) == (100, 360, 400)


def test_every_figure_can_be_drawn(results):
    for figure in results:
        assert len(figure.plot().axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()
