"""Sessions of many stations: Figs 8 to 11 of the paper, sections 4.2 and 4.3."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from simoom.models import http_sessions as model
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.delays import DELAY, EACH, HEAVY_TAIL, both, ratio
from simoom_studies.http_queueing.paper import (
    FILE_BYTES,
    LARGE_WINDOW,
    SEGMENT_BITS,
    THINK_S,
    expected_file_s,
    measure,
    web,
)

claim = Claims(__package__)

BLUE, ORANGE, GREEN, VERMILION = range(4)
GOOD_MATCH = "5 %: the paper says a good match and no number"
STATIONS_AXIS = Axis("n", "stations and access point, n", 0, 32)
ByXValue = dict[X, Sample]

SETTINGS = {
    "exponential, W* = 1": ("exponential", 1, BLUE),
    "Pareto, W* = 1": ("Pareto", 1, ORANGE),
    "exponential, W* = 1000": ("exponential", LARGE_WINDOW, GREEN),
    "Pareto, W* = 1000": ("Pareto", LARGE_WINDOW, VERMILION),
}


STATIONS = (2, 6, 11, 21, 31)
"""n, which counts the stations and the access point."""


def replications(lab: Lab) -> int:
    """Return the number of runs of a point; an undecided claim has up to four times as many."""
    return lab.pick(15, 6)


def session_runs(lab: Lab) -> dict[str, ByXValue]:
    """Return the runs of Fig. 8: by setting, then by n."""
    cases = {
        (label, n): web(n - 1, window=SETTINGS[label][1], kind=SETTINGS[label][0])
        for label in SETTINGS
        for n in STATIONS
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    return {label: {n: found[label, n] for n in STATIONS} for label in SETTINGS}


def predicted(
    label: str,
    x_values: Iterable[X],
    *,
    n: Iterable[int],
    think_s: Iterable[float],
    quantity: str = DELAY,
    arrivals: str = "corrected",
    c1: str = "corrected",
) -> Curve:
    """Return (16) and (17), whole or per segment."""
    cell = model.web_cell(
        [each - 1 for each in n],
        think_s=list(think_s),
        mean_bytes=FILE_BYTES,
        arrivals=arrivals,
        c1=c1,
    )
    unit = 1.0 if quantity == DELAY else 1e3 * SEGMENT_BITS / (8 * FILE_BYTES)
    values = [unit * float(each) for each in np.asarray(cell.mean_delay_s)]
    dashed = c1 == "printed"
    return curve(label, Source.ANALYSIS, x_values, values, quantity, colour=7, dashed=dashed)


@figure_function("figure 8")
def figure_8(lab: Lab) -> Figure:
    """Mean session delay against the number of stations."""
    runs = session_runs(lab)
    counts = list(range(2, 32))
    think = [THINK_S] * len(counts)
    label = "(16), (17) corrected"
    corrected, per_segment = (
        predicted(label, counts, n=counts, think_s=think, quantity=quantity)
        for quantity in (DELAY, EACH)
    )
    contended = predicted(
        "(16), (17) with C_1 as printed", counts, n=counts, think_s=think, c1="printed"
    )
    printed = predicted(
        "as printed", counts, n=counts, think_s=think, arrivals="printed", c1="printed"
    )
    colours = {label: colour for label, (_, _, colour) in SETTINGS.items()}
    return Figure(
        "figure 8",
        "web sessions of n - 1 stations",
        STATIONS_AXIS,
        (
            Axis(DELAY, "mean session delay, s", 0, 0.4),
            Axis(EACH, "delay per segment of the file, ms", 0, 14),
        ),
        (
            corrected,
            contended,
            *(c for label in SETTINGS for c in both(label, runs[label], colour=colours[label])),
            per_segment,
            *reference.curves(__package__, "figure 8", colours),
        ),
        (*_model_claims(runs, corrected, contended, printed), *_window_claims(runs)),
        notes=HEAVY_TAIL,
    )


def _model_claims(
    runs: dict[str, ByXValue], corrected: Curve, contended: Curve, printed: Curve
) -> tuple[Claim, ...]:
    """Compare (16) and (17), corrected and printed, with simulations of W* = 1."""
    exponential = runs["exponential, W* = 1"]
    simulated = {n: Value.mean(expected_file_s(sample)) for n, sample in exponential.items()}
    per_segment = {
        n: Value.median(s[EACH]).named(EACH, "exponential", str(n)) for n, s in exponential.items()
    }
    statement = "With W* = 1 the queueing model, (16) and (17), gives the mean session delay"

    def checks(by: Curve, least: float) -> tuple[Check, ...]:
        return tuple(
            Check.agrees(f"n = {n}", value, by.at(n), within=0.05)
            for n, value in simulated.items()
            if float(n) > least
        )

    return (
        claim(
            "queueing_model",
            f"{statement} (with the arrival rate and C_1 corrected).",
            checks=checks(corrected, 0),
        ),
        claim(
            "queueing_model_as_printed",
            f"{statement} (as printed).",
            checks=checks(printed, 2),
            others=[
                Reading("arrival rate corrected, C_1 as printed", checks(contended, 2)),
                Reading("arrival rate and C_1 corrected", checks(corrected, 2)),
            ],
        ),
        claim(
            "insensitive",
            checks=[
                Check.agrees(
                    f"n = {n}",
                    Value.median(sample[EACH]).named(EACH, "Pareto", str(n)),
                    per_segment[n],
                    within=0.05,
                )
                for n, sample in runs["Pareto, W* = 1"].items()
            ],
        ),
    )


def _window_claims(runs: dict[str, ByXValue]) -> tuple[Claim, ...]:
    """Check the effect of a large W* on both kinds of files."""
    pairs = {
        kind: {
            n: ratio(runs[f"{kind}, W* = 1"][n], runs[f"{kind}, W* = 1000"][n])
            for n in runs[f"{kind}, W* = 1"]
        }
        for kind in ("exponential", "Pareto")
    }
    return (
        claim(
            "window_matters_little",
            checks=[
                Check(f"n = {n}, W* = 1000 over 1", value, 0.95, 1.05)
                for n, value in pairs["exponential"].items()
            ],
        ),
        claim(
            "elephants_hurt",
            checks=[
                Check(f"n = {n}, W* = 1000 over 1", value, low=1.25)
                for n, value in pairs["Pareto"].items()
                if float(n) >= 11
            ],
        ),
    )


@figure_function("figure 9")
def figure_9(lab: Lab) -> Figure:
    """Mean session delay of ten stations against the mean think time."""
    think = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
    cases = {
        (kind, t): web(10, window=1, kind=kind, think_s=t)
        for kind in ("Pareto", "exponential")
        for t in think
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    colours = {"Pareto": ORANGE, "exponential": BLUE}
    runs: dict[str, ByXValue] = {kind: {t: found[kind, t] for t in think} for kind in colours}
    fine = [0.5 + 0.1 * i for i in range(196)]
    solved, per_segment = (
        predicted("(16), (17) corrected", fine, n=[11] * 196, think_s=fine, quantity=quantity)
        for quantity in (DELAY, EACH)
    )
    at = predicted("", think, n=[11] * len(think), think_s=think)
    busy = Value.mean(expected_file_s(runs["exponential"][think[0]])).over(at.at(think[0]))
    claims = (
        claim(
            "think_time_model",
            checks=[
                Check.agrees(
                    f"1/lambda = {t:g} s",
                    Value.median(expected_file_s(sample)),
                    at.at(t),
                    within=0.05,
                )
                for t, sample in runs["Pareto"].items()
            ],
            remark="under overload 300 files a station are too few to include the largest files; "
            f"exponential files give {busy} at 1/lambda = {think[0]:g} s",
        ),
    )
    return Figure(
        "figure 9",
        "web sessions of ten stations against think time, W* = 1",
        Axis("think_s", "mean think time, s", 0, 20.5),
        (
            Axis(DELAY, "mean session delay, s", 0, 0.6),
            Axis(EACH, "delay per segment of the file, ms", 0, 20),
        ),
        (
            solved,
            *(c for kind in colours for c in both(kind, runs[kind], colour=colours[kind])),
            per_segment,
            *reference.curves(__package__, "figure 9", colours),
        ),
        claims,
        notes=HEAVY_TAIL,
    )


BUFFER = 30
"""B of Fig. 10 in packets, including the packet in service, as in ns-2."""


@figure_function("figure 10")
def figure_10(lab: Lab) -> Figure:
    """Session delay of twenty stations against W*, with a small buffer at the access point."""
    windows = (5, 15, 25, 30, 35, 60)
    queue = {"drop_tail": {"limit_packets": BUFFER}}
    cases: dict[X, Scenario] = {w: web(20, window=w, queue=queue) for w in windows}
    runs = lab.sample(cases, measure, replications=replications(lab))
    label = f"drop-tail, {BUFFER} packets"

    def steps(low: int, high: int) -> list[tuple[X, X]]:
        inside = [w for w in windows if low <= w <= high]
        return list(pairwise(inside))

    claims = (
        claim(
            "delay_grows_up_to_buffer",
            checks=[
                Check(f"W* = {b} over {a}", ratio(runs[a], runs[b]), low=1.0)
                for a, b in steps(5, BUFFER)
            ],
        ),
        claim(
            "flat_beyond_buffer",
            checks=[
                Check(f"W* = {b} over {a}", ratio(runs[a], runs[b]), 0.97, 1.03)
                for a, b in steps(BUFFER, 60)
            ],
        ),
        claim(
            "worst_at_buffer",
            checks=[Check(f"W* = 60 over {BUFFER}", ratio(runs[BUFFER], runs[60]), high=1.0)],
            others=[
                *(
                    Reading(f"W* = {b} over {a}", (Check("", ratio(runs[a], runs[b]), high=1.0),))
                    for a, b in steps(BUFFER, 60)
                ),
                Reading(
                    f"W* = 60 over {BUFFER}, mean over runs",
                    (Check("", Value.mean(runs[60][DELAY] / runs[BUFFER][DELAY]), high=1.0),),
                ),
            ],
        ),
    )
    return Figure(
        "figure 10",
        f"twenty stations, {BUFFER} packets of buffer, against W*",
        Axis("window_segments", "advertised window W*, segments", 0, 62),
        (
            Axis(DELAY, "mean session delay, s"),
            Axis(EACH, "delay per segment of the file, ms"),
        ),
        (
            *both(label, runs, colour=BLUE),
            *reference.curves(__package__, "figure 10", {label: ORANGE}),
        ),
        claims,
        notes=f"{HEAVY_TAIL} Retransmission timers as in RFC 6298; those of ns-2.35 expire after "
        "0.2 s at the earliest.",
    )


SCHEMES: dict[str, tuple[int | str, int]] = {
    "d = 1": (1, BLUE),
    "d = 2": (2, ORANGE),
    "d = 3": (3, GREEN),
    "dynamic": ("dynamic", VERMILION),
}


@figure_function("figure 11")
def figure_11(lab: Lab) -> Figure:
    """Session delay with delayed ACKs against the number of stations."""
    cases = {
        (label, n): web(n - 1, window=LARGE_WINDOW, every=every)
        for label, (every, _) in SCHEMES.items()
        for n in STATIONS
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    runs: dict[str, ByXValue] = {label: {n: found[label, n] for n in STATIONS} for label in SCHEMES}
    largest = STATIONS[-1]
    claims = (
        claim(
            "delayed_ack_helps_crowds",
            checks=[
                Check(
                    f"n = {n}, {label} over d = 1",
                    ratio(runs["d = 1"][n], runs[label][n]),
                    high=0.9,
                )
                for label in ("d = 2", "d = 3", "dynamic")
                for n in (21, largest)
            ],
        ),
    )
    return Figure(
        "figure 11",
        "web sessions with delayed ACK, W* = 1000",
        STATIONS_AXIS,
        (
            Axis(DELAY, "mean session delay, s", 0),
            Axis(EACH, "delay per segment of the file, ms", 0),
        ),
        tuple(
            c
            for label, (_, colour) in SCHEMES.items()
            for c in both(label, runs[label], colour=colour)
        ),
        claims,
        notes=HEAVY_TAIL,
    )
