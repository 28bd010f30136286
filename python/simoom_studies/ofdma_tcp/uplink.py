"""Uplink OFDMA: TCP acknowledgements by Trigger frames, how often to poll, and small packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.ofdma_tcp.networks import (
    MIXED,
    PING,
    TRIGGERED,
    TRIGGERS,
    bulk,
    cell,
    means,
    measure,
    measure_delay,
    measure_pings,
    paired,
    replications,
    small,
)

claim = Claims(__package__)

WAYS = (MIXED, TRIGGERS, TRIGGERED)
"""With the same downlink: by `backlog`, long queues alone."""
NUMBERS = (1, 2, 4, 8, 16)
SMALL_UPLINK = {"access_interval_us": 1000.0}
"""How often stations with small packets are triggered."""
INTERVALS_MS = (1.0, 5.0, 20.0, 50.0)
SHARE = Axis("share", "goodput over that by EDCA", 0, 1.3)
EIGHT = 8


@figure_function("figure acks")
def figure_acks(lab: Lab) -> Figure:
    """Goodput of downloads, and round trips of pings beside them, by how stations send."""
    numbers = lab.pick(NUMBERS, (1, 8, 16))
    cases = {(way, n): cell(way, n, [bulk(), PING]) for way in WAYS for n in numbers}
    found = lab.sample(cases, measure_pings, replications=replications(lab))

    def ratio(way: str, n: int, quantity: str = "goodput_mbps") -> Value:
        return paired(found[way, n], found[MIXED, n], quantity, way, str(n))

    several = [n for n in numbers if n >= EIGHT]
    claims = (
        claim(
            "triggered_acks_gain_with_eight",
            checks=[Check(f"{n}", ratio(TRIGGERED, n), low=1.0) for n in several],
        ),
        claim(
            "triggered_acks_cost_one_station",
            checks=[Check("1", ratio(TRIGGERED, 1), high=0.98)],
        ),
        claim(
            "triggers_beside_edca_gain_less",
            checks=[
                Check(f"{n}", ratio(TRIGGERS, n).over(ratio(TRIGGERED, n)), high=0.98)
                for n in several
            ],
        ),
        claim(
            "pings_wait_less_with_triggered_acks",
            checks=[Check(f"{n}", ratio(TRIGGERED, n, "ping_p95_ms"), high=0.9) for n in several],
        ),
    )
    curves: list[Curve] = []
    for colour, way in enumerate(WAYS):
        shares = [ratio(way, n) for n in numbers]
        pings = [Value.mean(found[way, n]["ping_p95_ms"]) for n in numbers]
        curves.append(curve(way, Source.SIMULATION, numbers, shares, "share", colour=colour))
        curves.append(curve(way, Source.SIMULATION, numbers, pings, "ping_p95_ms", colour=colour))
    return Figure(
        "figure acks",
        "Downloads to n stations (CUBIC) with pings, by how the stations send",
        Axis("stations", "stations", 0.9, 18, log=True, ticks=numbers),
        (SHARE, Axis("ping_p95_ms", "95 % of round trips, ms", 0, 100)),
        tuple(curves),
        claims,
    )


def every(ms: float) -> dict[str, float]:
    """Return the keys of `wlan.mu.uplink` for an access interval in milliseconds."""
    return {"access_interval_us": 1e3 * ms}


SPARSE = small(0.02, up=True)
"""Packets of 200 bytes from each station, 12.5 a second in the mean."""

BEFORE = {
    "name": "before",
    "from": "sta*",
    "to": "server",
    "traffic": "bulk",
    "stop_s": 5.0,
    "tcp": {"window_max_bytes": 65_535},
}
"""Uploads that end before anything is measured: the stations were triggered."""


def measure_mean(run: Run) -> dict[str, float]:
    """Extract the mean delay of small packets: the mean of stations."""
    found = run.summary
    flows = range(2 * EIGHT)
    own = [n for n in flows if str(found.get(f"flows[{n}].name")).startswith("small")]
    delays = [float(found[f"flows[{n}].delay_s.mean"]) for n in own]
    return {**measure(run), "delay_ms": 1e3 * sum(delays) / len(delays)}


@figure_function("figure intervals")
def figure_intervals(lab: Lab) -> Figure:
    """Goodput of downloads, and delays of sparse uplink packets, by the access interval."""

    def cases(flows: list[dict[str, Any]], duration_s: float) -> dict[float, Scenario]:
        return {
            ms: cell(
                TRIGGERED,
                EIGHT,
                flows,
                uplink={"access_interval_us": 1e3 * ms},
                duration_s=duration_s,
            )
            for ms in INTERVALS_MS
        }

    downloads = lab.sample(cases([bulk()], 12.0), measure, replications=replications(lab))
    sparse = lab.sample(cases([SPARSE], 30.0), measure_mean, replications=replications(lab))
    after = cases([SPARSE, BEFORE], 30.0)
    muted = lab.sample(after, measure_mean, replications=replications(lab))
    first = downloads[INTERVALS_MS[0]]
    shares = {ms: paired(downloads[ms], first, "goodput_mbps", f"{ms:g} ms") for ms in INTERVALS_MS}
    waits = {ms: Value.mean(sparse[ms]["delay_ms"]) for ms in INTERVALS_MS}
    later = {ms: Value.mean(muted[ms]["delay_ms"]) for ms in INTERVALS_MS}
    claims = (
        claim(
            "downloads_do_not_need_the_interval",
            checks=[
                Check.near(f"{ms:g} ms", shares[ms], 1.0, within=0.02) for ms in INTERVALS_MS[1:]
            ],
        ),
        claim(
            "quiet_stations_wait_half_the_interval",
            checks=[
                Check(f"{ms:g} ms", waits[ms].times(1 / ms), 0.5, 0.7) for ms in INTERVALS_MS[1:]
            ],
        ),
        claim(
            "triggered_stations_wait_half_the_interval",
            checks=[
                Check(f"{ms:g} ms", later[ms].times(1 / ms), 0.5, 0.7) for ms in INTERVALS_MS[1:]
            ],
        ),
    )
    return Figure(
        "figure intervals",
        "Eight stations that send by triggers only, by the access interval",
        Axis("interval_ms", "access interval, ms", 0.9, 60, log=True, ticks=INTERVALS_MS),
        (
            Axis("share", "goodput over that with 1 ms", 0, 1.3),
            Axis("delay_ms", "delay, ms", 0, 40),
        ),
        (
            *(
                curve(label, Source.SIMULATION, INTERVALS_MS, values.values(), axis, colour=colour)
                for colour, (label, axis, values) in enumerate(
                    (
                        ("downloads", "share", shares),
                        ("sparse", "delay_ms", waits),
                        ("after uploads", "delay_ms", later),
                    )
                )
            ),
        ),
        claims,
    )


@figure_function("figure small uplink")
def figure_small_uplink(lab: Lab) -> Figure:
    """95 % of the delays of packets of 200 bytes, 1 Mb/s from each station."""
    numbers = (2, 4, 8, 12)
    flows = [small(up=True)]
    cases = {(way, n): cell(way, n, flows, uplink=SMALL_UPLINK) for way in WAYS for n in numbers}
    found = lab.sample(cases, measure_delay, replications=replications(lab))
    return Figure(
        "figure small uplink",
        "Packets of 200 bytes, 1 Mb/s from each station, MCS 7 in 20 MHz",
        Axis("stations", "stations", 1.8, 14, log=True, ticks=numbers),
        (Axis("p95_ms", "95 % of delays, ms", 0, 10),),
        means(found, WAYS, numbers, "p95_ms"),
        small_claims(found),
    )


def small_claims(found: Mapping[tuple[str, int], Sample]) -> tuple[Claim, ...]:
    """Check what triggers do to small packets of few and of many stations."""

    def ratio(n: int) -> Value:
        return paired(found[TRIGGERED, n], found[MIXED, n], "p95_ms", TRIGGERED, str(n))

    return (
        claim(
            "small_uplink_packets_wait_less_with_twelve",
            checks=[Check("12", ratio(12), high=0.75)],
        ),
        claim(
            "small_uplink_packets_of_two_wait_longer",
            checks=[Check("2", ratio(2), low=1.25)],
        ),
    )
