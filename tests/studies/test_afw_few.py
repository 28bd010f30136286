"""TCP FeW and AFW among mobile nodes: one quick run of all figures, and the verdicts on claims."""

from pathlib import Path

import numpy as np
import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

import simoom as sm
from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import afw_few
from simoom_studies.afw_few import chains, paper, readings
from simoom_studies.afw_few.pairs import scenarios_needed
from simoom_studies.afw_few.paper import FEW, KBPS, LOSS_PERCENT, afw

REPRODUCED = """
    few_gains_most_over_chains few_over_chains_as_in_ns2 newreno_over_chains_as_in_ns2
"""
NOT = """
    few_loses_154_times_less largest_ratio_of_losses one_scenario_tells_1_percent
"""
OTHERS = """
    throughput_of_few throughput_of_afw gain_as_printed gain_as_tabulated afw_above_few best_pair
    best_pair_as_printed largest_ratio_as_printed
    optimum_of_table_3 few_above_new_reno
    loss_of_few loss_of_afw cells_of_table_4 cells_of_table_5 table_6 table_7
    few_loses_154_percent_less one_scenario_tells_12_percent few_has_lowest_loss afw_sends_more
    few_loses_less_end_to_end falls_with_time pairs_differ_little no_reading_gains_12_percent
    no_reading_gains_11_7_percent no_queue_gains_11_7_percent
"""
"""Claims that few runs leave undecided: movement matters more than controllers."""
EXPECTED = {Verdict.REPRODUCED: REPRODUCED, Verdict.NOT_REPRODUCED: NOT, None: OTHERS}
WIDE = {"goodput_kbps of FeW over NewReno", "pair over mean"}
"""Ratios whose intervals of the quick run are so wide that 10 % more or less decides nothing."""
STUDY = afw_few.STUDY
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def test_verdict(expected, claims):
    name, verdict = expected
    if verdict is None:
        assert claims[name].verdict is not Verdict.REPRODUCED, claims[name].reason
    else:
        assert claims[name].verdict is verdict, claims[name].reason


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    assert silent_subjects(results) <= WIDE


# Tables I and II of the paper.
def test_the_network_is_that_of_tables_1_and_2():
    keys = paper.mobile(FEW, 50).to_dict()
    assert (keys["standard"], keys["wlan"]["rate_mbps"]) == ("11b", 2.0)
    assert (keys["stations"]["count"], keys["radio"]["preset"]) == (50, "ns2")
    assert "dsr" in keys["routing"]["protocol"]
    flows = keys["flows"]
    assert len(flows) == 50
    assert {flow["from"] for flow in flows} == {f"sta{node}" for node in range(50)}
    assert {flow["tcp"]["mss_bytes"] for flow in flows} == {1024}
    assert {flow["traffic"]["bulk"]["size_bytes"] for flow in flows} == {100_000_000}


# Percentages of the text: 1.12 %, 1.16 %, 154 % and 34.33 %.
def test_the_percentages_of_the_text_are_ratios_of_the_tables():
    def mean(table, flows):
        return paper.printed_mean(table, flows) / paper.printed(table, FEW, flows)

    def single(table, pair, flows):
        return paper.printed(table, afw(*pair), flows) / paper.printed(table, FEW, flows)

    assert mean(KBPS, 50) == pytest.approx(1.12, abs=0.005)
    assert single(KBPS, (2, 2), 50) == pytest.approx(1.16, abs=0.005)
    assert mean(LOSS_PERCENT, 10) == pytest.approx(154, abs=0.5)
    assert single(LOSS_PERCENT, (6, 8), 50) == pytest.approx(34.33, abs=0.005)


def test_a_ratio_of_runs_in_the_same_movement_has_no_interval_from_the_movement():
    few = np.array([400.0, 800.0, 1600.0])
    same = paper.ratio(1.1 * few, few)
    assert (same.value, same.half_width) == (pytest.approx(1.1), pytest.approx(0.0))
    other = paper.ratio(1.1 * few[::-1], few)
    assert other.value == pytest.approx(1.1)
    assert other.half_width > 1.0


def test_a_ratio_is_over_the_networks_that_both_have():
    many = np.array([400.0, 800.0, 1600.0, 9000.0])
    assert paper.ratio(1.1 * many[:3], many).value == pytest.approx(1.1)


# Twice of three cells and half of three are a factor of 2, and cells as printed one of 1.
def test_the_factor_from_a_table_counts_twice_and_half_alike():
    def sample(scale):
        return {
            ("base", flows, name): {paper.GOODPUT: np.array([scale * cell])}
            for name, scale in ((FEW, scale), (afw(2, 2), 1 / scale))
            for flows, cell in zip(paper.FLOWS, KBPS[name], strict=True)
        }

    assert readings.factor(sample(2.0), "base", paper.GOODPUT, KBPS) == pytest.approx(2.0)
    assert readings.factor(sample(1.0), "base", paper.GOODPUT, KBPS) == pytest.approx(1.0)


# (1.96 * 0.1 / 0.0112)^2 = 306; the variance of 3 runs is known within 2/7.38 and 2/0.0506.
def test_scenarios_that_show_a_difference():
    needed = scenarios_needed(np.array([-0.1, 0.0, 0.1]), 0.0112)
    assert needed.value == pytest.approx(306.25)
    assert needed.low == pytest.approx(306.25 * 2 / 7.378, rel=1e-3)
    assert needed.high == pytest.approx(306.25 * 2 / 0.05064, rel=1e-3)


def test_losses_of_a_checked_run():
    run = sm.run(paper.mobile(FEW, 10, course=paper.Course(20.0, 5.0)), check=True)
    taken = paper.measure(run)
    assert taken[paper.GOODPUT] == pytest.approx(
        1000 * sum(flow["goodput_mbps"] for flow in run.flows)
    )
    # Queues drop a part of what is lost on the way, and what is lost does not arrive; what arrives
    # late or twice is not counted as lost.
    assert 0 <= taken[paper.QUEUE_LOSS] <= taken[paper.LOSS] < taken[paper.LOST] < 100
    assert taken[paper.SENT] >= taken[paper.GOODPUT]
    assert 0 < taken[paper.FALSE_FAILURES] <= 100


@pytest.mark.parametrize("hops", [1, 4])
def test_a_chain_has_its_ends_so_many_hops_apart(hops):
    run = sm.run(chains.chain(FEW, hops, paper.Course(10.0, 2.0)), check=True)
    assert run.flows[0]["hops_mean"] == hops


def test_every_figure_can_be_drawn(results):
    for figure in results:
        assert len(figure.plot().axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()


def test_the_scenario_file_has_the_network_of_the_study():
    file = sm.Scenario.load(SCENARIOS / "adhoc_50.toml").to_dict()
    study = paper.mobile(FEW, 50).to_dict()
    for table in ("standard", "wlan", "radio", "routing", "stations"):
        assert file[table] == study[table]
    (flow,) = file["flows"]
    assert flow["tcp"] == study["flows"][0]["tcp"]
    assert flow["traffic"] == study["flows"][0]["traffic"]
