"""L4S over Wi-Fi: one quick run of the whole study, and the verdicts that it decides."""

import pytest
from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

import simoom as sm
from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import l4s_wifi
from simoom_studies.l4s_wifi import networks

REPRODUCED = """
    l_queue_below_a_millisecond published_with_2_ms bursts_make_the_step_misfire
    without_bursts_it_does_not a_fast_link_needs_less a_ring_hides_the_delay
    a_threshold_in_mac80211_is_a_step
"""
IN_PART = """
    published_with_4_ms a_step_of_5_ms_is_enough stations_make_it_worse following_is_enough
    sparing_is_enough
"""
NOT_REPRODUCED = "formed_aggregates_hide_it"
STUDY = l4s_wifi.STUDY


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        (REPRODUCED, Verdict.REPRODUCED),
        (IN_PART, Verdict.IN_PART),
        (NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
    ],
)
def test_verdicts_that_a_quick_run_decides(results, names, verdict):
    found = {claim.name: claim.verdict for _, claim in results.claims}
    wanted = dict.fromkeys(names.split(), verdict)
    assert {name: found[name] for name in wanted} == wanted


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    # The L queue is far below the bound that RFC 9332 names, and few runs leave the ratio of Prague
    # and CUBIC undecided, with other numbers too.
    allowed = {"delay of the L queue by simulation", "ratio by simulation"}
    assert silent_subjects(results) <= allowed


def test_a_silent_radio_loses_no_frame_and_delays_what_gathers():
    runs = {
        radio: sm.run(networks.bursty(radio, 20.0, 5.0).set("duration_s", 15.0), check=True)
        for radio in (networks.ALONE, "silent for 4 of 8 ms")
    }
    assert runs["silent for 4 of 8 ms"].summary["stations[0].interference_losses"] == 0
    alone, silent = (run.summary["stations[0].mpdus_per_ppdu"] for run in runs.values())
    assert silent > 1.5 * alone


def test_prague_without_accurate_feedback_waits_in_the_classic_queue():
    runs = {
        name: sm.run(networks.echo(name, 0.1).set("duration_s", 12.0)).summary
        for name in (networks.ACCURATE, networks.CLASSIC)
    }
    packets = {
        name: [found[f"links[0].{queue}_queue.packets"] for queue in "lc"]
        for name, found in runs.items()
    }
    assert packets[networks.ACCURATE][1] == 0 < packets[networks.ACCURATE][0]
    assert packets[networks.CLASSIC][0] == 0 < packets[networks.CLASSIC][1]


def test_a_mark_on_every_packet_makes_accurate_ecn_distrust_the_path():
    # Twenty windows of two packets exceed what a step of 1 ms allows: nearly all are marked.
    found = sm.run(networks.cell(networks.dualpi2(1.0), stations=20)).summary
    low, classic = (found[f"ap.{queue}_queue.packets"] for queue in "lc")
    assert classic > 3 * low
