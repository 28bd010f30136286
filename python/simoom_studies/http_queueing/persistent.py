"""Endless downloads: section 3 of the paper, Figs 3 to 6."""

from __future__ import annotations

import numpy as np

from simoom.models import http_queueing as model
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.paper import LARGE_WINDOW, downloads, measure

claim = Claims(__package__)

BLUE, ORANGE, GREEN = 0, 1, 2
CONNECTIONS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
DELACKS = tuple(range(1, 10))
GOOD_MATCH = "5 %: the paper says a good match and no number"
DELACK_AXIS = Axis("delayed_ack", "segments per TCP ACK, d", 0.5, 9.5)


def _mean(sample: Sample, quantity: str) -> Value:
    return Value.mean(sample[quantity])


def _delack_runs(
    lab: Lab, connections: int
) -> tuple[tuple[int, ...], dict[str, dict[int, Sample]]]:
    """Return the runs of Figs 3 and 6: d with W* = d and with a large window."""
    every = lab.pick(DELACKS, (1, 2, 3, 4, 6, 9))
    seconds = lab.pick(300.0, 100.0)
    filling = 20.0 + 6.0 * connections  # slow start up to W* takes one packet time a packet
    labels = {"W* = d": None, f"W* = {LARGE_WINDOW}": LARGE_WINDOW}
    cases = {
        (label, d): downloads(
            connections,
            window=window or d,
            every=d,
            warmup_s=2.0 if window is None else filling,
            measured_s=seconds,
        )
        for label, window in labels.items()
        for d in every
    }
    found = lab.sample(cases, measure, replications=lab.pick(8, 4))
    return every, {label: {d: found[label, d] for d in every} for label in labels}


@figure_function("figure 3")
def figure_3(lab: Lab) -> Figure:
    """Throughput of one download against d."""
    every, runs = _delack_runs(lab, 1)
    quantity = "goodput_mbps"
    forms = {
        "(8)": model.single_flow(DELACKS),
        "(8), collisions counted once": model.single_flow(DELACKS, collisions="single"),
    }
    analysis = [
        curve(label, Source.ANALYSIS, DELACKS, list(values), quantity, colour=ORANGE, dashed=i > 0)
        for i, (label, values) in enumerate(forms.items())
    ]
    colours = {"W* = d": BLUE, f"W* = {LARGE_WINDOW}": ORANGE}
    simulated = {
        label: curve(
            label,
            Source.SIMULATION,
            every,
            [_mean(runs[label][d], quantity) for d in every],
            quantity,
            colour=colour,
        )
        for label, colour in colours.items()
    }
    large, small = simulated[f"W* = {LARGE_WINDOW}"], simulated["W* = d"]
    claims = (
        claim(
            "delayed_ack_gains",
            checks=[
                Check("(8), d = 2 over d = 1", analysis[0].at(2).over(analysis[0].at(1)), 1.1),
                Check("W* = 1000, d = 2 over d = 1", large.at(2).over(large.at(1)), 1.1),
                Check("W* = d, d = 2 over d = 1", small.at(2).over(small.at(1)), 1.1),
            ],
        ),
        claim(
            "single_station_model",
            checks=[
                Check.agrees(f"{c.label}, d = {d}", c.at(d), analysis[0].at(d), within=0.05)
                for c in (large, small)
                for d in every
            ],
        ),
    )
    return Figure(
        "figure 3",
        "one download against d",
        DELACK_AXIS,
        (Axis(quantity, "TCP throughput, Mb/s", 2, 4),),
        (*analysis, *simulated.values(), *reference.curves(__package__, "figure 3", colours)),
        claims,
        notes="With W* = d one end is silent while the other sends, so that back-offs follow one "
        "another; with a large window both ends count down at the same time.",
    )


def _connection_runs(lab: Lab) -> tuple[tuple[int, ...], dict[str, dict[int, Sample]]]:
    """Return the runs of Figs 4 and 5."""
    counts = lab.pick(CONNECTIONS, (1, 2, 3, 5, 10, 20, 50))
    seconds = lab.pick(300.0, 100.0)
    windows = {"W* = 1": (1, 2.0), "W* = 100": (100, 40.0)}
    cases = {
        (label, n): downloads(n, window=window, warmup_s=warmup, measured_s=seconds)
        for label, (window, warmup) in windows.items()
        for n in counts
    }
    found = lab.sample(cases, measure, replications=lab.pick(8, 4))
    return counts, {label: {n: found[label, n] for n in counts} for label in windows}


def _by_connections(
    lab: Lab, quantity: str
) -> tuple[dict[str, Curve], dict[str, dict[int, Sample]]]:
    counts, runs = _connection_runs(lab)
    return {
        label: curve(
            label,
            Source.SIMULATION,
            counts,
            [_mean(runs[label][n], quantity) for n in counts],
            quantity,
            colour=colour,
        )
        for label, colour in (("W* = 1", BLUE), ("W* = 100", ORANGE))
    }, runs


FIG_4 = {"W* = 1": BLUE, "W* = 100": ORANGE, "W* = 1000": GREEN}


@figure_function("figure 4")
def figure_4(lab: Lab) -> Figure:
    """Collision probability against the number of downloads."""
    quantity = "collision_probability"
    simulated, runs = _by_connections(lab, quantity)
    one, large = simulated["W* = 1"], simulated["W* = 100"]
    predicted = float(model.collision_point(2).collision_probability)
    solved = curve(
        "two backlogged nodes", Source.ANALYSIS, (1, 50), [predicted, predicted], quantity
    )
    runs_1, runs_100 = (runs[label] for label in ("W* = 1", "W* = 100"))
    gain = {n: Value.mean(runs_100[n][quantity] - runs_1[n][quantity]) for n in runs_1}
    references = reference.curves(__package__, "figure 4", FIG_4)

    def backlogged(found: Curve) -> tuple[Check, ...]:
        return tuple(
            Check.agrees(f"n_c = {n:g}", found.at(n), solved.at(1), within=0.05)
            for n in found.x
            if float(n) >= 5
        )

    claims = (
        claim(
            "two_backlogged",
            checks=backlogged(one),
            others=[Reading("W* = 100", backlogged(large))]
            + [
                Reading(each.name, backlogged(each))
                for each in references
                if each.label == "W* = 1"
            ],
            remark="it is flat, but above, as "
            f"{1 + np.mean(runs_1[10]['contending_stations']):.2f} nodes are backlogged on "
            "average at n_c = 10 and not 2; ns-2.35, unlike the Monte Carlo, is 8 % below",
        ),
        claim(
            "window_raises_collisions",
            checks=[Check(f"n_c = {n}", gain[n], low=0.0) for n in gain],
            remark="it does where one or two stations would otherwise be idle; with more of them "
            "segments of one flow come in bursts, and fewer stations contend: "
            f"{np.mean(runs_100[10]['contending_stations']):.2f} instead of "
            f"{np.mean(runs_1[10]['contending_stations']):.2f} at n_c = 10",
        ),
        claim(
            "insensitive_to_downloads",
            checks=[
                Check.agrees(f"n_c = {n:g}", large.at(n), large.at(10), within=0.15)
                for n in large.x
                if n != 10
            ],
        ),
    )
    return Figure(
        "figure 4",
        "collisions of TCP downloads",
        Axis("connections", "TCP downloads $n_c$", 0, 51),
        (Axis(quantity, "collision probability $P_C$", 0, 0.1),),
        (solved, *simulated.values(), *references),
        claims,
    )


@figure_function("figure 5")
def figure_5(lab: Lab) -> Figure:
    """Aggregate throughput against the number of downloads."""
    quantity = "goodput_mbps"
    simulated, _ = _by_connections(lab, quantity)
    counts = list(range(1, 51))
    forms = {
        "(10)": model.tcp_throughput(counts).total_mbps,
        "(10) corrected": model.tcp_throughput(
            counts, law="birth_death", collisions="single"
        ).total_mbps,
    }
    analysis = [
        curve(label, Source.ANALYSIS, counts, list(values), quantity, dashed=i > 0)
        for i, (label, values) in enumerate(forms.items())
    ]
    one = simulated["W* = 1"]
    claims = (
        claim(
            "aggregate_model",
            checks=[
                Check.agrees(f"n_c = {n:g}", one.at(n), analysis[0].at(n), within=0.05)
                for n in one.x
            ],
        ),
        claim("compared_model"),
    )
    colours = {"W* = 1": BLUE, "W* = 100": ORANGE, "W* = 1000": GREEN}
    return Figure(
        "figure 5",
        "aggregate throughput of TCP downloads",
        Axis("connections", "TCP downloads $n_c$", 0, 51),
        (Axis(quantity, "aggregate throughput, Mb/s", 2.2, 2.5),),
        (*analysis, *simulated.values(), *reference.curves(__package__, "figure 5", colours)),
        claims,
        notes="Corrected: the birth-death law of contending stations, which follows from fairness "
        "to nodes, instead of (9), and each collision counted once.",
    )


@figure_function("figure 6")
def figure_6(lab: Lab) -> Figure:
    """Throughput of each of ten downloads against d."""
    every, runs = _delack_runs(lab, 10)
    quantity = "goodput_kbps"
    per_flow = 100.0  # kb/s of each of ten for Mb/s of all
    solved = curve(
        "(12)",
        Source.ANALYSIS,
        DELACKS,
        list(1e3 * model.tcp_throughput(10, delayed_ack=DELACKS).per_flow_mbps),
        quantity,
    )
    colours = {"W* = d": BLUE, f"W* = {LARGE_WINDOW}": ORANGE}
    simulated = [
        curve(
            label,
            Source.SIMULATION,
            every,
            [_mean(runs[label][d], "goodput_mbps").times(per_flow) for d in every],
            quantity,
            colour=colour,
        )
        for label, colour in colours.items()
    ]
    claims = (
        claim(
            "ten_downloads_model",
            checks=[
                Check.agrees(f"{c.label}, d = {d}", c.at(d), solved.at(d), within=0.05)
                for c in simulated
                for d in every
            ],
        ),
    )
    return Figure(
        "figure 6",
        "each of ten downloads against d",
        DELACK_AXIS,
        (Axis(quantity, "TCP throughput of each, kb/s", 0, 400),),
        (solved, *simulated, *reference.curves(__package__, "figure 6", colours)),
        claims,
    )
