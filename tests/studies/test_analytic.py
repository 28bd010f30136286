"""The studies that use only formulas: the verdict on each claim."""

import pytest

from simoom import studies
from simoom.studies import Verdict

YES, PART, NO, OPEN = Verdict

FULL_DUPLEX = {
    "three_contend_in_half_duplex": PART,
    "all_contend_in_full_duplex": YES,
    "analysis_within_5_percent": PART,
    "insensitive_to_stations": YES,
    "only_full_duplex_depends_on_uploads": YES,
    "gain_36_f25": YES,
    "gain_36_f75": PART,
    "time_to_full_windows": OPEN,
    "gain_36_f0": YES,
    "gain_36_f65": NO,
    "gain_27_f0": YES,
    "gain_27_f100": PART,
    "slow_r2_loses": PART,
    "uploads_do_not_feel_r2": YES,
    "attempt_probability_as_printed": NO,
    "analysis_within_6_percent": YES,
}
SIMULATED = ("figure 1", "figure 2", "figure 3", "figure parts")
"""Figures of LT-TCP that take a simulation; those of the full-duplex paper have other numbers."""
LT_TCP = {
    "channel_fraction": PART,
    "slots_conservative": NO,
    "slower_is_worse": YES,
    "residual_loss_breaks_sack": YES,
    "rate_adaptation_fails": YES,
    "highest_rate_is_best": YES,
    "sack_follows_residual_loss": YES,
    "hv1_worse_than_hv3": YES,
    "lt_tcp_goodput": OPEN,
    "goodput_below_55_percent": YES,
    "preamble_costs_3_mbps": YES,
    "sack_without_interference": YES,
    "capture_bound": YES,
    "capture_tables": OPEN,
    "three_attempts_last": YES,
    "seven_attempts_last": PART,
}


@pytest.mark.parametrize(
    ("study", "verdicts"), [(studies.full_duplex, FULL_DUPLEX), (studies.lt_tcp, LT_TCP)]
)
def test_verdicts(study, verdicts):
    keys = [key for key in study.STUDY.keys if key not in SIMULATED]
    found = {claim.name: claim.verdict for _, claim in study.STUDY.run(keys).claims}
    assert found == verdicts


# Gains of (9) to (11) with the corrected (6), N = 80, worked out independently.
@pytest.mark.parametrize(
    ("key", "name", "percent"),
    [
        ("figure 5", "gain_36_f25", 44.633),
        ("figure 5", "gain_36_f75", 60.2733),
        ("figure 6", "gain_36_f0", 28.7239),
        ("figure 6", "gain_36_f65", 59.7647),
        ("figure 6", "gain_27_f0", 7.58098),
        ("figure 6", "gain_27_f100", 54.937),
    ],
)
def test_gains_are_those_of_the_equations(key, name, percent):
    figure = studies.full_duplex.STUDY.by_key[key](quick=True)
    claim = next(claim for claim in figure.claims if claim.name == name)
    assert claim.checks[0].value.value == pytest.approx(percent, rel=1e-5)


def test_every_figure_can_be_drawn():
    for study in (studies.full_duplex.STUDY, studies.lt_tcp.STUDY):
        for figure in study.run(key for key in study.keys if key not in SIMULATED):
            picture = figure.plot()
            assert len(picture.axes) == len(figure.panels)
            assert figure.data["value"].is_finite().all()
