"""What the paper leaves open: area, speed, pause, other controllers, AFW's rule, and ns-2 itself.

The rule of AFW is a reconstruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.afw_few.paper import (
    CONTROLS,
    DCF,
    DSR,
    FEW,
    GOODPUT,
    LOST,
    NEW_RENO,
    TCP,
    WLAN,
    Control,
    afw,
    course,
    measure,
    mobile,
    ratio,
)

claim = Claims(__package__)

SHOWN = {FEW: 0, afw(2, 2): 1, NEW_RENO: 2}
"""Controllers with their colours."""
FLOWS = 50
PANELS = (
    Axis(GOODPUT, "throughput, sum of all flows, kb/s", 0),
    Axis(LOST, "sent and not delivered, %", 0),
)


def curves(
    colours: Mapping[str, int], at: Sequence[X], found: Mapping[tuple[str, X], Sample]
) -> tuple[Curve, ...]:
    """Return throughput and loss of each name against x."""
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
        for name, colour in colours.items()
        for quantity in (GOODPUT, LOST)
    )


def _against(
    lab: Lab, key: str, title: str, axis: Axis, settings: Mapping[X, Mapping[str, Any]]
) -> Figure:
    """Return throughput and loss with 50 flows against a setting of the movement."""
    cases: dict[tuple[str, X], Scenario] = {
        (name, x): mobile(name, FLOWS, course=course(lab), **each)
        for x, each in settings.items()
        for name in SHOWN
    }
    found = lab.sample(cases, measure, replications=lab.pick(3, 1))
    return Figure(key, title, axis, PANELS, curves(SHOWN, tuple(settings), found))


@figure_function("figure area")
def figure_area(lab: Lab) -> Figure:
    """Throughput against the side of the area."""
    sides = lab.pick((500.0, 750.0, 1000.0, 1250.0, 1500.0), (500.0, 1000.0))
    return _against(
        lab,
        "figure area",
        "throughput against the side of the area, 50 flows",
        Axis("area_m", "side of the area, m", 400, 1600),
        {side: {"area_m": side} for side in sides},
    )


@figure_function("figure speed")
def figure_speed(lab: Lab) -> Figure:
    """Throughput against the greatest speed."""
    speeds = lab.pick((2.0, 5.0, 10.0, 20.0), (2.0, 10.0))
    return _against(
        lab,
        "figure speed",
        "throughput against the greatest speed, 50 flows",
        Axis("speed_mps", "greatest speed, m/s", 0, 22),
        {speed: {"speed_mps": (1.0, speed)} for speed in speeds},
    )


@figure_function("figure pause")
def figure_pause(lab: Lab) -> Figure:
    """Throughput against the pause."""
    pauses = lab.pick((0.0, 2.0, 30.0, 120.0), (2.0, 30.0))
    return _against(
        lab,
        "figure pause",
        "throughput against the pause at each destination, 50 flows",
        Axis("pause_s", "pause, s", -5, 130),
        {pause: {"pause_s": pause} for pause in pauses},
    )


OTHERS: Mapping[str, Control] = {
    "CUBIC": {"cubic": {}},
    "Vegas": {"vegas": {}},
    "Westwood+": {"westwood": {}},
    "BBR": {"bbr": {}},
}
"""Controllers that the paper does not have."""
SELECTIVE = {"recovery": "sack", "timestamps": True}
"""What BBR requires of TCP."""


@figure_function("figure controllers")
def figure_controllers(lab: Lab) -> Figure:
    """Controllers that the paper does not have, with 10, 30 and 50 flows."""
    counts = lab.pick((10.0, 30.0, 50.0), (50.0,))
    controls = {**CONTROLS, **OTHERS}
    names = (*SHOWN, *OTHERS)
    cases: dict[tuple[str, X], Scenario] = {
        (name, x): mobile(
            name,
            int(x),
            course=course(lab),
            controls=controls,
            tcp=SELECTIVE if name == "BBR" else None,
        )
        for x in counts
        for name in names
    }
    found = lab.sample(cases, measure, replications=lab.pick(3, 1))
    return Figure(
        "figure controllers",
        "throughput and loss of other controllers",
        Axis("flows", "number of flows", 0, 60),
        PANELS,
        curves({name: i for i, name in enumerate(names)}, counts, found),
        notes="BBR has selective acknowledgements and timestamps, which it requires; the others "
        "have NewReno's recovery.",
    )


READINGS: Mapping[str, Mapping[str, Any]] = {
    "as in this study": {},
    "S at most 0.5": {"s_max": 0.5},
    "S at most 0.1": {"s_max": 0.1},
    "idle after 10 round trips": {"epoch": {"rounds": {"number": 10}}},
    "idle once between timeouts": {"epoch": "timeouts"},
    "each loss is congestion": {"congested": "any_loss"},
    "gate at a fifth of 12 hops": {"gate_hops": 12},
}
"""Readings of AFW's rule, as keys of its controller."""


@figure_function("figure rules")
def figure_rules(lab: Lab) -> Figure:
    """Readings of AFW's rule, 50 flows, alpha and beta 2."""
    readings = lab.pick(tuple(READINGS), ("as in this study", "S at most 0.1"))
    names = (*readings, FEW, NEW_RENO)
    controls = {
        name: {"afw": {"alpha": 2, "beta": 2, **READINGS[name]}}
        if name in READINGS
        else CONTROLS[name]
        for name in names
    }
    cases = {name: mobile(name, FLOWS, course=course(lab), controls=controls) for name in names}
    found = lab.sample(cases, measure, replications=lab.pick(5, 3))
    over = {
        name: ratio(found[name][GOODPUT], found[FEW][GOODPUT]).named("AFW over FeW", "rules", name)
        for name in readings
    }
    return Figure(
        "figure rules",
        "readings of AFW's rule, 50 flows",
        Axis("reading", "reading of AFW, or controller"),
        PANELS,
        tuple(
            curve(
                "alpha = beta = 2",
                Source.SIMULATION,
                names,
                [Value.mean(found[name][quantity]) for name in names],
                quantity,
            )
            for quantity in (GOODPUT, LOST)
        ),
        (
            claim(
                "no_reading_gains_12_percent",
                checks=[Check(name, each, high=1.067) for name, each in over.items()],
            ),
        ),
    )


def _networks() -> Mapping[str, Mapping[str, Any]]:
    """The rules of ns-2 and the standards, as arguments of `mobile`."""
    standard = {"wlan": DCF, "tcp": {"header_bytes": 40}}
    rfc = {"protocol": "dsr"}
    return {
        "ns-2": {"wlan": WLAN, "routing": DSR, "tcp": TCP},
        "802.11 MAC": standard,
        "RFC 4728": {"routing": rfc},
        "both": {**standard, "routing": rfc},
    }


@figure_function("figure standards")
def figure_standards(lab: Lab) -> Figure:
    """ns-2's MAC and DSR against 802.11 and RFC 4728, 50 flows."""
    networks = _networks()
    cases: dict[tuple[str, X], Scenario] = {
        (name, label): mobile(name, FLOWS, course=course(lab), **keys)
        for label, keys in networks.items()
        for name in SHOWN
    }
    found = lab.sample(cases, measure, replications=lab.pick(3, 1))
    return Figure(
        "figure standards",
        "ns-2's MAC and DSR against 802.11 and RFC 4728, 50 flows",
        Axis("network", "rules of MAC and routing"),
        PANELS,
        curves(SHOWN, tuple(networks), found),
    )
