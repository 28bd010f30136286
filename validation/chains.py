"""Chains of nodes that forward, against ns-2.35."""

from __future__ import annotations

from typing import Any

from validation import ns2
from validation.case import Case, Group, Option
from validation.references import given, goodput, table

SPACING_M = 200.0
MEASURED_S, WARMUP_S = 150.0, 10.0
HEADER = Option(
    "flows[*].tcp.header_bytes",
    60,
    "the routing agent adds 20 bytes of IP header to packets whose TCP header includes them",
)
TICK = Option(
    "flows[*].tcp.rtt_tick_ms", 10.0, "samples of the round-trip time are whole ticks (`tcpTick_`)"
)
MAC = (ns2.DRAW, ns2.DURATIONS, ns2.IDLE, ns2.EIFS)
OPTIONS = (*MAC, HEADER, TICK, ns2.SSTHRESH)
QUEUE = Option(
    "stations[*].queue",
    {"priority": {"limit_packets": 50}},
    "routing messages and TCP acknowledgements are sent before data (`CMUPriQueue`)",
)
PRESET = Option(
    "routing.protocol.dsr.preset",
    "ns2",
    "caches, repeated requests and delays of ns-2's DSR agent (docs/dsr.md)",
)
TOLERANCE = 0.05
LIMITED_TRANSMIT = True
"""Each of the first two duplicate acknowledgements sends a segment (`singledup_`, RFC 3042)."""


def chain(hops: int, tcp: dict[str, Any], control: Any = "new_reno") -> dict[str, Any]:
    """One flow over so many hops with static routes, and the radio of ns-2."""
    return {
        "standard": "11b",
        "duration_s": WARMUP_S + MEASURED_S,
        "warmup_s": WARMUP_S,
        "wlan": {
            **ns2.WLAN,
            "rate_mbps": 2.0,
            "basic_rates_mbps": [1.0],
            "long_retry_limit": 4,
        },
        "radio": {"preset": "ns2", "ad_hoc": True},
        "routing": {"protocol": "static"},
        "stations": [{"position_m": [SPACING_M * i, 0.0]} for i in range(hops + 1)],
        "flows": [
            {
                "from": "sta0",
                "to": f"sta{hops}",
                "traffic": "bulk",
                "start_s": 1.0,
                "control": control,
                "tcp": {
                    **ns2.TCP,
                    "mss_bytes": 1024,
                    "byte_counting": False,
                    "limited_transmit": LIMITED_TRANSMIT,
                    **tcp,
                },
            }
        ],
    }


def window(segments: int) -> dict[str, Any]:
    """An advertised window, which is also ns-2's initial threshold of slow start."""
    return {"window_segments": segments, "initial_ssthresh_segments": max(segments, 2)}


def controller(row: dict[str, str]) -> tuple[str, Any]:
    """The name and the key of the congestion control of a row."""
    alpha = float(row.get("alpha", 1))
    return ("NewReno", "new_reno") if alpha == 1 else ("FeW", {"few": {"alpha": alpha}})


def rows(name: str, routing: str) -> list[dict[str, str]]:
    """The rows of a table with these routes."""
    return [row for row in table(name) if row["routing"] == routing]


def static() -> Group:
    """Goodput over chains with static routes (p2chain, p2chainfew)."""
    cases = []
    for row in rows("ns2_p2chain", "STATIC"):
        segments, hops = int(row["W"]), int(row["hops"])
        cases.append(
            Case(
                f"NewReno, W* = {segments}, {hops} hops",
                chain(hops, window(segments)),
                (given(goodput(TOLERANCE), row, "agg_bps", scale=1e-6),),
                OPTIONS,
                quick=segments == 8 and hops == 4,
            )
        )
    for row in rows("ns2_p2chainfew", "STATIC"):
        hops, (name, control) = int(row["hops"]), controller(row)
        cases.append(
            Case(
                f"{name}, W* = 1000, {hops} hops",
                chain(hops, window(1000), control),
                (given(goodput(TOLERANCE), row, "agg_bps", scale=1e-6),),
                OPTIONS,
                quick=name == "FeW" and hops == 4,
            )
        )
    about = (
        "802.11b at 2 Mb/s, RTS/CTS before every frame, control at 1 Mb/s; nodes in a row, 200 m "
        "apart, receive each other up to 250 m and sense each other up to 550 m. One TCP flow of "
        "segments of 1024 bytes from the first node to the last, with the advertised window W* in "
        "segments. ns-2 has no static routes between mobile nodes: its routes are those of DSDV, "
        "frozen after 150 s."
    )
    return Group("Chains with static routes in ns-2", "ns-2.35", about, tuple(cases))


def dsr() -> Group:
    """Goodput over chains with DSR (p2chain, ns2_adhoc)."""
    limited = [(int(row["W"]), row, "agg_bps") for row in rows("ns2_p2chain", "DSR")]
    open_ = [(1000, row, "goodput_mbps") for row in table("ns2_adhoc") if not row["movement"]]
    cases = []
    for segments, row, column in limited + open_:
        hops = int(row.get("hops_of_chain") or row["hops"])
        name, control = controller(row)
        scale = 1e-6 if column == "agg_bps" else 1.0
        scenario = chain(hops, window(segments), control)
        cases.append(
            Case(
                f"{name}, W* = {segments}, {hops} hops",
                {**scenario, "routing": {"protocol": "dsr"}},
                (given(goodput(TOLERANCE), row, column, scale=scale),),
                (*OPTIONS, QUEUE, PRESET),
                # With NewReno over three hops and more, runs differ much.
                replications=24 if name == "NewReno" and hops > 2 else 8,
                quick=name == "FeW" and hops == 3,
            )
        )
    about = (
        "The same chains with DSR. Frames of hidden nodes collide until the MAC discards a packet; "
        "DSR takes this for a link failure and looks for another route."
    )
    return Group("Chains with DSR in ns-2", "ns-2.35", about, tuple(cases))


def groups() -> list[Group]:
    """All chains."""
    return [static(), dsr()]
