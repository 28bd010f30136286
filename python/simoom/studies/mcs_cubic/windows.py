"""Fig. 2: the congestion window around the change of MCS."""

from __future__ import annotations

import numpy as np

from simoom.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom.studies.mcs_cubic.paper import (
    BIN_S,
    CHANGE_S,
    CONTROLS,
    DRIVEN,
    END_S,
    PLAIN,
    PROBES,
    STUDY,
    measure,
    name,
    upload,
    windows_kb,
)

COLOURS = {PLAIN: 0, DRIVEN: 1}
QUANTITY = "window_kb"
IDEAL_KB = {5: 100.0, 8: 147.0}
"""The windows that the paper reports right after the change, Figs. 2a and 2b."""


def runs(lab: Lab, to_mcs: int) -> dict[str, Sample]:
    """Return the uploads of a figure with and without the driver."""
    cases = {control: upload(to_mcs, control) for control in CONTROLS}
    return lab.sample(cases, measure, replications=lab.pick(10, 5), probes=PROBES)


def first_run(label: str, sample: Sample, begin_s: float) -> Curve:
    """Return the window of the first run against time; a mean would hide the sawtooth."""
    starts = [begin_s + BIN_S * k for k in range(round((END_S - begin_s) / BIN_S))]
    values = windows_kb(sample, begin_s, END_S)[:, 0]
    return curve(
        label,
        Source.SIMULATION,
        [round(at + BIN_S, 1) for at in starts],
        [Value(v, v, v, 1, "one run") for v in map(float, values)],
        QUANTITY,
        colour=COLOURS[label],
    )


def jump_kb(sample: Sample) -> list[float]:
    """Return for each run the largest window within half a second of the change."""
    return list(np.max(windows_kb(sample, CHANGE_S, CHANGE_S + 0.5), axis=0))


def _jumps(to_mcs: int, sample: Sample) -> Claim:
    wanted = IDEAL_KB[to_mcs]
    return claim(
        f"window_jumps_to_{wanted:.0f}_kb",
        f"When the MCS changes from 0 to {to_mcs}, the driven window rises to {wanted:.0f} KB.",
        paper=f"{wanted:.0f} KB",
        checks=[
            Check.near("largest, kB", Value.mean(jump_kb(sample)), wanted, within=0.05 * wanted)
        ],
        tolerance="5 %",
        remark="it is the effective throughput times half the round-trip time before the change; "
        "both jumps are larger by the same factor, as with a longer round-trip time",
    )


def _faster(to_mcs: int, found: dict[str, Sample]) -> Claim:
    half_a_second = name("window_segments", CHANGE_S + 0.4)
    driven, plain = (Value.mean(found[control][half_a_second]) for control in (DRIVEN, PLAIN))
    return claim(
        f"window_grows_faster_{to_mcs}",
        "The driven window grows faster than that of CUBIC, which grows gradually.",
        paper="rapidly",
        checks=[Check("driven over plain after 0.5 s", driven.over(plain), low=1.2)],
        tolerance="20 % larger half a second after the change",
        coarse="the paper says only that it is faster",
    )


def _figure(lab: Lab, key: str, to_mcs: int, *more: Claim) -> Figure:
    found = runs(lab, to_mcs)
    return Figure(
        key,
        f"congestion window, MCS 0 to {to_mcs} at 20 s",
        Axis("time_s", "time, s", 15, END_S),
        (Axis(QUANTITY, "congestion window, kB", 0, 160),),
        (
            *(first_run(control, found[control], 15.0) for control in CONTROLS),
            *reference.curves(STUDY, key, COLOURS),
        ),
        (_jumps(to_mcs, found[DRIVEN]), _faster(to_mcs, found), *more),
    )


@figure_function("figure 2a")
def figure_2a(lab: Lab) -> Figure:
    """Congestion window, MCS 0 to 5."""
    late = windows_kb(runs(lab, 5)[DRIVEN], CHANGE_S + 5, END_S)
    low, high = (Value.mean(np.percentile(late, part, axis=0)) for part in (5, 95))
    avoids = claim(
        "window_between_50_and_90_kb",
        "Afterwards the window stays between 50 and 90 KB in congestion avoidance.",
        paper="50 KB to 90 KB",
        checks=[
            Check.near("5th percentile, kB", low, 50.0, within=5.0),
            Check.near("95th percentile, kB", high, 90.0, within=9.0),
        ],
        tolerance="10 % of either end, from 25 s on",
    )
    return _figure(lab, "figure 2a", 5, avoids)


@figure_function("figure 2b")
def figure_2b(lab: Lab) -> Figure:
    """Congestion window, MCS 0 to 8."""
    return _figure(lab, "figure 2b", 8)
