"""The runs of Tables IV and V and of figure 2, and values over their replications.

The numbers of networks are fixed before the runs, from the intervals of an earlier run with 20
networks: a figure does not run again because a claim is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from simoom.evidence import Value
from simoom.run import Run
from simoom.scenario import Scenario
from simoom.studies.afw_few.paper import (
    FEW,
    FLOWS,
    NEW_RENO,
    PRINTED_PAIRS,
    afw,
    course,
    mean_of_pairs,
    measure,
    mobile,
    ratio,
)
from simoom.studies.lab import Lab, Sample

MEAN = "AFW, mean of its pairs"
QUICK_PAIRS = ((2, 2), (4, 8), (6, 8))
"""The pairs that claims of the paper name."""
BEST = afw(2, 2)
NETWORKS: Mapping[int, int] = {10: 10, 30: 10, 50: 40}
"""Networks by number of flows, each with all controllers."""
MANY_NETWORKS = 160
"""Networks with 50 flows, FeW and AFW's best pair."""
PARTS = 10
"""The parts of a run, of 20 s each in a full run."""
PROBES = ("total.goodput_mbps",)
SAMPLE_S = 1.0

Found = Mapping[int, Mapping[str, Sample]]
"""The samples by number of flows and controller."""


def case(lab: Lab, name: str, flows: int, *, start: str = "stationary") -> Scenario:
    """Return the network with a controller, sampled each second."""
    return mobile(name, flows, start=start, course=course(lab), interval_s=SAMPLE_S)


def measure_parts(run: Run) -> dict[str, float]:
    """Extract what `measure` does, and the throughput of each part of the run in kb/s."""
    time_s, mbps = run.samples(*PROBES)
    part = np.minimum((time_s - 1e-6) * PARTS // run.simulated_s, PARTS - 1)
    parts = {str(k): 1000 * float(np.mean(mbps[part == k])) for k in range(PARTS)}
    return measure(run) | parts


def runs(lab: Lab) -> Found:
    """Run NewReno, FeW and AFW with 10, 30 and 50 flows; a quick lab runs few pairs."""
    found: dict[int, dict[str, Sample]] = {}
    for flows in FLOWS:
        pairs = lab.pick(PRINTED_PAIRS, QUICK_PAIRS if flows == 50 else ((2, 2), (2, 6)))
        names = (NEW_RENO, FEW, *(afw(*pair) for pair in pairs))
        cases = {name: case(lab, name, flows) for name in names}
        networks = lab.pick(NETWORKS[flows], 3)
        found[flows] = lab.sample(cases, measure_parts, replications=networks, probes=PROBES)
    return {**found, 50: {**found[50], **many_networks(lab)}}


def many_networks(lab: Lab) -> dict[str, Sample]:
    """Run FeW and AFW's best pair with 50 flows in many networks."""
    cases = {name: case(lab, name, 50) for name in (FEW, BEST)}
    networks = lab.pick(MANY_NETWORKS, 3)
    return lab.sample(cases, measure_parts, replications=networks, probes=PROBES)


def each(found: Found, flows: int, name: str, quantity: str) -> NDArray[np.float64]:
    """Return a quantity of each replication, of a controller or of AFW's printed pairs."""
    sample = found[flows]
    return mean_of_pairs(sample, quantity) if name == MEAN else sample[name][quantity]


def value(found: Found, flows: int, name: str, quantity: str) -> Value:
    """Return the mean of a quantity of a controller, or of AFW's printed pairs."""
    mean = Value.mean(each(found, flows, name, quantity))
    return mean.named(f"{quantity} of {name}", "flows", str(flows))


def over(found: Found, flows: int, name: str, other: str, quantity: str) -> Value:
    """Return a quantity of a controller over that of another in the same networks."""
    one, base = (each(found, flows, which, quantity) for which in (name, other))
    return ratio(one, base).named(f"{quantity} of {name} over {other}", "flows", str(flows))
