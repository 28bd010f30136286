"""The paper's readings of one upload without interference, by formula."""

from __future__ import annotations

from simoom.models import bluetooth
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.link import GOODPUT

claim = Claims(__package__)


@figure_function("figure readings")
def figure_readings(_: Lab) -> Figure:
    """Goodput without interference by formula, for readings of the paper."""
    bare = bluetooth.Dot11b(mac_header_bytes=0, mac_ack_bytes=24)  # the paper's 48 with preamble
    readings = {
        "MAC ACK at 11 Mb/s": bluetooth.clean_goodput_mbps(),
        "28-byte MAC header": bluetooth.clean_goodput_mbps(
            link=bluetooth.Dot11b(mac_header_bytes=28)
        ),
        "1500-byte payload": bluetooth.clean_goodput_mbps(payload_bytes=1500, packet_bytes=1540),
        "MAC ACK at 1 Mb/s": bluetooth.clean_goodput_mbps(mac_ack_mbps=1),
    }
    formula = curve(
        "both back-offs in full", Source.ANALYSIS, readings, map(float, readings.values()), GOODPUT
    )
    only_overhead = bluetooth.clean_goodput_mbps(
        payload_bytes=1500, mac_ack_mbps=1, spaces_us=0, backoff_us=0, link=bare
    )
    cycle_us = 8 * 1460 / formula.at("MAC ACK at 11 Mb/s").value
    preambles = 11 * 4 * bluetooth.PLCP_US / cycle_us
    claims = (
        claim(
            "goodput_below_55_percent",
            checks=[Check("share", Value.exact(float(only_overhead) / 11, "overhead"), high=0.55)],
        ),
        claim(
            "preamble_costs_3_mbps",
            checks=[
                Check(
                    "their share of the time, of 11 Mb/s", Value.exact(preambles, "preambles"), 3.0
                )
            ],
        ),
    )
    return Figure(
        "figure readings",
        "one TCP flow without interference by formula, 11 Mb/s",
        Axis("reading", "reading of the paper"),
        (Axis(GOODPUT, "TCP goodput, Mb/s", 3.5, 5),),
        (formula, *reference.curves(__package__, "figure readings", {"two-node DCF": 2})),
        claims,
        notes="The formula is low: its two ends do not count down at the same time.",
    )
