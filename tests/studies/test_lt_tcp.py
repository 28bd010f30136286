"""LT-TCP and SACK over lossy links: one quick run of the figures, and the verdicts on claims."""

import math

import pytest

import simoom as sm
from simoom.studies import Lab, Verdict, lt_tcp
from simoom.studies.lt_tcp import cell, link
from simoom.studies.sensitivity import (
    foreign_claims,
    needless_reasons,
    silent_claims,
    silent_subjects,
)

REPRODUCED = """
    lt_tcp_does_not_collapse sack_breaks_at_few_percent sack_falls_with_loss_and_rtt
    lt_tcp_tolerates_loss lt_tcp_beats_sack lt_tcp_minds_rtt_less parity_for_mean_costs_less
    slower_is_worse highest_rate_is_best three_attempts_last sack_follows_residual_loss
    mac_goodput_by_formula goodput_below_55_percent preamble_costs_3_mbps table_iv_lt_tcp
    sack_comparable_nearby
"""
IN_PART = """
    lt_tcp_is_graceful sack_collapses rate_adaptation_fails seven_attempts_last
    lt_tcp_near_bluetooth table_v_sack table_v_lt_tcp table_vi_lt_tcp persistence_helps_sack
"""
NOT_REPRODUCED = """
    channel_fraction slots_conservative sack_falls_precipitously lt_tcp_declines_less capture_bound
    sack_still_collapses
"""
UNDECIDED = """
    sack_as_in_ns2 sack_as_pftk code_beats_window_alone sack_near_bluetooth
    hv1_worse_than_hv3 residual_loss_breaks_sack table_iv_sack comparable_without_interference
    table_vi_sack lt_tcp_superior_far_away
"""
"""A full run has more replications, which decide most of them."""
BESIDE_A_CELL = {
    Verdict.REPRODUCED: """
        download_is_unaffected rts_does_not_prevent_it lost_acks_explain_the_rule
        ratio_of_10_db_protects
    """,
    Verdict.IN_PART: """
        table_vi_lt_tcp_beside_cell table_vi_lt_tcp_beside_source source_stands_for_cell
        rule_stands_for_cell lt_tcp_declines_less_beside_cell no_timeouts_with_seven_attempts
    """,
    Verdict.NOT_REPRODUCED: """
        download_captures_channel table_v_sack_beside_cell table_v_lt_tcp_beside_cell
    """,
    Verdict.UNDECIDED: """
        files_capture_channel table_vi_sack_beside_cell table_v_sack_beside_source
        table_vi_sack_beside_source table_v_lt_tcp_beside_source
    """,
}
NOT_CHECKABLE = "rate_adaptation_goodput"
EXPECTED = {
    name: verdict
    for names, verdict in (
        (REPRODUCED, Verdict.REPRODUCED),
        (IN_PART, Verdict.IN_PART),
        (NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
        (UNDECIDED, Verdict.UNDECIDED),
        (NOT_CHECKABLE, Verdict.NOT_CHECKABLE),
        *((names, verdict) for verdict, names in BESIDE_A_CELL.items()),
    )
    for name in names.split()
}


@pytest.fixture(scope="module")
def results():
    with Lab(quick=True) as lab:
        return lt_tcp.STUDY.run(lab=lab)


@pytest.fixture(scope="module")
def claims(results):
    return {claim.name: claim for _, claim in results.claims}


def test_all_claims_are_expected(claims):
    assert set(claims) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_verdict(name, claims):
    assert claims[name].verdict is EXPECTED[name], claims[name].reason


def test_claims_fail_for_numbers_10_percent_off(results):
    assert silent_claims(results) == {}
    assert needless_reasons(results) == []
    assert foreign_claims(results) == []
    # Of these the paper gives an order, an upper bound or a wide band, and no values.
    assert silent_subjects(results) == {
        "packet_corruption by analysis",
        "residual loss",
        "overhead",
        "overhead_fraction by simulation",
        "goodput of the window alone by simulation",
        "timeouts of SACK by simulation",
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


def test_a_station_is_shut_out_for_an_eighth_of_the_time():
    scenario = cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=20.0, is_shut=True)
    rows = scenario.to_dict()["stations"]["waypoints"]
    away = [row["at_s"] for row in rows if row["position_m"][0] == cell.FAR_M]
    gone = sum(b - a for a, b in zip(away[::2], away[1::2], strict=True))
    assert gone / (len(away) / 2 * cell.PERIOD_S) == pytest.approx(0.125, rel=1e-4)
    run = sm.run(scenario)
    clean = sm.run(cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=20.0))
    assert run.summary["total.goodput_mbps"] < 0.875 * clean.summary["total.goodput_mbps"]
    assert run.summary["total.retry_drops"] > 20 * clean.summary["total.retry_drops"]


def test_every_figure_can_be_drawn(results):
    for figure in results:
        assert len(figure.plot().axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()
