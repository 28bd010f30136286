"""The experiment of the paper, its printed tables, and the values that figures need from a run.

50 nodes move at random and send files with TCP over routes that DSR finds. The paper gives neither
area nor speeds, pauses, duration, or which nodes send to which. This study chooses 1,000 m x
1,000 m, 1 to 10 m/s, pauses of 2 s, a start from the equilibrium of the movement, 200 s, and node f
as the source of flow f, whose destination is node f + 25 (modulo 50). Movement differs from
replication to replication, and is the same for all controllers, so that they compare in pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.lab import Lab

NODES = 50
FLOWS = (10, 30, 50)


@dataclass(frozen=True)
class Course:
    """The end of a run, and the time from which it is measured, in seconds."""

    end_s: float
    begin_s: float


PAPER, QUICK = Course(200.0, 10.0), Course(30.0, 10.0)


def course(lab: Lab) -> Course:
    """Return how long the lab runs a network."""
    return lab.pick(PAPER, QUICK)


FACTORS = (2, 4, 6, 8)
"""The values of alpha and beta."""
PAIRS = tuple((alpha, beta) for alpha in FACTORS for beta in FACTORS)
"""All 16 pairs of the scenarios."""
PRINTED_PAIRS = PAIRS[:12]
"""The 12 pairs of Tables IV and V, those with alpha = 2, 4 and 6."""

NEW_RENO, FEW = "NewReno", "FeW"
Control = Mapping[str, Any]


def afw(alpha: int, beta: int) -> str:
    """Return the name of AFW with these factors."""
    return f"AFW {alpha}, {beta}"


CONTROLS: Mapping[str, Control] = {
    NEW_RENO: {"new_reno": {}},
    FEW: {"few": {"alpha": 0.01}},
    **{afw(*pair): {"afw": {"alpha": pair[0], "beta": pair[1]}} for pair in PAIRS},
}

TCP: Mapping[str, Any] = {
    "mss_bytes": 1024,
    "timestamps": False,
    "initial_window_segments": 2,
    "window_segments": 1000,
    "initial_ssthresh_segments": 1000,
    "delayed_ack": "none",
    "byte_counting": False,
    "rto_initial_ms": 3000.0,
    "rto_min_ms": 200.0,
    "recovery": "new_reno",
    "limited_transmit": True,
    "ssthresh_from": "congestion_window",
    "rtt_tick_ms": 10.0,
    "close": "none",
    "header_bytes": 60,
}
"""ns-2's TCP/Newreno, which counts acknowledgements, and its sink without delayed ACKs.

Each of the first two duplicate acknowledgements sends a segment (`singledup_`), a loss halves the
congestion window and each timeout does so again, and samples of the round-trip time are whole ticks
(`tcpTick_`). Its routing agent adds 20 bytes of IP header to packets whose 40 bytes of TCP header
include them.
"""

KBPS: Mapping[str, tuple[float, float, float]] = {
    afw(2, 2): (1851.84, 1935.18, 2014.01),
    afw(2, 4): (1815.32, 1932.42, 1913.95),
    afw(2, 6): (1857.86, 1898.32, 1796.42),
    afw(2, 8): (1875.78, 1898.32, 1796.42),
    afw(4, 2): (1907.46, 1874.39, 1908.29),
    afw(4, 4): (1867.95, 1999.84, 1951.58),
    afw(4, 6): (1939.08, 1958.84, 2011.36),
    afw(4, 8): (1874.83, 1958.84, 1969.78),
    afw(6, 2): (1860.42, 2020.90, 1933.03),
    afw(6, 4): (1953.56, 1977.11, 1999.50),
    afw(6, 6): (1887.60, 1903.17, 2013.37),
    afw(6, 8): (1862.77, 1913.12, 2013.37),
    FEW: (1712.48, 1878.02, 1739.35),
}
"""Table IV: throughput in kb/s at 10, 30 and 50 flows."""
LOSS_PERCENT: Mapping[str, tuple[float, float, float]] = {
    afw(2, 2): (1.08, 1.55, 3.27),
    afw(2, 4): (0.97, 1.68, 3.92),
    afw(2, 6): (0.88, 2.15, 2.96),
    afw(2, 8): (1.05, 2.15, 3.11),
    afw(4, 2): (1.88, 2.31, 3.98),
    afw(4, 4): (1.54, 2.73, 3.92),
    afw(4, 6): (1.65, 2.63, 3.44),
    afw(4, 8): (1.76, 2.63, 3.56),
    afw(6, 2): (1.87, 2.52, 5.09),
    afw(6, 4): (2.22, 3.16, 4.11),
    afw(6, 6): (1.65, 3.09, 5.15),
    afw(6, 8): (1.97, 3.28, 5.15),
    FEW: (0.01, 0.08, 0.15),
}
"""Table V: lost packets in percent at 10, 30 and 50 flows."""


def printed(table: Mapping[str, Sequence[float]], control: str, flows: int) -> float:
    """Return a cell of the paper's tables."""
    return table[control][FLOWS.index(flows)]


def printed_mean(table: Mapping[str, Sequence[float]], flows: int) -> float:
    """Return the mean of AFW's 12 cells at a number of flows."""
    return float(np.mean([printed(table, afw(*pair), flows) for pair in PRINTED_PAIRS]))


def ratio(one: NDArray[np.float64], other: NDArray[np.float64]) -> Value:
    """Return the ratio of two means over the networks that both have, with the same movement.

    The interval is that of the mean of ``one - r * other``, where r is the ratio (Fieller's
    method to first order), so that pairs with much traffic count as much as they carry.
    """
    count = min(len(one), len(other))
    both = np.isfinite(one[:count]) & np.isfinite(other[:count])
    one, other = one[:count][both], other[:count][both]
    if not np.mean(other):
        return Value(np.nan, -np.inf, np.inf, len(one), "mean")
    r = float(np.mean(one) / np.mean(other))
    residual = Value.mean((one - r * other) / np.mean(other))
    half = residual.half_width
    return Value(r, r - half, r + half, len(one), "mean")


DCF: Mapping[str, Any] = {
    "rate_mbps": 2.0,
    "basic_rates_mbps": [1.0],
    "rts_threshold_bytes": 0,
    "short_retry_limit": 7,
    "long_retry_limit": 4,
}
"""802.11b at 2 Mb/s, RTS/CTS before every frame, control frames at 1 Mb/s: ns-2's settings."""
WLAN: Mapping[str, Any] = {
    **DCF,
    "mac_header_bytes": 30,
    "llc_bytes": 0,
    "backoff_draw": "ns2",
    "durations": "ns2",
    "idle_access": "ns2",
    "eifs": "ns2",
}
"""The same with what ns-2's MAC does differently from 802.11."""
RADIO: Mapping[str, Any] = {"preset": "ns2", "ad_hoc": True}
"""Two-ray ground, reception up to 250 m, carrier sense up to 550 m."""
DSR: Mapping[str, Any] = {"protocol": {"dsr": {"preset": "ns2"}}, "arp": "ns2"}
QUEUE: Mapping[str, Any] = {"priority": {"limit_packets": 50}}
"""ns-2's interface queue: routing messages and TCP ACKs first."""
AREA_M, SPEED_MPS, PAUSE_S = 1000.0, (1.0, 10.0), 2.0


def mobile(
    control: str,
    flows: int,
    *,
    area_m: float = AREA_M,
    speed_mps: tuple[float, float] = SPEED_MPS,
    pause_s: float = PAUSE_S,
    start: str = "stationary",
    course: Course = PAPER,
    interval_s: float | None = None,
    controls: Mapping[str, Control] = CONTROLS,
    tcp: Mapping[str, Any] | None = None,
    wlan: Mapping[str, Any] = WLAN,
    routing: Mapping[str, Any] = DSR,
    queue: Mapping[str, Any] = QUEUE,
) -> Scenario:
    """Return the network of Tables I and II.

    Parameters
    ----------
    control : str
        A key of `controls`.
    flows : int
        The number of flows, at most 50.
    area_m : float, optional
        The side of the square in which nodes move, metres.
    speed_mps : tuple of float, optional
        The least and the greatest speed, metres per second.
    pause_s : float, optional
        The pause at each destination, seconds.
    start : str, optional
        The state in which movement starts.
    course : Course, optional
        The times at which measurements begin and end.
    interval_s : float, optional
        The time between two samples of probes, seconds.
    controls : mapping, optional
        Controllers by name.
    tcp : mapping, optional
        Further keys of TCP.
    wlan, routing, queue : mapping, optional
        The tables of the MAC, of the routing protocol, and of the nodes' queues.
    """
    movement = {
        "area_m": [area_m, area_m],
        "speed_mps": list(speed_mps),
        "pause_s": pause_s,
        "start": start,
    }
    measured = {} if interval_s is None else {"measure": {"interval_s": interval_s}}
    return Scenario(
        title="Mobile nodes with DSR",
        standard="11b",
        duration_s=course.end_s,
        warmup_s=course.begin_s,
        wlan=dict(wlan),
        radio=dict(RADIO),
        routing=dict(routing),
        stations={
            "count": NODES,
            "movement": {"random_waypoint": movement},
            "queue": dict(queue),
        },
        flows=[
            {
                "name": f"ftp{flow}",
                "from": f"sta{flow}",
                "to": f"sta{(flow + NODES // 2) % NODES}",
                "start_s": 1.0,
                "start_spread_s": 5.0,
                "traffic": {"bulk": {"size_bytes": 100_000_000}},
                "control": dict(controls[control]),
                "tcp": {**TCP, **(tcp or {})},
            }
            for flow in range(flows)
        ],
        **measured,
    )


GOODPUT, SENT = "goodput_kbps", "sent_kbps"
QUEUE_LOSS, LOSS, LOST = "queue_loss_percent", "loss_percent", "end_to_end_loss_percent"
"""Packets that queues drop, packets that are lost on the way, and those that do not arrive."""
MESSAGES, FAILURES = "messages_per_s", "link_failures_per_s"
FALSE_FAILURES = "false_link_failures_percent"
STARVED = "starved_flows"


def measure(run: Run) -> dict[str, float]:
    """Extract throughput, loss and what routing did from a run."""
    get = run.summary.get
    seconds = float(get("run.measured_s"))
    sent = np.array([float(flow["segments_sent"] or 0) for flow in run.flows])
    lost = np.array([float(flow["undelivered_fraction"] or 0.0) for flow in run.flows])
    goodput = np.array([float(flow["goodput_mbps"] or 0.0) for flow in run.flows])
    failures = float(get("routing.link_failures"))
    return {
        GOODPUT: 1000 * float(get("total.goodput_mbps")),
        SENT: 8e-3 * TCP["mss_bytes"] * float(sent.sum()) / seconds,
        QUEUE_LOSS: 100 * float(get("total.queue_drops")) / max(1.0, sent.sum()),
        LOSS: 100 * float(get("routing.dropped_fraction") or 0.0),
        LOST: 100 * float(sent @ lost / max(1.0, sent.sum())),
        MESSAGES: float(get("routing.messages")) / seconds,
        FAILURES: failures / seconds,
        FALSE_FAILURES: 100 * float(get("routing.false_link_failures")) / max(1.0, failures),
        STARVED: float(np.sum(goodput < 0.001)),
    }
