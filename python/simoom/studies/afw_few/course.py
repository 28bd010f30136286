"""Fig. 2: the throughput over the time of the simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simoom.evidence import Check, Value
from simoom.run import Run
from simoom.studies.afw_few.paper import (
    FEW,
    GOODPUT,
    NEW_RENO,
    PAPER,
    Course,
    afw,
    mobile,
    ratio,
)
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function

PARTS = 10
"""The parts of a run, of 20 s each in a full run."""
PATH = "total.goodput_mbps"
AFW = afw(2, 2)
SETDEST = "FeW, start of setdest"
SHOWN = {FEW: 0, AFW: 1, NEW_RENO: 2, SETDEST: 3}
QUICK = Course(60.0, 0.0)


def measure(run: Run) -> dict[str, float]:
    """Extract the throughput of each part of the run, in kb/s."""
    time_s, mbps = run.samples(PATH)
    part = np.minimum((time_s - 1e-6) * PARTS // run.simulated_s, PARTS - 1)
    return {str(k): 1000 * float(np.mean(mbps[part == k])) for k in range(PARTS)}


@figure_function("figure 2")
def figure_2(lab: Lab) -> Figure:
    """Throughput against time, 50 flows."""
    course = lab.pick(Course(PAPER.end_s, 0.0), QUICK)
    cases = {
        name: mobile(
            FEW if name == SETDEST else name,
            50,
            start="setdest" if name == SETDEST else "stationary",
            course=course,
            interval_s=1.0,
        )
        for name in lab.pick(tuple(SHOWN), (FEW, AFW))
    }
    found = lab.sample(cases, measure, replications=lab.pick(5, 2), probes=(PATH,))
    middles = [course.end_s * (k + 0.5) / PARTS for k in range(PARTS)]

    def mean(name: str, parts: range) -> NDArray[np.float64]:
        return np.asarray(np.mean([found[name][str(k)] for k in parts], axis=0))

    def late_over_early(name: str) -> Value:
        """Return the second half over the first, without the first tenth, when flows begin."""
        late, early = mean(name, range(PARTS // 2, PARTS)), mean(name, range(1, PARTS // 2))
        return ratio(late, early).named("late over early", "controllers", name)

    return Figure(
        "figure 2",
        "throughput over time, 50 flows",
        Axis("time_s", "time, s", 0, course.end_s),
        (Axis(GOODPUT, "throughput, sum of all flows, kb/s", 0),),
        tuple(
            curve(
                name,
                Source.SIMULATION,
                middles,
                [Value.mean(found[name][str(k)]) for k in range(PARTS)],
                GOODPUT,
                colour=colour,
                subject=f"{GOODPUT} of {name}",
            )
            for name, colour in SHOWN.items()
            if name in cases
        ),
        (
            claim(
                "falls_with_time",
                "The throughput consistently decreases over the course of the simulation.",
                paper="consistently decreases",
                checks=[Check(name, late_over_early(name), high=0.95) for name in (FEW, AFW)],
                tolerance="100 to 200 s at least 5 % below 20 to 100 s",
                remark="Movement begins in its equilibrium here. With the start of ns-2's setdest "
                "nodes gather in the middle and become slower.",
            ),
        ),
    )
