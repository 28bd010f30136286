"""What the paper leaves open about its simulation, and how it may be read.

It says only that "the simulations are run for a duration of 45 sec", and that an AP and stations
resume after a collision as its (11) has it. The study measures all of the 45 s. The other ways are
shown beside it and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simoom.scenario.scenario import Scenario
from simoom_studies.full_duplex.paper import (
    AT_ONCE,
    FULL,
    HALF_WINDOW,
    MANY,
    PAPER,
    START,
    STEADY,
    TIMEOUTS,
    Course,
    cell,
)


@dataclass(frozen=True)
class Way:
    """A way to run and to measure the paper's cell.

    Parameters
    ----------
    course : Course
        How the windows open, and the time that is measured.
    wlan : mapping
        Keys of the table ``wlan``.
    stations : int
        N, where the paper does not name it.
    """

    course: Course
    wlan: Mapping[str, Any] = field(default_factory=dict)
    stations: int = MANY

    def cell(self, uploads: float, r2: float | None, stations: int | None = None) -> Scenario:
        """Return the cell with a fraction of uploads and a rate r2."""
        return cell(stations or self.stations, uploads, r2, course=self.course, wlan=self.wlan)


READ = "0 to 45 s"
"""The reading that decides: "run for a duration of 45 sec"."""
WAYS = {
    READ: Way(PAPER),
    "5 to 45 s": Way(Course(HALF_WINDOW, 5.0, 45.0)),
    "30 to 45 s": Way(FULL),
    "5 to 45 s, slow start only": Way(START),
    "0 to 45 s, whole windows at once": Way(Course(AT_ONCE, 0.0, 45.0)),
    "80 to 110 s": Way(STEADY),
    "0 to 45 s, CTS timeout and EIFS": Way(PAPER, TIMEOUTS),
}
"""The ways by name. They differ in the time that is measured; in the order of segments in the
access point's queue, which follows from how the windows open; and in the time after a collision."""
SIZES = {f"{READ}, N = {n}": Way(PAPER, stations=n) for n in (20, 40)}
"""Fewer stations than the 80 of Fig. 6: their windows are full sooner."""
