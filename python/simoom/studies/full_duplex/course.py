"""How the windows open, and what the quoted gains are at other times and by other rules."""

from __future__ import annotations

import numpy as np

from simoom.evidence import Check, Value
from simoom.run import Run
from simoom.studies import reference
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.full_duplex.paper import (
    BLACK,
    FIG_5,
    FIG_6,
    GAIN,
    HALF,
    HALF_WINDOW,
    MANY,
    NAME,
    PAPER,
    SLOW_START,
    START,
    STEADY,
    TIMEOUTS,
    WINDOW_SEGMENTS,
    WITHIN,
    Course,
    cell,
    gain,
    measure,
    replications,
)
from simoom.studies.lab import Lab, figure_function

WINDOWS = "flows[*].control.window_segments"
INTERVAL_S = 0.05
UPLOADS = (0.0, 0.25, 0.5, 0.75, 1.0)
CONNECTIONS = ("last", "median")
FULL_S = {"full duplex": 21.11, "half duplex": 28.35}
"""The times after which the paper reports that all windows are full."""


def measure_windows(run: Run) -> dict[str, float]:
    """Extract when the window of the median connection and the last one are full."""
    full_s = []
    for path in run.probes:
        time_s, window = run.samples(path)
        is_full = np.asarray(window) >= WINDOW_SEGMENTS
        full_s.append(float(time_s[np.argmax(is_full)]) if is_full.any() else float("inf"))
    return {"last": max(full_s), "median": float(np.median(full_s))}


@figure_function("table windows")
def table_windows(lab: Lab) -> Figure:
    """The time until the windows are full."""
    quantity = "full_s"
    ways = {
        "ssthresh 32 KB": Course(HALF_WINDOW, 0.0, PAPER.end_s),
        "slow start only": Course(SLOW_START, 0.0, PAPER.end_s),
    }
    uploads = lab.pick(UPLOADS, (0.25,))
    kinds = {"full duplex": 36.0, "half duplex": HALF}
    cases = {
        (kind, way, f): cell(MANY, f, r2, course=course).set("measure.interval_s", INTERVAL_S)
        for kind, r2 in kinds.items()
        for way, course in ways.items()
        for f in uploads
    }
    found = lab.sample(cases, measure_windows, replications=lab.pick(5, 3), probes=(WINDOWS,))
    rows = [
        curve(
            f"{kind}, {way}, {which} connection",
            Source.SIMULATION,
            uploads,
            [Value.mean(found[kind, way, f][which]) for f in uploads],
            quantity,
            colour=colour,
            dashed=which == "median",
        )
        for colour, (kind, way) in enumerate((kind, way) for kind in kinds for way in ways)
        for which in CONNECTIONS
    ]
    sample = {kind: found[kind, "ssthresh 32 KB", 0.25] for kind in kinds}
    typical = ", ".join(f"{Value.mean(sample[kind]['median'])} s ({kind})" for kind in kinds)
    return Figure(
        "table windows",
        "time until windows are full, N = 80",
        Axis("upload_fraction", "fraction of stations that upload, $f_{UpL}$", 0, 1),
        (Axis(quantity, "time until full, s", 0),),
        tuple(rows),
        (
            claim(
                "time_to_full_windows",
                "All windows are full after 21.11 s with full duplex, 28.35 s with half duplex.",
                paper="21.11 s, 28.35 s",
                checks=[
                    Check.near(
                        f"{kind}, s",
                        Value.mean(sample[kind]["last"]).named("full_s by simulation", kind),
                        at_s,
                        within=WITHIN * at_s,
                    )
                    for kind, at_s in FULL_S.items()
                ],
                tolerance="5 %, at f = 1/4, with an initial ssthresh of 32 KB",
                remark=f"the window of the median connection is full after {typical}",
            ),
        ),
        notes="The paper gives neither N nor f of these times, nor the initial window and "
        "ssthresh. Without a limit of slow start the windows are full within a few seconds.",
    )


@figure_function("table gains")
def table_gains(lab: Lab) -> Figure:
    """The quoted gains by course of the run and by rule after a collision."""
    quoted = lab.pick((*FIG_6, *FIG_5), (FIG_6[1], FIG_5[0]))
    ways = {
        "from 30 to 45 s": (PAPER, {}),
        "from 5 to 45 s after slow start only": (START, {}),
        "from 80 to 110 s": (STEADY, {}),
        "from 30 to 45 s, CTS timeout and EIFS": (PAPER, TIMEOUTS),
    }
    cases = {
        (way, r2, each.uploads): cell(MANY, each.uploads, r2, course=course, wlan=wlan)
        for way, (course, wlan) in ways.items()
        for each in quoted
        for r2 in (each.r2, HALF)
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    names = tuple(each.label for each in quoted)

    def row(way: str) -> list[Value]:
        return [
            gain(found[way, each.r2, each.uploads], found[way, HALF, each.uploads])
            for each in quoted
        ]

    printed = [Value.printed(each.percent) for each in quoted]
    return Figure(
        "table gains",
        "gain of full over half duplex, N = 80",
        Axis("case", "r2 in Mb/s and fraction of uploads"),
        (Axis(GAIN, "gain, %"),),
        (
            curve("quoted", Source.PAPER, names, printed, GAIN, colour=BLACK),
            curve("(9) to (11)", Source.ANALYSIS, names, [q.analysed for q in quoted], GAIN),
            *(
                curve(way, Source.SIMULATION, names, row(way), GAIN, colour=colour)
                for colour, way in enumerate(ways, start=1)
            ),
            *reference.curves(NAME, "table gains", {"at the senders": 5, "steady": 6}),
        ),
        notes="The Monte Carlo has windows at the senders at 0 s, measured from 5 to 45 s, or a "
        "steady state.",
    )
