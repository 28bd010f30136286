"""Tables II and III against the round-trip time, which the paper does not give."""

from __future__ import annotations

from collections.abc import Mapping

from simoom.runs.evidence import Value
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.cell import grid, headset, measured_s, upload
from simoom_studies.lt_tcp.link import COLOURS
from simoom_studies.lt_tcp.tables import near_paper
from simoom_studies.lt_tcp.voice import ATTEMPTS, PAPER, WITHOUT, printed_voice

claim = Claims(__package__)

RTTS = (100.0, 150.0, 200.0, 215.0, 230.0, 245.0, 260.0, 300.0)
QUICK_RTTS = (200.0, 230.0)
FITTED_MS = 230.0


def _panel(voice: str) -> str:
    return f"goodput_near_{voice.lower()}_mbps"


@figure_function("figure voice")
def figure_voice(lab: Lab) -> Figure:
    """The goodputs of Tables II and III without rate adaptation, against the round-trip time."""
    rtts = lab.pick(RTTS, QUICK_RTTS)
    found = grid(
        lab,
        {
            (f"{protocol}, {voice}", rtt): upload(
                protocol,
                rtt_ms=rtt,
                attempts=ATTEMPTS,
                measured_s=measured_s(lab),
                interferers=[headset(voice)],
            )
            for voice in PAPER
            for protocol in COLOURS
            for rtt in rtts
        },
    )
    curves = {
        (p, v): Curve(p, Source.SIMULATION, rtts, found[f"{p}, {v}"].values, _panel(v), COLOURS[p])
        for v in PAPER
        for p in COLOURS
    }
    paper = [
        curve(p, Source.PAPER, rtts, [_printed(p, v)] * len(rtts), _panel(v), colour=colour)
        for v in PAPER
        for p, colour in COLOURS.items()
    ]
    return Figure(
        "figure voice",
        "one upload near Bluetooth voice at 11 Mb/s, K = 3: the round-trip time",
        Axis("rtt_ms", "round-trip time, ms", rtts[0] - 10, rtts[-1] + 10),
        tuple(Axis(_panel(v), f"goodput near {v}, Mb/s", 0, 5) for v in PAPER),
        (*curves.values(), *paper),
        (_claim(curves),),
        notes="Crosses have the paper's value and interval at each round-trip time, because the "
        "paper states none.",
    )


def _printed(protocol: str, voice: str) -> Value:
    return printed_voice(voice)[protocol].at(WITHOUT)


def _claim(curves: Mapping[tuple[str, str], Curve]) -> Claim:
    return claim(
        "fitted_round_trip_time",
        checks=[
            near_paper(f"{p}, {v}", each.at(FITTED_MS), _printed(p, v))
            for (p, v), each in curves.items()
        ],
    )
