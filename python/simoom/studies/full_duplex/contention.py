"""Fig. 4 and Result 1: how many stations contend, how often they attempt and collide."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simoom.evidence import Check, Value
from simoom.models import full_duplex as model
from simoom.models import half_duplex
from simoom.studies import reference
from simoom.studies.claim import Claim, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.full_duplex.paper import (
    BLACK,
    BLUE,
    GREEN,
    HALF,
    MANY,
    NAME,
    ORANGE,
    PAPER,
    SHARE,
    STEADY,
    WINDOW_SEGMENTS,
    WITHIN,
    Course,
    cell,
    measure,
    replications,
)
from simoom.studies.lab import Lab, Sample, figure_function

STATIONS = 50
UPLOADS = 0.25
NEVER = 0.005
"""A share of the time that no histogram shows."""
WHOLE = Course(PAPER.tcp, 0.0, PAPER.end_s)
BURST = Course({"initial_window_segments": WINDOW_SEGMENTS}, PAPER.begin_s, PAPER.end_s)


def more_than_three(sample: Sample) -> Value:
    """Return the fraction of time in which more than three stations contend."""
    shares = [value for name, value in sample.items() if name.startswith(SHARE)]
    return Value.mean(np.sum(shares[4:], axis=0)).named(
        "time_fraction by simulation", "half duplex"
    )


def _histogram(label: str, sample: Sample, range_: range, colour: int) -> Curve:
    values = [Value.mean(sample[f"{SHARE}{k}"]) for k in range_]
    quantity = "time_fraction"
    return curve(label, Source.SIMULATION, range_, values, quantity, colour=colour)


@figure_function("figure 4")
def figure_4(lab: Lab) -> Figure:
    """Histogram of the number of contending stations."""
    quantity = "time_fraction"
    cases = {
        ("half", "full windows"): cell(STATIONS, UPLOADS, HALF),
        ("full", "full windows"): cell(STATIONS, UPLOADS),
        ("full", "45 s"): cell(STATIONS, UPLOADS, course=WHOLE),
        ("half", "burst"): cell(STATIONS, UPLOADS, HALF, course=BURST),
    }
    found = lab.sample(cases, measure, replications=2 * replications(lab))
    half, full = found["half", "full windows"], found["full", "full windows"]
    whole = found["full", "45 s"]
    at = half_duplex.cell(STATIONS, times=model.TABLE_I.half_duplex(54.0), upload_fraction=UPLOADS)
    chain = list(np.asarray(at.contenders_in_time)[:9])
    few, many = range(9), range(STATIONS - 9, STATIONS + 1)
    return Figure(
        "figure 4",
        "contending stations, N = 50, f = 1/4",
        Axis("contending", "contending stations, without the access point", -1, 52),
        (Axis(quantity, "fraction of time", 0, 1.05),),
        (
            _histogram("half duplex", half, few, BLUE),
            _histogram("full duplex", full, many, ORANGE),
            _histogram("full duplex, all of the 45 s", whole, many, GREEN),
            curve("half duplex", Source.ANALYSIS, few, chain, quantity, colour=BLUE),
            *reference.curves(NAME, "figure 4", {"half duplex": BLACK, "full duplex": BLACK}),
        ),
        _claims_4(half, full, whole, found["half", "burst"]),
        notes="Averaged over the time in which all windows are full. The analysis of full duplex "
        "assumes that all 50 stations contend.",
    )


def _claims_4(half: Sample, full: Sample, whole: Sample, burst: Sample) -> tuple[Claim, ...]:
    """Check both histograms and the approximation that they justify."""
    everyone = f"{SHARE}{STATIONS}"
    over_all = Value.mean(whole[everyone])
    return (
        claim(
            "three_contend_in_half_duplex",
            "With half duplex no more than three stations ever contend.",
            paper="never more than 3",
            checks=[Check("P(> 3)", more_than_three(half), high=NEVER)],
            tolerance="0.5 % of the time, which no histogram shows, counts as never",
            remark="it depends on the order of the segments in the access point's queue: where "
            f"each connection begins with 32 segments at once, P(> 3) is {more_than_three(burst)}",
        ),
        claim(
            "all_contend_in_full_duplex",
            "With full duplex all N = 50 stations contend with probability 0.97.",
            paper="0.97",
            checks=[Check.near("P(50)", _of("time_fraction", full[everyone]), 0.97, within=0.01)],
            tolerance="0.01, the last printed digit",
            remark=f"over all of the 45 s, while the windows open, it is {over_all}",
        ),
        claim(
            "access_point_has_a_packet",
            "A full-duplex access point always has a packet to send beside that of a station.",
            paper="always",
            checks=[
                Check(
                    "share of the stations' exchanges",
                    _of("secondary_share", full["secondary_share"]),
                    low=1 - WITHIN,
                )
            ],
            tolerance="5 %, the accuracy of the analysis that rests on it",
            remark="the loop is closed: the access point sends as many packets as the stations, "
            "and those that it sends alone are missing beside a station",
        ),
    )


def _of(quantity: str, sample: Iterable[float]) -> Value:
    return Value.mean(sample).named(f"{quantity} by simulation", "full duplex")


POINT = {
    "station_attempt_probability": "beta_STA",
    "station_collision_probability": "gamma_STA",
    "secondary_probability": "s_AP",
    "ap_collision_probability": "gamma_AP",
    "ap_attempt_probability": "beta_AP",
}
FRAMES = {"saturated": {"payload_bytes": 1960, "header_bytes": 80}}


@figure_function("table fixed_point")
def table_fixed_point(lab: Lab) -> Figure:
    """Result 1 at N = 80: attempt and collision probabilities."""
    quantity = "probability"
    saturated = [
        {"from": "sta*", "to": "ap", "traffic": FRAMES},
        {"from": "ap", "to": "sta*", "traffic": FRAMES},
    ]
    tcp = {f"TCP, f = {f:g}": cell(MANY, f, course=STEADY) for f in (0.25, 0.75)}
    always = cell(MANY, 0.0).set("flows", saturated)
    cases = {
        **tcp,
        "saturated": always,
        "saturated, each busy period is a slot": always.set("wlan.countdown", "bianchi"),
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    names = tuple(POINT.values())
    rows = [
        curve(
            label,
            Source.SIMULATION,
            names,
            [Value.mean(sample[name]) for name in POINT],
            quantity,
            colour=colour,
        )
        for colour, (label, sample) in enumerate(found.items())
    ]
    at = model.backoff_point(MANY)
    values = [
        at.station_attempt, at.station_collision, at.ap_secondary, at.ap_collision, at.ap_attempt
    ]  # fmt: skip
    result_1 = curve(
        "Result 1", Source.ANALYSIS, names, [float(each) for each in values], quantity, colour=BLACK
    )
    printed = float(model.backoff_point(MANY, eq6="printed").ap_attempt)
    return Figure(
        "table fixed_point",
        "attempts and collisions, N = 80",
        Axis("probability_of", "probability"),
        (Axis(quantity, "probability", 0),),
        (result_1, *rows),
        _claims_point(result_1, rows, printed),
        notes="Result 1 with the corrected (6). Per step of the back-off: an idle slot, or a busy "
        "period. In a busy period the back-off of 802.11 stands, and that of the paper's chain "
        "counts down.",
    )


def _claims_point(result_1: Curve, rows: list[Curve], printed: float) -> tuple[Claim, ...]:
    """Compare Result 1 with TCP, and (6) as printed with what it assumes."""
    tcp, ideal = rows[0], rows[-1]
    return (
        claim(
            "result_1_holds_for_tcp",
            "Result 1 gives the probabilities of a cell with TCP.",
            paper="validates",
            checks=[
                Check.agrees(
                    f"{name}, simulation over analysis", tcp.at(name), value, within=WITHIN
                )
                for name, value in zip(result_1.x, result_1.values, strict=True)
            ],
            tolerance="5 %, the accuracy of the analysis that rests on it",
            remark="counted down as the chain does and with queues that are never empty, all five "
            "agree with Result 1 within a few percent (last row)",
        ),
        claim(
            "attempt_probability_as_printed",
            "(6) as printed gives the attempt probability of the access point.",
            paper="(6)",
            checks=[
                Check.agrees(
                    f"{printed:.3f} by (6) over the simulation",
                    Value.exact(printed),
                    ideal.at("beta_AP"),
                    within=WITHIN,
                )
            ],
            tolerance="5 %, under the assumptions of (6): queues never empty, each busy period a "
            "slot",
            remark="the first term of the denominator must be z_0(s) instead of z'_0, as for all "
            "other values here",
        ),
    )
