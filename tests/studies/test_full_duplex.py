"""TCP over full-duplex WLANs: one quick run of all figures, and the verdicts on claims."""

import math

import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

import simoom as sm
from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import full_duplex
from simoom_studies.full_duplex import course, gains, paper

REPRODUCED = """
    insensitive_to_stations analysis_within_6_percent gain_36_f0 gain_27_f0 gain_27_f100
    full_duplex_stations_gain_little only_rts_makes_it_worth_it
"""
NOT = """
    three_contend_in_half_duplex all_contend_in_full_duplex gain_36_f65
    attempt_probability_as_printed slow_r2_loses
"""
OTHERS = """
    analysis_within_5_percent only_full_duplex_depends_on_uploads gain_36_f25 gain_36_f75
    access_point_has_a_packet result_1_holds_for_tcp time_to_full_windows
"""
"""Claims that few runs leave undecided, or that hold in part: they have no one verdict."""
EXPECTED = {Verdict.REPRODUCED: REPRODUCED, Verdict.NOT_REPRODUCED: NOT, None: OTHERS}
STUDY = full_duplex.STUDY


def test_verdict(expected, claims):
    name, verdict = expected
    if verdict is None:
        assert claims[name].verdict is not Verdict.REPRODUCED, claims[name].reason
    else:
        assert claims[name].verdict is verdict, claims[name].reason


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    assert silent_subjects(results) == set()


def curves(figure, label):
    found = [each for each in figure.curves if each.label == label]
    return {each.source.value: each for each in found}


# A closed loop with frozen back-off in a steady state, written independently of Simoom: twenty
# stations have full windows after a few of the 45 s.
@pytest.mark.parametrize(
    ("label", "at"), [("full duplex, f = 0.25", 20.0), ("half duplex, f = 0.25", 80.0)]
)
def test_the_throughput_is_that_of_the_monte_carlo(label, at, results):
    found = curves(results["figure 5"], label)
    ours, other = (found[source].at(at).value for source in ("simulation", "Monte Carlo"))
    assert ours == pytest.approx(other, rel=0.01)


@pytest.mark.parametrize(
    ("way", "reference"),
    [
        ("5 to 45 s, slow start only", "at the senders"),
        ("80 to 110 s", "steady"),
    ],
)
def test_the_gains_are_those_of_the_monte_carlo(way, reference, results):
    found = {each.label: each for each in results["table gains"].curves}
    for case, gain in zip(found[way].x, found[way].values, strict=True):
        assert gain.value == pytest.approx(found[reference].at(case).value, abs=1.5)


# Gains of (9) to (11) with the corrected (6), N = 80, worked out independently.
@pytest.mark.parametrize(
    ("r2", "uploads", "percent"),
    [(36.0, 0.25, 44.633), (36.0, 0.75, 60.2733), (36.0, 0.0, 28.7239), (36.0, 0.65, 59.7647),
     (27.0, 0.0, 7.58098), (27.0, 1.0, 54.937)],
)  # fmt: skip
def test_gains_are_those_of_the_equations(r2, uploads, percent):
    (quoted,) = (
        each for each in (*gains.FIG_5, *gains.FIG_6) if (each.r2, each.uploads) == (r2, uploads)
    )
    assert quoted.analysed == pytest.approx(percent, rel=1e-5)


# Table I: T_p and T_a in microseconds at 54 and 36 Mb/s; 16000 bits of a segment in T_p + T_a and
# two mean back-offs are less than 16000 bits in T_p + T_a alone.
def test_a_half_duplex_cell_has_the_exchanges_of_table_1():
    run = sm.run(paper.cell(4, 0.5, paper.HALF, course=paper.START), check=True)
    assert paper.measure(run)[paper.TOTAL] < 16_000 / (534.3 + 243.9)
    assert paper.measure(run)[paper.TOTAL] > 16_000 / (534.3 + 243.9 + 2 * 15.5 * 9.0)


def test_stations_upload_and_download_as_f_says():
    flows = paper.cell(80, 0.25).to_dict()["flows"]
    assert [(each["from"], each["to"]) for each in flows] == [
        ("sta0-19", "server"),
        ("server", "sta20-79"),
    ]
    assert len(paper.cell(80, 1.0).to_dict()["flows"]) == 1
    assert len(paper.cell(80, 0.0).to_dict()["flows"]) == 1


def test_shares_of_time_add_up_and_no_segment_times_out():
    run = sm.run(paper.cell(20, 0.5, course=paper.START), check=True)
    taken = paper.measure(run)
    shares = [value for name, value in taken.items() if name.startswith(paper.SHARE)]
    assert len(shares) == 21
    assert math.isclose(sum(shares), 1.0)
    assert all(flow["timeouts"] == 0 for flow in run.flows)


def test_windows_are_full_later_without_full_duplex():
    def full_s(r2):
        scenario = paper.cell(20, 0.0, r2, course=paper.Course(paper.HALF_WINDOW, 0.0, 15.0))
        scenario = scenario.set("measure.interval_s", 0.05)
        return course.measure_windows(sm.run(scenario, probes=[course.WINDOWS]))["median"]

    # 391 segments of each flow, 15 in slow start and the sum of 16 to 31 after it.
    assert full_s(paper.HALF) == pytest.approx(20 * 391 * 16_000 / 17.0e6, rel=0.05)
    assert full_s(36.0) < 0.9 * full_s(paper.HALF)


def test_every_figure_can_be_drawn(results):
    for figure in results:
        assert len(figure.plot().axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()


def test_readings_that_do_not_decide_are_shown_beside_each_quoted_gain(claims):
    for quoted in (*gains.FIG_5, *gains.FIG_6):
        shown = claims[quoted.name]
        assert shown.reading == "0 to 45 s"
        assert {"5 to 45 s, slow start only, N = 80", "80 to 110 s, N = 80"} <= {
            each.name for each in shown.others
        }


def test_pictures_show_the_values_of_the_paper(results):
    marks = {
        key: [c for c in results[key].curves if c.source.value == "paper"]
        for key in ("figure 4", "figure 5", "figure 6")
    }
    half = curves(results["figure 6"], "half duplex")["simulation"]
    (cross,) = (c for c in marks["figure 6"] if "r2 = 36, f = 0.65" in c.label)
    assert cross.at(0.65).value == pytest.approx(1.503 * half.at(0.65).value)
    assert [len(found) for found in marks.values()] == [2, 2, 5]
