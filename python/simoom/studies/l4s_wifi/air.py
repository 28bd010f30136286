"""L4S through an access point, and over a wire behind a radio link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.evidence import Check, Value
from simoom.scenario import Scenario
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.l4s_wifi.networks import (
    CUBIC,
    OURS,
    PUBLISHED,
    STEPS_MS,
    bursty,
    cell,
    dualpi2,
    measure_total,
)
from simoom.studies.lab import Lab, Sample, figure_function

PANELS = (
    Axis("goodput_mbps", "goodput of all flows, Mb/s"),
    Axis("p99_ms", "99th percentile of the packet delay, ms"),
)
LINKS: Mapping[str, Mapping[str, Any]] = {
    "802.11n": {"standard": "11n"},
    "802.11ac": {"standard": "11ac"},
    "802.11ax": {"standard": "11ax"},
    "802.11ac, 5 stations": {"standard": "11ac", "stations": 5},
    "802.11ac, 8 frames": {"standard": "11ac", "frames": 8},
}
ENOUGH = 0.95
"""The part of CUBIC's goodput that a step must leave Prague."""


@figure_function("figure bursty")
def figure_bursty(lab: Lab) -> Figure:
    """Goodput of Prague over a wired DualPI2 behind a radio link, against the step."""
    cases = {key: bursty(*key) for key in PUBLISHED}
    found = lab.sample(cases, measure_total, replications=lab.pick(6, 3))
    rates, steps = (sorted({key[k] for key in PUBLISHED}) for k in (0, 1))
    ours = {
        rate: curve(
            f"{rate:g} Mb/s",
            Source.SIMULATION,
            steps,
            [Value.mean(found[rate, step]["goodput_mbps"]) for step in steps],
            "goodput_mbps",
            colour=k,
        )
        for k, rate in enumerate(rates)
    }
    published = [
        curve(
            f"{rate:g} Mb/s",
            Source.PAPER,
            steps,
            [Value.printed(PUBLISHED[rate, step]) for step in steps],
            "goodput_mbps",
            colour=k,
            dashed=True,
        )
        for k, rate in enumerate(rates)
    ]
    claims = tuple(
        claim(
            f"published_{rate:g}_mbps_{step:g}_ms",
            f"Behind a radio link, Prague has {value:g} of {rate:g} Mb/s at a step of {step:g} ms.",
            paper=f"{value:g} Mb/s",
            checks=[Check.near("goodput", ours[rate].at(step), value, within=0.15 * value)],
            tolerance="15 %",
            remark="the published radio link is a proprietary one with bursts of up to 4 ms",
            coarse="the tolerance is 15 %, because the radio link is another",
        )
        for (rate, step), value in PUBLISHED.items()
    )
    return Figure(
        "figure bursty",
        "Prague over a wired DualPI2 behind a radio link, RTT 7 ms",
        Axis("step_ms", "step of the L queue, ms", 0, 6),
        (PANELS[0],),
        (*ours.values(), *published),
        claims,
    )


def _both(label: str, x: tuple[float, ...], samples: list[Sample], colour: int) -> list[Curve]:
    """Return the curves of goodput and delay."""
    return [
        curve(
            label,
            Source.SIMULATION,
            x,
            [Value.mean(sample[panel.column]) for sample in samples],
            panel.column,
            colour=colour,
        )
        for panel in PANELS
    ]


@figure_function("figure step")
def figure_step(lab: Lab) -> Figure:
    """Goodput and delay of Prague through an access point with DualPI2 against the step."""
    cases: dict[tuple[str, float], Scenario] = {
        (label, step): cell(dualpi2(step), **keys)
        for label, keys in LINKS.items()
        for step in STEPS_MS
    }
    replications = lab.pick(6, 2)
    found = lab.sample(cases, measure_total, replications=replications)
    others = {label: cell(dualpi2(), control=CUBIC, **keys) for label, keys in LINKS.items()}
    classic = lab.sample(others, measure_total, replications=replications)
    curves = [
        each
        for k, label in enumerate(LINKS)
        for each in _both(label, STEPS_MS, [found[label, step] for step in STEPS_MS], k)
    ]
    share = {
        key: Value.mean(sample["goodput_mbps"] / classic[key[0]]["goodput_mbps"])
        for key, sample in found.items()
    }
    claims = (
        claim(
            "a_step_of_1_ms_misfires",
            "With a step of 1 ms, Prague leaves more than 5 % of CUBIC's goodput unused.",
            paper=OURS,
            checks=[Check(label, share[label, 1.0], high=ENOUGH) for label in LINKS],
            tolerance="the interval of the paired ratio lies below 0.95",
        ),
        claim(
            "a_step_of_5_ms_is_enough",
            "With a step of 5 ms, Prague has at least 95 % of CUBIC's goodput.",
            paper=OURS,
            checks=[Check(label, share[label, 5.0], low=ENOUGH) for label in LINKS],
            tolerance="the interval of the paired ratio lies above 0.95",
        ),
    )
    return Figure(
        "figure step",
        "Prague through an access point with DualPI2",
        Axis("step_ms", "step of the L queue, ms", 0.4, 12, log=True),
        PANELS,
        tuple(curves),
        claims,
    )


WAITING = (0, 2, 8, 32, 64)


@figure_function("figure aggregate")
def figure_aggregate(lab: Lab) -> Figure:
    """The step of 1 ms for packets behind which an aggregate waits, against its size."""
    labels = ("802.11ac", "802.11ax")
    cases = {
        (label, few): cell(dualpi2(step_min_packets=few), **LINKS[label])
        for label in labels
        for few in WAITING
    }
    found = lab.sample(cases, measure_total, replications=lab.pick(6, 2))
    curves = [
        each
        for k, label in enumerate(labels)
        for each in _both(label, WAITING, [found[label, few] for few in WAITING], k)
    ]
    return Figure(
        "figure aggregate",
        "a step of 1 ms that spares the next aggregate",
        Axis("packets", "packets that must wait behind a packet for the step to apply", -2, 66),
        PANELS,
        tuple(curves),
    )
