"""How far the results hang on what is reconstructed of LT-TCP, and on the unstated timer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.cell import (
    ATTEMPTS,
    RTTS,
    TIMEOUTS,
    grid,
    headset,
    measured_s,
    printed,
    upload,
)
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT
from simoom_studies.lt_tcp.tables import near_paper, none_of

claim = Claims(__package__)

PANEL = Axis(GOODPUT, "TCP goodput, Mb/s", 0, 5)
AS_BUILT = "as built"


def _fec(**keys: Any) -> Mapping[str, Any]:
    return {"tcp": {"fec": keys}}


VARIANTS: Mapping[str, Mapping[str, Any]] = {
    AS_BUILT: {},
    "c = 0": _fec(parity={"normal": {"margin": 0.0}}),
    "c = 2": _fec(parity={"normal": {"margin": 2.0}}),
    "P = 0": _fec(parity="none"),
    "G = 5": _fec(units=5),
    "G = 20": _fec(units=20),
    "R = 0": _fec(reactive=False),
    "unit 500": _fec(unit_min_bytes=500),
    "ssthresh, kept": {"control": {"lt": {"timeout_keeps_ssthresh": True}}},
    "no probe, no undo": {
        "tcp": {"recovery": {"sack": {"rack": False, "f_rto": False, "undo": False}}}
    },
}
"""Parts of LT-TCP that the sources leave open, see the page of the study."""
CODE = list(VARIANTS)[1:8]
"""Those that concern the code: parity, granularity, repair."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "HV3, 200 ms": {"rtt_ms": 200.0, "attempts": 3, "interferers": [headset("HV3")]},
    "HV1, 200 ms": {"rtt_ms": 200.0, "attempts": 3, "interferers": [headset("HV1")]},
    "captures, K = 3, 10 ms": {"rtt_ms": 10.0, "attempts": 3, "is_shut": True},
    "captures, K = 3, 80 ms": {"rtt_ms": 80.0, "attempts": 3, "is_shut": True},
    "captures, K = 3, 200 ms": {"rtt_ms": 200.0, "attempts": 3, "is_shut": True},
    "captures, K = 7, 80 ms": {"rtt_ms": 80.0, "attempts": 7, "is_shut": True},
}
PAPER_MBPS = (3.74, 2.83, 3.30, 2.97, 2.35, 3.76)
THE_PAPER = "the paper"


@figure_function("figure choices")
def figure_choices(lab: Lab) -> Figure:
    """LT-TCP with other choices where its sources are silent."""
    cases: dict[tuple[str, str], Scenario] = {
        (f"LT-TCP, {name}", variant): upload(
            "LT-TCP", measured_s=measured_s(lab), flow=flow, **setting
        )
        for name, setting in SETTINGS.items()
        for variant, flow in VARIANTS.items()
    }
    curves = grid(lab, cases)
    paper = [
        curve(label, Source.PAPER, (THE_PAPER,), [Value.printed(mbps)], GOODPUT, colour=c.colour)
        for (label, c), mbps in zip(curves.items(), PAPER_MBPS, strict=True)
    ]
    return Figure(
        "figure choices",
        "LT-TCP where its sources are silent",
        Axis("variant", "what is different"),
        (PANEL,),
        (*paper, *curves.values()),
        _claims_reconstruction(curves),
        notes="As built: proactive parity P for the mean and c = 1 standard deviation, windows of "
        "G = 10 units of 200 bytes or more, reactive parity R once a round trip, the probe "
        "of RFC 8985, the undo of spurious timeouts, a timeout that halves ssthresh and waits for "
        "200 ms or more.",
    )


def _claims_reconstruction(curves: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Check which choices decide a goodput."""
    names = {name: curves[f"LT-TCP, {name}"] for name in SETTINGS}
    voice, captures = list(SETTINGS)[:2], list(SETTINGS)[2:]

    def ratio(setting: str, variant: str) -> Value:
        return names[setting].at(variant).over(names[setting].at(AS_BUILT))

    return (
        claim(
            "code_decides_little",
            checks=[Check(f"{s}, {v}", ratio(s, v), 0.95, 1.05) for s in voice for v in CODE],
        ),
        claim(
            "code_does_not_survive_captures",
            checks=[Check(f"{v}, Mb/s", names[captures[2]].at(v), high=2.01) for v in CODE],
        ),
        claim(
            "probes_decide_captures",
            checks=[
                Check(
                    f"{captures[3]}, without them",
                    ratio(captures[3], "no probe, no undo"),
                    high=0.5,
                )
            ],
        ),
    )


TIMERS_MS = (200.0, 300.0, 400.0, 500.0, 700.0, 1000.0)
QUICK_TIMERS_MS = (200.0, 500.0, 1000.0)
TABLES = ("V", "VI")


@figure_function("figure timer")
def figure_timer(lab: Lab) -> Figure:
    """The minimum of the retransmission timeout, which the paper does not give."""
    timers = lab.pick(TIMERS_MS, QUICK_TIMERS_MS)
    cases: dict[tuple[str, float], Scenario] = {
        (_label(protocol, table, rtt), timer): upload(
            protocol,
            rtt_ms=rtt,
            attempts=ATTEMPTS[table],
            measured_s=measured_s(lab),
            is_shut=True,
            flow={"tcp": {"rto_min_ms": timer}},
        )
        for table in TABLES
        for protocol in COLOURS
        for rtt in RTTS
        for timer in timers
    }
    goodputs, late = (_styled(grid(lab, cases, each)) for each in (GOODPUT, TIMEOUTS))
    return Figure(
        "figure timer",
        "one upload, shut out for 250 ms every 2 s: the minimum timeout",
        Axis("rto_min_ms", "minimum timeout, ms", 150, 1050),
        (PANEL, Axis(TIMEOUTS, "timeouts per 100 s", 0)),
        (*goodputs.values(), *late.values()),
        _claims_timer(goodputs, late),
        notes="Table V has K = 3; dashed, Table VI with K = 7.",
    )


def _styled(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """Return the curves with a colour for protocol and round-trip time; Table VI is dashed."""
    half = len(curves) // 2
    return {
        label: replace(c, colour=number % half, dashed=number >= half)
        for number, (label, c) in enumerate(curves.items())
    }


def _label(protocol: str, table: str, rtt_ms: float) -> str:
    return f"{protocol}, Table {table}, {rtt_ms:g} ms"


def _claims_timer(goodputs: Mapping[str, Curve], late: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Check which minimum timeout brings the paper's numbers."""
    sack = printed("V")["SACK"]
    spurious = [_label("LT-TCP", "VI", rtt) for rtt in RTTS] + [
        _label("SACK", "VI", rtt) for rtt in RTTS[:2]
    ]
    return (
        claim(
            "no_timeouts_with_500_ms",
            checks=none_of((label, late[label].at(500.0)) for label in spurious),
        ),
        claim(
            "table_v_sack_with_500_ms",
            checks=[
                near_paper(
                    f"{rtt:g} ms", goodputs[_label("SACK", "V", rtt)].at(500.0), sack.at(rtt)
                )
                for rtt in RTTS[1:]
            ],
        ),
        claim(
            "lt_tcp_keeps_its_window_with_500_ms",
            checks=[
                Check("timeouts per 100 s", late[_label("LT-TCP", "V", 200.0)].at(500.0), high=3.0),
                Check("Mb/s", goodputs[_label("LT-TCP", "V", 200.0)].at(500.0), low=2.35),
            ],
        ),
    )
