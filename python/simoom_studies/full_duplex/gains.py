"""The gains that the paper quotes, by each reading of its simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simoom.models import full_duplex as model
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Reading, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.full_duplex.paper import (
    BLACK,
    GAIN,
    HALF,
    MANY,
    TOTAL,
    measure,
    replications,
    share,
)
from simoom_studies.full_duplex.readings import READ, SIZES, WAYS

GAIN_POINTS = 1.5
"""Points of gain within which a quoted gain is reproduced."""
QUICK_WAYS = (READ, "30 to 45 s", "5 to 45 s, slow start only", "80 to 110 s")


@dataclass(frozen=True)
class Quoted:
    """A gain that the paper quotes."""

    name: str
    r2: float
    uploads: float
    percent: float

    @property
    def label(self) -> str:
        """Its place in tables."""
        return f"r2 = {self.r2:g}, f = {self.uploads:g}"

    @property
    def analysed(self) -> float:
        """The gain at N = 80 by (9) to (11)."""
        at = model.cell(MANY, upload_fraction=self.uploads, cli_rate_mbps=self.r2)
        return float(at.gain_percent)

    def check(self, what: str, found: Value) -> Check:
        """Compare a throughput in percent of half duplex with the quoted one."""
        named = found.named("gain by simulation", self.label, what)
        return Check.near(f"{what}, % of half duplex", named, 100 + self.percent,
                          within=GAIN_POINTS)  # fmt: skip

    def claim(self, sizes: Mapping[int, Value], ways: Mapping[str, Value]) -> Claim:
        """Compare it at each N over all of the 45 s, and show it by the other ways at N = 80."""
        checks = [self.check(f"N = {n}", found) for n, found in sizes.items()]
        others = {way: found for way, found in ways.items() if len(sizes) > 1 or way != READ}
        where = "at each N, because the paper names none" if len(sizes) > 1 else "at N = 80"
        return claim(
            self.name,
            f"At r2 = {self.r2:g} Mb/s and f = {self.uploads:g} full duplex has "
            f"{self.percent:+g} % over half duplex.",
            paper=f"{self.percent:+g} %",
            checks=checks,
            tolerance=f"{GAIN_POINTS:g} points of gain, {where}",
            remark=OVER_N if len(sizes) > 1 else "",
            reading=READ,
            others=[
                Reading(way if "N =" in way else f"{way}, N = 80", (self.check(way, found),))
                for way, found in others.items()
            ],
        )


OVER_N = (
    "with full duplex all stations contend, so that the gain falls with N by any reading; and the "
    "windows open in a time proportional to N, at N = 80 in some 29 of the 45 s, see figure gains"
)
FIG_5 = (
    Quoted("gain_36_f25", 36.0, 0.25, 41.0),
    Quoted("gain_36_f75", 36.0, 0.75, 54.0),
)
FIG_6 = (
    Quoted("gain_36_f0", 36.0, 0.0, 26.2),
    Quoted("gain_36_f65", 36.0, 0.65, 50.3),
    Quoted("gain_27_f0", 27.0, 0.0, 5.7),
    Quoted("gain_27_f100", 27.0, 1.0, 48.7),
)


Runs = Mapping[tuple[str, float | None, float], Sample]
"""Samples by way, r2 and f."""


def run_ways(lab: Lab, quoted: tuple[Quoted, ...]) -> Runs:
    """Run the cells of quoted gains, and those of half duplex, by every way."""
    ways = {**WAYS, **SIZES}
    if lab.quick:
        ways = {way: ways[way] for way in QUICK_WAYS}
    cases = {
        (way, r2, each.uploads): read.cell(each.uploads, r2)
        for way, read in ways.items()
        for each in quoted
        for r2 in (each.r2, HALF)
    }
    return lab.sample(cases, measure, replications=replications(lab))


def by_way(runs: Runs, each: Quoted) -> dict[str, Value]:
    """Return throughputs in percent of half duplex by every way."""
    return {
        way: share(runs[way, each.r2, each.uploads], runs[way, HALF, each.uploads])
        for way in dict.fromkeys(way for way, _, _ in runs)
    }


def cross(
    each: Quoted, half: Curve, places: Iterable[float], colour: int, *, dashed: bool = False
) -> Curve:
    """Return the throughput that a quoted gain is over half duplex here, which is not printed."""
    at = tuple(places)
    factor = 1 + each.percent / 100
    return curve(
        f"quoted gain, {each.label}",
        Source.PAPER,
        at,
        [Value.printed(half.at(x).value * factor) for x in at],
        TOTAL,
        colour=colour,
        dashed=dashed,
    )


@figure_function("table gains")
def table_gains(lab: Lab) -> Figure:
    """The quoted gains by every reading of the simulation."""
    quoted = lab.pick((*FIG_6, *FIG_5), (FIG_6[1], FIG_5[0]))
    runs = run_ways(lab, quoted)
    found = {each: by_way(runs, each) for each in quoted}
    names = tuple(each.label for each in quoted)
    return Figure(
        "table gains",
        "gain of full over half duplex",
        Axis("case", "r2 in Mb/s and fraction of uploads"),
        (Axis(GAIN, "gain, %"),),
        (
            curve("quoted", Source.PAPER, names, [Value.printed(q.percent) for q in quoted], GAIN,
                  colour=BLACK),
            curve("(9) to (11)", Source.ANALYSIS, names, [q.analysed for q in quoted], GAIN),
            *(
                curve(way, Source.SIMULATION, names, [_gain(found[q][way]) for q in quoted], GAIN,
                      colour=1 + colour % 6)
                for colour, way in enumerate(found[quoted[0]])
            ),
            *reference.curves(__package__, "table gains", {"at the senders": 5, "steady": 6}),
        ),
        notes="N = 80 unless a label has another one. The Monte Carlo has windows at the senders "
        "at 0 s, measured from 5 to 45 s, or a steady state.",
    )  # fmt: skip


def _gain(percent: Value) -> Value:
    """Return the gain of a throughput in percent of half duplex."""
    return percent.minus(Value.exact(100.0))


STATIONS = (12, 20, 32, 40, 52, 60, 72, 80)
SHOWN = {READ: 0, "30 to 45 s": 1}
"""Ways that differ with N, and their colours."""


@figure_function("figure gains")
def figure_gains(lab: Lab) -> Figure:
    """The gains of Fig. 5 against the number of stations."""
    stations = lab.pick(STATIONS, (20, 80))
    cases = {
        (way, r2, each.uploads, n): WAYS[way].cell(each.uploads, r2, n)
        for way in SHOWN
        for each in FIG_5
        for r2 in (each.r2, HALF)
        for n in stations
    }
    found = lab.sample(cases, measure, replications=replications(lab))

    def over_half(way: str, each: Quoted, n: int) -> Value:
        full, half = (found[way, r2, each.uploads, n] for r2 in (each.r2, HALF))
        return _gain(share(full, half))

    return Figure(
        "figure gains",
        "gain of full over half duplex against N, r2 = 36 Mb/s",
        Axis("stations", "stations N", 0, 82),
        (Axis(GAIN, "gain, %", 30, 65),),
        (
            *(
                curve(
                    f"f = {each.uploads:g}, {way}",
                    Source.SIMULATION,
                    tuple(map(float, stations)),
                    [over_half(way, each, n) for n in stations],
                    GAIN,
                    colour=colour,
                    dashed=each is FIG_5[1],
                )
                for each in FIG_5
                for way, colour in SHOWN.items()
            ),
            *(
                curve(
                    f"f = {each.uploads:g}, any N", Source.PAPER, tuple(map(float, stations)),
                    [Value.printed(each.percent)] * len(stations), GAIN, colour=BLACK,
                    dashed=each is FIG_5[1],
                )
                for each in FIG_5
            ),
        ),
        notes="The paper quotes one gain for each f and says that N does not matter.",
    )  # fmt: skip
