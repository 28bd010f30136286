"""Figs. 5 and 6: the throughput against the number of stations and the fraction of uploads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simoom.models import full_duplex as model
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.full_duplex.gains import FIG_5, FIG_6, by_way, cross, run_ways
from simoom_studies.full_duplex.gains import Runs as RunsByWay
from simoom_studies.full_duplex.paper import (
    BLACK,
    BLUE,
    GREEN,
    HALF,
    MANY,
    ORANGE,
    TOTAL,
    WITHIN,
    cell,
    measure,
    replications,
    share,
    total,
)
from simoom_studies.full_duplex.readings import READ, WAYS

claim = Claims(__package__)

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
    colours = {c.label: c.colour for c in simulated}
    halves = {c.label for c in simulated if c.dashed}
    published = reference.curves(__package__, "figure 5", colours, halves)
    runs = run_ways(lab, FIG_5)
    sizes = [n for n in stations if n >= LEAST]
    gains = [
        each.claim(
            {
                n: share(found[each.r2, each.uploads, n], found[HALF, each.uploads, n])
                for n in sizes
            },
            by_way(runs, each),
        )
        for each in FIG_5
    ]
    half = dict(zip(FRACTIONS, simulated[len(FRACTIONS) :], strict=True))
    marks = [
        cross(each, half[each.uploads], map(float, sizes), FRACTIONS[each.uploads])
        for each in FIG_5
    ]
    return Figure(
        "figure 5",
        "total TCP throughput against N, r2 = 36 Mb/s",
        Axis("stations", "stations N", 0, 82),
        (Axis(TOTAL, "total TCP throughput, Mb/s", 0, 30),),
        (*analysed, *simulated, *published, *marks),
        (*_claims_5(analysed, simulated, runs), *gains),
        notes=CROSSES,
    )


def _claims_5(analysed: list[Curve], simulated: list[Curve], runs: RunsByWay) -> tuple[Claim, ...]:
    """Check the accuracy of the analysis, and the dependence of the throughput on N and f."""
    low, _, high = simulated[:3]
    half_low, _, half_high = simulated[3:]
    return (
        claim(
            "analysis_within_5_percent",
            checks=_match(list(zip(analysed, simulated, strict=True)), WITHIN),
        ),
        claim(
            "insensitive_to_stations",
            checks=[
                Check.agrees(f"{c.label}, N = {n:g} over 80", c.at(n), c.at(80.0), within=WITHIN)
                for c in simulated
                for n in c.x
                if n != MANY
            ],
        ),
        claim(
            "only_full_duplex_depends_on_uploads",
            checks=_mixes([c.at(80.0) for c in (low, high, half_low, half_high)]),
            others=[
                Reading(way if "N =" in way else f"{way}, N = 80", _mixes(_ends(runs, way)))
                for way in dict.fromkeys(way for way, _, _ in runs)
                if way != READ
            ],
        ),
    )


def _ends(runs: RunsByWay, way: str) -> list[Value]:
    """Return the throughputs at f = 1/4 and 3/4, with full and with half duplex."""
    return [
        total(runs[way, r2, f]).named(f"{TOTAL} by simulation", f"{way}, r2 = {r2}", str(f))
        for r2 in (36.0, HALF)
        for f in (0.25, 0.75)
    ]


def _mixes(ends: list[Value]) -> tuple[Check, ...]:
    """Check that the throughput depends on f with full duplex, and not with half duplex."""
    low, high, half_low, half_high = ends
    return (
        Check("full duplex, f = 3/4 over 1/4", high.over(low), low=1.05),
        Check.agrees("half duplex, f = 3/4 over 1/4", half_high, half_low, within=0.01),
    )


CROSSES = (
    "All of the paper's 45 s. The paper quotes gains: a cross is half duplex here and the quoted "
    "gain. The Monte Carlo is a steady state."
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
    colours = {c.label: c.colour for c in simulated}
    runs = run_ways(lab, FIG_6)
    marks = [
        cross(each, simulated[-1], [each.uploads], RATES[each.r2], dashed=each.uploads > 0)
        for each in FIG_6
    ]
    even = curve("break-even, r2 = 12", Source.PAPER, [0.65], [simulated[-1].at(0.65).value],
                 TOTAL, colour=GREEN)  # fmt: skip
    return Figure(
        "figure 6",
        "total TCP throughput against uploads, N = 80",
        Axis("upload_fraction", "fraction of stations that upload, $f_{UpL}$", 0, 1),
        (Axis(TOTAL, "total TCP throughput, Mb/s", 0, 30),),
        (*analysed, *simulated, *reference.curves(__package__, "figure 6", colours), *marks, even),
        (
            claim(
                "analysis_within_6_percent",
                checks=_match(list(zip(analysed[:3], simulated[:3], strict=True)), 0.06),
            ),
            *(each.claim({MANY: by_way(runs, each)[READ]}, by_way(runs, each)) for each in FIG_6),
            _break_even(lab, uploads, found),
        ),
        notes=CROSSES,
    )


EVEN_WAYS = ("5 to 45 s", "30 to 45 s", "0 to 45 s, CTS timeout and EIFS")
EVEN_AT = (0.5, 0.6, 0.65, 0.7)
"""The f between which full duplex begins to gain."""


def _break_even(lab: Lab, uploads: tuple[float, ...], found: Runs) -> Claim:
    """Find for each pair of runs the f from which full duplex with r2 = 12 Mb/s has a gain."""

    def check(fractions: Sequence[float], runs: Runs, way: str) -> Check:
        ahead = np.array([runs[12.0, f][TOTAL] - runs[HALF, f][TOTAL] for f in fractions])
        even = [crossing(fractions, list(column)) for column in ahead.T]
        named = Value.mean(even).named("break-even by simulation", "r2 = 12", way)
        return Check("break-even, f", named, low=0.65, high=0.70)

    ways = lab.pick(EVEN_WAYS, EVEN_WAYS[:1])
    others = lab.sample(
        {
            (way, r2, f): WAYS[way].cell(f, r2)
            for way in ways
            for r2 in (12.0, HALF)
            for f in EVEN_AT
        },
        measure,
        replications=replications(lab),
    )
    return claim(
        "slow_r2_loses",
        checks=[check(uploads, found, READ)],
        others=[
            Reading(
                way,
                (
                    check(
                        EVEN_AT,
                        {(r2, f): others[way, r2, f] for r2 in (12.0, HALF) for f in EVEN_AT},
                        way,
                    ),
                ),
            )
            for way in ways
        ],
    )


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
