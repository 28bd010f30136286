"""AFW's gain with 50 flows by the queue, which decides it more than other readings do.

The first six networks of `readings` left open whether these queues give the gain of Table IV. The
number of networks here was fixed after that, and the band is the same.
"""

from __future__ import annotations

from simoom.runs.evidence import Value
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.afw_few.paper import (
    FEW,
    GOODPUT,
    KBPS,
    LOSS_PERCENT,
    QUEUE_LOSS,
    course,
    measure,
    mobile,
    printed,
    ratio,
)
from simoom_studies.afw_few.readings import OVER_FEW, READINGS, THE_PAPER, gains_less
from simoom_studies.afw_few.runs import BEST

FLOWS = 50
QUEUES = ("drop tail", "queue 10")
NETWORKS = 24
PANELS = {GOODPUT: KBPS, QUEUE_LOSS: LOSS_PERCENT}


@figure_function("figure queue", again=False)
def figure_queue(lab: Lab) -> Figure:
    """AFW and FeW with 50 flows behind other queues."""
    cases = {
        (name, control): mobile(control, FLOWS, course=course(lab), **READINGS[name])
        for name in QUEUES
        for control in (FEW, BEST)
    }
    found = lab.sample(cases, measure, replications=lab.pick(NETWORKS, 2))
    gains = {
        name: ratio(found[name, BEST][GOODPUT], found[name, FEW][GOODPUT]).named(
            "AFW over FeW", "queues", name
        )
        for name in QUEUES
    }
    wanted = printed(KBPS, BEST, FLOWS) / printed(KBPS, FEW, FLOWS)
    curves = [
        curve("AFW 2, 2 over FeW", Source.SIMULATION, QUEUES, gains.values(), OVER_FEW),
        curve("AFW 2, 2 over FeW", Source.PAPER, (THE_PAPER,), [wanted], OVER_FEW),
    ]
    for colour, control in enumerate((FEW, BEST), start=1):
        for quantity, table in PANELS.items():
            values = [Value.mean(found[name, control][quantity]) for name in QUEUES]
            cell = Value.printed(printed(table, control, FLOWS))
            curves += [
                curve(control, Source.SIMULATION, QUEUES, values, quantity, colour=colour),
                Curve(control, Source.PAPER, (THE_PAPER,), (cell,), quantity, colour=colour),
            ]
    return Figure(
        "figure queue",
        "AFW and FeW with 50 flows by the queue",
        Axis("queue", "queue"),
        (
            Axis(OVER_FEW, "AFW 2, 2 over FeW", 0.9, 1.3),
            Axis(GOODPUT, "throughput, kb/s", 0),
            Axis(QUEUE_LOSS, "dropped by queues, %", 0),
        ),
        tuple(curves),
        (
            gains_less(
                "no_queue_gains_11_7_percent",
                "Neither drop tail nor a queue of 10 packets gives AFW 1.117 times FeW's "
                "throughput with 50 flows.",
                gains,
            ),
        ),
        notes=f"{NETWORKS} networks. Drop tail has 50 packets, the queue of 10 serves routing "
        "messages and TCP ACKs first.",
    )
