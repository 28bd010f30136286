"""Fewer TCP acknowledgements, which stations contend for, or send when they are triggered."""

from __future__ import annotations

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure
from simoom.studies.lab import Lab, figure_function
from simoom_studies.ofdma_tcp.networks import (
    MULTI,
    SINGLE,
    TRIGGERED,
    bulk,
    cell,
    means,
    measure,
    paired,
    replications,
)

claim = Claims(__package__)

SEGMENTS = (2, 8, 32)
STATIONS = 8
WAYS = (SINGLE, MULTI, TRIGGERED)


@figure_function("figure thin")
def figure_thin(lab: Lab) -> Figure:
    """Goodput of eight downloads against the segments of an acknowledgement."""
    cases = {
        (way, segments): cell(way, STATIONS, [bulk(segments=segments)])
        for way in WAYS
        for segments in SEGMENTS
    }
    found = lab.sample(cases, measure, replications=replications(lab))

    def gain(way: str) -> Value:
        return paired(found[way, 8], found[way, 2], "goodput_mbps", f"{way}, 8 over 2 segments")

    claims = (
        claim(
            "thinning_gains_with_single_users",
            checks=[Check("8 over 2", gain(SINGLE), low=1.05)],
        ),
        claim(
            "thinning_gains_with_downlink_ofdma",
            checks=[Check("8 over 2", gain(MULTI), low=1.05)],
        ),
        claim(
            "thinning_gains_little_with_triggered_acks",
            checks=[Check("8 over 2", gain(TRIGGERED), high=1.05)],
        ),
    )
    return Figure(
        "figure thin",
        "Eight downloads (CUBIC) by the segments that an acknowledgement is for",
        Axis("segments", "segments of an acknowledgement", 1.5, 40, log=True, ticks=SEGMENTS),
        (Axis("goodput_mbps", "goodput, Mb/s", 0, 80),),
        means(found, WAYS, SEGMENTS, "goodput_mbps"),
        claims,
    )
