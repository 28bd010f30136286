"""The runs of Tables IV and V, and values over their replications."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from simoom.evidence import Value
from simoom.studies.afw_few.paper import (
    FEW,
    FLOWS,
    NEW_RENO,
    PAIRS,
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

Found = Mapping[int, Mapping[str, Sample]]
"""The samples by number of flows and controller."""


def runs(lab: Lab) -> Found:
    """Run NewReno, FeW and AFW with 10, 30 and 50 flows; a quick lab runs few pairs."""
    names = {
        flows: (
            NEW_RENO,
            FEW,
            *(afw(*pair) for pair in lab.pick(PAIRS, QUICK_PAIRS if flows == 50 else ((2, 2),))),
        )
        for flows in FLOWS
    }
    cases = {
        (flows, name): mobile(name, flows, course=course(lab))
        for flows in FLOWS
        for name in names[flows]
    }
    found = lab.sample(cases, measure, replications=lab.pick(5, 3))
    return {flows: {name: found[flows, name] for name in names[flows]} for flows in FLOWS}


def each(found: Found, flows: int, name: str, quantity: str) -> NDArray[np.float64]:
    """Return a quantity of each replication, of a controller or of AFW's printed pairs."""
    sample = found[flows]
    return mean_of_pairs(sample, quantity) if name == MEAN else sample[name][quantity]


def value(found: Found, flows: int, name: str, quantity: str) -> Value:
    """Return the mean of a quantity of a controller, or of AFW's printed pairs."""
    mean = Value.mean(each(found, flows, name, quantity))
    return mean.named(f"{quantity} of {name}", "flows", str(flows))


def over(found: Found, flows: int, name: str, other: str, quantity: str) -> Value:
    """Return a quantity of a controller over that of another in the same movement."""
    one, base = (each(found, flows, which, quantity) for which in (name, other))
    return ratio(one, base).named(f"{quantity} of {name} over {other}", "flows", str(flows))
