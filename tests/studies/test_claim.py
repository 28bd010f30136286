import math

import pytest

from simoom.studies import Check, Outcome, Value, Verdict
from simoom.studies.claim import claim, unchecked

INSIDE = Check("inside", Value(1.0, 0.9, 1.1, 5, "mean"), 0.5, 1.5)
OUTSIDE = Check("outside", Value(2.0, 1.9, 2.1, 5, "mean"), 0.5, 1.5)
ACROSS = Check("across", Value(1.4, 1.2, 1.6, 5, "mean"), 0.5, 1.5)


def verdict(*checks):
    return claim("it", "It is so.", paper="so", checks=checks).verdict


def test_an_interval_decides_a_check():
    assert INSIDE.outcome is Outcome.HOLDS
    assert OUTSIDE.outcome is Outcome.FAILS
    assert ACROSS.outcome is Outcome.OPEN


@pytest.mark.parametrize("value", [0.5, 1.5])
def test_the_ends_of_a_band_belong_to_it(value):
    assert Check("end", Value.exact(value), 0.5, 1.5).outcome is Outcome.HOLDS


def test_what_could_not_be_measured_decides_nothing():
    nothing = Value.mean([])
    assert math.isnan(nothing.value)
    assert Check("nothing", nothing, 0.0, 1.0).outcome is Outcome.OPEN
    # One run has no interval, and cannot decide either.
    assert Check("once", Value.mean([0.5]), 0.0, 1.0).outcome is Outcome.OPEN


def test_a_verdict_follows_from_all_checks():
    assert verdict(INSIDE, INSIDE) is Verdict.REPRODUCED
    assert verdict(INSIDE, OUTSIDE) is Verdict.IN_PART
    assert verdict(INSIDE, ACROSS) is Verdict.IN_PART
    assert verdict(OUTSIDE, OUTSIDE) is Verdict.NOT_REPRODUCED
    assert verdict(OUTSIDE, ACROSS) is Verdict.NOT_REPRODUCED
    assert verdict(ACROSS) is Verdict.NOT_CHECKABLE


def test_a_failing_predicate_is_reported_with_its_size():
    failing = claim("slow", "It takes 0.060.", paper="0.060", checks=[OUTSIDE], remark="it is slow")
    assert failing.verdict is Verdict.NOT_REPRODUCED
    assert "2.000 ± 0.100" in failing.ours
    assert failing.reason == (
        "Outside: outside (wanted 0.5000 to 1.500, is 2.000 ± 0.100). It is slow"
    )
    assert failing.row()["verdict"] == "not reproduced"


def test_many_checks_name_the_one_furthest_off():
    some = [Check(f"n = {n}", Value.exact(1.0 + 0.2 * n), 0.5, 1.5) for n in range(5)]
    several = claim("many", "All are 1.", paper="1", checks=some)
    assert several.ours == "3 of 5 hold; furthest off n = 4: 1.800"
    assert several.verdict is Verdict.IN_PART


def test_a_claim_without_checks_is_no_claim():
    with pytest.raises(ValueError, match="needs a check"):
        claim("empty", "It is so.", paper="so", checks=[])
    honest = unchecked("missing", "It is so.", paper="so", because="there is no model")
    assert honest.verdict is Verdict.NOT_CHECKABLE
    assert honest.reason == "There is no model"


@pytest.mark.parametrize(("ours", "holds"), [(1.04, True), (0.96, True), (1.06, False)])
def test_agreement_is_a_ratio(ours, holds):
    check = Check.agrees("x", Value.exact(10 * ours), Value.exact(10.0), within=0.05)
    assert (check.outcome is Outcome.HOLDS) is holds


def test_bands_are_told_in_words():
    value = Value.exact(1.0)
    assert Check("x", value, high=2.0).band == "at most 2.000"
    assert Check("x", value, low=0.5).band == "at least 0.5000"
    assert Check.near("x", value, 1.0, within=0.25).band == "0.7500 to 1.250"
