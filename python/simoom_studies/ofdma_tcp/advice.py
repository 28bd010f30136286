"""When to switch OFDMA on: what it does to goodput and delays, by traffic.

The runs are those of the other figures where these have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simoom.runs.evidence import Value
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Measure, figure_function
from simoom_studies.ofdma_tcp.networks import (
    MIXED,
    MULTI,
    PING,
    SINGLE,
    TRIGGERED,
    TRIGGERS,
    bulk,
    cell,
    measure_delay,
    measure_files,
    measure_pings,
    paired,
    replications,
    small,
)
from simoom_studies.ofdma_tcp.short import BESIDE, BUSY, PLACES, QUIET, WEB_S, web_replications
from simoom_studies.ofdma_tcp.uplink import SMALL_UPLINK

TRAFFIC = Axis("traffic", "traffic")


@dataclass(frozen=True)
class Traffic:
    """Flows of a cell, and the quantity by which ways to send are compared.

    Attributes
    ----------
    name : str
        What the row of the table is called.
    stations : int
        The number of stations.
    flows : list
        The flows.
    quantity : str
        A value of `measure`.
    measure : callable
        The function that extracts the values from a run.
    options : mapping
        What `cell` has otherwise.
    count : callable
        The function that tells how often each cell is run in a lab.
    """

    name: str
    stations: int
    flows: list[dict[str, Any]]
    quantity: str
    measure: Measure
    options: Mapping[str, Any] = field(default_factory=dict)
    count: Callable[[Lab], int] = replications


def downloads(stations: int, control: str = "cubic") -> tuple[Traffic, Traffic]:
    """Return downloads by their goodput, and by 95 % of the pings beside them."""
    name = f"{stations} download{'s' if stations > 1 else ''} ({control.upper()})"
    flows = [bulk(control), PING]
    return (
        Traffic(f"goodput of {name}", stations, flows, "goodput_mbps", measure_pings),
        Traffic(f"95 % of pings beside {name}", stations, flows, "ping_p95_ms", measure_pings),
    )


def responses(place: str) -> Traffic:
    """Return the responses of a case of figure web."""
    stations, flows = PLACES[place]
    name = f"95 % of responses of 50 kB, {place}"
    options = {"duration_s": WEB_S}
    return Traffic(name, stations, flows, "file_p95_ms", measure_files, options, web_replications)


def packets(stations: int, *, up: bool = False) -> Traffic:
    """Return packets of 200 bytes to, or from, each station."""
    name = f"95 % of packets of 200 bytes {'from' if up else 'to'} each of {stations} stations"
    options = {"uplink": SMALL_UPLINK} if up else {}
    return Traffic(name, stations, [small(up=up)], "p95_ms", measure_delay, options)


def ratios(lab: Lab, rows: Sequence[Traffic], ways: Sequence[str], base: str) -> tuple[Curve, ...]:
    """Return a curve for each way to send: the paired ratios, to `base`, of each traffic."""
    found: dict[str, list[Value]] = {way: [] for way in ways}
    for row in rows:
        cases = {way: cell(way, row.stations, row.flows, **row.options) for way in (base, *ways)}
        runs = lab.sample(cases, row.measure, replications=row.count(lab))
        for way in ways:
            found[way].append(paired(runs[way], runs[base], row.quantity))
    names = [row.name for row in rows]
    return tuple(
        curve(way, Source.SIMULATION, names, found[way], "share", colour=colour)
        for colour, way in enumerate(ways)
    )


@figure_function("table downlink")
def table_downlink(lab: Lab) -> Figure:
    """Goodput and delays with downlink OFDMA over those with single users."""
    rows = (
        *downloads(8),
        *downloads(16),
        *downloads(16, "bbr"),
        *(responses(place) for place in (QUIET, BUSY, BESIDE)),
        *(packets(stations) for stations in (2, 8, 12)),
    )
    return Figure(
        "table downlink",
        "Goodput and delays with downlink OFDMA",
        TRAFFIC,
        (Axis("share", "over those of single users", 0),),
        ratios(lab, rows, (MULTI, MIXED), SINGLE),
    )


@figure_function("table uplink")
def table_uplink(lab: Lab) -> Figure:
    """Goodput and delays with uplink OFDMA over those with EDCA, downlink OFDMA in both."""
    rows = (
        downloads(1)[0],
        *downloads(8),
        *downloads(16),
        *(packets(stations, up=True) for stations in (2, 4, 8, 12)),
    )
    return Figure(
        "table uplink",
        "Goodput and delays with uplink OFDMA",
        TRAFFIC,
        (Axis("share", "over those by EDCA", 0),),
        ratios(lab, rows, (TRIGGERS, TRIGGERED), MIXED),
    )
