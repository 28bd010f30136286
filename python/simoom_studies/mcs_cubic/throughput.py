"""Fig. 3: the throughput around the change of MCS, and the effect of the queue's reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.mcs_cubic.paper import (
    CHANGE_S,
    CONTROLS,
    DRIVEN,
    END_S,
    PLAIN,
    PROBES,
    READINGS,
    STEPS,
    mean_between,
    measure,
    settled_s,
    upload,
)
from simoom_studies.mcs_cubic.ways import READ, Runs, by_way, run_ways
from simoom_studies.mcs_cubic.windows import COLOURS

claim = Claims(__package__)

QUANTITY = "goodput_mbps"
AFTER_S = 3.0
"""The time after the change over which Fig. 3b averages."""
PRINTED = 0.05
"""Tolerance of a number that the paper reads off its figure: 35 and 43 Mb/s, 100 and 147 KB."""


def after(sample: Sample, begin_s: float, end_s: float) -> Value:
    """Return the mean goodput between two times after the change."""
    value = Value.mean(mean_between(sample, CHANGE_S + begin_s, CHANGE_S + end_s))
    return value.named("throughput", f"{begin_s:g} to {end_s:g} s after")


def printed(what: str, value: Value, target: float) -> Check:
    """Return the check that a value is one of the paper's, which it reads off its figures."""
    return Check.near(what, value, target, within=PRINTED * target)


def _course(label: str, sample: Sample, *, begin_s: float = 15.0, bin_s: float = 0.5) -> Curve:
    starts = [begin_s + bin_s * k for k in range(round((END_S - begin_s) / bin_s))]
    return curve(
        label,
        Source.SIMULATION,
        [at + bin_s / 2 for at in starts],
        [Value.mean(mean_between(sample, at, at + bin_s)) for at in starts],
        QUANTITY,
        colour=COLOURS[label],
    )


@figure_function("figure 3a")
def figure_3a(lab: Lab) -> Figure:
    """Throughput against time, MCS 0 to 8."""
    runs = run_ways(lab, 8)
    found = runs[READ]
    marks = {PLAIN: ((CHANGE_S, 35.0), (CHANGE_S + 6.0, 43.0)), DRIVEN: ((CHANGE_S, 43.0),)}
    return Figure(
        "figure 3a",
        "throughput, MCS 0 to 8 at 20 s",
        Axis("time_s", "time, s", 15, END_S),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 70),),
        (
            *(_course(control, found[control]) for control in CONTROLS),
            *reference.curves(__package__, "figure 3a", COLOURS),
            *(
                curve(
                    control,
                    Source.PAPER,
                    [at for at, _ in points],
                    [Value.printed(mbps) for _, mbps in points],
                    QUANTITY,
                    colour=2 + COLOURS[control],
                )
                for control, points in marks.items()
            ),
        ),
        tuple(_claims_3a(runs)),
    )


def _claims_3a(runs: Runs) -> list[Claim]:
    """Check the values that the paper reads off its figure."""

    def start(control: str, target: float) -> dict[str, Any]:
        def checks(found: Mapping[str, Sample]) -> tuple[Check, ...]:
            return (printed("first half second", after(found[control], 0.0, 0.5), target),)

        return by_way(runs, checks)

    def level(found: Mapping[str, Sample]) -> tuple[Check, ...]:
        plain = found[PLAIN]
        seconds = Value.mean(settled_s(plain))
        return (
            printed("from 6 to 8 s after", after(plain, 6.0, 8.0), 43.0),
            Check.near("seconds to 95 %", seconds, 6.0, within=0.6),
        )

    def steady(found: Mapping[str, Sample]) -> tuple[Check, ...]:
        driven = found[DRIVEN]
        end = after(driven, 12.0, 20.0)
        return tuple(
            Check.agrees(
                f"{k:g} to {k + 2:g} s over the end", after(driven, k, k + 2.0), end, within=PRINTED
            )
            for k in (1.0, 3.0, 5.0, 8.0)
        )

    return [
        claim("plain_starts_at_35", **start(PLAIN, 35.0)),
        claim("plain_reaches_43_in_6_s", **by_way(runs, level)),
        claim("driven_starts_at_43", **start(DRIVEN, 43.0)),
        claim("driven_is_steady", **by_way(runs, steady)),
    ]


@figure_function("figure 3b")
def figure_3b(lab: Lab) -> Figure:
    """Throughput of the three seconds after the change against x."""
    cases = {
        (control, x): upload(x, control, end_s=CHANGE_S + AFTER_S)
        for control in CONTROLS
        for x in STEPS
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 4), probes=PROBES)
    curves = {
        control: curve(
            control,
            Source.SIMULATION,
            STEPS,
            [after(found[control, x], 0.0, AFTER_S) for x in STEPS],
            QUANTITY,
            colour=COLOURS[control],
        )
        for control in CONTROLS
    }
    gain = {x: _gain(found[DRIVEN, x], found[PLAIN, x]) for x in STEPS}
    claims = (
        claim(
            "gains_from_mcs_5",
            checks=[Check(f"gain, x = {x}", gain[x], low=1.0) for x in STEPS if x >= 5],
        ),
        claim(
            "no_gains_below_mcs_5",
            checks=[
                Check.near(f"gain, x = {x}", gain[x], 1.0, within=0.05) for x in STEPS if x < 5
            ],
        ),
    )
    return Figure(
        "figure 3b",
        "throughput of the 3 s after the change from MCS 0 to x",
        Axis("to_mcs", "MCS after the change, x", 0.5, 8.5),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 60),),
        tuple(curves.values()),
        claims,
    )


def _gain(driven: Sample, plain: Sample) -> Value:
    """Return the mean ratio of goodputs over pairs of runs with the same seeds."""
    return Value.mean(
        mean_between(driven, CHANGE_S, CHANGE_S + AFTER_S)
        / mean_between(plain, CHANGE_S, CHANGE_S + AFTER_S)
    )


QUEUES = ("fair", "fair, A-MSDU", "fair, both", "ten", "wire")
"""The readings of figure readings; figure occupancy has other numbers of frames."""


@figure_function("figure readings")
def figure_readings(lab: Lab) -> Figure:
    """Effect of the reading of "10 packets" on the throughput after a change from 0 to 8."""
    cases = {
        (control, key): upload(8, control, reading=key) for control in CONTROLS for key in QUEUES
    }
    found = lab.sample(cases, measure, replications=lab.pick(5, 2), probes=PROBES)
    labels = [READINGS[key].name for key in QUEUES]
    spans = {"first half second": (0.0, 0.5), "last 8 s": (12.0, 20.0)}
    curves = tuple(
        curve(
            f"{control}, {span}",
            Source.SIMULATION,
            labels,
            [after(found[control, key], *ends) for key in QUEUES],
            QUANTITY,
            colour=2 * i + j,
        )
        for i, control in enumerate(CONTROLS)
        for j, (span, ends) in enumerate(spans.items())
    )
    return Figure(
        "figure readings",
        "throughput after MCS 0 to 8 by reading of the queue",
        Axis("reading", "queue of client and access point"),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 80),),
        (
            *curves,
            *reference.curves(__package__, "figure readings", {c.label: c.colour for c in curves}),
        ),
        notes="The study uses the first reading, which is closest to the published figure.",
    )
