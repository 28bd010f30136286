"""The runs of Tables IV and V and of figure 2, and values over their replications.

The numbers of networks are fixed before the runs: a figure does not run again because a claim is
undecided. A difference of controllers varies more from run to run than from pair to pair of alpha
and beta. So all pairs are run in few networks, and one of them, in turn, in many: this takes a
third of the runs that all pairs in fewer networks take for the same interval of their mean.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.lab import Lab, Sample
from simoom_studies.afw_few.paper import (
    FEW,
    FLOWS,
    NEW_RENO,
    PRINTED_PAIRS,
    afw,
    course,
    measure,
    mobile,
    ratio,
)

MEAN = "AFW, mean of its pairs"
QUICK_PAIRS = ((2, 2), (4, 8), (6, 8))
"""The pairs that claims of the paper name."""
BEST = afw(2, 2)
NETWORKS: Mapping[int, int] = {10: 20, 30: 20, 50: 80}
"""Networks by number of flows, in which FeW, AFW's best pair and one pair in turn are run."""
WHOLE_NETWORKS = 3
"""The first of these networks, in which all pairs are run."""
RENO_NETWORKS = 20
"""Networks with NewReno."""
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


def is_in_turn(pair: int, network: int) -> bool:
    """Return whether a pair, by its place among the printed ones, counts in a network."""
    return network < WHOLE_NETWORKS or network % len(PRINTED_PAIRS) == pair


def networks(lab: Lab, flows: int) -> dict[str, tuple[int, ...]]:
    """Return the controllers with the numbers of their networks; a quick lab runs few pairs."""
    if lab.quick:
        pairs = QUICK_PAIRS if flows == 50 else ((2, 2), (2, 6))
        return dict.fromkeys((NEW_RENO, FEW, *(afw(*pair) for pair in pairs)), (0, 1, 2))
    every = tuple(range(NETWORKS[flows]))
    in_turn = {
        afw(*pair): tuple(r for r in every if is_in_turn(place, r))
        for place, pair in enumerate(PRINTED_PAIRS)
    }
    return {NEW_RENO: every[:RENO_NETWORKS], FEW: every, **in_turn, BEST: every}


def runs(lab: Lab) -> Found:
    """Run NewReno, FeW and AFW with 10, 30 and 50 flows.

    Each quantity has an element for each network, NaN where a controller is not run in it.
    """
    found: dict[int, dict[str, Sample]] = {}
    for flows in FLOWS:
        numbers = networks(lab, flows)
        cases = {name: case(lab, name, flows) for name in numbers}
        samples = lab.sample(cases, measure_parts, replications=numbers, probes=PROBES)
        found[flows] = {
            name: Sample((q, _placed(values, numbers[name])) for q, values in sample.items())
            for name, sample in samples.items()
        }
    return found


def _placed(values: NDArray[np.float64], numbers: tuple[int, ...]) -> NDArray[np.float64]:
    """Return values at the places of their networks."""
    row = np.full(max(numbers) + 1, np.nan)
    row[list(numbers)] = values
    return row


def mean_of_pairs(sample: Mapping[str, Sample], quantity: str) -> NDArray[np.float64]:
    """Return the mean in each network over the pairs that count in it."""
    rows = {
        place: sample[afw(*pair)][quantity]
        for place, pair in enumerate(PRINTED_PAIRS)
        if afw(*pair) in sample
    }
    count = max(map(len, rows.values()))
    inside = [
        np.mean([row[r] for place, row in rows.items() if is_in_turn(place, r)])
        for r in range(count)
    ]
    return np.asarray(inside)


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
