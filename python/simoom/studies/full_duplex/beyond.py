"""What the paper leaves to future work: where full duplex is worth it.

Losses by noise, a wire with a delay, delayed ACKs, other congestion controls with a limited queue
at the access point, and any r2. N = 20, timeouts of RFC 6298, and windows that open by slow start.
Then two stations among radios, where r2 follows from their places and from what remains of the
access point's own signal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from typing import Any

from simoom.evidence import Value
from simoom.run import Run
from simoom.scenario import Scenario
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.full_duplex.paper import (
    BLUE,
    COUNTED,
    DOWN,
    GAIN,
    GREEN,
    HALF,
    ORANGE,
    PURPLE,
    TCP,
    TOTAL,
    VERMILION,
    WINDOW_SEGMENTS,
    Course,
    cell,
    gain,
    measure,
    total,
)
from simoom.studies.full_duplex.throughput import crossing
from simoom.studies.lab import Lab, Sample, figure_function

STATIONS = 20
UPLOADS = 0.5
COURSE = Course({"initial_window_segments": 10}, 10.0, 40.0)
TIMEOUTS_OF_RFC = {"rto_initial_ms": 1000.0, "rto_min_ms": 1000.0}
NOTE = "The paper leaves this for future work. N = 20, f = 1/2, r2 = 36 Mb/s."
PANELS = (Axis(GAIN, "gain of full duplex, %"), Axis(TOTAL, "throughput, Mb/s", 0))
Cases = Mapping[tuple[str, X], Mapping[str, Any]]
"""Keyword arguments of `cell` by curve and axis."""
Pairs = Mapping[tuple[str, X], tuple[Sample, Sample]]
"""Full and half duplex by curve and axis."""


def usual(
    r2: float | None = 36.0, *, tcp: Mapping[str, Any] | None = None, uploads: float = UPLOADS,
    **keys: Any,
) -> Scenario:  # fmt: skip
    """Return the cell of this file."""
    keys = {"course": COURSE, **keys, "tcp": {**TIMEOUTS_OF_RFC, **(tcp or {})}}
    return cell(STATIONS, uploads, r2, **keys)


def run_pairs(lab: Lab, cases: Cases) -> Pairs:
    """Run each case with full and with half duplex."""
    both = {
        (key, r2 is HALF): usual(r2, **{name: v for name, v in keys.items() if name != "r2"})
        for key, keys in cases.items()
        for r2 in (keys.get("r2", 36.0), HALF)
    }
    found = lab.sample(both, measure, replications=lab.pick(5, 2))
    return {key: (found[key, False], found[key, True]) for key in cases}


def draw(pairs: Pairs, x_values: Sequence[X]) -> tuple[Curve, ...]:
    """Return gain, and throughput with full duplex and with half duplex (dashed)."""
    labels = list(dict.fromkeys(label for label, _ in pairs))
    curves = []
    for label, colour in zip(labels, (BLUE, ORANGE, GREEN, VERMILION, PURPLE), strict=False):
        some = [pairs[label, x] for x in x_values]
        for quantity, values, dashed in (
            (GAIN, [gain(*each) for each in some], False),
            (TOTAL, [total(full) for full, _ in some], False),
            (TOTAL, [total(half) for _, half in some], True),
        ):
            name = f"{label}, half duplex" if dashed else label
            curves.append(
                curve(
                    name, Source.SIMULATION, x_values, values, quantity,
                    colour=colour, dashed=dashed,
                )
            )  # fmt: skip
    return tuple(curves)


@figure_function("figure loss")
def figure_loss(lab: Lab) -> Figure:
    """Gain against the loss of data frames by noise."""
    losses = lab.pick((0.0, 0.02, 0.05, 0.1, 0.2, 0.3), (0.3,))
    limits = {
        "no retry limit": {},
        "retry limits 7 and 4": {"short_retry_limit": 7, "long_retry_limit": 4},
    }
    cases: Cases = {
        (label, p): {"station": {"data_loss": p}, "wlan": wlan}
        for label, wlan in limits.items()
        for p in losses
    }
    pairs = run_pairs(lab, cases)
    return Figure(
        "figure loss",
        "full duplex where noise destroys data frames",
        Axis("loss", "probability that noise destroys a data frame", -0.01, 0.31),
        PANELS,
        draw(pairs, losses),
        notes=NOTE,
    )


@figure_function("figure delay")
def figure_delay(lab: Lab) -> Figure:
    """Gain against the delay of the wire."""
    delays_ms = lab.pick((0.0, 10.0, 20.0, 50.0, 100.0, 200.0), (200.0,))
    windows: Mapping[str, int] = {"window of 64 KB": 32, "window of 512 KB": 256}
    cases: Cases = {
        (label, at): {
            "wire": {"rate_mbps": 1000.0, "delay_ms": at},
            "tcp": {"window_segments": segments},
        }
        for label, segments in windows.items()
        for at in delays_ms
    }
    return Figure(
        "figure delay",
        "full duplex behind a wire with a delay",
        Axis("delay_ms", "delay of the wire in each direction, ms", -5, 205),
        PANELS,
        draw(run_pairs(lab, cases), delays_ms),
        notes=NOTE,
    )


@figure_function("figure acks")
def figure_acks(lab: Lab) -> Figure:
    """Gain with delayed ACKs."""
    rules: Mapping[str, Any] = {
        "every segment": "none",
        "every 2nd": {"fixed": {"segments": 2}},
        "every 4th": {"fixed": {"segments": 4}},
        "dynamic": "dynamic",
    }
    names = tuple(rules)
    cases: Cases = {
        (f"f = {f:g}", label): {"uploads": f, "tcp": {"delayed_ack": rule}}
        for f in lab.pick((0.0, 0.5, 1.0), (0.5,))
        for label, rule in rules.items()
    }
    return Figure(
        "figure acks",
        "full duplex with delayed ACKs",
        Axis("acknowledged", "segments that a TCP ACK acknowledges"),
        PANELS,
        draw(run_pairs(lab, cases), names),
        notes="The paper leaves this for future work. N = 20, r2 = 36 Mb/s, f as named.",
    )


@figure_function("figure queue")
def figure_queue(lab: Lab) -> Figure:
    """Gain against the limit of the access point's queue, by congestion control."""
    limits = lab.pick((10, 20, 50, 100, 200, 500, 1000), (20,))
    controls = {"NewReno": "new_reno", "CUBIC": "cubic", "BBR": "bbr"}
    cases: Cases = {
        (label, float(limit)): {
            "ap": {"queue": {"drop_tail": {"limit_packets": limit}}},
            "wire": {"rate_mbps": 1000.0, "delay_ms": 10.0},
            "flow": {"control": control},
            "tcp": {"window_segments": 256},
        }
        for label, control in controls.items()
        for limit in limits
    }
    pairs, x_values = run_pairs(lab, cases), tuple(map(float, limits))
    return Figure(
        "figure queue",
        "full duplex with a limited queue at the access point",
        Axis("limit_packets", "limit of the access point's queue, packets", 9, 1100, log=True),
        (*PANELS, Axis(DOWN, "share of the downloads", 0, 1)),
        (*draw(pairs, x_values), *_downloads(pairs, x_values)),
        notes=f"{NOTE} A wire of 10 ms, and windows of 512 KB. Half of the stations download: a "
        "share of 0.5 is fair.",
    )


def _downloads(pairs: Pairs, x_values: Sequence[X]) -> list[Curve]:
    """Return the share of the downloads, with full duplex and with half duplex (dashed)."""
    labels = list(dict.fromkeys(label for label, _ in pairs))
    return [
        curve(
            f"{label}, half duplex" if is_half else label,
            Source.SIMULATION,
            x_values,
            [Value.mean(pairs[label, x][is_half][DOWN]) for x in x_values],
            DOWN,
            colour=colour,
            dashed=bool(is_half),
        )
        for label, colour in zip(labels, (BLUE, ORANGE, GREEN), strict=True)
        for is_half in (0, 1)
    ]


RATES = (6.0, 12.0, 18.0, 24.0, 36.0, 54.0)


@figure_function("figure worth")
def figure_worth(lab: Lab) -> Figure:
    """Gain against r2: the rate from which full duplex is worth it."""
    rates = lab.pick(RATES, (12.0, 36.0))
    fractions = lab.pick((0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5))
    cases: Cases = {(f"f = {f:g}", r2): {"uploads": f, "r2": r2} for f in fractions for r2 in rates}
    pairs = run_pairs(lab, cases)
    even = ", ".join(f"{_break_even(pairs, f, rates)} Mb/s (f = {f:g})" for f in fractions if f < 1)
    return Figure(
        "figure worth",
        "full duplex against the rate of the access point while it receives",
        Axis("r2_mbps", "r2, Mb/s", 0, 56),
        PANELS,
        draw(pairs, rates),
        notes=f"N = 20, f as named. Full duplex breaks even at r2 = {even}.",
    )


def _break_even(pairs: Pairs, uploads: float, rates: Sequence[float]) -> Value:
    """Return the r2 at which full duplex has the throughput of half duplex."""
    some = [pairs[f"f = {uploads:g}", r2] for r2 in rates]
    count = len(some[0][0][TOTAL])
    return Value.mean(
        crossing(tuple(rates), [full[TOTAL][k] - half[TOTAL][k] for full, half in some])
        for k in range(count)
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
