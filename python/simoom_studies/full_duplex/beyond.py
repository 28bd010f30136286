"""What the paper leaves to future work: where full duplex is worth it.

Losses by noise, a wire with a delay, delayed ACKs, other congestion controls with a limited queue
at the access point, any r2, full-duplex stations, and the aggregates of 802.11ac. N = 20, timeouts
of RFC 6298, and windows that open by slow start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.full_duplex.paper import (
    BLUE,
    DOWN,
    GAIN,
    GREEN,
    HALF,
    ORANGE,
    PURPLE,
    TOTAL,
    VERMILION,
    Course,
    cell,
    gain,
    measure,
    share,
    total,
)
from simoom_studies.full_duplex.throughput import crossing

claim = Claims(__package__)

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


@figure_function("figure bidirectional")
def figure_bidirectional(lab: Lab) -> Figure:
    """Gain against the fraction of uploads, with half-duplex and with full-duplex stations."""
    fractions = lab.pick((0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 1.0))
    stations: Mapping[str, Mapping[str, Any]] = {
        "half-duplex": {},
        "full-duplex": {"bidirectional": True},
    }
    cases: Cases = {
        (f"{kind} stations, r2 = {r2:g} Mb/s", f): {"uploads": f, "r2": r2, "options": options}
        for r2 in (36.0, 12.0)
        for kind, options in stations.items()
        for f in fractions
    }
    pairs = run_pairs(lab, cases)
    return Figure(
        "figure bidirectional",
        "full-duplex stations",
        Axis("upload_fraction", "fraction of stations that upload, f", 0, 1),
        PANELS,
        draw(pairs, fractions),
        (_few_gains_more(pairs),),
        notes="The paper's stations are half duplex. N = 20. Frames between two nodes that send to "
        "each other have 54 Mb/s.",
    )


def _few_gains_more(pairs: Pairs) -> Claim:
    """Compare full-duplex stations with half-duplex ones."""
    checks = []
    for f in (0.0, 1.0):
        half, full = (
            pairs[f"{kind} stations, r2 = 36 Mb/s", f][0][TOTAL]
            for kind in ("half-duplex", "full-duplex")
        )
        more = Value.mean(full / half).named("full-duplex stations by simulation", f"f = {f:g}")
        checks.append(
            Check(f"full-duplex stations over others, f = {f:g}", more, low=1.0, high=1.1)
        )
    return claim("full_duplex_stations_gain_little", checks=checks)


FRAMES = (1, 2, 4, 8, 16, 32, 64)
MODERN = Course({}, 2.0, 6.0)


@figure_function("figure aggregates")
def figure_aggregates(lab: Lab) -> Figure:
    """Gain with the A-MPDUs of 802.11ac, with and without RTS and CTS."""
    frames = lab.pick(FRAMES, (1, 16))
    cells = {
        (label, float(count), is_full): modern(count, threshold, is_full=is_full)
        for label, threshold in {"RTS and CTS": 0, "no RTS and CTS": 2347}.items()
        for count in frames
        for is_full in (True, False)
    }
    found = lab.sample(cells, measure, replications=lab.pick(5, 2))
    pairs: Pairs = {
        (label, count): (found[label, count, True], found[label, count, False])
        for label, count, is_full in cells
        if is_full
    }
    return Figure(
        "figure aggregates",
        "full duplex with the A-MPDUs of 802.11ac",
        Axis("frames", "MPDUs in an A-MPDU, at most", 0.9, 70, log=True),
        PANELS,
        draw(pairs, tuple(map(float, frames))),
        (_rts_decides(pairs),),
        notes=f"The paper's frames are those of 802.11a. N = {STATIONS}, f = 1/2, 80 MHz, MCS 7, "
        "and MCS 4 while the access point receives. Without RTS and CTS the secondary frame "
        "begins after the MAC header of the primary one.",
    )


def _rts_decides(pairs: Pairs) -> Claim:
    """Compare the gain of single MPDUs with and without RTS and CTS."""
    checks = [
        Check(
            f"{label}, % of half duplex",
            share(*pairs[label, 1.0]).named("share by simulation", label),
            low=low,
            high=high,
        )
        for label, low, high in (("RTS and CTS", 110, 135), ("no RTS and CTS", 88, 104))
    ]
    return claim("only_rts_makes_it_worth_it", checks=checks)


def modern(frames: int, rts_threshold_bytes: int, *, is_full: bool) -> Scenario:
    """Return a cell of 802.11ac with as many MPDUs in an A-MPDU."""
    duplex = {"full_duplex": {"secondary_mcs": 4, "rts_cts": "optional"}} if is_full else {}
    half = STATIONS // 2
    common = {"control": "cubic", "tcp": {"window_bytes": 1_000_000}}
    return Scenario(
        title="Full duplex with A-MPDUs" if is_full else "A-MPDUs",
        standard="11ac",
        duration_s=MODERN.end_s,
        warmup_s=MODERN.begin_s,
        wlan={
            "width_mhz": 80,
            "mcs": 7,
            "rts_threshold_bytes": rts_threshold_bytes,
            "aggregation": {"frames": frames},
            **duplex,
        },
        stations={"count": STATIONS},
        ap={"queue": {"drop_tail": {"limit_packets": 20_000}}},
        wire={"rate_mbps": 10_000.0, "delay_ms": 2.0},
        flows=[
            {"from": f"sta0-{half - 1}", "to": "server", **common},
            {"from": "server", "to": f"sta{half}-{STATIONS - 1}", **common},
        ],
    )


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
