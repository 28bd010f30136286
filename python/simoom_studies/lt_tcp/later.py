"""What the paper could not try: later controllers, rate controls, AFH, and FQ-CoDel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.captures import View
from simoom_studies.lt_tcp.cell import grid, headset, measured_s, upload
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT, RED

claim = Claims(__package__)

PANEL = Axis(GOODPUT, "TCP goodput, Mb/s", 0, 5)
RTT_MS = 200.0
PROTOCOLS = ("SACK", "LT-TCP", "CUBIC", "BBR", "BBR version 3")
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "HV3": {"attempts": 3, "interferers": [headset("HV3")]},
    "HV1": {"attempts": 3, "interferers": [headset("HV1")]},
    "captures, K = 3": {"attempts": 3, "is_shut": True},
    "captures, K = 7": {"attempts": 7, "is_shut": True},
}
"""Tables II, III, V and VI at 200 ms."""


def in_settings(lab: Lab, protocols: tuple[str, ...], queue: Mapping[str, Any]) -> dict[str, Curve]:
    """Return the goodput of protocols in the settings of the paper's tables at 200 ms."""
    cases: dict[tuple[str, str], Scenario] = {
        (protocol, name): upload(
            protocol, rtt_ms=RTT_MS, measured_s=measured_s(lab), queue=queue, **setting
        )
        for protocol in protocols
        for name, setting in SETTINGS.items()
    }
    return grid(lab, cases)


@figure_function("figure controllers")
def figure_controllers(lab: Lab) -> Figure:
    """CUBIC and BBR in the settings of Tables II, III, V and VI."""
    curves = in_settings(lab, PROTOCOLS, {"red": RED})
    lt, cubic = curves["LT-TCP"], curves["CUBIC"]
    claims = (
        claim(
            "bbr_needs_no_code",
            checks=[
                Check.agrees(
                    f"{voice}, BBR over LT-TCP", curves["BBR"].at(voice), lt.at(voice), within=0.1
                )
                for voice in ("HV3", "HV1")
            ],
        ),
        claim(
            "bbr3_answers_losses",
            checks=[
                Check("HV1, version 3 over 1", _over(curves, "HV1"), high=0.75),
                Check("HV3, version 3 over 1", _over(curves, "HV3"), 0.9, 1.05),
            ],
        ),
        claim(
            "cubic_is_no_remedy",
            checks=[Check("HV1, CUBIC over LT-TCP", cubic.at("HV1").over(lt.at("HV1")), high=0.2)],
        ),
        claim(
            "bbr_survives_captures",
            checks=[
                Check(f"{p}, {name}, Mb/s", curves[p].at(name), 3.0)
                for p in ("BBR", "BBR version 3")
                for name in list(SETTINGS)[2:]
            ],
        ),
    )
    return Figure(
        "figure controllers",
        "one upload at 200 ms: later controllers",
        Axis("setting", "setting"),
        (PANEL,),
        tuple(curves.values()),
        claims,
        notes="HV3 and HV1 by the rule of slots with K = 3; captures of 250 ms every 2 s.",
    )


def _over(curves: Mapping[str, Curve], setting: str) -> Value:
    return curves["BBR version 3"].at(setting).over(curves["BBR"].at(setting))


@figure_function("figure queues")
def figure_queues(lab: Lab) -> Figure:
    """FQ-CoDel in place of RED."""
    red = in_settings(lab, PROTOCOLS, {"red": RED})
    fair = in_settings(lab, PROTOCOLS, {"fq_codel": {"ecn": True}})
    ratios = {
        p: Curve(
            p,
            c.source,
            c.x,
            tuple(c.at(x).over(red[p].at(x)) for x in c.x),
            "over_red",
            c.colour,
        )
        for p, c in fair.items()
    }
    claims = (
        claim(
            "fq_codel_costs_lt_tcp",
            checks=[
                Check(f"{name}, FQ-CoDel over RED", ratios["LT-TCP"].at(name), high=0.9)
                for name in ("HV3", "HV1", "captures, K = 7")
            ],
        ),
        claim(
            "fq_codel_leaves_bbr",
            checks=[
                Check(f"{name}, FQ-CoDel over RED", ratios["BBR"].at(name), 0.88, 1.08)
                for name in ("HV3", "HV1", "captures, K = 7")
            ],
        ),
    )
    return Figure(
        "figure queues",
        "one upload at 200 ms: FQ-CoDel in place of RED",
        Axis("setting", "setting"),
        (PANEL, Axis("over_red", "goodput over that with RED", 0)),
        (*fair.values(), *ratios.values()),
        claims,
    )


RATE_CONTROLS = {
    "fixed at 11 Mb/s": "fixed",
    "the paper's scheme": "simple",
    "CARA": "cara",
    "Minstrel": "minstrel",
}
LINKS: Mapping[str, Mapping[str, Any]] = {
    "HV3": headset("HV3"),
    "HV1": headset("HV1"),
    "bursts of HV1": headset("HV1", rule="bursts"),
    "bursts of HV1, AFH": headset("HV1", afh={"classify_s": 10.0}),
}


@figure_function("figure adaptation")
def figure_adaptation(lab: Lab) -> Figure:
    """CARA and Minstrel in place of the paper's scheme, and AFH."""
    cases: dict[tuple[str, str], Scenario] = {
        (f"{protocol}, {link}", name): upload(
            protocol,
            rtt_ms=RTT_MS,
            attempts=3,
            measured_s=measured_s(lab),
            interferers=[interferer],
            rate_control=rule,
        )
        for protocol in COLOURS
        for link, interferer in LINKS.items()
        for name, rule in RATE_CONTROLS.items()
    }
    curves = grid(lab, cases)
    return Figure(
        "figure adaptation",
        "one upload near Bluetooth voice, K = 3, 200 ms: rate controls and AFH",
        Axis("rate_control", "rate control"),
        (PANEL,),
        tuple(curves.values()),
        (*_claims_rate_controls(curves), *_claims_bursts(lab, curves)),
        notes="HV3 and HV1 by the rule of slots; bursts corrupt each frame that they overlap, MAC "
        "ACKs too. AFH takes 10 s to classify the channels.",
    )


def _claims_rate_controls(curves: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Check which rate control mistakes interference for noise."""
    fixed, _, cara, minstrel = RATE_CONTROLS

    def kept(protocol: str, link: str, rule: str) -> Value:
        of = curves[f"{protocol}, {link}"]
        return of.at(rule).over(of.at(fixed))

    return (
        claim(
            "cara_does_not_tell_interference",
            checks=[
                Check(f"{p}, {voice}, share kept", kept(p, voice, cara), high=0.1)
                for p in COLOURS
                for voice in ("HV3", "HV1")
            ],
        ),
        claim(
            "minstrel_keeps_the_rate",
            checks=[
                Check(f"LT-TCP, {voice}, share kept", kept("LT-TCP", voice, minstrel), 0.95, 1.05)
                for voice in ("HV3", "HV1")
            ],
        ),
        claim(
            "minstrel_needs_packets",
            checks=[
                Check(
                    "SACK, HV1, less by, Mb/s",
                    curves["SACK, HV1"].at(fixed).minus(curves["SACK, HV1"].at(minstrel)),
                    0.02,
                )
            ],
        ),
    )


def _claims_bursts(lab: Lab, curves: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Check what AFH gives, and what bursts leave that the rule of slots does not take."""
    fixed = next(iter(RATE_CONTROLS))
    clean = {p: c.at(RTT_MS) for p, c in View(lab)("IV").items()}
    return (
        claim(
            "afh_ends_it",
            checks=[
                Check(
                    f"{p}, {name}",
                    curves[f"{p}, bursts of HV1, AFH"].at(name).over(clean[p]),
                    0.85,
                    1.1,
                )
                for p in COLOURS
                for name in RATE_CONTROLS
            ],
        ),
        claim(
            "bursts_are_worse_than_slots",
            checks=[
                Check(
                    f"{p}, bursts over slots",
                    curves[f"{p}, bursts of HV1"].at(fixed).over(curves[f"{p}, HV1"].at(fixed)),
                    low,
                    high,
                )
                for p, low, high in (("LT-TCP", 0.48, 0.57), ("SACK", 0.15, 0.3))
            ],
        ),
    )
