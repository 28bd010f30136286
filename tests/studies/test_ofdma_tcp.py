"""TCP over downlink OFDMA: one quick run of the whole study, and the verdicts that it decides."""

from simoom.studies import Verdict
from simoom.studies.sensitivity import silent_subjects, weak_claims
from simoom_studies import ofdma_tcp

STUDY = ofdma_tcp.STUDY
EXPECTED = {
    Verdict.REPRODUCED: """
        one_station_is_served_the_same downloads_lose_goodput a_chain_of_requests_costs_more
        who_is_served_alone_loses_nothing one_station_gains_nothing a_download_undoes_it
        unless_it_is_served_alone two_stations_gain_nothing thinning_gains_with_downlink_ofdma
        triggers_in_the_data_gain_little
    """,
    Verdict.IN_PART: "tcp_loses_what_datagrams_lose small_packets_wait_less_with_eight",
    Verdict.NOT_REPRODUCED: """
        pings_wait_less responses_come_sooner thinning_gains_with_single_users
        all_at_once_costs_more
    """,
    Verdict.UNDECIDED: "pings_wait_less_beside_long_ppdus long_ppdus_lose_less",
}


def test_verdicts_that_a_quick_run_decides(claims, expected):
    name, verdict = expected
    assert claims[name].verdict is verdict


def test_claims_fail_for_numbers_10_percent_off(results):
    assert weak_claims(results) == []
    assert silent_subjects(results) == set()
