"""The pairs of alpha and beta with 50 flows, and how many scenarios a difference takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simoom.base.needs import Later
from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claims, finding
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.afw_few.paper import (
    FEW,
    FLOWS,
    GOODPUT,
    KBPS,
    PRINTED_PAIRS,
    afw,
    printed,
    ratio,
)
from simoom_studies.afw_few.runs import BEST, mean_of_pairs, runs

distributions = Later("scipy.stats", "the number of scenarios")
claim = Claims(__package__)

OVER_FEW, NEEDED = "throughput_over_few", "scenarios"
DIFFERENCES = {"1.12 %": 0.0112, "11.7 %": 0.117}
LABELS = {pair: f"{pair[0]}, {pair[1]}" for pair in PRINTED_PAIRS}


@figure_function("figure pairs", again=False)
def figure_pairs(lab: Lab) -> Figure:
    """Throughput of each pair over FeW's with 50 flows."""
    found = runs(lab)[50]
    few = found[FEW][GOODPUT]
    run = [pair for pair in PRINTED_PAIRS if afw(*pair) in found]
    gains = {pair: ratio(found[afw(*pair)][GOODPUT], few) for pair in run}
    simulated = curve(
        "AFW",
        Source.SIMULATION,
        [LABELS[pair] for pair in run],
        list(gains.values()),
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
            checks=[
                Check.near(
                    LABELS[pair],
                    ratio(found[afw(*pair)][GOODPUT], middle).named(
                        "pair over mean", "pairs", LABELS[pair]
                    ),
                    1.0,
                    within=0.05,
                )
                for pair in PRINTED_PAIRS
                if pair in gains
            ],
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


def scenarios_needed(deviation: NDArray[np.float64], difference: float) -> Value:
    """Return how many scenarios show a difference, from its deviation in each scenario.

    With so many, the 95 % interval of the mean is as wide as the difference on each side. The
    number has the interval of the variance of a normal sample.
    """
    freedom = len(deviation) - 1
    needed = (1.96 / difference) ** 2 * float(np.var(deviation, ddof=1))
    low, high = (
        needed * freedom / float(distributions.chi2.ppf(p, freedom)) for p in (0.975, 0.025)
    )
    return Value(needed, low, high, len(deviation), "mean")


@figure_function("figure scenarios", again=False)
def figure_scenarios(lab: Lab) -> Figure:
    """How many scenarios it takes to tell AFW from FeW."""
    found = runs(lab)
    curves = []
    for colour, (label, difference) in enumerate(DIFFERENCES.items()):
        for same in (True, False):
            values = []
            for flows in FLOWS:
                few = found[flows][FEW][GOODPUT]
                one = found[flows][BEST][GOODPUT]
                scale = np.mean(few)
                # Scenarios that differ have the sum of both variances.
                apart = np.sqrt(2) * np.concatenate([few - np.mean(few), one - np.mean(one)])
                spread = (one - few if same else apart) / scale
                values.append(scenarios_needed(spread, difference))
            curves.append(
                curve(
                    f"{label}, {'same' if same else 'other'} movement",
                    Source.SIMULATION,
                    FLOWS,
                    values,
                    NEEDED,
                    colour=colour,
                    dashed=not same,
                    subject="scenarios for AFW over FeW",
                )
            )
    claims = tuple(
        finding(
            f"one_scenario_tells_{name}",
            f"One network with 50 flows shows a difference of {label} between AFW and FeW.",
            checks=[Check("scenarios with the same movement", each.at(50), high=1.0)],
            tolerance="a 95 % interval as wide as the difference on each side",
        )
        for name, label, each in (
            ("1_percent", "1.12 %", curves[0]),
            ("12_percent", "11.7 %", curves[2]),
        )
    )
    return Figure(
        "figure scenarios",
        "scenarios that show a difference between AFW (2, 2) and FeW",
        Axis("flows", "number of flows", 0, 60),
        (Axis(NEEDED, "scenarios", log=True),),
        tuple(curves),
        claims,
    )
