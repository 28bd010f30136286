"""CUBIC driven by the MCS: one quick run of the whole study, and the walking client."""

import numpy as np
import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

import simoom as sm
from simoom.studies import Kind, Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import mcs_cubic
from simoom_studies.mcs_cubic import walking, ways
from simoom_studies.mcs_cubic.paper import CONTROLS, DRIVEN, GOODPUT, PLAIN, upload

REPRODUCED = """
    driven_is_steady a_walker_needs_no_driver no_jump_outweighs_the_probes
"""
NOT_REPRODUCED = """
    window_jumps_to_100_kb window_jumps_to_147_kb plain_reaches_43_in_6_s
"""
STUDY = mcs_cubic.STUDY


def test_verdicts_that_a_quick_run_decides(results):
    found = {claim.name: claim.verdict for _, claim in results.claims}
    for names, verdict in (
        (REPRODUCED, Verdict.REPRODUCED),
        (NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
    ):
        assert {name: found[name] for name in names.split()} == dict.fromkeys(
            names.split(), verdict
        )


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    assert silent_subjects(results) == set()


def test_each_rule_of_ns3_is_an_option_of_the_scenario():
    keys = upload(8, DRIVEN, rules=ways.RULES[ways.ALL]).to_dict()
    cubic = keys["flows"][0]["control"]["cross_layer"]["inner"]["cubic"]
    assert (cubic["friendly"], cubic["hystart_rule"]) == (False, "first")
    assert keys["flows"][0]["tcp"]["recovery"]["sack"]["reduction"] == "proportional_rfc6937"
    assert keys["wlan"]["aggregation"]["delivery"] == "mpdu"


@pytest.mark.parametrize("rule", walking.RULES)
def test_the_mcs_rises_as_the_client_comes_back(rule):
    scenario = walking.back(rule, PLAIN, 50.0).set("stations.waypoints[0].at_s", 2.0)
    scenario = scenario.set("stations.waypoints[1].at_s", 4.0).set("duration_s", 6.0)
    run = sm.run(scenario, probes=[walking.MCS], check=True)
    time_s, mcs = run.samples(walking.MCS)
    assert np.median(mcs[time_s <= 2]) <= 2
    assert np.median(mcs[time_s > 5]) == 8


def test_a_course_has_a_value_every_two_seconds():
    scenario = walking.out_and_back("ideal", PLAIN).set("duration_s", 6.0)
    taken = walking.measure_course(sm.run(scenario, probes=[GOODPUT, walking.MCS]))
    assert {"mcs.2.0", "mcs.4.0", "mcs.6.0", "goodput_mbps.6.0", "rtt_ms"} <= set(taken)
    assert taken["mcs.4.0"] == 8
    parts = [taken[f"goodput_mbps.{end_s}.0"] for end_s in (2, 4, 6)]
    assert np.mean(parts) == pytest.approx(taken["goodput_mbps"])


def test_probes_of_other_modes_reduce_the_driven_window():
    still = {control: walking.stand("Minstrel-HT", control) for control in CONTROLS}
    window = "flows[0].control.window_segments"
    runs = {control: sm.run(each, probes=[window]) for control, each in still.items()}
    least = {control: np.quantile(run.samples(window)[1], 0.1) for control, run in runs.items()}
    assert least[DRIVEN] < 0.5 * least[PLAIN]
    goodput = {control: run.summary["total.goodput_mbps"] for control, run in runs.items()}
    assert goodput[DRIVEN] < 0.9 * goodput[PLAIN]


def test_findings_of_the_study_are_not_attributed_to_the_paper():
    sample = {"goodput_mbps": np.array([1.0, 1.1]), "rtt_ms": np.array([5.0, 6.0])}
    found = {(control, rule): sample for control in CONTROLS for rule in walking.RULES}
    for claim in walking.walking_claims(found, dict.fromkeys(CONTROLS, sample)):
        assert claim.kind is Kind.FINDING
