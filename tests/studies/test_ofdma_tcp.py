"""TCP over OFDMA: one quick run of the whole study, and the verdicts that it decides."""

from tests.studies.looks import test_curves_of_a_panel_can_be_told_apart  # noqa: F401

from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import ofdma_tcp

STUDY = ofdma_tcp.STUDY
EXPECTED = {
    Verdict.REPRODUCED: """
        one_station_is_served_the_same downloads_lose_goodput a_chain_of_requests_costs_more
        who_is_served_alone_loses_nothing one_station_gains_nothing all_at_once_costs_more
        unless_it_is_served_alone two_stations_gain_nothing thinning_gains_with_downlink_ofdma
        thinning_gains_little_with_triggered_acks
        triggered_acks_cost_one_station pings_wait_less_with_triggered_acks
        downloads_do_not_need_the_interval
        small_uplink_packets_wait_less_with_twelve small_uplink_packets_of_two_wait_longer
        without_polls_a_short_timer_costs_little uploads_wait_for_a_long_timer
        the_share_of_earlier_stations_grows_with_the_timer
        muting_the_others_costs_no_goodput_in_all others_in_their_place_lose_nothing_by_them
    """,
    Verdict.IN_PART: """
        tcp_loses_what_datagrams_lose small_packets_wait_less_with_eight long_ppdus_lose_less
        triggered_acks_gain_with_eight
    """,
    Verdict.NOT_REPRODUCED: """
        pings_wait_less responses_come_sooner thinning_gains_with_single_users
        a_download_undoes_it triggers_beside_edca_gain_less
        without_polls_a_long_timer_costs_goodput
        block_acks_that_they_cannot_decode_cost_earlier_stations
    """,
    Verdict.UNDECIDED: """
        pings_wait_less_beside_long_ppdus quiet_stations_wait_half_the_interval
        triggered_stations_wait_half_the_interval with_polls_the_timer_does_not_matter
        triggers_take_from_earlier_stations triggers_in_the_data_gain_little
    """,
}


def test_verdicts_that_a_quick_run_decides(claims, expected):
    name, verdict = expected
    assert claims[name].verdict is verdict


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    # Uploads take 27 times as long where the bound is 5. Of pings, those that are decided are a
    # quarter and more off their bounds: 0.64 where it is 0.9, and 1.2 and more where it is 0.8.
    uploads, pings = (f"{what} over that of single users" for what in ("upload_s", "ping_p95_ms"))
    assert silent_subjects(results) == {uploads, pings}
