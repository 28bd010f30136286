"""Tables IV and V: throughput and loss of FeW and AFW with 10, 30 and 50 flows."""

from __future__ import annotations

from simoom.runs.evidence import Value
from simoom.studies import reference
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.afw_few.claims import loss_claims, throughput_claims
from simoom_studies.afw_few.paper import (
    FEW,
    FLOWS,
    GOODPUT,
    KBPS,
    LOSS,
    LOSS_PERCENT,
    LOST,
    NEW_RENO,
    QUEUE_LOSS,
    printed,
    printed_mean,
)
from simoom_studies.afw_few.runs import MEAN, Found, runs, value

COLOURS = {FEW: 0, MEAN: 1, NEW_RENO: 2}
CELLS = {"table 4": KBPS, "table 5": LOSS_PERCENT}


def _simulated(found: Found, quantity: str) -> list[Curve]:
    return [
        curve(
            name,
            Source.SIMULATION,
            FLOWS,
            [value(found, flows, name, quantity) for flows in FLOWS],
            quantity,
            colour=colour,
            subject=f"{quantity} of {name}",
        )
        for name, colour in COLOURS.items()
    ]


def _curves(found: Found, quantity: str, table: str) -> list[Curve]:
    """Return the curves of a table, simulated and printed."""
    cells = CELLS[table]
    paper = {
        FEW: [printed(cells, FEW, flows) for flows in FLOWS],
        MEAN: [printed_mean(cells, flows) for flows in FLOWS],
    }
    paper_curves = [
        Curve(name, Source.PAPER, FLOWS, tuple(map(Value.printed, values)), quantity, COLOURS[name])
        for name, values in paper.items()
    ]
    return [*_simulated(found, quantity), *paper_curves]


@figure_function("table 4", again=False)
def table_4(lab: Lab) -> Figure:
    """Throughput of FeW, AFW and NewReno with 10, 30 and 50 flows."""
    found = runs(lab)
    return Figure(
        "table 4",
        "throughput of 50 mobile nodes with DSR",
        Axis("flows", "number of flows", 0, 60),
        (Axis(GOODPUT, "throughput, sum of all flows, kb/s", 0, 2200),),
        (*_curves(found, GOODPUT, "table 4"), *reference.curves(__package__, "table 4", COLOURS)),
        throughput_claims(lab, found),
    )


@figure_function("table 5", again=False)
def table_5(lab: Lab) -> Figure:
    """Lost packets of FeW, AFW and NewReno with 10, 30 and 50 flows."""
    found = runs(lab)
    return Figure(
        "table 5",
        "lost packets of 50 mobile nodes with DSR",
        Axis("flows", "number of flows", 0, 60),
        (
            Axis(QUEUE_LOSS, "dropped by queues, of packets sent, %", 0),
            Axis(LOSS, "lost on the way, of packets sent, %", 0),
            Axis(LOST, "sent and not delivered, %", 0),
        ),
        (
            *_curves(found, QUEUE_LOSS, "table 5"),
            *_simulated(found, LOSS),
            *reference.curves(__package__, "table 5", COLOURS),
            *_simulated(found, LOST),
        ),
        loss_claims(lab, found),
        notes="The paper counts packets that a router discards when it faces an overload: what "
        "queues drop. The second panel has all that is lost on the way; ns-2's trace, and its "
        "value here, also counts a packet as dropped that DSR salvages or a later attempt "
        "delivers. The third has what the receivers did not get of what the senders sent.",
    )
