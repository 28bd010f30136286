"""The cell of the paper, and the values that its figures need from a run.

The paper's parameters are those of its Table 1 and section 2.3. Simoom deviates in two of them. An
RTS has the 160 bits of the standard (802.11-2020 clause 9.3.1.2) and of ns-2 instead of 180, which
is 10 us less for each frame. Frames last whole microseconds (clause 15.2.3.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from simoom.models import http_queueing, http_sessions
from simoom.results.run import Run
from simoom.results.tables import number
from simoom.scenario.scenario import Scenario
from simoom.studies.lab import Sample

FILE_BYTES = 30_000
"""30 KByte are 30000 bytes: with 30720 no reading gives the paper's analytical values."""
PARETO_SHAPE = 1.5
THINK_S = 10.0
FILES = 300
"""The number of files that each station downloads in section 4.2."""
DELACK_MS = 40.0
"""tau_out of section 4.3."""
LARGE_WINDOW = 1000
SEGMENT_BITS = 8000.0
CELL = http_queueing.TABLE_1
"""The parameters of the analysis."""
CELL_160 = http_queueing.Cell(rts_bits=160.0)
"""The same with the RTS of the standard, as in the simulation."""

SEGMENTS_PER_FILE = float(http_sessions.expected_segments(FILE_BYTES, shape=PARETO_SHAPE))
"""E[ceil(X / L)] of Pareto files: 30.51."""

TCP = {
    "mss_bytes": 1000,
    "timestamps": False,
    "window_segments": 1,
    "initial_window_segments": 1,
    "delayed_ack": "none",
    "recovery": "new_reno",
    "byte_counting": False,  # section 2.2: with fewer ACKs the window grows more slowly
    "close": "none",  # footnote 1 of the paper
    "pad_last_segment": True,  # footnote 1
}

PAPER = Scenario(
    title="Web traffic over 802.11b",
    standard="11b",
    stations=1,
    wlan={
        "rate_mbps": 11.0,
        "basic_rates_mbps": [2.0],  # R_control
        "rts_threshold_bytes": 0,  # RTS/CTS precedes any packet
        "long_retry_limit": 7,  # m
        "mac_header_bytes": 30,  # with the FCS L_MAC = 272 bits
        "llc_bytes": 0,
    },
    flows=[{"name": "download", "from": "server", "to": "sta*", "traffic": "bulk", "tcp": TCP}],
)
"""Table 1 and section 2.3: one station, one endless download, W* = 1."""


def with_delayed_acks(scenario: Scenario, every: int | str, *, timer_ms: float) -> Scenario:
    """Return a scenario whose receivers acknowledge every d segments, or by the scheme of [5].

    The initial window is d, as in section 4.3, so that no timer expires at the start; the dynamic
    scheme starts with d = 1.
    """
    if every == 1:
        return scenario
    if every == "dynamic":
        scheme: Any = {"dynamic": {"thresholds": [2, 5, 9], "timer_ms": timer_ms}}
    else:
        scheme = {"fixed": {"segments": every, "timer_ms": timer_ms}}
        scenario = scenario.set("flows[*].tcp.initial_window_segments", every)
    return scenario.set("flows[*].tcp.delayed_ack", scheme)


def without_timeouts(scenario: Scenario) -> Scenario:
    """Return a scenario in which no retransmission timer expires, as section 3 assumes."""
    for key in ("rto_max_ms", "rto_initial_ms", "rto_min_ms"):
        scenario = scenario.set(f"flows[*].tcp.{key}", 1e6)
    return scenario


def downloads(
    connections: int, *, window: int, every: int = 1, warmup_s: float, measured_s: float
) -> Scenario:
    """Return n_c endless downloads with W* and d, section 3."""
    scenario = PAPER.set("stations", connections)
    scenario = scenario.set("flows[0].tcp.window_segments", window)
    scenario = with_delayed_acks(without_timeouts(scenario), every, timer_ms=100.0)
    # With W* = 1 the windows are full at once; all others need time to fill.
    scenario = scenario.set("flows[0].start_spread_s", 0.1)
    return scenario.set("warmup_s", warmup_s).set("duration_s", warmup_s + measured_s)


def size(kind: str) -> dict[str, Any]:
    """Return a distribution of file sizes with the paper's mean."""
    sizes: dict[str, dict[str, Any]] = {
        "constant": {"constant": {"bytes": FILE_BYTES}},
        "exponential": {"exponential": {"mean_bytes": FILE_BYTES}},
        "Pareto": {"pareto": {"mean_bytes": FILE_BYTES, "shape": PARETO_SHAPE}},
    }
    return sizes[kind]


def web(
    stations: int,
    *,
    window: int,
    kind: str = "Pareto",
    think_s: float = THINK_S,
    files: int = FILES,
    every: int | str = 1,
    queue: Mapping[str, Any] | None = None,
    end: str = "acknowledged",
) -> Scenario:
    """Return ON/OFF sources, section 4: each station alternates between thinking and downloading.

    A session ends when the last TCP ACK has arrived, as in ns-2 and in (14) to (17). In the text of
    the paper it ends with the last segment, ``end="delivered"``, which is shorter by the exchange
    of a TCP ACK.
    """
    traffic = {
        "size": size(kind),
        "think_s": think_s,
        "files": files,
        "first": "think",
        "delay": end,
    }
    scenario = PAPER.set("stations", stations).set("flows[0].name", "web")
    scenario = scenario.set("flows[0].traffic", {"web": traffic})
    scenario = scenario.set("flows[0].tcp.window_segments", window)
    scenario = with_delayed_acks(scenario, every, timer_ms=DELACK_MS)
    if queue is not None:
        scenario = scenario.set("ap.queue", dict(queue))
    # All files end long before; idle time needs no computation.
    enough = files * (think_s + 4.0) * 4 + 2000.0
    return scenario.set("warmup_s", 0.0).set("duration_s", enough)


def measure(run: Run) -> dict[str, float]:
    """Extract the values of the figures from a run, also by group: ``web.goodput_mbps``."""
    get = run.summary.get
    attempts = number(get("total.attempts")) or 0.0
    drops = number(get("total.retry_drops")) or 0.0
    collided = _number(get("total.collision_probability"))
    packets = attempts * (1 - collided) + drops
    measured = {
        "goodput_mbps": _number(get("total.goodput_mbps")),
        "collision_probability": collided,
        "drop_probability": drops / packets if packets else math.nan,
        "jain_index": _number(get("total.jain_index")),
        "queue_drops": _number(get("total.queue_drops")),
        "contending_stations": _number(get("contending.stations_mean")),
        "session_delay_s": _number(get("total.session_delay_s.mean")),
        **{
            f"session_delay_{part}_s": _number(get(f"total.session_delay_s.{part}"))
            for part in ("p50", "p90", "p95", "p99")
        },
    }
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for flow in run.flows:
        groups.setdefault(str(flow["name"]).split(" ")[0], []).append(flow)
    for name, flows in groups.items():
        measured |= {f"{name}.{key}": value for key, value in _group(flows).items()}
    measured |= {key: value for key, value in _group(run.flows).items() if key not in measured}
    return measured


def _group(flows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the values of a group of equal flows: goodput of each, delays over all sessions."""

    def each(key: str) -> list[float]:
        return [number(flow.get(key)) or 0.0 for flow in flows]

    files = sum(each("session_delay_s.count"))
    pairs = zip(each("session_delay_s.count"), each("session_delay_s.mean"), strict=True)
    waited = sum(count * mean for count, mean in pairs)
    resent = sum(each("retransmissions"))
    segments = sum(each("segments_sent")) - resent
    return {
        "goodput_mbps": sum(each("goodput_mbps")) / len(flows),
        "files": files,
        "session_delay_s": waited / files if files else math.nan,
        "segments_per_file": segments / files if files else math.nan,
        "delay_per_segment_ms": 1e3 * waited / segments if files else math.nan,
        "timeouts": sum(each("timeouts")),
        "retransmissions": resent,
    }


def expected_file_s(sample: Sample) -> list[float]:
    """Return for each run the delay of the expected file: the delay per segment times 30.51.

    The mean delay of a run follows the mean of its random sizes, which varies by tens of percents
    if sizes have infinite variance. The delay per segment does not.
    """
    return [1e-3 * SEGMENTS_PER_FILE * float(each) for each in sample["delay_per_segment_ms"]]


def _number(value: Any) -> float:
    known = number(value)
    return math.nan if known is None else known
