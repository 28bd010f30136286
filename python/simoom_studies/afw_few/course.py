"""Fig. 2: the throughput over the time of the simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claims, Reading
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.afw_few.paper import FEW, GOODPUT, NEW_RENO, course, ratio
from simoom_studies.afw_few.runs import BEST, PARTS, PROBES, case, measure_parts, runs

claim = Claims(__package__)

SETDEST = "FeW, start of setdest"
SETDEST_NETWORKS = 20
SHOWN = {FEW: 0, BEST: 1, NEW_RENO: 2, SETDEST: 3}
FALL = 0.95
"""The most that the second half may have of the throughput of the first."""


@figure_function("figure 2", again=False)
def figure_2(lab: Lab) -> Figure:
    """Throughput against time, 50 flows."""
    setdest = lab.sample(
        {SETDEST: case(lab, FEW, 50, start="setdest")},
        measure_parts,
        replications=lab.pick(SETDEST_NETWORKS, 3),
        probes=PROBES,
    )
    found = {**runs(lab)[50], **setdest}
    end_s = course(lab).end_s
    middles = [end_s * (k + 0.5) / PARTS for k in range(PARTS)]

    def mean(name: str, parts: range) -> NDArray[np.float64]:
        return np.asarray(np.mean([found[name][str(k)] for k in parts], axis=0))

    def late_over_early(name: str) -> Value:
        """Return the second half over the first, without the first tenth, when flows begin."""
        late, early = mean(name, range(PARTS // 2, PARTS)), mean(name, range(1, PARTS // 2))
        return ratio(late, early).named("late over early", "controllers", name)

    return Figure(
        "figure 2",
        "throughput over time, 50 flows",
        Axis("time_s", "time, s", 0, end_s),
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
        ),
        (
            claim(
                "falls_with_time",
                checks=[Check(name, late_over_early(name), high=FALL) for name in (FEW, BEST)],
                others=[
                    Reading(
                        "start of ns-2's setdest, nodes gather in the middle and become slower",
                        (Check("FeW", late_over_early(SETDEST), high=FALL),),
                    )
                ],
            ),
        ),
    )
