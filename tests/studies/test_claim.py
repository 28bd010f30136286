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
    assert verdict(OUTSIDE, OUTSIDE) is Verdict.NOT_REPRODUCED
    assert verdict(INSIDE, OUTSIDE, ACROSS) is Verdict.IN_PART


def test_a_verdict_that_depends_on_an_open_check_is_undecided():
    assert verdict(ACROSS) is Verdict.UNDECIDED
    assert verdict(INSIDE, ACROSS) is Verdict.UNDECIDED
    assert verdict(OUTSIDE, ACROSS) is Verdict.UNDECIDED


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


def goodput(of, mbps):
    return Value.exact(mbps, "goodput", of)


def test_a_claim_names_what_may_change_without_effect():
    fast, slow = goodput("LT-TCP", 3.0), goodput("SACK", 1.0)
    order = claim("order", "LT-TCP is faster.", paper="<", checks=[Check("", fast.over(slow), 1.0)])
    near = Check.near("SACK", slow, 1.02, within=0.05)
    both = claim("both", "It is 1.02.", paper="1.02", checks=[*order.checks, near])
    assert order.insensitive_to() == ["goodput, LT-TCP", "goodput, SACK"]
    assert both.insensitive_to() == ["goodput, LT-TCP"]


def test_one_point_of_a_curve_may_break_a_ratio_within_it():
    ten = Value.exact(1.0, "goodput", "SACK", "10")
    twenty = Value.exact(1.01, "goodput", "SACK", "20")
    same = Check.agrees("20 over 10", twenty, ten, within=0.05)
    assert claim("flat", "It is flat.", paper="flat", checks=[same]).insensitive_to() == []
    assert same.scaled(("goodput", "SACK"), 1.1).value == same.value
    assert same.scaled(("goodput", "SACK", "20"), 1.1).value.value == pytest.approx(1.111)


def test_published_numbers_are_not_varied():
    paper = Value.printed(4.64).named("paper")
    check = Check.agrees("ours over the paper's", goodput("SACK", 4.6), paper, within=0.05)
    assert check.value.quantities == {("goodput", "SACK")}
    assert check.scaled(("paper",), 1.1).value == check.value


def test_a_failing_check_is_no_reason_to_trust_a_number():
    far = claim("far", "It is 2.", paper="2", checks=[Check.near("", goodput("SACK", 1.0), 2.0,
                                                                within=0.1)])  # fmt: skip
    assert far.verdict is Verdict.NOT_REPRODUCED
    assert far.insensitive_to() == []
