"""Figs. 5 and 6: the throughput against the number of stations and the fraction of uploads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simoom.evidence import Check, Value
from simoom.models import full_duplex as model
from simoom.studies import reference
from simoom.studies.claim import Claim, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.full_duplex.paper import (
    BLACK,
    BLUE,
    FIG_5,
    FIG_6,
    GREEN,
    HALF,
    MANY,
    NAME,
    ORANGE,
    TOTAL,
    WITHIN,
    Quoted,
    cell,
    measure,
    replications,
    share,
    total,
)
from simoom.studies.lab import Lab, Sample, figure_function

FRACTIONS = {0.25: BLUE, 0.5: ORANGE, 0.75: GREEN}
STATIONS = (4, 8, 12, 20, 32, 40, 52, 60, 72, 80)
"""Multiples of four, so that each fraction of them is whole."""
QUICK_STATIONS = (4, 20, 80)
LEAST = 10
"""The gains of Fig. 5, for which the paper names no N, are compared from this N on."""
Runs = Mapping[tuple[float | None, float], Sample]
"""Samples by r2 and the axis."""


def _match(pairs: list[tuple[Curve, Curve]], within: float) -> list[Check]:
    """Compare analysis with simulation, point by point."""
    return [
        Check.agrees(f"{a.label}, {x:g}", a.at(x), s.at(x), within=within)
        for a, s in pairs
        for x in s.x
    ]


def _simulated(label: str, samples: Mapping[float, Sample], colour: int, dashed: bool) -> Curve:
    values = [total(each) for each in samples.values()]
    return curve(
        label, Source.SIMULATION, tuple(samples), values, TOTAL, colour=colour, dashed=dashed
    )


@figure_function("figure 5")
def figure_5(lab: Lab) -> Figure:
    """Total throughput against the number of stations."""
    stations = lab.pick(STATIONS, QUICK_STATIONS)
    fine = sorted({*range(4, 81, 2)})
    cases = {(r2, f, n): cell(n, f, r2) for r2 in (36.0, HALF) for f in FRACTIONS for n in stations}
    found = lab.sample(cases, measure, replications=replications(lab))
    analysed, simulated = [], []
    for r2, name in ((36.0, "full duplex"), (HALF, "half duplex")):
        for f, colour in FRACTIONS.items():
            at = model.cell(fine, upload_fraction=f)
            values = at.total_mbps if r2 else at.half_duplex_mbps
            label, dashed = f"{name}, f = {f:g}", r2 is HALF
            analysed.append(
                curve(
                    label, Source.ANALYSIS, fine, list(np.asarray(values)), TOTAL,
                    colour=colour, dashed=dashed,
                )
            )  # fmt: skip
            samples = {float(n): found[r2, f, n] for n in stations}
            simulated.append(_simulated(label, samples, colour, dashed))
    colours = {c.label: BLACK for c in simulated}
    gains = [
        each.claim(
            {
                n: share(found[each.r2, each.uploads, n], found[HALF, each.uploads, n])
                for n in stations
                if n >= LEAST
            }
        )
        for each in FIG_5
    ]
    return Figure(
        "figure 5",
        "total TCP throughput against N, r2 = 36 Mb/s",
        Axis("stations", "stations N", 0, 82),
        (Axis(TOTAL, "total TCP throughput, Mb/s", 0, 30),),
        (*analysed, *simulated, *reference.curves(NAME, "figure 5", colours)),
        (*_claims_5(analysed, simulated), *gains),
        notes="The paper's simulation of 45 s, measured from 30 s, when nearly all windows are "
        "full.",
    )


def _claims_5(analysed: list[Curve], simulated: list[Curve]) -> tuple[Claim, ...]:
    """Check the accuracy of the analysis, and the dependence of the throughput on N and f."""
    low, _, high = simulated[:3]
    half_low, _, half_high = simulated[3:]
    return (
        claim(
            "analysis_within_5_percent",
            "Analysis and simulation are within 5 % of each other.",
            paper="5 %",
            checks=_match(list(zip(analysed, simulated, strict=True)), WITHIN),
            tolerance="5 %, at each N and f, with full and with half duplex",
            remark="with few stations the closed loop returns fewer TCP ACKs than (9) lets the "
            "access point send segments",
        ),
        claim(
            "insensitive_to_stations",
            "The total throughput does not depend on N, with full duplex and with half duplex.",
            paper="insensitive",
            checks=[
                Check.agrees(f"{c.label}, N = {n:g} over 80", c.at(n), c.at(80.0), within=WITHIN)
                for c in simulated
                for n in c.x
                if n != MANY
            ],
            tolerance="5 %, the accuracy of the analysis",
        ),
        claim(
            "only_full_duplex_depends_on_uploads",
            "The mix of uploads and downloads matters with full duplex and not with half duplex.",
            paper="sensitive; not so",
            checks=[
                Check("full duplex, f = 3/4 over 1/4", high.at(80.0).over(low.at(80.0)), low=1.05),
                Check.agrees(
                    "half duplex, f = 3/4 over 1/4",
                    half_high.at(80.0),
                    half_low.at(80.0),
                    within=0.01,
                ),
            ],
            tolerance="more than 5 %; less than 1 %",
        ),
    )


RATES = {36.0: BLUE, 27.0: ORANGE, 12.0: GREEN}
UPLOADS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
QUICK_UPLOADS = (0.0, 0.6, 0.65, 1.0)


@figure_function("figure 6")
def figure_6(lab: Lab) -> Figure:
    """Total throughput against the fraction of uploads."""
    uploads = lab.pick(UPLOADS, QUICK_UPLOADS)
    fine = [round(0.05 * i, 2) for i in range(21)]
    cases = {(r2, f): cell(MANY, f, r2) for r2 in (*RATES, HALF) for f in uploads}
    found = lab.sample(cases, measure, replications=replications(lab))
    analysed, simulated = [], []
    for r2, colour in (*RATES.items(), (HALF, BLACK)):
        label = f"full duplex, r2 = {r2:g} Mb/s" if r2 else "half duplex"
        at = model.cell(MANY, upload_fraction=fine, cli_rate_mbps=r2 or 36.0)
        values = list(np.asarray(at.total_mbps if r2 else at.half_duplex_mbps))
        analysed.append(curve(label, Source.ANALYSIS, fine, values, TOTAL, colour=colour))
        samples = {f: found[r2, f] for f in uploads}
        simulated.append(_simulated(label, samples, colour, dashed=False))
    colours = {c.label: BLACK for c in simulated}
    return Figure(
        "figure 6",
        "total TCP throughput against uploads, N = 80",
        Axis("upload_fraction", "fraction of stations that upload, $f_{UpL}$", 0, 1),
        (Axis(TOTAL, "total TCP throughput, Mb/s", 0, 30),),
        (*analysed, *simulated, *reference.curves(NAME, "figure 6", colours)),
        (
            claim(
                "analysis_within_6_percent",
                "Analysis and simulation are within 6 % of each other.",
                paper="6 %",
                checks=_match(list(zip(analysed[:3], simulated[:3], strict=True)), 0.06),
                tolerance="6 %, at each f and r2",
            ),
            *(_quoted(each, found) for each in FIG_6),
            _break_even(uploads, found),
        ),
        notes="The paper's simulation of 45 s, measured from 30 s, when nearly all windows are "
        "full.",
    )


def _quoted(each: Quoted, found: Runs) -> Claim:
    return each.claim({MANY: share(found[each.r2, each.uploads], found[HALF, each.uploads])})


def _break_even(uploads: tuple[float, ...], found: Runs) -> Claim:
    """Find for each pair of runs the f from which full duplex with r2 = 12 Mb/s has a gain."""
    ahead = np.array([found[12.0, f][TOTAL] - found[HALF, f][TOTAL] for f in uploads])
    even = [crossing(uploads, list(column)) for column in ahead.T]
    return claim(
        "slow_r2_loses",
        "At r2 = 12 Mb/s full duplex is below half duplex for f up to 0.65, and above it beyond.",
        paper="break-even at 0.65",
        checks=[Check("break-even, f", _named(even), low=0.65, high=0.70)],
        tolerance="between 0.65 and the next multiple of 0.05; by linear interpolation",
    )


def _named(even: list[float]) -> Value:
    return Value.mean(even).named("break-even by simulation", "r2 = 12")


def crossing(x: Sequence[float], y: Sequence[float]) -> float:
    """Return where a rising polyline crosses zero; NaN if it does not.

    Examples
    --------
    >>> crossing((0.0, 1.0, 2.0), (-1.0, -0.5, 1.5))
    1.25
    """
    for k in range(1, len(x)):
        if y[k - 1] < 0 <= y[k]:
            return float(x[k - 1] + (x[k] - x[k - 1]) * -y[k - 1] / (y[k] - y[k - 1]))
    return float("nan")
