"""TCP near Bluetooth voice over 802.11b: rules, tables and claims by analysis."""

from __future__ import annotations

from itertools import pairwise

from simoom.evidence import Check, Value
from simoom.models import bluetooth, tcp_loss
from simoom.studies import reference
from simoom.studies.claim import Claim, claim, unchecked
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, figure_function

NAME = "lt_tcp"
RATES = (1.0, 2.0, 5.5, 11.0)
COLOURS = {"HV1": 0, "HV2": 1, "HV3": 2}
PACKET_BYTES = 1500
RATE_AXIS = Axis("rate_mbps", "rate of 802.11b, Mb/s", 0.9, 12, log=True, ticks=RATES)


def corruption(voice: str, rate_mbps: float, *, rule: str = "slots", p: str = "exact") -> float:
    """Return PCR of a packet of 1500 bytes."""
    return float(
        bluetooth.packet_corruption(PACKET_BYTES, rate_mbps=rate_mbps, voice=voice, rule=rule, p=p)
    )


def _rates(label: str, values: dict[float, float], quantity: str, voice: str, **how: bool) -> Curve:
    return curve(
        label, Source.ANALYSIS, values, values.values(), quantity, colour=COLOURS[voice], **how
    )


@figure_function("figure corruption")
def figure_corruption(_: Lab) -> Figure:
    """Packet corruption rate against the rate, for the three voice formats."""
    quantity = "packet_corruption"
    printed = {
        v: _rates(v, {r: corruption(v, r, p="printed") for r in RATES}, quantity, v)
        for v in COLOURS
    }
    bursts = {
        v: _rates(
            f"{v}, any overlap with a burst",
            {r: corruption(v, r, rule="bursts") for r in RATES},
            quantity,
            v,
            dashed=True,
        )
        for v in COLOURS
    }
    claims = (
        claim(
            "channel_fraction",
            "A Bluetooth packet hops into a WLAN channel with probability 22/79 = 0.27.",
            paper="0.27",
            checks=[
                Check.near("22/79", Value.exact(22 / 79), 0.27, within=0.01),
                Check.near("22/79, rounded", Value.exact(22 / 79), 0.27, within=0.005),
            ],
            tolerance="0.01; 0.005, the digits printed",
            remark="0.278 was truncated, not rounded; HV3 has a third of the slots instead of 0.3",
        ),
        claim(
            "slots_conservative",
            "Counting whole slots only is conservative.",
            paper="conservatively N",
            checks=[
                Check(
                    f"{v}, {r:g} Mb/s, slots over bursts",
                    printed[v].at(r).over(bursts[v].at(r)),
                    low=1.0,
                )
                for v in COLOURS
                for r in RATES
            ],
            tolerance="at least the corruption by any overlap",
            remark="it is optimistic: partial slots corrupt packets too",
        ),
        claim(
            "slower_is_worse",
            "At a lower rate a packet is longer on the air and more likely to be corrupted.",
            paper="higher probability of error",
            checks=[
                Check(
                    f"{v}, {a:g} over {b:g} Mb/s", printed[v].at(a).over(printed[v].at(b)), low=1.0
                )
                for v in COLOURS
                for a, b in pairwise(RATES)
            ],
            tolerance="at each step down",
        ),
    )
    return Figure(
        "figure corruption",
        "packets corrupted by Bluetooth voice, 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "packet corruption rate PCR", 0, 1.02),),
        (*printed.values(), *bursts.values()),
        claims,
        notes="PCR = 1 - (1 - p)^N with the printed p; dashed, the bursts that a packet without "
        "its preamble overlaps.",
    )


@figure_function("figure residual")
def figure_residual(_: Lab) -> Figure:
    """Residual error rate after three and after seven attempts."""
    quantity = "residual_error"
    curves = {
        (v, k): _rates(
            f"{v}, K = {k}",
            {r: corruption(v, r, p="printed") ** k for r in RATES},
            quantity,
            v,
            dashed=k == 7,
        )
        for v in COLOURS
        for k in (3, 7)
    }
    fast = curves["HV1", 3].at(11.0)
    claims = (
        claim(
            "residual_loss_breaks_sack",
            "A residual loss of 1 to 5 %, as near HV1 at 11 Mb/s with K = 3, breaks SACK.",
            paper="1 % to 5 %",
            checks=[Check("HV1, K = 3, 11 Mb/s", fast, 0.01, 0.05)],
            tolerance="the band quoted",
        ),
        claim(
            "rate_adaptation_fails",
            "Rate adaptation ends at 1 Mb/s, where nearly all packets are lost with HV1.",
            paper="goodput of 0.0002 to 0.006 Mb/s",
            checks=[Check(f"K = {k}, 1 Mb/s", curves["HV1", k].at(1.0), low=0.95) for k in (3, 7)],
            tolerance="95 % lost or more",
        ),
    )
    return Figure(
        "figure residual",
        "packets lost after K attempts, 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "residual error rate PER", 1e-8, 2, log=True),),
        tuple(curves.values()),
        claims,
        notes="PER = PCR^K with the printed p.",
    )


@figure_function("figure goodput")
def figure_goodput(_: Lab) -> Figure:
    """Goodput of the MAC near Bluetooth voice."""
    quantity = "goodput_mbps"

    def through(voice: str, attempts: int) -> dict[float, float]:
        return {
            r: float(
                bluetooth.mac_goodput(
                    corruption(voice, r, p="printed"), attempts=attempts, rate_mbps=r
                ).goodput_mbps
            )
            for r in RATES
        }

    curves = {
        (v, k): _rates(f"{v}, K = {k}", through(v, k), quantity, v, dashed=k == 7)
        for v in COLOURS
        for k in (3, 7)
    }
    claims = (
        claim(
            "highest_rate_is_best",
            "The highest rate is optimal even if errors are frequent.",
            paper="optimal",
            checks=[
                Check(f"{c.label}, {b:g} over {a:g} Mb/s", c.at(b).over(c.at(a)), low=1.0)
                for c in curves.values()
                for a, b in pairwise(RATES)
            ],
            tolerance="at each step up",
        ),
    )
    return Figure(
        "figure goodput",
        "goodput of the MAC near Bluetooth voice, packets of 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "goodput of the MAC, Mb/s", 0, 7),),
        tuple(curves.values()),
        claims,
    )


SACK = {"HV3": Value.printed(2.32, 0.085), "HV1": Value.printed(0.40, 0.03)}
LT_TCP = {"HV3": Value.printed(3.74, 0.145), "HV1": Value.printed(2.83, 0.215)}


@figure_function("table 2")
def table_2(_: Lab) -> Figure:
    """Tables II and III: TCP near Bluetooth voice, and the inverse-square-root law."""
    loss = {v: corruption(v, 11.0, p="printed") ** 3 for v in SACK}
    rtt = {v: float(tcp_loss.implied_rtt_ms(loss[v], goodput_mbps=SACK[v].value)) for v in SACK}
    mathis = {v: float(tcp_loss.mathis_mbps(loss[v], rtt_ms=260.0)) for v in SACK}
    x_values: tuple[X, ...] = tuple(SACK)
    claims = (
        claim(
            "sack_follows_residual_loss",
            "SACK's goodputs near HV3 and HV1 follow from the residual loss at K = 3.",
            paper="2.32 and 0.40 Mb/s; neither K nor the round-trip time is stated",
            checks=[
                Check.near(
                    "round-trip time of HV3 over that of HV1",
                    Value.exact(rtt["HV3"] / rtt["HV1"]),
                    1.0,
                    within=0.15,
                )
            ],
            tolerance="both need the same round-trip time up to 15 %",
            remark=f"{rtt['HV3']:.0f} and {rtt['HV1']:.0f} ms",
        ),
        claim(
            "hv1_worse_than_hv3",
            "HV1 hurts more than HV3, and SACK more than LT-TCP.",
            paper="0.40 < 2.32, 2.83 < 3.74",
            checks=[
                Check("residual loss, HV1 over HV3", Value.exact(loss["HV1"] / loss["HV3"]), 1.0)
            ],
            tolerance="more loss",
        ),
        unchecked(
            "lt_tcp_goodput",
            "LT-TCP gets 3.74 and 2.83 Mb/s.",
            paper="3.74, 2.83",
            because="there is no closed form of LT-TCP here; this claim needs a simulation",
        ),
    )
    return Figure(
        "table 2",
        "TCP near Bluetooth voice at 11 Mb/s, no rate adaptation",
        Axis("voice", "format of Bluetooth voice"),
        (Axis("goodput_mbps", "TCP goodput, Mb/s", 0, 5),),
        (
            curve("SACK", Source.PAPER, x_values, SACK.values(), "goodput_mbps"),
            curve("LT-TCP", Source.PAPER, x_values, LT_TCP.values(), "goodput_mbps", colour=1),
            curve(
                "inverse square root of PER at 260 ms",
                Source.ANALYSIS,
                x_values,
                mathis.values(),
                "goodput_mbps",
            ),
        ),
        claims,
    )


@figure_function("table 4")
def table_4(_: Lab) -> Figure:
    """Tables IV to VI: TCP without interference, and with periods of capture."""
    quantity = "goodput_mbps"
    bare = bluetooth.Dot11b(mac_header_bytes=0, mac_ack_bytes=24)  # the paper's 48 with preamble
    readings = {
        "MAC ACK at 11 Mb/s": bluetooth.clean_goodput_mbps(),
        "28-byte MAC header": bluetooth.clean_goodput_mbps(
            link=bluetooth.Dot11b(mac_header_bytes=28)
        ),
        "1500-byte payload": bluetooth.clean_goodput_mbps(payload_bytes=1500, packet_bytes=1540),
        "MAC ACK at 1 Mb/s": bluetooth.clean_goodput_mbps(mac_ack_mbps=1),
    }
    values = {name: float(value) for name, value in readings.items()}
    only_overhead = bluetooth.clean_goodput_mbps(
        payload_bytes=1500, mac_ack_mbps=1, spaces_us=0, backoff_us=0, link=bare
    )
    monte_carlo = reference.curves(NAME, "table IV", {"two-node DCF": 2})
    clean = monte_carlo[0].at("MAC ACK at 11 Mb/s")
    return Figure(
        "table 4",
        "one TCP flow without interference, 11 Mb/s",
        Axis("reading", "reading of the paper"),
        (Axis(quantity, "TCP goodput, Mb/s", 3.5, 5),),
        (
            curve("both back-offs in full", Source.ANALYSIS, values, values.values(), quantity),
            *monte_carlo,
            curve(
                "SACK, 10 ms", Source.PAPER, ["MAC ACK at 11 Mb/s"], [Value.printed(4.64)], quantity
            ),
        ),
        _claims_4(float(only_overhead), values["MAC ACK at 11 Mb/s"], clean),
    )


def _claims_4(only_overhead: float, goodput_mbps: float, clean: Value) -> tuple[Claim, ...]:
    """Check the goodput after overhead, and its reduction by capture."""
    cycle_us = 8 * 1460 / goodput_mbps
    preambles = 11 * 4 * bluetooth.PLCP_US / cycle_us
    return (
        claim(
            "goodput_below_55_percent",
            "Preambles, MAC ACKs and TCP ACKs leave less than 55 % of 11 Mb/s.",
            paper="< 55 %",
            checks=[Check("share", Value.exact(only_overhead / 11), high=0.55)],
            tolerance="an inequality",
        ),
        claim(
            "preamble_costs_3_mbps",
            "Preambles at 1 Mb/s cost more than 3 Mb/s.",
            paper="over 3 Mb/s",
            checks=[Check("their share of the time, of 11 Mb/s", Value.exact(preambles), low=3.0)],
            tolerance="an inequality",
        ),
        claim(
            "sack_without_interference",
            "Without interference SACK gets 4.64 Mb/s, close to the maximum.",
            paper="4.64",
            checks=[Check.near("Monte Carlo of two nodes", clean, 4.64, within=0.05)],
            tolerance="0.05 Mb/s",
            remark="the closed form is lower: its two ends do not count down at the same time",
        ),
        claim(
            "capture_bound",
            "Interference of 250 ms in every 2 s leaves SACK 4.08 Mb/s at K = 7.",
            paper="4.08 of 4.64",
            checks=[
                Check(
                    "4.08 over seven eighths of the clean goodput",
                    Value.printed(4.08).over(clean.times(7 / 8)),
                    high=1.01,
                )
            ],
            tolerance="at most 1 % over what is left of the time",
        ),
        unchecked(
            "capture_tables",
            "The goodputs of Tables V and VI, with 250 ms of capture every 2 s.",
            paper="0.24 to 4.08 Mb/s",
            because="the reaction of TCP to bursts of loss needs a simulation",
        ),
    )


@figure_function("figure retries")
def figure_retries(_: Lab) -> Figure:
    """Time for which a packet that is never received occupies the MAC."""
    quantity = "duration_ms"
    attempts = tuple(range(1, 8))
    mean = curve(
        "mean back-off",
        Source.ANALYSIS,
        attempts,
        list(bluetooth.retry_duration_ms(attempts)),
        quantity,
    )
    most = curve(
        "largest back-off",
        Source.ANALYSIS,
        attempts,
        list(bluetooth.retry_duration_ms(attempts, draws="max")),
        quantity,
        colour=1,
    )
    paper = curve("text", Source.PAPER, (3, 7), [Value.printed(6.5), Value.printed(60.0)], quantity)
    claims = (
        claim(
            "three_attempts_last",
            "A packet takes about 6.5 ms to fail with K = 3.",
            paper="6.5 ms",
            checks=[Check.near("mean, ms", mean.at(3), 6.5, within=0.8)],
            tolerance="0.8 ms: it depends on the timeout that is counted",
        ),
        claim(
            "seven_attempts_last",
            "A packet takes about 60 ms to fail with K = 7, up to 75 ms.",
            paper="60 ms; 60 to 75 ms",
            checks=[
                Check.near("mean, ms", mean.at(7), 60.0, within=6.0),
                Check("largest, ms", most.at(7), 60.0, 75.0),
            ],
            tolerance="10 %; the band quoted",
            remark="the 6.5 ms is a mean, the 60 ms a maximum",
        ),
    )
    return Figure(
        "figure retries",
        "time until a packet of 1500 bytes is discarded, at 11 Mb/s",
        Axis("attempts", "attempts K", 0.5, 7.5),
        (Axis(quantity, "time until the packet is dropped, ms", 0, 80),),
        (mean, most, paper),
        claims,
    )
