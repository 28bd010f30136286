"""What the paper leaves open: area, speed and pause, other controllers, chains, and the rule of
AFW, which is a reconstruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.evidence import Check, Value
from simoom.run import Run
from simoom.scenario import Scenario
from simoom.studies.afw_few.paper import (
    CONTROLS,
    FEW,
    NEW_RENO,
    OURS,
    QUEUE,
    RADIO,
    ROUTING,
    TCP,
    WLAN,
    Control,
    afw,
    measure,
    mobile,
    ratio,
)
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function

GOODPUT, LOST = "goodput_kbps", "end_to_end_loss_percent"
SHOWN = (FEW, afw(2, 2), NEW_RENO)
FLOWS = 50
PANELS = (
    Axis(GOODPUT, "throughput, sum of all flows, kb/s", 0),
    Axis(LOST, "end-to-end loss, %", 0),
)
SPACING_M = 200.0
HOPS = (1, 2, 3, 4, 5, 6, 7, 8, 10)
CHAIN_S, CHAIN_WARMUP_S = 160.0, 10.0


def _curves(
    names: Mapping[str, int], at: tuple[X, ...], found: Mapping[tuple[str, X], Sample]
) -> tuple[Curve, ...]:
    """Throughput and loss of each name against x."""
    return tuple(
        curve(
            name,
            Source.SIMULATION,
            at,
            [Value.mean(found[name, x][quantity]) for x in at],
            quantity,
            colour=colour,
            subject=f"{quantity} of {name}",
        )
        for name, colour in names.items()
        for quantity in (GOODPUT, LOST)
    )


@figure_function("figure area")
def figure_area(lab: Lab) -> Figure:
    """Throughput against the side of the area."""
    areas: tuple[X, ...] = (500, 750, 1000, 1250, 1500)
    cases = {(name, x): mobile(name, FLOWS, area_m=float(x)) for name in SHOWN for x in areas}
    found = lab.sample(cases, measure, replications=lab.pick(10, 2))
    return Figure(
        "figure area",
        "throughput against the side of the area, 50 flows",
        Axis("area_m", "side of the area, m", 400, 1600),
        PANELS,
        _curves({name: i for i, name in enumerate(SHOWN)}, areas, found),
    )


@figure_function("figure speed")
def figure_speed(lab: Lab) -> Figure:
    """Throughput against the greatest speed."""
    speeds: tuple[X, ...] = (2, 5, 10, 20)
    cases = {
        (name, x): mobile(name, FLOWS, speed_mps=(1.0, float(x))) for name in SHOWN for x in speeds
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 2))
    return Figure(
        "figure speed",
        "throughput against the greatest speed, 50 flows",
        Axis("speed_mps", "greatest speed, m/s", 0, 22),
        PANELS,
        _curves({name: i for i, name in enumerate(SHOWN)}, speeds, found),
    )


@figure_function("figure pause")
def figure_pause(lab: Lab) -> Figure:
    """Throughput against the pause."""
    pauses: tuple[X, ...] = (0, 2, 30, 120)
    cases = {(name, x): mobile(name, FLOWS, pause_s=float(x)) for name in SHOWN for x in pauses}
    found = lab.sample(cases, measure, replications=lab.pick(10, 2))
    return Figure(
        "figure pause",
        "throughput against the pause at each destination, 50 flows",
        Axis("pause_s", "pause, s", 0, 130),
        PANELS,
        _curves({name: i for i, name in enumerate(SHOWN)}, pauses, found),
    )


OTHERS: Mapping[str, Control] = {
    **{name: CONTROLS[name] for name in SHOWN},
    "CUBIC": {"cubic": {}},
    "Vegas": {"vegas": {}},
    "Westwood+": {"westwood": {}},
    "BBR": {"bbr": {}},
}


@figure_function("figure controllers")
def figure_controllers(lab: Lab) -> Figure:
    """Controllers that the paper does not have, with 10, 30 and 50 flows."""
    counts: tuple[X, ...] = (10, 30, 50)
    cases = {(name, x): mobile(name, int(x), controls=OTHERS) for name in OTHERS for x in counts}
    found = lab.sample(cases, measure, replications=lab.pick(10, 2))
    return Figure(
        "figure controllers",
        "throughput and loss of other controllers",
        Axis("flows", "number of flows", 0, 60),
        PANELS,
        _curves({name: i for i, name in enumerate(OTHERS)}, counts, found),
    )


SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "as in this study": {},
    "S at most 0.5": {"s_max": 0.5},
    "S at most 0.1": {"s_max": 0.1},
    "idle after 10 round trips": {"epoch": {"rounds": {"number": 10}}},
    "idle once between timeouts": {"epoch": "timeouts"},
    "each loss is congestion": {"congested": "any_loss"},
    "gate at a chain of 6 hops": {"gate_hops": 12},
}
"""Other readings of AFW's rule."""


@figure_function("figure rules")
def figure_rules(lab: Lab) -> Figure:
    """Readings of AFW's rule, 50 flows, alpha and beta 2."""
    controls = {
        label: {"afw": {"alpha": 2, "beta": 2, **switch}} for label, switch in SWITCHES.items()
    }
    controls[FEW] = dict(CONTROLS[FEW])
    controls[NEW_RENO] = dict(CONTROLS[NEW_RENO])
    cases = {name: mobile(name, FLOWS, controls=controls) for name in controls}
    found = lab.sample(cases, measure, replications=lab.pick(10, 2))
    few = found[FEW]
    over = {
        name: ratio(found[name][GOODPUT], few[GOODPUT]).named("reading over FeW", name)
        for name in SWITCHES
    }
    names = tuple(controls)
    values = {
        quantity: [Value.mean(found[name][quantity]) for name in names]
        for quantity in (GOODPUT, LOST)
    }
    return Figure(
        "figure rules",
        "readings of AFW's rule, 50 flows",
        Axis("reading", "reading of AFW"),
        PANELS,
        tuple(
            curve("AFW 2, 2", Source.SIMULATION, names, values[quantity], quantity)
            for quantity in values
        ),
        (
            claim(
                "no_reading_gains_12_percent",
                "No reading of AFW's rule has 1.117 times FeW's throughput.",
                paper=OURS,
                checks=[Check(name, each, high=1.067) for name, each in over.items()],
                tolerance="5 % of FeW's throughput",
            ),
        ),
    )


def chain(control: str, hops: int, *, routing: Mapping[str, Any] = ROUTING) -> Scenario:
    """Return a chain of so many hops with one flow from end to end."""
    return Scenario(
        title=f"A chain of {hops} hops",
        standard="11b",
        duration_s=CHAIN_S,
        warmup_s=CHAIN_WARMUP_S,
        wlan=dict(WLAN),
        radio=dict(RADIO),
        routing=dict(routing),
        stations=[
            {"position_m": [SPACING_M * at, 0.0], "queue": dict(QUEUE)} for at in range(hops + 1)
        ],
        flows=[
            {
                "from": "sta0",
                "to": f"sta{hops}",
                "start_s": 1.0,
                "traffic": "bulk",
                "control": dict(CONTROLS[control]),
                "tcp": dict(TCP),
            }
        ],
    )


def measure_chain(run: Run) -> dict[str, float]:
    """Extract goodput and loss of the chain's flow."""
    return {
        GOODPUT: 1000 * float(run.summary["total.goodput_mbps"]),
        LOST: 100 * float(run.flows[0]["undelivered_fraction"]),
    }


@figure_function("figure chain")
def figure_chain(lab: Lab) -> Figure:
    """Goodput of one flow over chains of 1 to 10 hops with DSR."""
    cases = {(name, x): chain(name, x) for name in SHOWN for x in HOPS}
    found = lab.sample(cases, measure_chain, replications=lab.pick(10, 3))
    few = {x: ratio(found[FEW, x][GOODPUT], found[NEW_RENO, x][GOODPUT]) for x in HOPS}
    long = [x for x in HOPS if x >= 4]
    return Figure(
        "figure chain",
        "one flow over a chain, nodes 200 m apart, DSR",
        Axis("hops", "hops", 0, 11),
        PANELS,
        _curves({name: i for i, name in enumerate(SHOWN)}, HOPS, found),
        (
            claim(
                "few_gains_most_over_chains",
                "Over chains of four and more hops FeW has at least 1.3 times NewReno's goodput: "
                "small windows cause fewer false link failures.",
                paper=OURS,
                checks=[
                    Check(f"{x} hops", few[x].named("FeW over NewReno, chain", str(x)), low=1.3)
                    for x in long
                ],
                tolerance="ns-2.35 has 1.8 over 4 hops and 2.0 over 6",
            ),
        ),
    )
