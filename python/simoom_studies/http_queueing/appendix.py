"""One download against its window: appendix A of the paper, Figs A.2 and A.3."""

from __future__ import annotations

from itertools import pairwise

from simoom.models import http_queueing as model
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.paper import (
    CELL,
    CELL_160,
    SEGMENT_BITS,
    downloads,
    measure,
)

claim = Claims(__package__)

BLUE, ORANGE, GREEN = 0, 1, 2
WINDOWS = (1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 1000)


def _window_runs(lab: Lab) -> dict[int, dict[int, Sample]]:
    """Return the runs of the appendix: by d, then by W*."""
    seconds = lab.pick(300.0, 100.0)
    windows = lab.pick(WINDOWS, (1, 2, 4, 8, 20, 100, 1000))
    cases = {
        (d, w): downloads(
            1, window=w, every=d, warmup_s=2.0 if w <= d else 25.0, measured_s=seconds
        )
        for d in (1, 2, 4)
        for w in windows
        if w >= d
    }
    found = lab.sample(cases, measure, replications=lab.pick(8, 4))
    return {d: {w: found[d, w] for w in windows if w >= d} for d in (1, 2, 4)}


@figure_function("figure A.2")
def figure_a2(lab: Lab) -> Figure:
    """Time spent on contention per segment against W*."""
    runs = _window_runs(lab)[1]
    quantity = "contention_us"
    fixed = CELL.data_us + CELL.ack_us
    fixed_160 = CELL_160.data_us + CELL_160.ack_us
    solved = curve(
        "phi of (A.3)",
        Source.ANALYSIS,
        WINDOWS,
        list(SEGMENT_BITS / model.window_throughput(WINDOWS) - fixed),
        quantity,
    )
    simulated = curve(
        "d = 1",
        Source.SIMULATION,
        runs,
        [Value.mean(SEGMENT_BITS / runs[w]["goodput_mbps"] - fixed_160) for w in runs],
        quantity,
    )
    two = model.collision_point(2)
    contended = 2 * (float(two.waiting_us) + float(two.wasted_us))
    steps = list(pairwise(simulated.x))
    claims = (
        claim(
            "contention_costs_less_than_waiting",
            checks=[
                Check("the left over the right side", Value.exact(contended / 620.0), high=1.0)
            ],
            remark=f"{contended:.0f} us against 620 us",
        ),
        claim(
            "contention_falls",
            checks=[
                Check(f"W* = {b:g} over {a:g}", simulated.at(b).over(simulated.at(a)), high=1.02)
                for a, b in steps
            ],
        ),
    )
    return Figure(
        "figure A.2",
        "contention per segment against W*",
        Axis("window_segments", "advertised window W*, segments", 0.9, 1100, log=True),
        (Axis(quantity, "back-off and collisions per segment, us", 0, 700),),
        (solved, simulated),
        claims,
        notes="Simulated: time per segment minus the exchanges of segment and TCP ACK. At W* = 1 "
        "it is below the two whole back-offs of the analysis, because each end counts down "
        "part of its next back-off while the other end contends.",
    )


@figure_function("figure A.3")
def figure_a3(lab: Lab) -> Figure:
    """Throughput of one download against W*."""
    by_delack = _window_runs(lab)
    quantity = "goodput_mbps"
    forms = {
        "(A.3), d = 1": model.window_throughput(WINDOWS),
        "(A.3), d = 1, collisions counted once": model.window_throughput(
            WINDOWS, collisions="single"
        ),
    }
    analysis = [
        curve(label, Source.ANALYSIS, WINDOWS, list(values), quantity, dashed=i > 0)
        for i, (label, values) in enumerate(forms.items())
    ]
    simulated = {
        d: curve(
            f"d = {d}",
            Source.SIMULATION,
            runs,
            [Value.mean(runs[w][quantity]) for w in runs],
            quantity,
            colour=colour,
        )
        for (d, runs), colour in zip(by_delack.items(), (BLUE, ORANGE, GREEN), strict=True)
    }
    one = simulated[1]
    claims = (
        claim(
            "window_raises_throughput",
            checks=[
                Check("(A.3)", analysis[0].at(1000).over(analysis[0].at(1)), low=1.0),
                *(
                    Check(f"d = {d}, W* = 1000 over {d}", c.at(1000).over(c.at(d)), low=1.0)
                    for d, c in simulated.items()
                ),
            ],
        ),
        claim(
            "window_model",
            checks=[
                Check.agrees(f"W* = {w:g}", one.at(w), analysis[0].at(w), within=0.05)
                for w in one.x
            ],
        ),
    )
    return Figure(
        "figure A.3",
        "one download against W*",
        Axis("window_segments", "advertised window W*, segments", 0.9, 1100, log=True),
        (Axis(quantity, "TCP throughput, Mb/s", 2, 3.6),),
        (
            *analysis,
            *simulated.values(),
            *reference.curves(__package__, "figure A.3", {"d = 1": BLUE}),
        ),
        claims,
    )
