"""One flow over a chain of nodes, where FeW gains most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims, finding
from simoom.studies.figure import Axis, Curve, Figure, X
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.afw_few.beyond import PANELS, SHOWN, curves
from simoom_studies.afw_few.paper import (
    CONTROLS,
    DSR,
    FEW,
    GOODPUT,
    LOST,
    NEW_RENO,
    QUEUE,
    RADIO,
    TCP,
    WLAN,
    Course,
    ratio,
)

claim = Claims(__package__)

SPACING_M = 200.0
TOLERANCE = 0.05
HOPS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
COURSE = Course(160.0, 10.0)


def chain(control: str, hops: int, course: Course = COURSE) -> Scenario:
    """Return a chain of so many hops with one flow from end to end."""
    return Scenario(
        title=f"A chain of {hops} hops",
        standard="11b",
        duration_s=course.end_s,
        warmup_s=course.begin_s,
        wlan=dict(WLAN),
        radio=dict(RADIO),
        routing=dict(DSR),
        stations={
            "count": hops + 1,
            "position_m": [0.0, 0.0],
            "placement": {"chain": {"spacing_m": SPACING_M}},
            "queue": dict(QUEUE),
        },
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


def measure(run: Run) -> dict[str, float]:
    """Extract goodput and loss of the chain's flow."""
    (flow,) = run.flows
    return {
        GOODPUT: 1000 * float(flow["goodput_mbps"] or 0.0),
        LOST: 100 * float(flow["undelivered_fraction"] or 0.0),
    }


@figure_function("figure chain")
def figure_chain(lab: Lab) -> Figure:
    """Goodput of one flow over chains of 1 to 10 hops with DSR."""
    hops = lab.pick(HOPS, (1.0, 4.0))
    cases: dict[tuple[str, X], Scenario] = {
        (name, x): chain(name, int(x)) for x in hops for name in SHOWN
    }
    found = lab.sample(cases, measure, replications=5)
    ns2 = reference.curves(__package__, "figure chain", SHOWN)
    return Figure(
        "figure chain",
        "one flow over a chain, nodes 200 m apart, DSR",
        Axis("hops", "hops", 0, 11),
        PANELS,
        (*curves(SHOWN, hops, found), *ns2),
        (
            _gain(found, hops),
            *(_as_in_ns2(each, found) for each in ns2 if each.quantity == GOODPUT),
        ),
    )


def _gain(found: Mapping[tuple[str, X], Sample], hops: Sequence[float]) -> Claim:
    """Return the claim about FeW's goodput over NewReno's."""
    gain = {
        x: ratio(found[FEW, x][GOODPUT], found[NEW_RENO, x][GOODPUT]).named(
            _subject(FEW), "over NewReno", f"{x:g}"
        )
        for x in hops
    }
    return claim(
        "few_gains_most_over_chains",
        checks=[Check(f"{x:g} hops", gain[x], low=1.3) for x in hops if x >= 4],
    )


def _as_in_ns2(ns2: Curve, found: Mapping[tuple[str, X], Sample]) -> Claim:
    """Return the claim that the goodput of a controller is that of ns-2."""
    name = ns2.label
    return finding(
        f"{name.lower().replace(' ', '_')}_over_chains_as_in_ns2",
        f"{name}'s goodput over chains is that of ns-2.35.",
        about="ns-2.35 itself",
        checks=[
            Check.near(
                f"{x:g} hops, kb/s",
                Value.mean(found[name, x][GOODPUT]).named(_subject(name), "kb/s", f"{x:g}"),
                each.value,
                within=max(TOLERANCE * each.value, each.half_width),
            )
            for x, each in zip(ns2.x, ns2.values, strict=True)
            if (name, x) in found
        ],
        tolerance="5 %, or the interval of three runs of ns-2 if it is wider",
    )


def _subject(name: str) -> str:
    return f"goodput of {name} over chains"
