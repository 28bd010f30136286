"""Prague over a radio link and then a wired DualPI2, beside published goodputs."""

from __future__ import annotations

from simoom.evidence import Check, Value
from simoom.studies.claim import claim
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.l4s_wifi.networks import (
    AS_PUBLISHED,
    OURS,
    PUBLISHED,
    RADIOS,
    bursty,
    measure_first,
)
from simoom.studies.lab import Lab, figure_function

RATES_MBPS, STEPS_MS = (tuple(sorted({key[k] for key in PUBLISHED})) for k in (0, 1))


@figure_function("figure bursty")
def figure_bursty(lab: Lab) -> Figure:
    """Goodput of Prague behind a radio link by its bursts, the rate of the wire and the step."""
    names = {(rate, step): f"{rate:g} Mb/s, {step:g} ms" for rate, step in PUBLISHED}
    cases = {(radio, *key): bursty(radio, *key) for radio in RADIOS for key in PUBLISHED}
    found = lab.sample(cases, measure_first, replications=lab.pick(12, 4))
    ours = {
        radio: curve(
            radio,
            Source.SIMULATION,
            names.values(),
            [Value.mean(found[radio, *key]["goodput_mbps"]) for key in PUBLISHED],
            "goodput_mbps",
            colour=k,
        )
        for k, radio in enumerate(RADIOS)
    }
    published = curve(
        "bursts of up to 4 ms",
        Source.PAPER,
        names.values(),
        [Value.printed(value) for value in PUBLISHED.values()],
        "goodput_mbps",
        colour=len(RADIOS),
    )
    shown = ours[AS_PUBLISHED]
    longer = {
        rate: shown.at(names[rate, STEPS_MS[0]]).over(shown.at(names[rate, STEPS_MS[1]]))
        for rate in RATES_MBPS
    }
    claims = (
        *(
            claim(
                f"published_{rate:g}_mbps_{step:g}_ms",
                f"Behind bursts of up to 4 ms, Prague has {value:g} of {rate:g} Mb/s at a step of "
                f"{step:g} ms.",
                paper=f"{value:g} Mb/s",
                checks=[
                    Check.near(
                        AS_PUBLISHED, shown.at(names[rate, step]), value, within=0.15 * value
                    )
                ],
                tolerance="15 %",
                remark="the published radio link is proprietary; its schedule is not known",
            )
            for (rate, step), value in PUBLISHED.items()
        ),
        claim(
            "bursts_make_the_step_misfire",
            "Behind bursts of up to 4 ms, a step of 1 ms leaves Prague less than 0.8 of its "
            "goodput at 5 ms.",
            paper="0.77 of it at 20 Mb/s, 0.60 at 40 Mb/s",
            checks=[
                Check(f"1 ms over 5 ms, {rate:g} Mb/s", ratio, high=0.8)
                for rate, ratio in longer.items()
            ],
            tolerance="a ratio of 0.8",
        ),
        claim(
            "without_bursts_it_does_not",
            "Without a neighbour the radio makes no bursts: a step of 1 ms leaves 5 % unused at "
            "most.",
            paper=OURS,
            checks=[
                Check(
                    f"part of {rate:g} Mb/s",
                    ours[next(iter(RADIOS))].at(names[rate, STEPS_MS[0]]).times(1 / rate),
                    low=0.95 * 1448 / 1500,
                )
                for rate in RATES_MBPS
            ],
            tolerance="5 % of what the headers leave",
        ),
    )
    return Figure(
        "figure bursty",
        "Prague over a radio link and a wired DualPI2, RTT 7 ms",
        Axis("case", "rate of the wire, step of its L queue"),
        (Axis("goodput_mbps", "goodput of Prague, Mb/s", 0, 42),),
        (*ours.values(), published),
        claims,
    )
