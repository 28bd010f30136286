"""Long downloads: goodput, and the round trips of pings beside them."""

from __future__ import annotations

from collections.abc import Mapping

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.ofdma_tcp.networks import (
    ALL,
    BY_TRIGGER,
    CHAIN,
    MIXED,
    MULTI,
    PING,
    SCHEDULERS,
    SINGLE,
    bulk,
    cell,
    measure_pings,
    paired,
    replications,
    saturated,
)

claim = Claims(__package__)

LONG = "long PPDUs"
LONG_MULTI = "round_robin, long PPDUs"
TXOPS: Mapping[str, tuple[str, float | None]] = {
    SINGLE: (SINGLE, None),
    MULTI: (MULTI, None),
    LONG: (SINGLE, 0.0),
    LONG_MULTI: (MULTI, 0.0),
}
"""Ways to send with the TXOP limit of the access point: by default 2.528 ms, or none, so that a
PPDU lasts up to 5.484 ms."""
UDP = "datagrams"
CONTROLS = ("cubic", "bbr")
SHARE = Axis("share", "goodput over that of single users", 0, 1.3)
PINGS = Axis("ping_p95_ms", "95 % of round trips, ms", 0, 100)
EIGHT = 8


def stations_of(lab: Lab) -> tuple[int, ...]:
    """Return the numbers of stations."""
    return lab.pick((1, 2, 4, 8, 16), (1, 2, 8, 16))


@figure_function("figure bulk")
def figure_bulk(lab: Lab) -> Figure:
    """Goodput of downloads and round trips of pings beside them against the number of stations."""
    numbers = stations_of(lab)
    cases: dict[tuple[str, str, int], Scenario] = {}
    for n in numbers:
        for control in CONTROLS:
            flows = [bulk(control), PING]
            for name, (way, txop_us) in TXOPS.items():
                cases[control, name, n] = cell(way, n, flows, txop_us=txop_us)
        cases |= {(UDP, way, n): cell(way, n, [saturated(), PING]) for way in (SINGLE, MULTI)}
    found = lab.sample(cases, measure_pings, replications=replications(lab))
    curves: list[Curve] = []
    for colour, (kind, way) in enumerate((k, w) for k in CONTROLS for w in TXOPS):
        label = f"{kind}, {way}"
        runs = [found[kind, way, n] for n in numbers]
        singles = [found[kind, SINGLE, n] for n in numbers]
        pairs = zip(runs, singles, strict=True)
        shares = [paired(run, one, "goodput_mbps") for run, one in pairs]
        pings = [Value.mean(run["ping_p95_ms"]) for run in runs]
        curves.append(curve(label, Source.SIMULATION, numbers, shares, "share", colour=colour))
        curves.append(curve(label, Source.SIMULATION, numbers, pings, "ping_p95_ms", colour=colour))
    return Figure(
        "figure bulk",
        "Downloads to n stations, MCS 7 in 20 MHz, with pings",
        Axis("stations", "stations", 0.9, 18, log=True, ticks=numbers),
        (SHARE, PINGS),
        tuple(curves),
        bulk_claims(found, numbers),
    )


Found = Mapping[tuple[str, str, int], Sample]
"""The values of `measure_pings` by traffic, way to send and number of stations."""


def ratio(found: Found, quantity: str, kind: str, way: str, n: int, under: str = SINGLE) -> Value:
    """Return a value of one way to send over that of another, by default single users."""
    names = (f"{kind}, {way} over {under}", str(n))
    return paired(found[kind, way, n], found[kind, under, n], quantity, *names)


def bulk_claims(found: Found, numbers: tuple[int, ...]) -> tuple[Claim, ...]:
    """Check what OFDMA does to downloads and pings with these numbers of stations."""
    several = [(kind, n) for kind in CONTROLS for n in numbers if n > 1]
    many = [(kind, n) for kind, n in several if n >= 4]
    goodput, pings = "goodput_mbps", "ping_p95_ms"
    return (
        claim(
            "one_station_is_served_the_same",
            checks=[
                Check.near(f"{kind}, 1", ratio(found, goodput, kind, MULTI, 1), 1.0, within=0.01)
                for kind in CONTROLS
            ],
        ),
        claim(
            "downloads_lose_goodput",
            checks=[
                Check(f"{kind}, {n}", ratio(found, goodput, kind, MULTI, n), high=0.95)
                for kind, n in several
            ],
        ),
        claim(
            "tcp_loses_what_datagrams_lose",
            checks=[
                Check.agrees(
                    f"{kind}, {n}",
                    ratio(found, goodput, kind, MULTI, n),
                    ratio(found, goodput, UDP, MULTI, n),
                    within=0.05,
                )
                for kind, n in several
            ],
        ),
        claim(
            "pings_wait_less",
            checks=[
                Check(f"{kind}, {n}", ratio(found, pings, kind, MULTI, n), high=0.8)
                for kind, n in many
            ],
        ),
        claim(
            "pings_wait_less_beside_long_ppdus",
            checks=[
                Check(f"{kind}, {n}", ratio(found, pings, kind, LONG_MULTI, n, LONG), high=0.8)
                for kind, n in many
            ],
        ),
        claim(
            "long_ppdus_lose_less",
            checks=[
                Check(
                    f"{kind}, {n}",
                    ratio(found, goodput, kind, LONG_MULTI, n, LONG).over(
                        ratio(found, goodput, kind, MULTI, n)
                    ),
                    low=1.05,
                )
                for kind, n in several
            ],
        ),
    )


@figure_function("figure ways")
def figure_ways(lab: Lab) -> Figure:
    """Goodput of eight downloads and round trips of pings by scheduler and acknowledgement."""
    ways = (SINGLE, CHAIN, BY_TRIGGER, *SCHEDULERS)
    cases = {way: cell(way, EIGHT, [bulk(), PING]) for way in ways}
    found = lab.sample(cases, measure_pings, replications=replications(lab))
    shares = [paired(found[way], found[SINGLE], "goodput_mbps") for way in ways]
    pings = [Value.mean(found[way]["ping_p95_ms"]) for way in ways]

    def over(way: str, other: str) -> Value:
        return paired(found[way], found[other], "goodput_mbps", f"{way} over {other}")

    claims = (
        claim(
            "a_chain_of_requests_costs_more",
            checks=[Check("goodput", over(CHAIN, MULTI), high=0.98)],
        ),
        claim(
            "triggers_in_the_data_gain_little",
            checks=[Check("goodput", over(MULTI, BY_TRIGGER), 1.0, 1.04)],
        ),
        claim(
            "all_at_once_costs_more",
            checks=[Check("goodput", over(ALL, MULTI), high=0.95)],
        ),
        claim(
            "who_is_served_alone_loses_nothing",
            checks=[Check("goodput", over(MIXED, SINGLE), low=0.97)],
        ),
    )
    return Figure(
        "figure ways",
        "Eight downloads (CUBIC) with pings, by scheduler and acknowledgement",
        Axis("way", "scheduler, acknowledgement"),
        (SHARE, PINGS),
        (
            curve("goodput", Source.SIMULATION, ways, shares, "share"),
            curve("pings", Source.SIMULATION, ways, pings, "ping_p95_ms"),
        ),
        claims,
    )
