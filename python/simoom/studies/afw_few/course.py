"""Fig. 2: the throughput over the time of the simulation."""

from __future__ import annotations

import numpy as np

from simoom.evidence import Check, Value
from simoom.run import Run
from simoom.studies.afw_few.paper import CONTROLS, END_S, FEW, NEW_RENO, afw, mobile, ratio
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function

BIN_S = 20.0
PATH = "total.goodput_mbps"
SHOWN = (FEW, afw(2, 2), NEW_RENO)
BINS = tuple(BIN_S * (k + 0.5) for k in range(round(END_S / BIN_S)))


def measure_course(run: Run) -> dict[str, float]:
    """Extract the throughput of each 20 s, in kb/s."""
    time_s, mbps = run.samples(PATH)
    bins = np.minimum((np.asarray(time_s) - 1e-6) // BIN_S, len(BINS) - 1)
    return {f"{at:g}": 1000 * float(np.mean(mbps[bins == k])) for k, at in enumerate(BINS)}


@figure_function("figure 2")
def figure_2(lab: Lab) -> Figure:
    """Throughput against time, 50 flows."""
    cases = {name: mobile(name, 50, warmup_s=0.0, interval_s=BIN_S / 20) for name in SHOWN}
    found = lab.sample(cases, measure_course, replications=lab.pick(10, 3), probes=(PATH,))
    assert set(SHOWN) <= set(CONTROLS)
    quantity = "goodput_kbps"
    curves = tuple(
        curve(
            name,
            Source.SIMULATION,
            BINS,
            [Value.mean(found[name][f"{at:g}"]) for at in BINS],
            quantity,
            colour=colour,
            subject=f"{quantity} of {name}",
        )
        for colour, name in enumerate(SHOWN)
    )

    def late_over_early(name: str) -> Value:
        """The last half over the first half, without the first 20 s, in which flows begin."""
        early = np.mean([found[name][f"{at:g}"] for at in BINS[1:5]], axis=0)
        late = np.mean([found[name][f"{at:g}"] for at in BINS[6:]], axis=0)
        return ratio(late, early).named("late over early", name)

    claims = (
        claim(
            "falls_with_time",
            "The throughput consistently decreases over the course of the simulation.",
            paper="consistently decreases",
            checks=[Check(name, late_over_early(name), high=0.95) for name in SHOWN[:2]],
            tolerance="120 to 200 s at least 5 % below 20 to 100 s",
            remark="Movement begins in its equilibrium here. A start with uniformly distributed "
            "nodes changes density and speeds over time, and with them the throughput.",
        ),
    )
    return Figure(
        "figure 2",
        "throughput over time, 50 flows",
        Axis("time_s", "time, s", 0, END_S),
        (Axis(quantity, "throughput, sum of all flows, kb/s", 0),),
        curves,
        claims,
    )
