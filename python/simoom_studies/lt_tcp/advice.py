"""The paper's recommendations, each as a what-if: rates, buffers, attempts, MAC ACKs, captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from simoom.models import bluetooth
from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.bluetooth import RATE_AXIS, RATES
from simoom_studies.lt_tcp.captures import CELL, RULE, View
from simoom_studies.lt_tcp.cell import PERIOD_S, SHUT_S, grid, headset, measured_s, upload
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT, RED

claim = Claims(__package__)

PANEL = Axis(GOODPUT, "TCP goodput, Mb/s", 0, 5)
RTT_MS = 80.0
PERSISTENCE = (3, 7)


def _label(protocol: str, attempts: int) -> str:
    return f"{protocol}, K = {attempts}"


@figure_function("figure rates")
def figure_rates(lab: Lab) -> Figure:
    """TCP's goodput near Bluetooth voice at each fixed rate."""
    cases = {
        (f"{protocol}, {voice}", rate): upload(
            protocol,
            rtt_ms=200.0,
            attempts=3,
            measured_s=measured_s(lab),
            interferers=[headset(voice)],
            rate_mbps=rate,
        )
        for voice in ("HV3", "HV1")
        for protocol in COLOURS
        for rate in RATES
    }
    curves = grid(lab, cases)
    claims = (
        claim(
            "highest_rate_is_best_for_tcp",
            checks=[
                Check(
                    f"{label}, 11 over {rate:g} Mb/s, more by",
                    c.at(RATES[-1]).minus(c.at(rate)),
                    low=0.0,
                )
                for label, c in curves.items()
                for rate in RATES[:-1]
            ],
        ),
    )
    return Figure(
        "figure rates",
        "one upload near Bluetooth voice at a fixed rate, K = 3, 200 ms",
        RATE_AXIS,
        (PANEL,),
        tuple(curves.values()),
        claims,
    )


BUFFERS = (25, 50, 100, 200, 400)


def scaled_red(limit: int) -> dict[str, Any]:
    """Return a RED queue with the paper's thresholds in proportion to another buffer."""
    low, high = (max(1, RED[key] * limit // RED["limit_packets"]) for key in
                 ("min_packets", "max_packets"))  # fmt: skip
    return {"red": RED | {"min_packets": low, "max_packets": high, "limit_packets": limit}}


@figure_function("figure buffers")
def figure_buffers(lab: Lab) -> Figure:
    """Buffers and thresholds against a capture of 250 ms every 2 s."""
    cases = {
        (_label(protocol, attempts), float(limit)): {
            "rtt_ms": RTT_MS,
            "attempts": attempts,
            "queue": scaled_red(limit),
        }
        for protocol in COLOURS
        for attempts in PERSISTENCE
        for limit in lab.pick(BUFFERS, (25, 100, 400))
    }
    curves, by_rule = (View(lab, kind).grid(cases) for kind in (CELL, RULE))
    least, most = min(curves["SACK, K = 3"].x), max(curves["SACK, K = 3"].x)

    def gains(of: Mapping[str, Curve]) -> list[Check]:
        return [
            Check(f"{label}, {most:g} over {least:g} packets", c.at(most).over(c.at(least)), 1.05)
            for label, c in of.items()
        ]

    claims = (
        claim(
            "larger_buffers_survive_capture",
            checks=gains(curves),
            others=[Reading(RULE, tuple(gains(by_rule)))],
        ),
    )
    return Figure(
        "figure buffers",
        "one upload beside a second cell, 80 ms: buffers",
        Axis("limit_packets", "buffer, packets", 20, 500, log=True, ticks=BUFFERS),
        (PANEL,),
        (*curves.values(), *_dashed(by_rule)),
        claims,
        notes="RED marks between 25 and 90 % of the buffer. Dashed, all frames are lost by rule.",
    )


LITTLE_MBPS = 0.3
CAPTURES = (0.125, 0.25, 0.5, 0.75, 1.0)


@figure_function("figure captures")
def figure_captures(lab: Lab) -> Figure:
    """Captures shorter and longer than the paper's, with three and seven attempts."""
    cases = {
        (_label(protocol, attempts), shut_s): {
            "rtt_ms": RTT_MS,
            "attempts": attempts,
            "shut_s": shut_s,
        }
        for protocol in COLOURS
        for attempts in PERSISTENCE
        for shut_s in CAPTURES
    }
    curves, by_rule = (View(lab, kind).grid(cases) for kind in (CELL, RULE))
    left = curve(
        "the time that is left",
        Source.ANALYSIS,
        CAPTURES,
        [float(bluetooth.clean_goodput_mbps()) * (1 - s / PERIOD_S) for s in CAPTURES],
        GOODPUT,
        colour=7,
    )
    return Figure(
        "figure captures",
        "an upload beside a cell that is busy for a part of every 2 s, 80 ms",
        Axis("shut_s", "busy in every 2 s, s", 0, 1.05),
        (PANEL,),
        (*curves.values(), *_dashed(by_rule), left),
        _claims_captures(curves, by_rule),
        notes="Dashed, all frames are lost for that time, by rule.",
    )


def _dashed(curves: Mapping[str, Curve]) -> list[Curve]:
    return [replace(c, label=f"{label}, by rule", dashed=True) for label, c in curves.items()]


def _claims_captures(
    curves: Mapping[str, Curve], by_rule: Mapping[str, Curve]
) -> tuple[Claim, ...]:
    """Check what seven attempts are worth, and for how long a capture may last."""

    def gain(of: Mapping[str, Curve], protocol: str, shut_s: float) -> Value:
        seven, three = (of[_label(protocol, k)].at(shut_s) for k in (7, 3))
        return seven.minus(three)

    def no_more(of: Mapping[str, Curve]) -> list[Check]:
        return [
            Check(f"{p}, 250 ms, K = 7 more than 3 by", gain(of, p, SHUT_S), high=0.0)
            for p in COLOURS
        ]

    def little_more(of: Mapping[str, Curve]) -> list[Check]:
        return [
            Check(f"{p}, {s:g} s, K = 7 more than 3 by", gain(of, p, s), high=LITTLE_MBPS)
            for p in COLOURS
            for s in (0.75, 1.0)
        ]

    def kept(of: Mapping[str, Curve]) -> list[Check]:
        lt = of["LT-TCP, K = 7"]
        share = (1 - SHUT_S / PERIOD_S) / (1 - CAPTURES[0] / PERIOD_S)
        return [
            Check(
                "K = 7, goodput of the time left, 250 over 125 ms",
                lt.at(SHUT_S).over(lt.at(CAPTURES[0])).times(1 / share),
                0.9,
            )
        ]

    def readings(checks: Callable[[Mapping[str, Curve]], list[Check]]) -> dict[str, Any]:
        """Return the arguments of a claim with the checks of both readings."""
        other = Reading(RULE, tuple(checks(by_rule)))
        return {"checks": checks(curves), "reading": f"{CELL}, 80 ms", "others": [other]}

    return (
        claim("limit_attempts_to_three", **readings(no_more)),
        claim("seven_attempts_fail_beyond_half_a_second", **readings(little_more)),
        claim("tolerates_250_ms", **readings(kept)),
    )


OVERHEADS: Mapping[str, Mapping[str, Any]] = {
    "MAC ACK at 11 Mb/s": {},
    "MAC ACK at 2 Mb/s": {"basic_rates_mbps": [2.0]},
    "MAC ACK at 1 Mb/s": {"basic_rates_mbps": [1.0]},
    "short preamble": {"preamble": "short"},
}


@figure_function("figure overheads")
def figure_overheads(lab: Lab) -> Figure:
    """What MAC ACKs at low rates and the preamble cost, without interference."""
    cases = {
        (protocol, name): upload(
            protocol, rtt_ms=10.0, attempts=3, measured_s=measured_s(lab), wlan=wlan
        )
        for protocol in COLOURS
        for name, wlan in OVERHEADS.items()
    }
    curves = grid(lab, cases)
    fast, slow, short = (
        {p: c.at(name) for p, c in curves.items()}
        for name in ("MAC ACK at 11 Mb/s", "MAC ACK at 1 Mb/s", "short preamble")
    )
    formula = [float(bluetooth.clean_goodput_mbps(mac_ack_mbps=rate)) for rate in (11, 1)]
    claims = (
        claim(
            "fast_mac_acks_pay",
            checks=[
                Check.near(
                    f"{p}, 11 over 1 Mb/s",
                    fast[p].over(slow[p]),
                    formula[0] / formula[1],
                    within=0.02,
                )
                for p in COLOURS
            ],
        ),
        claim(
            "preamble_costs_by_simulation",
            checks=[
                Check(f"{p}, short over long preamble", short[p].over(fast[p]), 1.15, 1.22)
                for p in COLOURS
            ],
        ),
    )
    return Figure(
        "figure overheads",
        "one upload without interference, 10 ms: MAC ACKs and preambles",
        Axis("overhead", "what changes"),
        (Axis(GOODPUT, "TCP goodput, Mb/s", 3.5, 6),),
        tuple(curves.values()),
        claims,
        notes="MAC ACKs follow the basic rates, as in the standard.",
    )
