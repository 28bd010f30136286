"""Prague through an access point: goodput and delay against the step, fixed or following."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.runs.evidence import Check
from simoom.studies.claim import Claim, Claims, finding
from simoom.studies.figure import Axis, Curve, Figure
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.l4s_wifi.networks import (
    CUBIC,
    FAST,
    LINKS,
    MANY,
    ONE,
    PANELS,
    SHORT,
    SOME,
    STEPS_MS,
    cell,
    curves_of,
    curves_of_links,
    dualpi2,
    measure_total,
    paired,
)

claim = Claims(__package__)

ENOUGH = 0.95
"""The part of CUBIC's goodput that a step must leave Prague."""

COARSE = "links differ: some are far from the bound"
"""Why 10 % of one link's number need not change a claim about all links."""

FIXED_1, FIXED_5 = "1 ms", "5 ms"
FOLLOWS, FOLLOWS_2 = "1 ms and an aggregate", "1 ms and two aggregates"
SPARES = "1 ms, sparing 32 packets"
RULES: Mapping[str, Mapping[str, Any]] = {
    FIXED_1: dualpi2(1.0),
    FIXED_5: dualpi2(5.0),
    FOLLOWS: dualpi2(1.0, step_aggregates=1.0),
    FOLLOWS_2: dualpi2(1.0, step_aggregates=2.0),
    SPARES: dualpi2(1.0, step_min_packets=32),
}
"""Rules of marking in L."""


def replications(lab: Lab) -> int:
    """Return the number of runs of each case."""
    return lab.pick(6, 3)


def classics(lab: Lab) -> dict[str, Sample]:
    """Return the runs of CUBIC through the same queue, by link."""
    cases = {label: cell(dualpi2(), control=CUBIC, **keys) for label, keys in LINKS.items()}
    return lab.sample(cases, measure_total, replications=replications(lab))


@figure_function("figure step")
def figure_step(lab: Lab) -> Figure:
    """Goodput and delay of Prague through an access point with DualPI2 against the step."""
    cases = {
        (label, step): cell(dualpi2(step), **keys)
        for label, keys in LINKS.items()
        for step in STEPS_MS
    }
    found = lab.sample(cases, measure_total, replications=replications(lab))
    curves = curves_of_links(LINKS, STEPS_MS, found, classics(lab))
    claims = step_claims(curves)
    return Figure(
        "figure step",
        "Prague through an access point with DualPI2, RTT 10 ms",
        Axis("step_ms", "step of the L queue, ms", 0.4, 12, log=True, ticks=STEPS_MS),
        PANELS,
        tuple(each for both in curves.values() for each in both),
        claims,
    )


def step_claims(curves: Mapping[str, tuple[Curve, Curve]]) -> tuple[Claim, ...]:
    """Check what the step does.

    Parameters
    ----------
    curves : mapping of (Curve, Curve)
        Goodput over that of CUBIC, and 99th percentile of the delay, by link.
    """
    share = {label: both[0] for label, both in curves.items()}
    delay = {label: both[1] for label, both in curves.items()}
    return (
        claim(
            "a_step_of_1_ms_misfires",
            checks=[Check(label, share[label].at(1.0), high=ENOUGH) for label in LINKS],
        ),
        claim(
            "a_step_of_5_ms_is_enough",
            checks=[Check(label, share[label].at(5.0), low=ENOUGH) for label in LINKS],
        ),
        claim(
            "a_longer_step_costs_delay",
            checks=[
                Check(label, delay[label].at(10.0).minus(delay[label].at(1.0)), low=5.0)
                for label in LINKS
            ],
        ),
        claim(
            "short_aggregates_spare_goodput",
            checks=[Check("8 over 64", share[SHORT].at(1.0).over(share[ONE].at(1.0)), low=1.05)],
        ),
        claim(
            "stations_make_it_worse",
            checks=[
                Check(label, share[label].at(1.0).over(share[ONE].at(1.0)), high=0.9)
                for label in (SOME, MANY)
            ],
        ),
        claim(
            "a_fast_link_needs_less",
            checks=[Check("80 MHz, 2 ms", share[FAST].at(2.0), low=ENOUGH)],
        ),
    )


@figure_function("figure rules")
def figure_rules(lab: Lab) -> Figure:
    """Goodput and delay under rules of marking that know of aggregates, on every link."""
    cases = {
        (rule, label): cell(queue, **keys)
        for rule, queue in RULES.items()
        for label, keys in LINKS.items()
    }
    found = lab.sample(cases, measure_total, replications=replications(lab))
    classic = classics(lab)
    curves: dict[str, tuple[Curve, Curve]] = {
        rule: curves_of(
            rule, LINKS, [found[rule, label] for label in LINKS], classic.values(), colour
        )
        for colour, rule in enumerate(RULES)
    }
    enough = (
        (FOLLOWS, "following_is_enough", "follows the time of an aggregate"),
        (FOLLOWS_2, "two_aggregates_are_enough", "follows the time of two aggregates"),
        (SPARES, "sparing_is_enough", "spares packets that find fewer than 32 others"),
    )
    claims = (
        *(
            finding(
                name,
                f"With a step of 1 ms that {words}, Prague has at least 95 % of CUBIC's goodput "
                "on every link.",
                checks=[Check(label, curves[rule][0].at(label), low=ENOUGH) for label in LINKS],
                tolerance="the interval of the paired ratio lies above 0.95",
                coarse=COARSE if rule == FOLLOWS_2 else "",
            )
            for rule, name, words in enough
        ),
        claim("following_is_no_slower_than_5_ms", checks=[
                Check(label, paired(found[FOLLOWS, label], found[FIXED_5, label], "p99_ms")
                      .named("p99_ms by simulation", f"{FOLLOWS} over {FIXED_5}", label), high=1.0)
                for label in LINKS
            ]),
        claim("following_beats_1_ms", checks=[
                Check(label, curves[FOLLOWS][0].at(label).over(curves[FIXED_1][0].at(label)),
                      low=1.1)
                for label in LINKS
                if curves[FIXED_1][0].at(label).high < ENOUGH
            ]),
    )  # fmt: skip
    return Figure(
        "figure rules",
        "Prague through an access point: rules of marking, RTT 10 ms",
        Axis("link", "link"),
        PANELS,
        tuple(each for both in curves.values() for each in both),
        claims,
    )
