"""Cases against ns-3.37."""

from __future__ import annotations

from typing import Any

from validation.case import Case, Group, Option
from validation.references import JAIN, collisions, given, goodput, table

BASIC_RATES = {"b": [1.0, 2.0], "a": [6.0, 12.0, 24.0], "g": [1.0, 2.0, 6.0, 12.0, 24.0]}
"""The queue of an ns-3 access point."""
CONTROLS = {"TcpNewReno": "new_reno", "TcpCubic": "cubic"}
"""Congestion controllers of ns-3 that can be compared, with their names in Simoom."""
ALWAYS, NEVER = 100, 2347
"""RTS thresholds: 100 bytes are more than a TCP ACK and less than a data packet."""

EIFS = Option(
    "wlan.eifs",
    "none",
    "receivers detect no preamble in collisions of frames of equal power, so that other stations "
    "detect energy but receive no frame, and wait a DIFS",
)
GRID = Option(
    "wlan.slot_grid",
    "free",
    "a colliding station counts its back-off from the end of its timeout, off the others' slots",
)
PERSISTENT = Option(
    "wlan.short_retry_limit",
    255,
    "a failed RTS increments the short retry count, but for a long frame the limit applies to the "
    "long retry count, so that an RTS is repeated without limit",
)
RECOVERY = Option(
    "flows[0].tcp.recovery",
    {
        "sack": {
            "rack": False,
            "reduction": "proportional_rfc6937",
            "f_rto": False,
            "undo": False,
        }
    },
    "losses are detected by RFC 6675 and the window is reduced by RFC 6937, without later RFCs",
)


def _wlan(phy: str, threshold: int) -> dict[str, Any]:
    # ns-3 discards a frame at the seventh failure, whichever counter has that value.
    return {
        "basic_rates_mbps": BASIC_RATES[phy],
        "rts_threshold_bytes": threshold,
        "long_retry_limit": 7,
    }


def _options(rts: bool) -> tuple[Option, ...]:
    return (EIFS, GRID, PERSISTENT) if rts else (EIFS, GRID)


def tcp(
    ends: tuple[str, str],
    mss: int,
    delayed_ack: int,
    *,
    window: int = 65_535,
    control: str = "new_reno",
) -> dict[str, Any]:
    """A flow between these ends, with the settings of all TCP flows of ns-3."""
    delayed = {"fixed": {"segments": delayed_ack, "timer_ms": 200.0}}
    return {
        "from": ends[0],
        "to": ends[1],
        "start_s": 1.0,
        "start_spread_s": 0.1,
        "control": control,
        "tcp": {
            "mss_bytes": mss,
            "window_bytes": window,
            "delayed_ack": delayed if delayed_ack > 1 else "none",
        },
    }


def saturation() -> Group:
    """UDP saturation."""
    cases = []
    for row in table("ns3_s1"):
        phy, n, rts = row["phy"], int(row["n"]), row["rts"] == "1"
        payload = int(row["payload"])
        flow = {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": payload}}}
        expected = [given(goodput(0.02), row, "goodput_mbps")]
        if n > 1:
            expected.append(given(collisions(), row, "p_coll"))
        cases.append(
            Case(
                f"802.11{phy}, {'RTS/CTS' if rts else 'basic'}, {payload} B, N = {n}",
                {
                    "standard": f"11{phy}",
                    "stations": n,
                    "duration_s": 62.0 if phy == "b" else 42.0,
                    "warmup_s": 2.0,
                    "wlan": _wlan(phy, ALWAYS if rts else NEVER),
                    "flows": [flow],
                },
                tuple(expected),
                _options(rts),
                quick=payload == 1500 and n == 20,
            )
        )
    about = (
        "Every station always has a datagram for the access point; payloads as given, and 28 "
        "bytes of UDP and IP. Long preamble in b; control frames at 2 Mb/s in b and 24 Mb/s in a."
    )
    return Group("UDP saturation in ns-3", "ns-3.37", about, tuple(cases))


WIRE = {"rate_mbps": 1000.0, "delay_ms": 2.0}


def is_comparable(row: dict[str, str]) -> bool:
    """Whether Simoom has the standard and the congestion controller of a row."""
    return row["phy"] in BASIC_RATES and row["cc"] in CONTROLS


def one_flow() -> Group:
    """One TCP flow, with and without losses in the queues."""
    about = (
        "One flow between a station and a server behind 1 Gb/s and 2 ms; segments of 1448 bytes "
        "with timestamps. The window is 65535 bytes, and nothing is lost; or it is 4 MiB, and the "
        "queues of access point and station hold 100 packets."
    )
    cases = tuple(_one_flow(row) for row in table("ns3_s2") if is_comparable(row))
    return Group("One TCP flow in ns-3", "ns-3.37", about, cases)


def _one_flow(row: dict[str, str]) -> Case:
    phy, down, rts = row["phy"], row["dir"] == "down", row["rts"] == "1"
    delayed, lossy = int(row["delack"]), row["macq"] == "100p"
    ends = ("server", "sta0") if down else ("sta0", "server")
    queue = {"queue": {"drop_tail": {"limit_packets": 100}}} if lossy else {}
    name = f"802.11{phy}, {'RTS/CTS' if rts else 'basic'}, {row['cc'].removeprefix('Tcp')}, "
    name += f"{row['dir']}, d = {delayed}"
    flow = tcp(ends, 1448, delayed, window=int(row["w_max"]), control=CONTROLS[row["cc"]])
    return Case(
        name + (", queues of 100" if lossy else ""),
        {
            "standard": f"11{phy}",
            "stations": {"count": 1, **queue},
            "ap": queue,
            "duration_s": 35.0,
            "warmup_s": 5.0,
            "wire": WIRE,
            "wlan": _wlan(phy, ALWAYS if rts else NEVER),
            "flows": [flow],
        },
        (given(goodput(0.03), row, "goodput_mbps"),),
        (*_options(rts), RECOVERY) if lossy else _options(rts),
        quick=phy == "a" and down and not rts,
    )


def many_flows() -> Group:
    """A TCP flow for each station, with RTS/CTS."""
    cases = []
    for row in table("ns3_s4"):
        n, mss, threshold = (int(row[key]) for key in ("n", "mss", "rts_threshold"))
        downloads = {"down": n, "up": 0, "half": (n + 1) // 2}[row["dir"]]
        flows = []
        if downloads:
            flows.append(tcp(("server", f"sta0-{downloads - 1}"), mss, 1))
        if downloads < n:
            flows.append(tcp((f"sta{downloads}-{n - 1}", "server"), mss, 1))
        protected = "all data frames" if threshold == 0 else "TCP data only"
        cases.append(
            Case(
                f"{n} flows, {row['dir']}, MSS {mss}, RTS for {protected}",
                {
                    "standard": "11a",
                    "stations": n,
                    "duration_s": 5.0,
                    "warmup_s": 3.0,
                    "wire": WIRE,
                    "wlan": _wlan("a", threshold),
                    "flows": flows,
                },
                (given(goodput(0.03), row, "goodput_mbps"), given(JAIN, row, "jain")),
                _options(rts=True),
                replications=8,
                quick=row["dir"] == "half",
            )
        )
    about = (
        "802.11a with RTS/CTS, a flow for each station, window 65535 bytes, an ACK each segment, "
        "a server behind 1 Gb/s and 2 ms; the window from 3 s to 5 s, so that slow start still "
        "shows in Jain's index. *half*: the first half of the stations download."
    )
    return Group("Many TCP flows in ns-3", "ns-3.37", about, tuple(cases))
