"""Cases against ns-2.35: 802.11b cells with TCP senders at the access point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validation.case import Case, Expected, Group, Option
from validation.references import JAIN, PER_PACKET, collisions, given, goodput, table

WLAN = {
    "basic_rates_mbps": [2.0],
    "rts_threshold_bytes": 0,
    "mac_header_bytes": 30,
    "llc_bytes": 0,
    "long_retry_limit": 7,
}
"""The headers of ns-2: four addresses, no LLC."""

TCP = {
    "mss_bytes": 1000,
    "timestamps": False,
    "initial_window_segments": 1,
    "delayed_ack": "none",
    "rto_initial_ms": 3000.0,
    "rto_min_ms": 200.0,
    "recovery": "new_reno",
    "limited_transmit": False,
    "close": "none",
    "pad_last_segment": True,
}
"""ns-2's one-way agents."""

DRAW = Option("wlan.backoff_draw", "ns2", "a back-off is drawn from 0 to CW - 1")
DURATIONS = Option(
    "wlan.durations",
    "ns2",
    "frame durations have fractions of a microsecond, but Duration fields are rounded: after a TCP "
    "ACK (772 us reserved for 771.8) the slots of other stations begin later than those of sender "
    "and receiver; a station that begins earlier is detected at once, so that they do not collide",
)
GRID = Option(
    "wlan.slot_grid",
    "shared",
    "an EIFS is a NAV that all stations set, including the colliding ones, and no timeout "
    "outlasts it",
)
IDLE = Option(
    "wlan.idle_access",
    "ns2",
    "a frame that arrives while the medium is idle and no back-off is pending draws one, which "
    "begins a DIFS later",
)
EIFS = Option(
    "wlan.eifs",
    "ns2",
    "an EIFS is a NAV, which a frame that is received afterwards does not end and a DIFS follows",
)
HEARTBEAT = Option(
    "flows[0].tcp.ack_heartbeat",
    True,
    "delayed acknowledgements of FullTcp leave at multiples of the timer's interval",
)
ACKS = Option(
    "flows[0].tcp.byte_counting",
    False,
    "the window grows by a segment per acknowledgement, however much that covers, and so more "
    "slowly with delayed ACKs",
)
SSTHRESH = Option(
    "flows[*].tcp.ssthresh_from",
    "congestion_window",
    "a loss halves the congestion window, not the data in flight, and each timeout does so again",
)
QUIRKS = (DRAW, DURATIONS, GRID, IDLE, SSTHRESH)
DELAYED = (*QUIRKS, HEARTBEAT, ACKS)


def _cell(stations: int, window: int, traffic: Any, tcp: Mapping[str, Any]) -> dict[str, Any]:
    segments = {"window_segments": window, "initial_ssthresh_segments": max(window, 2)}
    return {
        "standard": "11b",
        "stations": stations,
        "wlan": WLAN,
        "flows": [
            {
                "from": "ap",
                "to": "sta*",
                "start_spread_s": 0.1,
                "traffic": traffic,
                "tcp": {**TCP, **segments, **tcp},
            }
        ],
    }


def bulk(
    stations: int,
    window: int,
    *,
    measured_s: float = 100.0,
    warmup_s: float = 10.0,
    tcp: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Endless downloads with the advertised window W*, in segments."""
    cell = _cell(stations, window, {"bulk": {}}, tcp or {})
    return {**cell, "duration_s": warmup_s + measured_s, "warmup_s": warmup_s}


SIZES = {
    "pareto": {"pareto": {"mean_bytes": 30_000, "shape": 1.5}},
    "exp": {"exponential": {"mean_bytes": 30_000}},
    "const": {"constant": {"bytes": 30_000}},
}
SIZE_NAMES = {"pareto": "Pareto", "exp": "exponential", "const": "constant"}


def web(
    stations: int,
    window: int,
    sizes: str,
    *,
    think_s: float,
    files: int,
    tcp: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Files, each over its own connection; the delay of a file ends with its last ACK."""
    traffic = {
        "size": SIZES[sizes],
        "think_s": think_s,
        "files": files,
        # One station loads files back to back, others pause as users do.
        "first": "file" if stations == 1 else "think",
        "pauses": "constant" if stations == 1 else "exponential",
        "delay": "acknowledged",
    }
    cell = _cell(stations, window, {"web": traffic}, tcp or {})
    # Long enough for all files; idle time needs no computation.
    return {**cell, "duration_s": 4000.0, "warmup_s": 0.0}


def _delayed(d: int, timer_ms: float) -> dict[str, Any]:
    if d == 1:
        return {}
    fixed = {"segments": d, "timer_ms": timer_ms}
    return {"initial_window_segments": d, "delayed_ack": {"fixed": fixed}}


CHAOS = (
    "with W* = 1000 the queueing delay exceeds the first timeouts, after which the windows of the "
    "flows are random: the interval is that of four runs"
)
PERSISTENT: dict[str, Any] = {"measured_s": 200.0, "warmup_s": 150.0}
"""Time until a window of 1000 segments is full."""


def downloads() -> Group:
    """Goodput and fairness of downloads (p1a, p1b, p1x)."""
    cases = []
    for row in table("ns2_p1a"):
        window, n = int(row["W"]), int(row["nc"])
        length = PERSISTENT if window > 1 else {}
        cases.append(
            Case(
                f"W* = {window}, n = {n}",
                bulk(n, window, **length),
                _goodput_and_jain(row),
                QUIRKS,
                quick=n == 10,
            )
        )
    for row in table("ns2_p1b"):
        d, n = int(row["d"]), int(row["nc"])
        window = d if row["Wstar"] == "d" else 1000
        length = PERSISTENT if window == 1000 else {}
        cases.append(
            Case(
                f"FullTcp, W* = {window}, n = {n}, d = {d}",
                bulk(n, window, **length, tcp=_delayed(d, 100.0)),
                _goodput_and_jain(row),
                DELAYED if d > 1 else QUIRKS,
                quick=n == 10 and d == 4,
            )
        )
    for row in table("ns2_p1x"):
        case = _variant(row["variant"], row)
        if case is not None:
            cases.append(case)
    about = (
        "802.11b at 11 Mb/s, RTS/CTS before every frame, control at 2 Mb/s; the access point sends "
        "to n stations over TCP with the advertised window W* in segments of 1000 bytes, and d "
        f"segments are acknowledged together. Jain's index: {CHAOS}."
    )
    return Group("Downloads in ns-2", "ns-2.35", about, tuple(cases))


def _goodput_and_jain(row: dict[str, str]) -> tuple[Expected, ...]:
    expected = [given(goodput(0.02), row, "agg_bps", scale=1e-6)]
    if int(row["nc"]) > 1:
        expected.append(given(JAIN, row, "jain"))
    return tuple(expected)


def _variant(variant: str, row: dict[str, str]) -> Case | None:
    window, n = int(row["W"]), int(row["nc"])
    scenario = bulk(n, window, **(PERSISTENT if window > 1 else {}))
    more: dict[str, tuple[str, dict[str, Any], tuple[Option, ...]]] = {
        "cwmin32": ("first draw from 0 to 31", {}, (DURATIONS, GRID, IDLE)),
        "ctrl1M": ("control frames at 1 Mb/s", {"basic_rates_mbps": [1.0]}, QUIRKS),
        "lrl4": ("four attempts after a CTS", {"long_retry_limit": 4}, QUIRKS),
    }
    if variant not in more:
        # The base case is in the first table; capture is not simulated.
        return None
    name, wlan, options = more[variant]
    return Case(
        f"{name}, W* = {window}, n = {n}",
        {**scenario, "wlan": {**WLAN, **wlan}},
        (given(goodput(0.02), row, "agg_bps", scale=1e-6),),
        options,
    )


def collision_probability() -> Group:
    """Collisions, and the effect of each quirk of ns-2 on them (p1c)."""
    cases = []
    for row in table("ns2_p1c"):
        window, n = int(row["W"]), int(row["nc"])
        if n == 1 and window == 1:
            continue  # there are none
        cases.append(
            Case(
                f"W* = {window}, n = {n}",
                bulk(n, window, measured_s=200.0),
                (
                    given(collisions(), row, "pc"),
                    given(collisions("ap"), row, "pc_ap"),
                ),
                QUIRKS,
                replications=8,
                quick=n == 10 and window == 1,
            )
        )
    for row in table("ns2_whole_us"):
        if row["packet_bytes"] == "1000":
            continue
        n, mss, header = (int(row[key]) for key in ("stations", "packet_bytes", "header_bytes"))
        tcp = {"mss_bytes": mss, "header_bytes": header}
        cases.append(
            Case(
                f"frames of whole microseconds, W* = 1, n = {n}",
                bulk(n, 1, measured_s=200.0, tcp=tcp),
                (
                    given(collisions(), row, "pc"),
                    given(collisions("ap"), row, "pc_ap"),
                    given(goodput(0.02), row, "goodput_mbps"),
                ),
                (DRAW, GRID, IDLE),
                quick=n == 10,
            )
        )
    about = (
        "The same cells; the fraction of RTS frames without a CTS. By the standard's rules n = "
        "10 "
        "gives 0.075, as the Monte Carlo above, and ns-2 gives 0.056. The difference is one of "
        "rounding: an ns-2 frame takes fractions of a microsecond on the air, its Duration field "
        "is rounded, and a station senses another's frame within the same slot. The last rows "
        "prove it in ns-2 itself: with segments of 1004 bytes and headers of 43, whose frames are "
        "whole microseconds long, it gives 0.076 too, and Simoom does without that option."
    )
    return Group("Collisions in ns-2", "ns-2.35", about, tuple(cases))


def option_effects() -> Group:
    """The effect of each option on the collision probability."""
    row = next(r for r in table("ns2_p1c") if r["W"] == "1" and r["nc"] == "10")
    both = (given(collisions(), row, "pc"), given(goodput(0.02), row, "agg_bps", scale=1e-6))
    scenario = bulk(10, 1, measured_s=400.0)
    cases = (
        Case("durations alone", scenario, both, (DURATIONS,)),
        Case("all together", scenario, both, QUIRKS),
    )
    about = (
        "Ten stations, W* = 1: the durations alone give ns-2's collision probability; the other "
        "options change it by less than its interval."
    )
    return Group("Shares of ns-2's quirks", "ns-2.35", about, cases, explains=True)


def sessions() -> Group:
    """Delay of files (p1d, p1e, p1f, p1g)."""
    cases = []
    for row in table("ns2_p1d"):
        window = int(row["W"])
        cases.append(
            Case(
                f"one station, {SIZE_NAMES[row['dist']]}, W* = {window}",
                web(1, window, row["dist"], think_s=0.05, files=10_000),
                (_per_packet(row),),
                QUIRKS,
                quick=row["dist"] == "const",
            )
        )
    for row in table("ns2_p1e"):
        window, n = int(row["W"]), int(row["nc"])
        cases.append(
            Case(
                f"ON/OFF, {SIZE_NAMES[row['dist']]}, W* = {window}, n = {n}",
                web(n, window, row["dist"], think_s=10.0, files=300),
                (_per_packet(row),),
                QUIRKS,
                replications=8,
            )
        )
    for row in table("ns2_p1f"):
        window = int(row["W"])
        scenario = web(20, window, "pareto", think_s=10.0, files=300)
        buffer = {"queue": {"drop_tail": {"limit_packets": 30}}}
        cases.append(
            Case(
                f"ON/OFF, buffer of 30 packets, W* = {window}, n = 20",
                {**scenario, "ap": buffer},
                (_per_packet(row),),
                QUIRKS,
                replications=8,
            )
        )
    for row in table("ns2_p1g"):
        d = int(row["d"])
        cases.append(
            Case(
                f"one station, FullTcp, Pareto, W* = 1000, d = {d}",
                web(1, 1000, "pareto", think_s=0.05, files=4000, tcp=_delayed(d, 40.0)),
                (_per_packet(row),),
                DELAYED if d > 1 else QUIRKS,
                replications=8,
                quick=d > 1,
            )
        )
    about = (
        "Files of 30000 bytes on average, padded to whole segments, each over a connection of its "
        "own; *ON/OFF*: a pause of 10 s on average before each. Compared is the mean delay over "
        "the mean number of packets: the mean of heavy-tailed sizes itself moves by 10 % from "
        "sample to sample. Where W* = 1000 meets large files, a few of them decide, and the "
        "intervals are wide. FullTcp sends the third segment of the handshake without data, which "
        "Simoom puts on the first data segment: 1 % of a file's delay."
    )
    return Group("Web sessions in ns-2", "ns-2.35", about, tuple(cases))


def _per_packet(row: dict[str, str]) -> Expected:
    return given(PER_PACKET, row, "delay_per_pkt", scale=1000.0)
