"""Readings of what the paper leaves open or contradicts: rate, RTS, queue, DSR, area, and loss.

Table I has 2 Mb/s, which Table IV exceeds; RTS/CTS, the queue and DSR's options are not stated. A
lost packet is one "discarded by the router when facing an overload"; ns-2 scripts often count every
packet that is dropped, or that does not arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Reading, finding
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.afw_few.paper import (
    FEW,
    FLOWS,
    GOODPUT,
    KBPS,
    LOSS,
    LOSS_PERCENT,
    LOST,
    QUEUE_LOSS,
    WLAN,
    course,
    measure,
    mobile,
    printed,
    ratio,
)
from simoom_studies.afw_few.runs import BEST

AS_HERE = "2 Mb/s, RTS/CTS"
NO_RTS = {key: value for key, value in WLAN.items() if key != "rts_threshold_bytes"}
FAST = {"rate_mbps": 11.0}
READINGS: Mapping[str, Mapping[str, Any]] = {
    AS_HERE: {},
    "no RTS": {"wlan": NO_RTS},
    "11 Mb/s": {"wlan": {**WLAN, **FAST}},
    "no RTS, 11 Mb/s": {"wlan": NO_RTS | FAST},
    "drop tail": {"queue": {"drop_tail": {"limit_packets": 50}}},
    "queue 10": {"queue": {"priority": {"limit_packets": 10}}},
    "RFC 4728": {"routing": {"protocol": "dsr"}},
    "1500 m": {"area_m": 1500.0},
    "1500 m, no RTS": {"area_m": 1500.0, "wlan": NO_RTS},
    "1500 m, 11 Mb/s": {"area_m": 1500.0, "wlan": {**WLAN, **FAST}},
}
"""Readings as arguments of `mobile`."""
QUICK_READINGS = (AS_HERE, "no RTS", "11 Mb/s")
NETWORKS: Mapping[int, int] = {10: 3, 30: 3, 50: 6}
"""Networks by number of flows; the gain with 50 flows takes more."""
THE_PAPER = "the paper"
OVER_FEW, FROM_4, FROM_5 = "throughput_over_few", "factor_from_table_4", "factor_from_table_5"
LOSSES = {
    QUEUE_LOSS: "dropped by queues",
    LOSS: "lost on the way",
    LOST: "sent and not delivered",
}
TABULATED = 1.117
"""AFW's mean over FeW with 50 flows, by Table IV."""

Found = Mapping[tuple[str, int, str], Sample]
"""The samples by reading, number of flows, and controller."""


def reading_runs(lab: Lab) -> tuple[tuple[str, ...], Found]:
    """Return the names of the readings, and their samples."""
    names = lab.pick(tuple(READINGS), QUICK_READINGS)
    found: dict[tuple[str, int, str], Sample] = {}
    for flows in FLOWS:
        cases = {
            (name, flows, control): mobile(control, flows, course=course(lab), **READINGS[name])
            for name in names
            for control in (FEW, BEST)
        }
        found |= lab.sample(cases, measure, replications=lab.pick(NETWORKS[flows], 2))
    return names, found


def factor(found: Found, name: str, quantity: str, table: Mapping[str, Any]) -> float:
    """Return by how much the six cells of FeW and of AFW's best pair are off, as a mean factor.

    It is 1 if all are as printed, and 2 if each is twice or half of what is printed.
    """
    pairs = [
        (float(np.mean(found[name, flows, control][quantity])), printed(table, control, flows))
        for control in (FEW, BEST)
        for flows in FLOWS
    ]
    # A loss of which there is none counts as a tenth of the last digit printed.
    logs = [abs(np.log(max(ours, 1e-3) / paper)) for ours, paper in pairs]
    return float(np.exp(np.mean(logs)))


def _gain(found: Found, name: str) -> Value:
    """Return AFW's throughput over FeW's with 50 flows."""
    gain = ratio(found[name, 50, BEST][GOODPUT], found[name, 50, FEW][GOODPUT])
    return gain.named("AFW over FeW", "readings", name)


def other_cells(
    lab: Lab, control: str, quantity: str, table: Mapping[str, Any], within: float
) -> list[Reading]:
    """Return what other readings give for the three cells of FeW or of AFW's best pair."""
    names, found = reading_runs(lab)
    return [
        Reading(
            name,
            tuple(
                Check.near(
                    f"{flows} flows",
                    Value.mean(found[name, flows, control][quantity]).named(
                        f"{quantity} of {control} in readings", name, str(flows)
                    ),
                    printed(table, control, flows),
                    within=within * printed(table, control, flows),
                )
                for flows in FLOWS
            ),
        )
        for name in names
        if name != AS_HERE
    ]


def other_bests(lab: Lab, within: float) -> list[Reading]:
    """Return what other readings give for the throughput of Table VI."""
    cells = other_cells(lab, BEST, GOODPUT, KBPS, within)
    return [replace(each, checks=each.checks[-1:]) for each in cells]


def other_gains(lab: Lab, low: float, high: float) -> list[Reading]:
    """Return what other readings give for AFW's best pair over FeW with 50 flows."""
    names, found = reading_runs(lab)
    return [
        Reading(name, (Check("ratio of AFW 2, 2", _gain(found, name), low, high),))
        for name in names
        if name != AS_HERE
    ]


def gains_less(name: str, statement: str, gains: Mapping[str, Value]) -> Claim:
    """Return the finding that each gain of AFW with 50 flows is below that of Table IV."""
    checks = [Check(each, gain, high=TABULATED) for each, gain in gains.items()]
    return finding(name, statement, checks=checks, tolerance="the interval lies below")


@figure_function("figure readings", again=False)
def figure_readings(lab: Lab) -> Figure:
    """Tables IV and V by readings of what the paper leaves open."""
    names, found = reading_runs(lab)
    gain = {name: _gain(found, name) for name in names}
    return Figure(
        "figure readings",
        "Tables IV and V by readings of what the paper leaves open",
        Axis("reading", "reading"),
        (
            Axis(GOODPUT, "throughput of FeW, kb/s", 0),
            Axis(OVER_FEW, "AFW 2, 2 over FeW, 50 flows", 0.8, 1.4),
            Axis(QUEUE_LOSS, "dropped by queues, 10 flows, %", 0.001, 10, log=True),
            Axis(FROM_4, "factor from Table IV", 0.9, 4, log=True, ticks=(1, 2, 4)),
            Axis(FROM_5, "factor from Table V", 0.9, 400, log=True, ticks=(1, 10, 100)),
        ),
        (*_throughputs(names, found, gain), *_losses(names, found), *_factors(names, found)),
        (
            gains_less(
                "no_reading_gains_11_7_percent",
                "No reading of rate, RTS/CTS, queue, DSR or area gives AFW 1.117 times FeW's "
                "throughput with 50 flows.",
                gain,
            ),
        ),
        notes="The factors are means over FeW and AFW (2, 2) with 10, 30 and 50 flows: 1 is as "
        f"printed. {NETWORKS[10]} networks with 10 and 30 flows, {NETWORKS[50]} with 50.",
    )


def _throughputs(
    names: tuple[str, ...], found: Found, gain: Mapping[str, Value]
) -> tuple[Curve, ...]:
    """Return FeW's throughput and AFW's over it, simulated and printed."""
    few = [
        curve(
            f"{flows} flows",
            Source.SIMULATION,
            names,
            [Value.mean(found[name, flows, FEW][GOODPUT]) for name in names],
            GOODPUT,
            colour=colour,
        )
        for colour, flows in enumerate(FLOWS)
    ]
    paper = [
        curve(
            f"{flows} flows",
            Source.PAPER,
            (THE_PAPER,),
            [Value.printed(printed(KBPS, FEW, flows))],
            GOODPUT,
            colour=colour,
        )
        for colour, flows in enumerate(FLOWS)
    ]
    over = curve("AFW 2, 2 over FeW", Source.SIMULATION, names, gain.values(), OVER_FEW)
    wanted = Value.printed(printed(KBPS, BEST, 50) / printed(KBPS, FEW, 50))
    over_paper = curve("AFW 2, 2 over FeW", Source.PAPER, (THE_PAPER,), [wanted], OVER_FEW)
    return (*paper, *few, over_paper, over)


def _losses(names: tuple[str, ...], found: Found) -> tuple[Curve, ...]:
    """Return the queue drops of FeW and AFW with 10 flows, simulated and printed."""
    return tuple(
        each
        for colour, control in enumerate((FEW, BEST))
        for each in (
            curve(
                control,
                Source.PAPER,
                (THE_PAPER,),
                [Value.printed(printed(LOSS_PERCENT, control, 10))],
                QUEUE_LOSS,
                colour=3 + colour,
            ),
            curve(
                control,
                Source.SIMULATION,
                names,
                [Value.mean(found[name, 10, control][QUEUE_LOSS]) for name in names],
                QUEUE_LOSS,
                colour=3 + colour,
            ),
        )
    )


def _factors(names: tuple[str, ...], found: Found) -> tuple[Curve, ...]:
    """Return how far each reading is from Tables IV and V."""
    four = [factor(found, name, GOODPUT, KBPS) for name in names]
    return (
        curve("throughput", Source.SIMULATION, names, four, FROM_4, colour=5),
        *(
            curve(
                label,
                Source.SIMULATION,
                names,
                [factor(found, name, quantity, LOSS_PERCENT) for name in names],
                FROM_5,
                colour=5 + shade,
            )
            for shade, (quantity, label) in enumerate(LOSSES.items())
        ),
    )
