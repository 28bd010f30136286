import pytest

from simoom.studies import Check, Value, Verdict
from simoom.studies.claim import claim, unchecked

INSIDE = Check("inside", Value(1.0, 0.9, 1.1, 5, "mean"), 0.5, 1.5)
OUTSIDE = Check("outside", Value(2.0, 1.9, 2.1, 5, "mean"), 0.5, 1.5)
ACROSS = Check("across", Value(1.4, 1.2, 1.6, 5, "mean"), 0.5, 1.5)


def verdict(*checks):
    return claim("it", "It is so.", paper="so", checks=checks).verdict


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
