"""Mice and elephants apart, and the model of W* = d under delayed ACK.

The core reports the delays of a flow and not those of a file. Mice and elephants therefore are
flows of different stations: 16 stations download the files of up to 30 segments, four those that
are larger, which is the mixture of the paper's Pareto distribution (0.19 of the files are larger).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from simoom.models import http_sessions
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.delays import EACH
from simoom_studies.http_queueing.fairness import WINDOW_AXIS
from simoom_studies.http_queueing.paper import (
    DELACK_MS,
    FILE_BYTES,
    FILES,
    LARGE_WINDOW,
    PARETO_SHAPE,
    TCP,
    THINK_S,
    expected_file_s,
    measure,
    web,
)
from simoom_studies.http_queueing.sessions import (
    BLUE,
    BUFFER,
    GREEN,
    ORANGE,
    STATIONS,
    STATIONS_AXIS,
    replications,
)

claim = Claims(__package__)

MICE, ELEPHANTS = 16, 4
LARGEST_MOUSE_BYTES = 30_000
MOUSE_SIZES = 100


def mouse_bytes() -> list[int]:
    """Return equally frequent sizes of mice: quantiles of the paper's Pareto distribution."""
    least = FILE_BYTES * (1 - 1 / PARETO_SHAPE)
    larger = (least / LARGEST_MOUSE_BYTES) ** PARETO_SHAPE
    parts = ((i + 0.5) / MOUSE_SIZES * (1 - larger) for i in range(MOUSE_SIZES))
    return [round(least * (1 - part) ** (-1 / PARETO_SHAPE)) for part in parts]


def apart(window: int, queue: Mapping[str, Any] | None) -> Scenario:
    """Return stations that download mice and stations that download elephants."""
    scenario = web(MICE + ELEPHANTS, window=window, queue=queue)
    # The excess of a Pareto distribution is Pareto with the same shape.
    mean = LARGEST_MOUSE_BYTES * PARETO_SHAPE / (PARETO_SHAPE - 1)
    sizes: dict[str, tuple[str, dict[str, Any]]] = {
        "mice": (f"sta0-{MICE - 1}", {"empirical": {"bytes": mouse_bytes()}}),
        "elephants": (
            f"sta{MICE}-{MICE + ELEPHANTS - 1}",
            {"pareto": {"mean_bytes": round(mean), "shape": PARETO_SHAPE}},
        ),
    }
    each = {"think_s": THINK_S, "files": FILES, "first": "think", "delay": "acknowledged"}
    flows = [
        {
            "name": name,
            "from": "server",
            "to": to,
            "traffic": {"web": {**each, "size": size}},
            "tcp": TCP | {"window_segments": window},
        }
        for name, (to, size) in sizes.items()
    ]
    return scenario.set("flows", flows)


@figure_function("figure mice")
def figure_mice(lab: Lab) -> Figure:
    """Delay of mice and of elephants against W*, with and without a small buffer."""
    windows = lab.pick((5, 10, 15, 20, 25, 30, 35, 45, 60), (5, 15, 30, 60))
    small = {"drop_tail": {"limit_packets": BUFFER}}
    cases: dict[tuple[str, X], Scenario] = {("30 packets", w): apart(w, small) for w in windows}
    cases |= {("no limit", w): apart(w, None) for w in (1, LARGE_WINDOW)}
    found = lab.sample(cases, measure, replications=replications(lab))
    curves = [
        curve(
            f"{group}, {buffer}",
            Source.SIMULATION,
            (x_values := [w for b, w in found if b == buffer]),
            [Value.median(found[buffer, w][f"{group}.{EACH}"]) for w in x_values],
            EACH,
            colour=colour,
            dashed=buffer == "no limit",
        )
        for group, colour in (("mice", BLUE), ("elephants", ORANGE))
        for buffer in ("30 packets", "no limit")
    ]
    return Figure(
        "figure mice",
        f"delays of mice and elephants against W*, {MICE + ELEPHANTS} stations",
        WINDOW_AXIS,
        (Axis(EACH, "delay per segment of the file, ms"),),
        tuple(curves),
        _mice_claims(found),
        notes=f"{MICE} stations download files of up to 30 segments, {ELEPHANTS} larger ones.",
    )


def _mice_claims(found: Mapping[tuple[str, X], Sample]) -> tuple[Claim, ...]:
    """Check what a larger W* does to mice and to elephants."""

    def grows(group: str, buffer: str, of: int, over: int) -> Value:
        key = f"{group}.{EACH}"
        return Value.median(found[buffer, of][key] / found[buffer, over][key])

    return (
        claim(
            "window_trades_mice_for_elephants",
            checks=[
                Check(
                    "elephants, W* = 1000 over 1", grows("elephants", "no limit", 1000, 1), high=1.0
                ),
                Check("mice, W* = 1000 over 1", grows("mice", "no limit", 1000, 1), low=1.0),
            ],
        ),
        claim(
            "mice_lose_up_to_buffer",
            checks=[Check("mice, W* = 30 over 5", grows("mice", "30 packets", 30, 5), low=1.0)],
        ),
        claim(
            "elephants_lose_beyond_buffer",
            checks=[
                Check(
                    "elephants, W* = 60 over 30", grows("elephants", "30 packets", 60, 30), low=1.0
                ),
                Check("mice, W* = 60 over 30", grows("mice", "30 packets", 60, 30), high=1.0),
            ],
        ),
    )


DELACKS = {2: BLUE, 3: ORANGE, 4: GREEN}


def predicted_s(n: int, every: int) -> float:
    """Return (16) and (17) with the capacity of (12), and the timer of the last TCP ACK.

    An exponential size has a geometric number of segments N, so that N is no multiple of d with
    probability 1 - (1 - q) q^(d-1) / (1 - q^d), q = exp(-L / E[X]).
    """
    cell = http_sessions.web_cell(n - 1, think_s=THINK_S, mean_bytes=FILE_BYTES, delayed_ack=every)
    q = math.exp(-1000 / FILE_BYTES)
    waits = 1 - (1 - q) * q ** (every - 1) / (1 - q**every)
    return float(cell.mean_delay_s) + waits * DELACK_MS / 1e3


@figure_function("figure window_d")
def figure_window_d(lab: Lab) -> Figure:
    """Session delay with delayed ACK and W* = d against the number of stations."""
    quantity = "expected_file_s"
    cases = {
        (d, n): web(n - 1, window=d, every=d, kind="exponential") for d in DELACKS for n in STATIONS
    }
    found = lab.sample(cases, measure, replications=lab.pick(12, 6))
    simulated = {
        d: curve(
            f"W* = d = {d}",
            Source.SIMULATION,
            STATIONS,
            [Value.mean(expected_file_s(found[d, n])) for n in STATIONS],
            quantity,
            colour=colour,
        )
        for d, colour in DELACKS.items()
    }
    solved = {
        d: curve(
            f"(16), (17) with (12), d = {d}",
            Source.ANALYSIS,
            range(2, 32),
            [predicted_s(n, d) for n in range(2, 32)],
            quantity,
            colour=colour,
        )
        for d, colour in DELACKS.items()
    }
    return Figure(
        "figure window_d",
        "web sessions with delayed ACK and W* = d",
        STATIONS_AXIS,
        (Axis(quantity, "delay of a file of 30.5 segments, s", 0),),
        (*solved.values(), *simulated.values()),
        (
            claim(
                "delayed_ack_model",
                checks=[
                    Check.agrees(f"d = {d}, n = {n}", each.at(n), solved[d].at(n), within=0.05)
                    for d, each in simulated.items()
                    for n in STATIONS
                ],
            ),
        ),
        notes="Exponential files, a timer of 40 ms.",
    )
