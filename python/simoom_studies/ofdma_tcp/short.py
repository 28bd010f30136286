"""Short transfers and small packets: where several stations have a little at the same time."""

from __future__ import annotations

from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.ofdma_tcp.networks import (
    BACKLOG,
    MIXED,
    MULTI,
    SHORTEST,
    SINGLE,
    bulk,
    cell,
    means,
    measure_delay,
    measure_files,
    paired,
    replications,
    small,
    web,
)

claim = Claims(__package__)

ONE = "1 station"
QUIET = "20 stations, pauses of 1 s"
BUSY = "20 stations, pauses of 0.25 s"
BESIDE = "20 stations, pauses of 1 s, and a download"
DOWNLOAD = {**bulk(), "name": "download", "to": "sta20"}
PLACES: dict[str, tuple[int, list[dict[str, Any]]]] = {
    ONE: (1, [web()]),
    QUIET: (20, [web()]),
    BUSY: (20, [web(think_s=0.25)]),
    BESIDE: (21, [{**web(), "to": "sta0-19"}, DOWNLOAD]),
}
"""Stations and flows of each case."""
WAYS = (SINGLE, MULTI, BACKLOG, MIXED, SHORTEST)
WEB_S = 60.0


def web_replications(lab: Lab) -> int:
    """Return how often each case of responses is run."""
    return lab.pick(32, 12)


@figure_function("figure web")
def figure_web(lab: Lab) -> Figure:
    """95 % of the times of responses of 50 kB by scheduler and load."""
    cases = {
        (place, way): cell(way, stations, flows, duration_s=WEB_S)
        for place, (stations, flows) in PLACES.items()
        for way in WAYS
    }
    found = lab.sample(cases, measure_files, replications=web_replications(lab))
    curves = [
        curve(
            way,
            Source.SIMULATION,
            tuple(PLACES),
            [Value.mean(found[place, way]["file_p95_ms"]) for place in PLACES],
            "file_p95_ms",
            colour=colour,
        )
        for colour, way in enumerate(WAYS)
    ]

    def ratio(place: str, way: str) -> Value:
        return paired(found[place, way], found[place, SINGLE], "file_p95_ms", way, place)

    claims = (
        claim(
            "responses_come_sooner",
            checks=[Check(place, ratio(place, MULTI), high=0.9) for place in (QUIET, BUSY)],
        ),
        claim(
            "one_station_gains_nothing",
            checks=[Check.near(ONE, ratio(ONE, MULTI), 1.0, within=0.02)],
        ),
        claim(
            "a_download_undoes_it",
            checks=[Check(BESIDE, ratio(BESIDE, MULTI), low=1.1)],
        ),
        claim(
            "unless_it_is_served_alone",
            checks=[Check(way, ratio(BESIDE, way), high=1.0) for way in (MIXED, SHORTEST)],
        ),
    )
    return Figure(
        "figure web",
        "Responses of 50 kB in the mean, MCS 7 in 20 MHz",
        Axis("case", "stations and their pauses"),
        (Axis("file_p95_ms", "95 % of the times of responses, ms", 0, 300),),
        tuple(curves),
        claims,
    )


@figure_function("figure small")
def figure_small(lab: Lab) -> Figure:
    """95 % of the delays of packets of 200 bytes, 1 Mb/s to each station."""
    numbers = (1, 2, 4, 8, 12)
    ways = (SINGLE, MULTI)
    cases = {(way, n): cell(way, n, [small()]) for way in ways for n in numbers}
    found = lab.sample(cases, measure_delay, replications=replications(lab))

    def ratio(n: int) -> Value:
        return paired(found[MULTI, n], found[SINGLE, n], "p95_ms", MULTI, str(n))

    claims = (
        claim(
            "small_packets_wait_less_with_eight",
            checks=[Check(f"{n}", ratio(n), high=0.75) for n in (8, 12)],
        ),
        claim(
            "two_stations_gain_nothing",
            checks=[Check("2", ratio(2), 0.95, 1.25)],
        ),
    )
    return Figure(
        "figure small",
        "Packets of 200 bytes, 1 Mb/s to each station, MCS 7 in 20 MHz",
        Axis("stations", "stations", 0.9, 14, log=True, ticks=numbers),
        (Axis("p95_ms", "95 % of delays, ms", 0, 5),),
        means(found, ways, numbers, "p95_ms"),
        claims,
    )
