"""All 16 pairs of alpha and beta with 50 flows, and how many scenarios a difference takes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simoom.evidence import Check, Value
from simoom.studies.afw_few.paper import (
    FEW,
    FLOWS,
    KBPS,
    OURS,
    PAIRS,
    PRINTED_PAIRS,
    afw,
    mean_of_pairs,
    printed,
    ratio,
)
from simoom.studies.afw_few.tables import GOODPUT, runs
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function

OVER_FEW = "throughput_over_few"
LABELS = {pair: f"{pair[0]}, {pair[1]}" for pair in PAIRS}


@figure_function("figure pairs")
def figure_pairs(lab: Lab) -> Figure:
    """Throughput of each pair over FeW's with 50 flows."""
    found = runs(lab)[50]
    few = found[FEW][GOODPUT]
    gains = {pair: ratio(found[afw(*pair)][GOODPUT], few) for pair in PAIRS}
    simulated = curve(
        "AFW",
        Source.SIMULATION,
        [LABELS[pair] for pair in PAIRS],
        [gains[pair] for pair in PAIRS],
        OVER_FEW,
        subject="throughput of a pair over FeW",
    )
    paper = Curve(
        "AFW",
        Source.PAPER,
        tuple(LABELS[pair] for pair in PRINTED_PAIRS),
        tuple(
            Value.printed(printed(KBPS, afw(*pair), 50) / printed(KBPS, FEW, 50))
            for pair in PRINTED_PAIRS
        ),
        OVER_FEW,
        colour=1,
    )
    middle = mean_of_pairs(found, GOODPUT)
    claims = (
        claim(
            "pairs_differ_little",
            "The throughput is almost independent of alpha and beta: each pair is within 5 % of "
            "the mean of the pairs.",
            paper="1796 to 2014 kb/s, a mean of 1943",
            checks=[
                Check.near(
                    LABELS[pair],
                    ratio(found[afw(*pair)][GOODPUT], middle).named("pair over mean", LABELS[pair]),
                    1.0,
                    within=0.05,
                )
                for pair in PRINTED_PAIRS
            ],
            tolerance="5 %",
        ),
    )
    return Figure(
        "figure pairs",
        "throughput of AFW over FeW, 50 flows",
        Axis("pair", "alpha, beta"),
        (Axis(OVER_FEW, "throughput over FeW's", 0.8, 1.3),),
        (simulated, paper),
        claims,
        notes="The paper's rows 3 and 4, 7 and 8, 11 and 12 share cells of Tables IV and V.",
    )


def scenarios_needed(
    one: NDArray[np.float64], other: NDArray[np.float64], *, difference: float, paired: bool
) -> float:
    """Return how many scenarios show a relative difference of the means.

    The 95 % interval then is as wide as the difference on each side. With `paired`, both are run
    in the same scenarios; without, each in scenarios of its own.
    """
    scale = float(np.mean(other))
    if paired:
        variance = float(np.var(one - other, ddof=1))
    else:
        variance = float(np.var(one, ddof=1) + np.var(other, ddof=1))
    return max(2.0, math.ceil(1.96**2 * variance / (difference * scale) ** 2))


@figure_function("figure scenarios")
def figure_scenarios(lab: Lab) -> Figure:
    """How many scenarios it takes to tell AFW from FeW."""
    found = runs(lab)
    quantity = "scenarios"
    curves = []
    for colour, (label, difference) in enumerate((("1.12 %", 0.0112), ("11.7 %", 0.117))):
        for paired in (True, False):
            values = []
            for flows in FLOWS:
                few = found[flows][FEW][GOODPUT]
                one = found[flows][afw(2, 2)][GOODPUT]
                needed = scenarios_needed(one, few, difference=difference, paired=paired)
                values.append(Value.exact(needed))
            curves.append(
                curve(
                    f"{label}, {'same' if paired else 'other'} movement",
                    Source.SIMULATION,
                    FLOWS,
                    values,
                    quantity,
                    colour=colour,
                    dashed=not paired,
                    subject="scenarios needed",
                )
            )
    needed = curves[0].at(50)
    claims = (
        claim(
            "one_scenario_does_not_tell",
            "A single scenario shows a difference of 1.12 % between AFW and FeW.",
            paper="one network of 50 nodes is shown",
            checks=[Check("scenarios with the same movement", needed, high=1.0)],
            tolerance="95 % interval as wide as the difference",
            remark=OURS,
        ),
    )
    return Figure(
        "figure scenarios",
        "scenarios that show a difference between AFW (2, 2) and FeW",
        Axis("flows", "number of flows", 0, 60),
        (Axis(quantity, "scenarios", log=True),),
        tuple(curves),
        claims,
    )
