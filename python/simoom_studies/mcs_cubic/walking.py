"""A walking client with an MCS from rate control, which the paper leaves for future work.

The claims of these figures are findings of this study, not of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.mcs_cubic.paper import BIN_S, CONTROLS, DRIVEN, GOODPUT, PLAIN, upload

claim = Claims(__package__)

NEAR_M, FAR_M = 5.0, 85.0
"""The ends of the client's path: the signal allows MCS 8 at the first and 1 at the second."""
WALK_MPS = 1.4
"""The speed of a pedestrian."""
REST_S = 5.0
"""How long the client stands at the start, at the far end, and after its return."""
COURSE_S = 2.0
"""Time between two points of a time series."""
SETTLE_S = 8.0
"""How long a returning client stands at the far end before it moves."""
AFTER_S = 3.0
"""How long a returning client is measured after its return."""
PACES_MPS = (5.0, 15.0, 50.0)
RULES = {"ideal": "ideal", "Minstrel-HT": "minstrel_ht"}
"""Rate control at both ends."""
MCS = "stations[0].mcs"


def walking(
    rule: str, control: str, waypoints: Sequence[tuple[float, float]], end_s: float
) -> Scenario:
    """Return the upload by a client that moves.

    Parameters
    ----------
    rule : str
        A key of `RULES`.
    control : str
        Plain or driven by the MCS.
    waypoints : sequence of (float, float)
        Times, and the client's distances in metres from the access point.
    end_s : float
        The end of the run.
    """
    # Receivers detect all preambles above their noise: those of MCS 1 are below the -82 dBm that
    # the standard requires at least.
    scenario = upload(8, control, from_mcs=8, end_s=end_s).set("radio", {"detect_dbm": -95.0})
    for node in ("stations", "ap"):
        scenario = scenario.set(f"{node}.rate_control", RULES[rule])
    rows = [{"at_s": at_s, "position_m": [away_m, 0.0]} for at_s, away_m in waypoints]
    return scenario.set("stations.waypoints", rows)


def out_and_back(rule: str, control: str) -> Scenario:
    """Return the upload by a client that walks away and returns."""
    walks_s = (FAR_M - NEAR_M) / WALK_MPS
    times_s = np.cumsum([REST_S, walks_s, REST_S, walks_s])
    waypoints = list(zip(map(float, times_s), (NEAR_M, FAR_M, FAR_M, NEAR_M), strict=True))
    end_s = float(np.ceil(times_s[-1] + REST_S))
    return walking(rule, control, waypoints, end_s).set("measure.interval_s", COURSE_S)


def back(rule: str, control: str, pace_mps: float) -> Scenario:
    """Return the upload by a client that returns from the far end."""
    arrives_s = SETTLE_S + (FAR_M - NEAR_M) / pace_mps
    waypoints = [(SETTLE_S, FAR_M), (arrives_s, NEAR_M)]
    return walking(rule, control, waypoints, arrives_s + AFTER_S).set("measure.interval_s", BIN_S)


def stand(rule: str, control: str) -> Scenario:
    """Return the upload by a client that stays near the access point."""
    return walking(rule, control, [(0.0, NEAR_M)], 4 * SETTLE_S).set("measure.interval_s", 1.0)


def measure_course(run: Run) -> dict[str, float]:
    """Extract goodput and MCS of each second, and the means of goodput and round-trip time."""
    taken = {
        "goodput_mbps": _number(run, "flows[0].goodput_mbps"),
        "rtt_ms": 1e3 * _number(run, "flows[0].rtt_s.mean"),
    }
    for quantity, path in (("goodput_mbps", GOODPUT), ("mcs", MCS)):
        for end_s, value in zip(*run.samples(path), strict=True):
            taken[_moment(quantity, float(end_s))] = float(value)
    return taken


def measure_back(run: Run) -> dict[str, float]:
    """Extract the mean goodput since the client began to move, or since the same time."""
    time_s, value = run.samples(GOODPUT)
    since = np.asarray(time_s) > SETTLE_S + 1e-9
    return {"goodput_mbps": float(np.mean(np.asarray(value)[since]))}


def _number(run: Run, path: str) -> float:
    value = run.summary[path]
    return float(value) if isinstance(value, int | float) else math.nan


def _moment(quantity: str, end_s: float) -> str:
    return f"{quantity}.{end_s:.1f}"


def _label(control: str, rule: str) -> str:
    return f"{control}, {rule}"


def _ratio(over: Sample, under: Sample, quantity: str) -> Value:
    """Return the mean ratio of two values over pairs of runs with the same seeds."""
    ratio: NDArray[np.float64] = over[quantity] / under[quantity]
    return Value.mean(ratio)


@figure_function("figure walking")
def figure_walking(lab: Lab) -> Figure:
    """Throughput and MCS against time while a client walks away and returns."""
    cases = {(control, rule): out_and_back(rule, control) for rule in RULES for control in CONTROLS}
    found = lab.sample(cases, measure_course, replications=lab.pick(10, 4), probes=(GOODPUT, MCS))
    near = {control: stand("Minstrel-HT", control) for control in CONTROLS}
    standing = lab.sample(near, measure_back, replications=lab.pick(10, 4), probes=(GOODPUT,))
    colours = {case: colour for colour, case in enumerate(found)}
    throughput = [
        _throughput(_label(*case), sample, colours[case]) for case, sample in found.items()
    ]
    plain = [(case, sample) for case, sample in found.items() if case[0] == PLAIN]
    mcs = [_mcs(_label(*case), sample, colours[case]) for case, sample in plain]
    return Figure(
        "figure walking",
        f"a client walks from {NEAR_M:.0f} m to {FAR_M:.0f} m and back",
        Axis("time_s", "time, s"),
        (Axis("goodput_mbps", "throughput, Mb/s", 0, 80), Axis("mcs", "MCS of the client", 0, 9)),
        (*throughput, *mcs),
        walking_claims(found, standing),
        notes="The claims are findings of this study; the paper has no walking client.",
    )


def _ends_s(sample: Sample, quantity: str) -> list[float]:
    return [float(key.partition(".")[2]) for key in sample if key.startswith(f"{quantity}.")]


def _throughput(label: str, sample: Sample, colour: int) -> Curve:
    ends_s = _ends_s(sample, "goodput_mbps")
    values = [Value.mean(sample[_moment("goodput_mbps", end_s)]) for end_s in ends_s]
    middles = [end_s - COURSE_S / 2 for end_s in ends_s]
    return curve(label, Source.SIMULATION, middles, values, "goodput_mbps", colour=colour)


def _mcs(label: str, sample: Sample, colour: int) -> Curve:
    """Return the MCS of the first run: a mean over runs has no meaning."""
    ends_s = _ends_s(sample, "mcs")
    values = [float(sample[_moment("mcs", end_s)][0]) for end_s in ends_s]
    runs = [Value(v, v, v, 1, "one run") for v in values]
    return curve(label, Source.SIMULATION, ends_s, runs, "mcs", colour=colour)


def walking_claims(
    found: dict[tuple[str, str], Sample], standing: dict[str, Sample]
) -> tuple[Claim, ...]:
    """Check the findings of this study.

    Parameters
    ----------
    found : dict of Sample
        Values of the walk, by controller and rate control.
    standing : dict of Sample
        Values of a client that stands still, under Minstrel-HT, by controller.
    """

    def gain(rule: str, quantity: str) -> Value:
        return _ratio(found[DRIVEN, rule], found[PLAIN, rule], quantity)

    still = _ratio(standing[DRIVEN], standing[PLAIN], "goodput_mbps")
    ideal, minstrel = (gain(rule, "goodput_mbps") for rule in RULES)
    return (
        claim(
            "a_walker_needs_no_driver",
            checks=[Check.near("driven over plain, throughput", ideal, 1.0, within=0.05)],
        ),
        claim(
            "probes_steer_the_window",
            checks=[
                Check("driven over plain, throughput", minstrel, high=0.85),
                Check("standing still", still, high=0.85),
            ],
        ),
        claim(
            "the_driver_shortens_queues",
            checks=[
                Check(
                    "driven over plain, round-trip time", gain("Minstrel-HT", "rtt_ms"), high=2 / 3
                )
            ],
        ),
    )


@figure_function("figure pace")
def figure_pace(lab: Lab) -> Figure:
    """Gain of the driver when a client returns, by its speed."""
    cases = {
        (control, rule, pace): back(rule, control, pace)
        for control in CONTROLS
        for rule in RULES
        for pace in PACES_MPS
    }
    found = lab.sample(cases, measure_back, replications=lab.pick(20, 10), probes=(GOODPUT,))
    gain = {
        (rule, pace): _ratio(found[DRIVEN, rule, pace], found[PLAIN, rule, pace], "goodput_mbps")
        for rule in RULES
        for pace in PACES_MPS
    }
    curves = tuple(
        curve(
            rule,
            Source.SIMULATION,
            PACES_MPS,
            [gain[rule, pace] for pace in PACES_MPS],
            "gain",
            colour=colour,
        )
        for colour, rule in enumerate(RULES)
    )
    fastest = max(PACES_MPS)
    claims = (
        claim(
            "the_driver_gains_if_the_mcs_jumps",
            f"A client that returns at {fastest:.0f} m/s is at MCS 8 before CUBIC has grown: with "
            "ideal rate control the driver has a gain of a fifth or more, as after the paper's "
            "jump.",
            checks=[Check(f"gain at {fastest:.0f} m/s", gain["ideal", fastest], low=1.2)],
        ),
        claim(
            "no_jump_outweighs_the_probes",
            checks=[
                Check(f"gain at {pace:.0f} m/s", gain["Minstrel-HT", pace], high=0.9)
                for pace in PACES_MPS
            ],
        ),
    )
    return Figure(
        "figure pace",
        f"throughput driven over plain, from {FAR_M:.0f} m to {NEAR_M:.0f} m and "
        f"{AFTER_S:.0f} s after",
        Axis("pace_mps", "pace, m/s", 0, fastest + 5),
        (Axis("gain", "throughput, driven over plain", 0.5, 1.5),),
        curves,
        claims,
        notes="The claims are findings of this study; the paper has no walking client.",
    )
