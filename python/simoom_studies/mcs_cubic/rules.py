"""The experiment under the rules of the paper's simulator, and with fewer frames in the device.

The study has the standard's rules but one: CUBIC has no Reno-friendly region, as in ns-3.40.
"""

from __future__ import annotations

from simoom.runs.evidence import Value
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.mcs_cubic.paper import (
    CONTROLS,
    DRIVEN,
    OCCUPANCIES,
    PLAIN,
    PROBES,
    measure,
    settled_s,
    upload,
)
from simoom_studies.mcs_cubic.throughput import after
from simoom_studies.mcs_cubic.ways import RULES
from simoom_studies.mcs_cubic.windows import COLOURS, IDEAL_KB, jump_kb, late_kb

MEASURES = {
    "first_mbps": "first half second, Mb/s",
    "late_mbps": "6 to 8 s after, Mb/s",
    "settled_s": "time to 95 %, s",
    "jump_kb": "largest window, kB",
}


def _values(sample: Sample) -> dict[str, Value]:
    return {
        "first_mbps": after(sample, 0.0, 0.5),
        "late_mbps": after(sample, 6.0, 8.0),
        "settled_s": Value.mean(settled_s(sample)),
        "jump_kb": Value.mean(jump_kb(sample)),
    }


@figure_function("figure rules")
def figure_rules(lab: Lab) -> Figure:
    """Effect of the rules of ns-3 on the values of Figs 2b and 3a."""
    cases = {
        (control, name): upload(8, control, rules=rules)
        for control in CONTROLS
        for name, rules in RULES.items()
    }
    found = lab.sample(cases, measure, replications=lab.pick(20, 4), probes=PROBES)
    taken = {key: _values(sample) for key, sample in found.items()}
    curves = {
        (control, quantity): curve(
            control,
            Source.SIMULATION,
            RULES,
            [taken[control, name][quantity] for name in RULES],
            quantity,
            colour=COLOURS[control],
        )
        for control in CONTROLS
        for quantity in MEASURES
    }
    return Figure(
        "figure rules",
        "values after MCS 0 to 8 under the rules of ns-3",
        Axis("rules", "rules"),
        tuple(Axis(quantity, label) for quantity, label in MEASURES.items()),
        tuple(curves.values()),
        notes="ns-3.40 itself is not run here. A rule of it without an option: its HyStart counts "
        "trains of ACKs by a clock of 2 ms.",
    )


PAPER_VALUES = {
    "first_mbps": {PLAIN: 35.0, DRIVEN: 43.0},
    "late_mbps": {PLAIN: 43.0},
    "settled_s": {PLAIN: 6.0},
    "jump_kb": {DRIVEN: IDEAL_KB[8]},
    "jump_5_kb": {DRIVEN: IDEAL_KB[5]},
    "low_kb": {DRIVEN: 50.0},
    "high_kb": {DRIVEN: 90.0},
}
"""What the paper says of the quantities of figure occupancy."""
OF_MCS_5 = {
    "jump_5_kb": "largest window, kB, MCS 5",
    "low_kb": "5th percentile from 25 s, kB, MCS 5",
    "high_kb": "95th percentile from 25 s, kB, MCS 5",
}


@figure_function("figure occupancy")
def figure_occupancy(lab: Lab) -> Figure:
    """Values of Figs 2 and 3a by the number of frames in the device."""
    sizes = lab.pick(OCCUPANCIES, (7, 10))
    keys = {n: "fair" if n == 10 else f"{n} frames" for n in sizes}
    cases = {
        (control, mcs, n): upload(mcs, control, reading=key)
        for control in CONTROLS
        for mcs in (5, 8)
        for n, key in keys.items()
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 3), probes=PROBES)

    def of(control: str, n: int) -> dict[str, Value]:
        small = found[control, 5, n]
        low, high = late_kb(small)
        return {
            **_values(found[control, 8, n]),
            "jump_5_kb": Value.mean(jump_kb(small)),
            "low_kb": low,
            "high_kb": high,
        }

    taken = {(control, n): of(control, n) for control in CONTROLS for n in sizes}
    labels = {**MEASURES, **OF_MCS_5}
    x = tuple(map(float, sizes))
    return Figure(
        "figure occupancy",
        "values by the frames in the device",
        Axis("frames", "frames in the device", 4, 17),
        tuple(Axis(quantity, label) for quantity, label in labels.items()),
        (
            *(
                curve(control, Source.SIMULATION, x, [taken[control, n][quantity] for n in sizes],
                      quantity, colour=COLOURS[control])
                for control in CONTROLS
                for quantity in labels
            ),
            *(
                curve(control, Source.PAPER, x, [Value.printed(value)] * len(sizes), quantity,
                      colour=COLOURS[control])
                for quantity, values in PAPER_VALUES.items()
                for control, value in values.items()
            ),
        ),
        notes="A frame is in the device until its BlockAck arrives. The paper has 10 packets; its "
        "values are drawn at every number. 5th and 95th percentiles are those of the window.",
    )  # fmt: skip
