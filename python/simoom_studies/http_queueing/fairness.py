"""Subjects without a figure in the paper: fair queueing, elephants, uploads with downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simoom.models import http_queueing, ps_queue
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.delays import DELAY, EACH, HEAVY_TAIL, both, ratio
from simoom_studies.http_queueing.paper import (
    CELL,
    FILE_BYTES,
    LARGE_WINDOW,
    PAPER,
    TCP,
    THINK_S,
    measure,
    size,
    web,
)
from simoom_studies.http_queueing.sessions import (
    BLUE,
    GREEN,
    ORANGE,
    STATIONS,
    STATIONS_AXIS,
    VERMILION,
    replications,
    session_runs,
)

claim = Claims(__package__)

DRR = {"drr": {"per": "flow", "quantum_bytes": 1040}}
"""Deficit round robin with a quantum of one segment."""
RED = {"red": {"min_packets": 5, "max_packets": 15, "limit_packets": 30, "weight": 0.002}}
"""RED with the thresholds of ns-2, in a buffer of 30 packets; the paper names no parameters."""
BLACK = 7
WINDOW_AXIS = Axis(
    "window_segments", "advertised window W* of all flows, segments", 0.9, 1100, True
)


@figure_function("figure fair_queue")
def figure_fair_queue(lab: Lab) -> Figure:
    """Web sessions with a large window behind a fair queue."""
    runs = session_runs(lab)
    kinds = ("Pareto", "exponential")
    cases = {
        (kind, n): web(n - 1, window=LARGE_WINDOW, kind=kind, queue=DRR)
        for kind in kinds
        for n in STATIONS
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    fair: dict[str, dict[X, Sample]] = {
        kind: {n: found[kind, n] for n in STATIONS} for kind in kinds
    }
    early: dict[X, Scenario] = {n: web(n - 1, window=LARGE_WINDOW, queue=RED) for n in STATIONS}
    red = lab.sample(early, measure, replications=replications(lab))
    fifo, small = runs["Pareto, W* = 1000"], runs["Pareto, W* = 1"]
    return Figure(
        "figure fair_queue",
        "web sessions behind a fair queue",
        STATIONS_AXIS,
        (
            Axis(DELAY, "mean session delay, s", 0),
            Axis(EACH, "delay per segment of the file, ms", 0),
        ),
        (
            *both("Pareto, W* = 1, FIFO", small, colour=ORANGE),
            *both("Pareto, W* = 1000, FIFO", fifo, colour=VERMILION),
            *both("Pareto, W* = 1000, DRR", fair["Pareto"], colour=BLUE),
            *both("exponential, W* = 1000, DRR", fair["exponential"], colour=GREEN),
            *both("Pareto, W* = 1000, RED", red, colour=BLACK),
        ),
        _fair_claims(small, fifo, fair, red),
        notes=HEAVY_TAIL,
    )


def _fair_claims(
    small: Mapping[X, Sample],
    fifo: Mapping[X, Sample],
    fair: Mapping[str, Mapping[X, Sample]],
    red: Mapping[X, Sample],
) -> tuple[Claim, ...]:
    """Compare a fair queue with W* = 1 and with FIFO."""
    return (
        claim(
            "fair_queue_shares",
            checks=[
                Check(f"n = {n}, DRR over W* = 1", ratio(small[n], fair["Pareto"][n]), 0.95, 1.05)
                for n in small
            ],
        ),
        claim(
            "fair_queue_helps_mice",
            checks=[
                Check(f"n = {n}, DRR over FIFO", ratio(fifo[n], fair["Pareto"][n]), high=0.9)
                for n in small
                if float(n) >= 11
            ],
        ),
        claim(
            "fair_queue_insensitive",
            checks=[
                Check.agrees(
                    f"n = {n}, Pareto over exponential, per segment",
                    Value.median(fair["Pareto"][n][EACH]).named(EACH, "Pareto", str(n)),
                    Value.median(fair["exponential"][n][EACH]).named(EACH, "exponential", str(n)),
                    within=0.05,
                )
                for n in small
            ],
        ),
        claim(
            "red_helps_mice",
            checks=[
                Check(f"n = {n}, RED over FIFO", ratio(fifo[n], red[n]), high=1.0)
                for n in small
                if float(n) >= 11
            ],
        ),
    )


def elephant(window: int, queue: Mapping[str, Any] | None, seconds: float) -> Scenario:
    """Return ten browsing stations and one endless download."""
    traffic = {
        "size": size("exponential"),
        "think_s": THINK_S,
        "first": "think",
        "delay": "acknowledged",
    }
    tcp = TCP | {"window_segments": window}
    flows = [
        {"name": "elephant", "from": "server", "to": "sta0", "traffic": "bulk", "tcp": tcp},
        {"name": "web", "from": "server", "to": "sta1-10", "traffic": {"web": traffic}, "tcp": tcp},
    ]
    return _cell(11, flows, queue, warmup_s=20.0, seconds=seconds)


def _cell(
    count: int,
    flows: list[dict[str, Any]],
    queue: Mapping[str, Any] | None,
    *,
    warmup_s: float,
    seconds: float,
) -> Scenario:
    scenario = PAPER.set("stations", count).set("flows", flows)
    if queue is not None:
        scenario = scenario.set("ap.queue", dict(queue))
    return scenario.set("warmup_s", warmup_s).set("duration_s", warmup_s + seconds)


QUEUES: dict[str, tuple[Mapping[str, Any] | None, int]] = {
    "FIFO without limit": (None, VERMILION),
    "FIFO, 30 packets": ({"drop_tail": {"limit_packets": 30}}, ORANGE),
    "RED, 30 packets": (RED, BLACK),
    "DRR per flow": (DRR, BLUE),
}


def shared_with_elephant_s() -> float:
    """Return the delay of a file if the browsers and the elephant share the cell equally.

    A processor-sharing queue with one customer that never leaves: k browsers of k + 1 customers get
    that part of the capacity. The set-up is added, as in (17).
    """
    capacity = np.asarray(http_queueing.tcp_throughput(range(2, 12)).total_mbps)
    browsing = np.arange(1, 11)
    queue = ps_queue.solve(
        10,
        think_s=THINK_S,
        mean_bits=8 * FILE_BYTES,
        capacity_mbps=capacity * browsing / (browsing + 1),
    )
    return CELL.setup_us() / 1e6 + float(queue.mean_delay_s)


@figure_function("figure elephants")
def figure_elephants(lab: Lab) -> Figure:
    """Browsing with an endless download in the cell, against W* and by queue."""
    windows = lab.pick((1, 2, 5, 10, 20, 50, 100, 200, 1000), (1, 5, 20, 100, 1000))
    seconds = lab.pick(2000.0, 800.0)
    cases = {
        (q, w): elephant(w, queue, seconds) for q, (queue, _) in QUEUES.items() for w in windows
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 4))

    def curves(quantity: str, measured: str) -> dict[str, Curve]:
        return {
            q: curve(
                q,
                Source.SIMULATION,
                windows,
                [Value.mean(found[q, w][measured]) for w in windows],
                quantity,
                colour=colour,
            )
            for q, (_, colour) in QUEUES.items()
        }

    delay = curves(DELAY, f"web.{DELAY}")
    goodput = curves("elephant_mbps", "elephant.goodput_mbps")
    shared = curve(
        "processor sharing", Source.ANALYSIS, (1, 1000), [shared_with_elephant_s()] * 2, DELAY,
        colour=GREEN,
    )  # fmt: skip
    return Figure(
        "figure elephants",
        "ten browsing stations and an endless download",
        WINDOW_AXIS,
        (
            Axis(DELAY, "mean session delay of the browsers, s", 0.1, 100, log=True),
            Axis("elephant_mbps", "goodput of the elephant, Mb/s", 0, 2.5),
        ),
        (*delay.values(), shared, *goodput.values()),
        _elephant_claims(delay, goodput["DRR per flow"], shared),
        notes="Exponential files of 30000 bytes: the only elephant is the endless download.",
    )


def _elephant_claims(
    delay: Mapping[str, Curve], fair_goodput: Curve, shared: Curve
) -> tuple[Claim, ...]:
    """Check what an endless download does to browsers behind each queue."""
    fifo, fair = delay["FIFO without limit"], delay["DRR per flow"]
    red, small = delay["RED, 30 packets"], delay["FIFO, 30 packets"]
    windows = fifo.x
    return (
        claim(
            "elephant_starves_browsers",
            checks=[
                Check(f"delay, W* = {w} over 1", fifo.at(w).over(fifo.at(1)), low=2.0)
                for w in (100, 1000)
            ],
        ),
        claim(
            "small_window_protects",
            checks=[
                Check.agrees(
                    f"delay, W* = 1, {q}, over that of processor sharing",
                    each.at(1),
                    shared.at(1),
                    within=0.05,
                )
                for q, each in delay.items()
            ],
        ),
        claim(
            "fair_queue_protects",
            checks=[
                Check.agrees(f"delay, DRR, W* = {w} over 1", fair.at(w), fair.at(1), within=0.05)
                for w in windows[1:]
            ],
            remark="the elephant gets the remaining capacity: "
            f"{fair_goodput.at(1000)} Mb/s at W* = 1000, "
            f"{fair_goodput.at(1)} at W* = 1",
        ),
        claim(
            "red_protects_browsers",
            checks=[
                Check(f"W* = {w}, RED over FIFO of 30 packets", red.at(w).over(small.at(w)), high=1)
                for w in windows
                if float(w) >= 20
            ],
        ),
    )


def uploads_and_downloads(window: int, queue: Mapping[str, Any] | None, seconds: float) -> Scenario:
    """Return five endless uploads and five endless downloads."""
    tcp = TCP | {"window_segments": window}
    ends = {"upload": ("sta0-4", "server"), "download": ("server", "sta5-9")}
    flows = [
        {"name": name, "from": a, "to": b, "traffic": "bulk", "start_spread_s": 1.0, "tcp": tcp}
        for name, (a, b) in ends.items()
    ]
    return _cell(10, flows, queue, warmup_s=30.0, seconds=seconds)


BUFFERS: dict[str, tuple[Mapping[str, Any] | None, int]] = {
    "FIFO without limit": (None, GREEN),
    "FIFO, 100 packets": ({"drop_tail": {"limit_packets": 100}}, VERMILION),
    "DRR per flow": (DRR, BLUE),
}


@figure_function("figure uplink")
def figure_uplink(lab: Lab) -> Figure:
    """Uploads and downloads, against W* and by queue."""
    windows = lab.pick((1, 2, 3, 5, 7, 10, 15, 20, 30, 50), (1, 2, 5, 10, 20, 50))
    seconds = lab.pick(300.0, 150.0)
    cases = {
        (q, w): uploads_and_downloads(w, queue, seconds)
        for q, (queue, _) in BUFFERS.items()
        for w in windows
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 6))

    def goodput(q: str, direction: str) -> Curve:
        return curve(
            f"{direction}s, {q}",
            Source.SIMULATION,
            windows,
            [Value.mean(1e3 * found[q, w][f"{direction}.goodput_mbps"]) for w in windows],
            "goodput_kbps",
            colour=BUFFERS[q][1],
            dashed=direction == "download",
        )

    def advantage(q: str, w: int) -> Value:
        runs = found[q, w]
        up, down = runs["upload.goodput_mbps"], runs["download.goodput_mbps"]
        return Value.median(up / (up + down))

    fit = [w for w in windows if 10 * w <= 100]
    claims = (
        claim(
            "uploads_beat_downloads",
            checks=[
                Check(f"share of uploads, W* = 50, {q}", advantage(q, 50), low=0.6)
                for q in ("FIFO, 100 packets", "FIFO without limit")
            ],
        ),
        claim(
            "small_window_fair",
            checks=[
                Check.near(
                    f"share of uploads, W* = {w}",
                    advantage("FIFO, 100 packets", w),
                    0.5,
                    within=0.05,
                )
                for w in fit
            ],
        ),
    )
    return Figure(
        "figure uplink",
        "five uploads and five downloads",
        Axis("window_segments", "advertised window W* of all flows, segments", 0.9, 55, log=True),
        (Axis("goodput_kbps", "goodput of each flow, kb/s", 0, 700),),
        tuple(goodput(q, d) for q in BUFFERS for d in ("upload", "download")),
        claims,
        notes="Per-flow scheduling, which protects mice from elephants, does not make directions "
        "fair: deficits count bytes, so that a round serves 26 TCP ACKs of an upload per "
        "segment "
        f"of a download: at W* = 50 uploads get {advantage('DRR per flow', 50)} of the goodput.",
    )
