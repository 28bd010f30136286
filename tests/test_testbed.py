"""The page of agreement with hardware: its points, and one of them simulated."""

from __future__ import annotations

from dataclasses import replace

import pytest
from validation import testbed, testbed_page


@pytest.mark.parametrize(
    ("points", "count"),
    [
        (testbed.airtime_fair, 16),
        (testbed.driver_fifo, 24),
        (testbed.uploads, 26),
        (testbed.wired, 26),
    ],
)
def test_every_measured_point_has_a_scenario(points, count) -> None:
    assert len(points()) == count


def test_no_point_has_a_setting_of_its_own() -> None:
    cells = [{**point.scenario, "flows": None} for point in testbed.airtime_fair()]
    for cell in cells:
        cell["stations"] = {**cell["stations"], "ap_mcs": None}
    assert all(cell == cells[0] for cell in cells)


def test_a_ping_under_airtime_fairness_is_that_of_two_aggregates_in_the_hardware() -> None:
    point = next(each for each in testbed.airtime_fair() if each.name == "fq_codel_airtime, MCS 4")
    one = replace(point, edits={"ap.hardware_aggregates": 1})
    both = testbed.measure([point, one])
    assert both[0].agrees("goodput")
    assert both[0].agrees("ping")
    assert both[1].error("ping") < -0.15, "one in the hardware is too few"


def test_a_bracket_reaches_from_one_guard_interval_to_the_other() -> None:
    point = testbed.driver_fifo()[0]
    measured = point.measured["goodput"]
    rows = [
        testbed.Compared(point, {"goodput": own * measured}, {"goodput": other * measured})
        for own, other in ((0.9, 1.1), (0.9, 0.98), (0.9, 0.96), (1.04, 1.2))
    ]
    assert [row.agrees("goodput") for row in rows] == [True, True, False, False]
    assert testbed_page.error(rows[2], "goodput") == "**-10.0 %**"
