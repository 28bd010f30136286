"""How the windows open: the times after which they are full."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.full_duplex.paper import (
    HALF,
    HALF_WINDOW,
    MANY,
    PAPER,
    SLOW_START,
    WINDOW_SEGMENTS,
    WITHIN,
    Course,
    cell,
)

claim = Claims(__package__)

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


OPENING = {
    "ssthresh 32 KB": Course(HALF_WINDOW, 0.0, PAPER.end_s),
    "slow start only": Course(SLOW_START, 0.0, PAPER.end_s),
}
KINDS = {"full duplex": 36.0, "half duplex": HALF}
MIXED = 0.25
"""f of the claim, the only one that the paper names for its other times, in Fig. 4."""
OTHER_SIZES = (50,)
Times = Mapping[tuple[str, str, float, int], Sample]
"""Samples by duplex, opening, f and N."""


@figure_function("table windows")
def table_windows(lab: Lab) -> Figure:
    """The time until the windows are full."""
    quantity = "full_s"
    uploads = lab.pick(UPLOADS, (MIXED,))
    settings = {("ssthresh 32 KB", f, MANY) for f in uploads} | {("slow start only", MIXED, MANY)}
    settings |= {("ssthresh 32 KB", MIXED, n) for n in lab.pick(OTHER_SIZES, ())}
    cases = {
        (kind, way, f, n): cell(n, f, r2, course=OPENING[way]).set("measure.interval_s", INTERVAL_S)
        for kind, r2 in KINDS.items()
        for way, f, n in sorted(settings)
    }
    found = lab.sample(cases, measure_windows, replications=lab.pick(5, 3), probes=(WINDOWS,))
    rows = [
        curve(
            f"{kind}, {way}, {which} connection",
            Source.SIMULATION,
            at,
            [Value.mean(found[kind, way, f, MANY][which]) for f in at],
            quantity,
            colour=colour,
            dashed=which == "median",
        )
        for colour, (kind, way) in enumerate((kind, way) for kind in KINDS for way in OPENING)
        for which in CONNECTIONS
        for at in [uploads if way == "ssthresh 32 KB" else (MIXED,)]
    ]
    paper = [
        curve(kind, Source.PAPER, (MIXED,), [Value.printed(at_s)], quantity, colour=colour)
        for colour, (kind, at_s) in zip((0, 2), FULL_S.items(), strict=True)
    ]
    return Figure(
        "table windows",
        "time until windows are full, N = 80",
        Axis("upload_fraction", "fraction of stations that upload, $f_{UpL}$", 0, 1),
        (Axis(quantity, "time until full, s", 0),),
        (*rows, *paper),
        (_full_after(found),),
        notes="The paper gives neither N nor f of these times, nor the initial window and "
        "ssthresh. Without a limit of slow start the windows are full within a few seconds.",
    )


def _full_after(found: Times) -> Claim:
    """Compare the times of the last connection with the paper's, and show other readings."""

    def checks(way: str, f: float, n: int, which: str) -> tuple[Check, ...]:
        return tuple(
            Check.near(
                f"{kind}, s",
                Value.mean(found[kind, way, f, n][which]).named(
                    "full_s by simulation", kind, f"{way}, {f:g}, {n}, {which}"
                ),
                at_s,
                within=WITHIN * at_s,
            )
            for kind, at_s in FULL_S.items()
        )

    judged = ("ssthresh 32 KB", MIXED, MANY, "last")
    settings = list(dict.fromkeys((way, f, n) for _, way, f, n in found))
    others = [
        Reading(f"{which} connection, {way}, N = {n}, f = {f:g}", checks(way, f, n, which))
        for which in CONNECTIONS
        for way, f, n in settings
        if (way, f, n, which) != judged
    ]
    return claim("time_to_full_windows", checks=checks(*judged), others=others)
