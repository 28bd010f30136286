import pytest

from simoom.studies import Check, Kind, Reading, Value, Verdict, headlines
from simoom.studies.claim import Claims, claim, finding, unchecked

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


def test_the_words_of_a_claim_are_a_row(tmp_path, monkeypatch):
    folder = tmp_path / "rows_of_claims"
    folder.mkdir()
    (folder / "__init__.py").touch()
    head = "name,kind,statement,paper,tolerance,remark,place"
    rows = ("fast,claim,It is fast.,1.0,5 %,,Fig. 2", "own,finding,It is so.,,,,",
            "open,unchecked,It is so.,so,,there is no model,")  # fmt: skip
    (folder / "claims.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    make = Claims("rows_of_claims")
    fast = claim("fast", "It is fast.", paper="1.0", checks=[INSIDE], tolerance="5 %",
                 remark="of 1.000", place="Fig. 2")  # fmt: skip
    assert make("fast", checks=[INSIDE], remark="of 1.000") == fast
    assert make("own", checks=[INSIDE]) == finding("own", "It is so.", checks=[INSIDE])
    because = unchecked("open", "It is so.", paper="so", because="there is no model")
    assert make("open") == because
    there = make("here", "It is so.", paper="so", checks=[INSIDE])
    assert there == claim("here", "It is so.", paper="so", checks=[INSIDE])
    with pytest.raises(ValueError, match=r"none: has no row in claims\.csv of rows_of_claims"):
        make("none", checks=[INSIDE])
    with pytest.raises(ValueError, match="needs a check"):
        make("fast")


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


def test_a_claim_that_cannot_fail_leaves_the_count_and_counts_if_it_fails():
    loose = {"paper": "starvation", "coarse": "it is a word"}
    assert claim("it", "It starves.", checks=[INSIDE], **loose).kind is Kind.LOOSE
    assert claim("it", "It starves.", checks=[OUTSIDE], **loose).kind is Kind.PAPER


def test_counts_have_the_claims_of_the_paper_once_each_and_apart_from_findings():
    own = finding("own", "It is new.", checks=[INSIDE])
    first = claim("first", "It is so.", paper="so", checks=[INSIDE])
    again = claim("again", "It is so.", paper="so", checks=[INSIDE], repeats="first")
    rows = [{"figure": "figure 1", **each.row()} for each in (own, first, again)]
    assert headlines.counts(rows) == (
        "1 claim of the paper: 1 reproduced; 1 repeat of a claim; 1 finding of the study: 1 holds"
    )
    assert headlines.lines(rows).count("\n") == 3
    assert "It is new." in headlines.findings(rows)


def test_other_readings_are_shown_and_do_not_decide():
    others = [Reading("5 to 45 s", (OUTSIDE,)), Reading("two", (INSIDE, OUTSIDE))]
    judged = claim("it", "It is 1.", paper="1", checks=[INSIDE], reading="0 to 45 s", others=others)
    assert judged.verdict is Verdict.REPRODUCED
    assert judged.tried == (
        "5 to 45 s: 2.000 ± 0.100 (not reproduced); "
        "two: inside: 1.000 ± 0.100, outside: 2.000 ± 0.100 (reproduced in part)"
    )
    assert (judged.row()["reading"], judged.row()["others"]) == ("0 to 45 s", judged.tried)


def test_a_table_has_the_verdicts_by_reading():
    others = [Reading("5 to 45 s", (OUTSIDE,)), Reading("two", (INSIDE, OUTSIDE))]
    judged = claim("it", "It is 1.", paper="1", checks=[INSIDE], reading="all", others=others)
    alone = claim("alone", "It is.", paper="1", checks=[INSIDE], reading="all")
    also = claim("also", "It is so.", paper="1", checks=[OUTSIDE], reading="all", others=others[:1])
    rows = [each.row() | {"place": "Fig. 1"} for each in (judged, alone, also)]
    assert headlines.by_reading(rows) == (
        "| reading | Fig. 1: It is 1 | Fig. 1: It is so |\n"
        "| --- | --- | --- |\n"
        "| all | **holds** | no |\n"
        "| 5 to 45 s | no | no |\n"
        "| two | in part |  |\n"
    )
