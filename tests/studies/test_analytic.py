"""The studies that use only formulas: the verdict on each claim."""

import pytest

from simoom import studies
from simoom.studies import Verdict
from simoom.studies.sensitivity import (
    foreign_claims,
    needless_reasons,
    silent_claims,
    silent_subjects,
)

YES, PART, NO, _, NONE = Verdict

FULL_DUPLEX = {
    "three_contend_in_half_duplex": NO,
    "all_contend_in_full_duplex": YES,
    "analysis_within_5_percent": PART,
    "insensitive_to_stations": YES,
    "only_full_duplex_depends_on_uploads": YES,
    "gain_36_f25": YES,
    "gain_36_f75": PART,
    "time_to_full_windows": NONE,
    "gain_36_f0": YES,
    "gain_36_f65": NO,
    "gain_27_f0": YES,
    "gain_27_f100": PART,
    "slow_r2_loses": PART,
    "uploads_do_not_feel_r2": NONE,
    "attempt_probability_as_printed": NO,
    "analysis_within_6_percent": YES,
}


@pytest.fixture(scope="module")
def results():
    return studies.full_duplex.STUDY.run()


def test_verdicts(results):
    assert {claim.name: claim.verdict for _, claim in results.claims} == FULL_DUPLEX


def test_claims_fail_for_numbers_10_percent_off(results):
    assert silent_claims(results) == {}
    assert needless_reasons(results) == []
    assert foreign_claims(results) == ["all_contend_in_full_duplex"]
    assert silent_subjects(results) == set()


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


def test_every_figure_can_be_drawn(results):
    for figure in results:
        picture = figure.plot()
        assert len(picture.axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()
