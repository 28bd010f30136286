"""The table of agreement: its quick part in full, and its rules."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import simoom as sm
from simoom.runs.evidence import Agreement, Reference, Value

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from validation import report, table, theory  # noqa: E402
from validation.case import DETECTED, Expected, Quantity, Rule  # noqa: E402
from validation.measure import measure  # noqa: E402
from validation.references import DATA, number  # noqa: E402

PER_CENT = Quantity("goodput, Mb/s", number("total.goodput_mbps"), relative=0.02)
ABSOLUTE = Quantity("probability", number("total.collision_probability"), absolute=0.015, digits=4)


@pytest.fixture(scope="module")
def results():
    return measure(table.quick())


def test_comparisons_of_the_quick_run_agree(results):
    rows = [row for _, rows in results for row in rows]
    assert len(rows) > 50
    differs = [
        f"{row.case.name}: {row.expected.quantity.name} {row.compared} {row.expected.reference}"
        for row in rows
        if row.fails
    ]
    assert differs == []


def test_a_change_of_ten_per_cent_makes_every_comparison_fail(results):
    excused = []
    for _, rows in results:
        for row in rows:
            # A change away from the reference, which no earlier difference makes good.
            value, target = row.compared.value, row.expected.target.value
            shift = DETECTED * abs(value) * (1 if value >= target else -1)
            changed = replace(
                row.compared,
                value=value + shift,
                low=row.compared.low + shift,
                high=row.compared.high + shift,
            )
            if not replace(row, compared=changed).fails:
                excused.append(f"{row.case.name}: {row.expected.quantity.name}")
    assert excused == []


def test_every_reference_is_certain_enough_to_fail():
    for group in table.groups():
        for case in group.cases:
            assert all(each.can_fail for each in case.expected), case.name
    wide = Expected(PER_CENT, Reference(10.0, 1.1))
    assert not wide.can_fail
    assert Expected(PER_CENT, Reference(10.0, 0.89)).can_fail
    assert not Expected(ABSOLUTE, Reference(0.1)).can_fail


def test_what_cannot_fail_is_listed_instead():
    waiting = sum(count for what, count, _ in table.not_comparable() if "wide intervals" in what)

    def number(groups):
        return sum(len(case.expected) for group in groups for case in group.cases)

    assert waiting == number(table.every()) - number(table.groups()) > 0


def test_each_kind_of_reference_has_a_quick_case():
    quick = {group.title for group in table.quick()}
    assert quick == {group.title for group in table.groups() if not group.explains}


def test_a_wrong_reference_is_detected(results):
    for _, rows in results:
        row = rows[0]
        quantity, reference = row.expected.quantity, row.expected.reference
        beyond = 2 * quantity.tolerance(reference.value) + row.compared.half_width
        beyond += reference.half_width + abs(row.compared.value - reference.value)
        wrong = replace(reference, value=reference.value + beyond)
        assert replace(row, expected=replace(row.expected, reference=wrong)).fails


def test_the_standard_alone_does_not_explain_ns2s_collisions(results):
    (rows,) = (rows for group, rows in results if group.title == "Collisions in ns-2")
    first = rows[0]
    assert first.expected.check(first.standard).agreement is Agreement.DIFFERS
    assert first.expected.check(first.compared).agreement is Agreement.AGREES


@pytest.mark.parametrize(
    ("quantity", "reference", "mean", "expected"),
    [
        (PER_CENT, Reference(10.0), 10.19, Agreement.AGREES),
        (PER_CENT, Reference(10.0), 10.21, Agreement.DIFFERS),
        (PER_CENT, Reference(10.0, 0.25), 10.21, Agreement.INTERVAL),
        (PER_CENT, Reference(10.0), 9.79, Agreement.DIFFERS),
        (ABSOLUTE, Reference(0.4), 0.414, Agreement.AGREES),
        (ABSOLUTE, Reference(0.4), 0.416, Agreement.DIFFERS),
        (ABSOLUTE, Reference(0.0), 0.016, Agreement.DIFFERS),
        (PER_CENT, Reference(10.0, 99.0), float("nan"), Agreement.DIFFERS),
    ],
)
def test_verdicts(quantity, reference, mean, expected):
    measured = Value(mean, mean - 0.0005, mean + 0.0005, 4, "mean")
    assert Expected(quantity, reference).check(measured).agreement is expected


def test_the_interval_of_the_measurement_counts_too():
    wide = Value(10.5, 9.9, 11.1, 4, "mean")
    assert Expected(PER_CENT, Reference(10.0)).check(wide).agreement is Agreement.INTERVAL


def test_a_rule_corrects_the_reference_and_excuses_nothing():
    rule = Rule("it sends something that takes a tenth of the time", 1.1)
    expected = Expected(PER_CENT, Reference(10.0, 0.1), rule)
    assert expected.target.value == pytest.approx(11.0)
    assert expected.target.half_width == pytest.approx(0.11)

    def verdict(mean):
        return expected.check(Value(mean, mean - 0.01, mean + 0.01, 4, "mean")).agreement

    assert verdict(11.1) is Agreement.AGREES
    assert verdict(10.0) is Agreement.DIFFERS


@pytest.mark.parametrize(("standard", "cw_min"), [("11b", 31), ("11a", 15), ("11g", 15)])
def test_two_chains_together_have_the_collision_probability_that_corrects_the_model(
    standard, cw_min
):
    assert theory.coupled(cw_min, 400_000, 1) == pytest.approx(theory.COUPLED[standard], rel=0.01)


def test_intervals_that_together_hide_ten_per_cent_leave_a_comparison_open(results):
    row = results[0][1][0]
    reference = replace(row.expected.reference, half_width=0.06 * row.expected.reference.value)
    value = row.expected.reference.value
    wide = replace(row.compared, value=value, low=0.95 * value, high=1.05 * value)
    row = replace(row, expected=replace(row.expected, reference=reference), compared=wide)
    assert row.verdict is Agreement.AGREES
    assert row.is_open
    assert row.fails
    assert "open" in report.cells(results[0][0], row)[-1]


def test_every_case_is_a_scenario_that_runs():
    for group in table.groups():
        for case in group.cases:
            case.standard().check()
            case.compared().check()
            assert case.expected
            assert (case.standard() == case.compared()) is not bool(case.options)


def test_names_tell_cases_apart():
    for group in table.groups():
        names = [case.name for case in group.cases]
        assert len(set(names)) == len(names)


def test_every_option_has_a_reason():
    options = [option for group in table.groups() for option in group.options.values()]
    assert {option.path for option in options} >= {"wlan.eifs", "wlan.slot_grid", "wlan.durations"}
    assert all(len(option.why) > 20 for option in options)


def test_the_page_has_these_groups_options_and_numbers_of_cases():
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert page.startswith(report.HEAD), "make validate"
    assert page.endswith(report.subjects(table.groups())), "make validate"
    expected = [
        [f"{group.title} ({group.source})", quantity.name, str(found), report.tolerance(quantity)]
        for group in table.groups()
        if not group.explains
        for quantity, found in Counter(
            each.quantity for case in group.cases for each in case.expected
        ).items()
    ]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    head = rows.index(list(report.SUMMARY))
    shown = rows[head + 2 : head + 2 + len(expected)]
    assert [[*row[:3], row[5]] for row in shown] == expected, "make validate"


def test_the_details_have_each_case(results):
    details = report.details(results)
    for group, rows in results:
        assert f"\n## {group.title}\n" in details
        assert all(
            f"\n| {row.case.name} | {row.expected.quantity.name} |" in details for row in rows
        )


def test_the_page_has_the_difference_and_the_reason(results):
    group, rows = next((group, rows) for group, rows in results if "ns-3" in group.title)
    far = replace(rows[0].expected, reference=Reference(1.0))
    row = replace(rows[0], expected=far)
    cells = report.cells(group, row)
    assert cells[-1] == "**differs**"
    assert cells[-2] == f"{100 * (row.compared.value - 1):+.2f} %"
    ruled = replace(far, rule=Rule("a quirk", row.compared.value))
    words = f"agrees with {row.compared.value:.4f} times the reference: a quirk"
    assert report.cells(group, replace(row, expected=ruled))[-1] == words


def test_waiting_references_are_counted():
    waiting = {what: count for what, count, _ in table.not_comparable()}
    compared = sum(len(g.cases) for g in table.groups() if g.title.startswith("One TCP flow"))
    flows = sum(count for what, count in waiting.items() if "one" in what)
    with (DATA / "ns3_s2.csv").open(encoding="utf-8") as file:
        assert compared + flows == len(file.readlines()) - 1


def test_the_readme_block_stands_between_its_markers(results, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- agreement -->\nold\n<!-- /agreement -->\nafter\n")
    assert report.put_block(readme, results)
    once = readme.read_text()
    assert once.startswith("before\n<!-- agreement -->\n")
    assert once.endswith("<!-- /agreement -->\nafter\n")
    assert "old" not in once
    assert "comparisons agree: finite-retry Bianchi model" in once
    assert report.put_block(readme, results)
    assert readme.read_text() == once
    readme.write_text("nothing here\n")
    assert not report.put_block(readme, results)
    assert readme.read_text() == "nothing here\n"


def test_progress_ends_at_the_last_run():
    group = table.quick()[0]
    one = replace(group, cases=(replace(group.cases[0], replications=2),))
    calls = []
    ((_, rows),) = measure([one], lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]
    assert len(rows) == len(one.cases[0].expected)


def test_a_fault_in_a_scenario_ends_the_run():
    group = table.quick()[0]
    broken = replace(group.cases[0], scenario={**group.cases[0].scenario, "stations": 0})
    with pytest.raises(sm.ScenarioError):
        measure([replace(group, cases=(broken,))])


def test_every_table_has_a_provenance():
    text = (DATA / "README.md").read_text(encoding="utf-8")
    for path in DATA.glob("*.csv"):
        assert f"`{path.stem}`" in text
