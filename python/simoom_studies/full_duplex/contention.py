"""Fig. 4 and Result 1: how many stations contend, how often they attempt and collide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from simoom.models import full_duplex as model
from simoom.models import half_duplex
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.full_duplex.paper import (
    BLACK,
    BLUE,
    GREEN,
    HALF,
    MANY,
    ORANGE,
    PAPER,
    SHARE,
    STEADY,
    WITHIN,
    cell,
    measure,
    replications,
)
from simoom_studies.full_duplex.readings import READ, WAYS

claim = Claims(__package__)

STATIONS = 50
UPLOADS = 0.25
NEVER = 0.005
"""A share of the time that no histogram shows."""
SHOWN = (
    READ,
    "5 to 45 s",
    "30 to 45 s",
    "5 to 45 s, slow start only",
    "0 to 45 s, whole windows at once",
    "0 to 45 s, CTS timeout and EIFS",
)
"""The ways of `WAYS` by which the claims about Fig. 4 are shown; the first one decides."""


def more_than_three(sample: Sample, way: str = READ) -> Value:
    """Return the fraction of time in which more than three stations contend."""
    shares = [value for name, value in sample.items() if name.startswith(SHARE)]
    return Value.mean(np.sum(shares[4:], axis=0)).named(
        "time_fraction by simulation", "half duplex", way
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
        (kind, way): WAYS[way].cell(UPLOADS, r2, STATIONS)
        for kind, r2 in (("half", HALF), ("full", 36.0))
        for way in SHOWN
    }
    found = lab.sample(cases, measure, replications=2 * replications(lab))
    at = half_duplex.cell(STATIONS, times=model.TABLE_I.half_duplex(54.0), upload_fraction=UPLOADS)
    chain = list(np.asarray(at.contenders_in_time)[:9])
    published = {"half duplex": BLUE, "full duplex": ORANGE}
    few, many = range(9), range(STATIONS - 9, STATIONS + 1)
    return Figure(
        "figure 4",
        "contending stations, N = 50, f = 1/4",
        Axis("contending", "contending stations, without the access point", -1, 52),
        (Axis(quantity, "fraction of time", 0, 1.05),),
        (
            _histogram("half duplex", found["half", READ], few, BLUE),
            _histogram("full duplex", found["full", READ], many, ORANGE),
            _histogram("full duplex, 5 to 45 s", found["full", "5 to 45 s"], many, GREEN),
            curve("half duplex", Source.ANALYSIS, few, chain, quantity, colour=BLUE),
            *reference.curves(__package__, "figure 4", published),
            *(
                curve(
                    label, Source.PAPER, at, [Value.printed(p)] * len(at), quantity, colour=colour
                )
                for label, at, p, colour in (
                    ("more than three, half duplex", range(4, 9), 0.0, BLUE),
                    ("all 50, full duplex", range(STATIONS, STATIONS + 1), 0.97, ORANGE),
                )
            ),
        ),
        _claims_4(found),
        notes="Averaged over all of the 45 s. The analysis of full duplex assumes that all 50 "
        "stations contend.",
    )  # fmt: skip


def _claims_4(found: Mapping[tuple[str, str], Sample]) -> tuple[Claim, ...]:
    """Check both histograms and the approximation that they justify."""
    everyone = f"{SHARE}{STATIONS}"

    def by_way(kind: str, check: Callable[[Sample, str], Check]) -> dict[str, Any]:
        judged, *others = ((way, (check(found[kind, way], way),)) for way in SHOWN)
        return {
            "checks": judged[1],
            "reading": READ,
            "others": [Reading(way, checks) for way, checks in others],
        }

    return (
        claim(
            "three_contend_in_half_duplex",
            **by_way(
                "half", lambda one, way: Check("P(> 3)", more_than_three(one, way), high=NEVER)
            ),
        ),
        claim(
            "all_contend_in_full_duplex",
            **by_way(
                "full",
                lambda one, way: Check.near(
                    "P(50)", _of("time_fraction", one[everyone], way), 0.97, within=0.01
                ),
            ),
        ),
        claim(
            "access_point_has_a_packet",
            **by_way(
                "full",
                lambda one, way: Check(
                    "share of the stations' exchanges",
                    _of("secondary_share", one["secondary_share"], way),
                    low=1 - WITHIN,
                ),
            ),
        ),
    )


def _of(quantity: str, sample: Iterable[float], way: str) -> Value:
    return Value.mean(sample).named(f"{quantity} by simulation", "full duplex", way)


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
    tcp["TCP, f = 0.25, 0 to 45 s"] = cell(MANY, 0.25, course=PAPER)
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

    def checks(row: Curve) -> tuple[Check, ...]:
        return tuple(
            Check.agrees(f"{name}, simulation over analysis", row.at(name), value, within=WITHIN)
            for name, value in zip(result_1.x, result_1.values, strict=True)
        )

    def attempt(name: str, value: float) -> Check:
        return Check.agrees(
            f"{value:.4f} by (6) {name} over the simulation",
            Value.exact(value),
            ideal.at("beta_AP"),
            within=WITHIN,
        )

    return (
        claim(
            "result_1_holds_for_tcp",
            checks=checks(tcp),
            others=[Reading(row.label, checks(row)) for row in rows[1:]],
        ),
        claim(
            "attempt_probability_as_printed",
            checks=[attempt("as printed", printed)],
            others=[
                Reading(
                    "z_0(s) as the first term of the denominator",
                    (attempt("corrected", result_1.at("beta_AP").value),),
                )
            ],
        ),
    )
