"""Fig. 2: the congestion window around the change of MCS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.mcs_cubic.paper import (
    BIN_S,
    CHANGE_S,
    CONTROLS,
    DRIVEN,
    END_S,
    PLAIN,
    name,
    windows_kb,
)
from simoom_studies.mcs_cubic.ways import READ, Runs, by_way, run_ways

claim = Claims(__package__)

COLOURS = {PLAIN: 0, DRIVEN: 1}
BLACK = 7
QUANTITY = "window_kb"
IDEAL_KB = {5: 100.0, 8: 147.0}
"""The windows that the paper reports right after the change, Figs. 2a and 2b."""


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


def late_kb(sample: Sample) -> tuple[Value, Value]:
    """Return the 5th and the 95th percentile of the window from 5 s after the change on."""
    late = windows_kb(sample, CHANGE_S + 5, END_S)
    low, high = (Value.mean(np.percentile(late, part, axis=0)) for part in (5, 95))
    return low, high


def _jumps(to_mcs: int, runs: Runs) -> Claim:
    wanted = IDEAL_KB[to_mcs]

    def checks(found: Mapping[str, Sample]) -> tuple[Check, ...]:
        value = Value.mean(jump_kb(found[DRIVEN]))
        return (Check.near("largest, kB", value, wanted, within=0.05 * wanted),)

    return claim(
        f"window_jumps_to_{wanted:.0f}_kb",
        f"When the MCS changes from 0 to {to_mcs}, the driven window rises to {wanted:.0f} KB.",
        paper=f"{wanted:.0f} KB",
        tolerance="5 %",
        remark="it is the effective throughput times half the round-trip time before the change; "
        "both jumps are larger by the same factor, as with a longer round-trip time",
        **by_way(runs, checks),
    )


def _faster(to_mcs: int, found: Mapping[str, Sample]) -> Claim:
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


def _avoids(runs: Runs) -> Claim:
    def checks(found: Mapping[str, Sample]) -> tuple[Check, ...]:
        low, high = late_kb(found[DRIVEN])
        return (
            Check.near("5th percentile, kB", low, 50.0, within=5.0),
            Check.near("95th percentile, kB", high, 90.0, within=9.0),
        )

    return claim("window_between_50_and_90_kb", **by_way(runs, checks))


def _figure(key: str, to_mcs: int, runs: Runs, *more: Claim, late: Sequence[float] = ()) -> Figure:
    found = runs[READ]
    at = [CHANGE_S, *(CHANGE_S + 10.0 + 5.0 * k for k in range(len(late)))]
    return Figure(
        key,
        f"congestion window, MCS 0 to {to_mcs} at 20 s",
        Axis("time_s", "time, s", 15, END_S),
        (Axis(QUANTITY, "congestion window, kB", 0),),
        (
            *(first_run(control, found[control], 15.0) for control in CONTROLS),
            *reference.curves(__package__, key, COLOURS),
            curve(
                "driven: the jump, mean of the runs",
                Source.SIMULATION,
                [CHANGE_S],
                [Value.mean(jump_kb(found[DRIVEN]))],
                QUANTITY,
                colour=2,
            ),
            curve(
                "driven: the jump" + (", and the range after it" if late else ""),
                Source.PAPER,
                at,
                [Value.printed(kb) for kb in (IDEAL_KB[to_mcs], *late)],
                QUANTITY,
                colour=BLACK,
            ),
        ),
        (_jumps(to_mcs, runs), _faster(to_mcs, found), *more),
    )


@figure_function("figure 2a")
def figure_2a(lab: Lab) -> Figure:
    """Congestion window, MCS 0 to 5."""
    runs = run_ways(lab, 5)
    return _figure("figure 2a", 5, runs, _avoids(runs), late=(50.0, 90.0))


@figure_function("figure 2b")
def figure_2b(lab: Lab) -> Figure:
    """Congestion window, MCS 0 to 8."""
    return _figure("figure 2b", 8, run_ways(lab, 8))
