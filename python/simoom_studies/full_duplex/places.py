"""Two stations among radios, where r2 follows from their places and from what is cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from typing import Any

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.full_duplex.beyond import COURSE, TIMEOUTS_OF_RFC, Pairs
from simoom_studies.full_duplex.paper import (
    BLUE,
    COUNTED,
    GAIN,
    GREEN,
    ORANGE,
    TCP,
    TOTAL,
    WINDOW_SEGMENTS,
    gain,
)

SECONDARY = "secondary_rate_mbps"
COUNTED_SHARE = "secondary_share"
UPLOADER_M = 8.0
DIRECTIONS = {"opposite the uploader": 180.0, "at a right angle": 90.0, "on its side": 0.0}
"""The direction of the downloading station, seen from the access point, in degrees."""
CANCELLED_NEAR_M = 4.0
CANCELLATIONS_DB = (60.0, 70.0, 80.0, 90.0, 95.0, 100.0, 105.0, 110.0, 120.0)
PLACES = (
    "A uploads from a distance of 8 m, B downloads; 16 dBm, a path loss exponent of 4, 802.11a at "
    "54 Mb/s."
)


def two_stations(
    distance_m: float, direction: float = 180.0, *, duplex: Mapping[str, Any] | None
) -> Scenario:
    """Return an uploading station A and a downloading station B around an access point.

    `direction` is that of B, in degrees from that of A. `duplex` has the keys of full duplex;
    without them the access point is half duplex.
    """
    angle = radians(direction)
    tcp = {"window_segments": WINDOW_SEGMENTS, **TCP, **TIMEOUTS_OF_RFC, **COURSE.tcp}
    full = {} if duplex is None else {"full_duplex": dict(duplex)}
    return Scenario(
        title="Two stations and a full-duplex access point",
        standard="11a",
        duration_s=COURSE.end_s,
        warmup_s=COURSE.begin_s,
        wlan={"rate_mbps": 54.0, "rts_threshold_bytes": 0, **full},
        radio={"propagation": {"log_distance": {"exponent": 4.0}}},
        stations=[
            {"count": 1, "position_m": [UPLOADER_M, 0.0]},
            {"count": 1, "position_m": [distance_m * cos(angle), distance_m * sin(angle)]},
        ],
        flows=[
            {"from": "sta0", "to": "server", "tcp": tcp},
            {"from": "server", "to": "sta1", "tcp": tcp},
        ],
    )


def measure_places(run: Run) -> dict[str, float]:
    """Extract throughput and what the access point sends while it receives."""
    taken = {TOTAL: COUNTED * float(run.summary["total.goodput_mbps"] or 0.0)}
    for name in (SECONDARY, COUNTED_SHARE):
        taken[name] = float(run.summary.get(f"full_duplex.{name}", 0.0) or 0.0)
    return taken


def _places(
    lab: Lab, cases: Mapping[tuple[str, float], tuple[float, float, Mapping[str, Any]]]
) -> Pairs:
    """Run cases of distance, direction and keys of full duplex with full and half duplex."""
    both = {
        (key, is_half): two_stations(distance, direction, duplex=None if is_half else duplex)
        for key, (distance, direction, duplex) in cases.items()
        for is_half in (False, True)
    }
    found = lab.sample(both, measure_places, replications=lab.pick(5, 2))
    return {key: (found[key, False], found[key, True]) for key in cases}


def _draw_places(pairs: Pairs, x_values: Sequence[float]) -> tuple[Curve, ...]:
    """Return gain, secondary rate, and share of the uploads with a secondary frame."""
    labels = list(dict.fromkeys(label for label, _ in pairs))
    curves = []
    for label, colour in zip(labels, (BLUE, ORANGE, GREEN), strict=False):
        some = [pairs[label, x] for x in x_values]
        drawn = {GAIN: [gain(*each) for each in some]}
        for name in (SECONDARY, COUNTED_SHARE):
            drawn[name] = [Value.mean(full[name]) for full, _ in some]
        curves += [
            curve(label, Source.SIMULATION, x_values, values, quantity, colour=colour)
            for quantity, values in drawn.items()
        ]
    return tuple(curves)


PLACE_PANELS = (
    Axis(GAIN, "gain of full duplex, %"),
    Axis(SECONDARY, "mean r2, Mb/s", 0),
    Axis(COUNTED_SHARE, "uplink frames with a secondary frame", 0, 1),
)


@figure_function("figure places")
def figure_places(lab: Lab) -> Figure:
    """Gain against the place of the downloading station."""
    distances = lab.pick((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0), (4.0, 8.0))
    pairs = _places(
        lab,
        {
            (label, distance): (distance, direction, {})
            for label, direction in DIRECTIONS.items()
            for distance in distances
        },
    )
    return Figure(
        "figure places",
        "full duplex where the stations' places decide on r2",
        Axis("distance_m", "distance of B from the access point, m", 0, 9.5),
        PLACE_PANELS,
        _draw_places(pairs, distances),
        notes=f"{PLACES} r2 is the highest rate that B decodes while A transmits. Where there is "
        "none, or the MAC ACK of B hides that to A, the exchange is half duplex. Nothing remains "
        "of the access point's own signal.",
    )


@figure_function("figure cancellation")
def figure_cancellation(lab: Lab) -> Figure:
    """Gain against the cancellation of the access point's own signal."""
    cancelled_db = lab.pick(CANCELLATIONS_DB, (70.0, 110.0))
    rules: Mapping[str, Mapping[str, Any]] = {
        "r2 by SINR": {},
        "r2 = 36 Mb/s": {"secondary_rate_mbps": 36.0},
    }
    pairs = _places(
        lab,
        {
            (label, db): (CANCELLED_NEAR_M, 180.0, {**keys, "cancellation_db": db})
            for label, keys in rules.items()
            for db in cancelled_db
        },
    )
    return Figure(
        "figure cancellation",
        "full duplex where some of the access point's own signal remains",
        Axis("cancellation_db", "cancellation of self-interference, dB", 58, 122),
        PLACE_PANELS,
        _draw_places(pairs, cancelled_db),
        notes=f"{PLACES} B is 4 m from the access point, opposite A. By SINR the access point "
        "sends nothing beside a frame that it would then lose; at a fixed rate it always does.",
    )
