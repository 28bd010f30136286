"""The paper's cell, packet by packet: its scenario, and the values that figures need from a run.

Table I to the microsecond: a data frame lasts 24 us and the time of its bits at its rate, RTS, CTS
and ACK last 36, 44 and 44 us. After a collision all nodes resume a DIFS after the RTS. There is no
retry limit (255 attempts), no delayed ACK, no delay of the wire, and no limit of the queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.lab import Lab, Sample

BLUE, ORANGE, GREEN, VERMILION, PURPLE, BLACK = 0, 1, 2, 3, 4, 7
MANY = 80
"""N of Fig. 6."""
HALF = None
"""The r2 of a half-duplex cell."""

TOTAL = "goodput_mbps"
GAIN = "gain_percent"
DOWN = "download_share"
WITHIN = 0.05
"""The paper's accuracy of its analysis, the tolerance wherever it states none."""
GAIN_POINTS = 1.5
"""Points of gain within which a quoted gain is reproduced."""
MSS_BYTES, HEADER_BYTES = 1960, 80
COUNTED = 2000 / MSS_BYTES
"""A TCP ACK of Table I has 94 bytes with its MAC header, and a segment 2054, of which the paper
counts 2000 as user data. With headers of equal size a segment has 1960 bytes of user data."""
WINDOW_SEGMENTS = 32
"""64 KB."""


@dataclass(frozen=True)
class Course:
    """How the windows open, and the time that is measured.

    Parameters
    ----------
    tcp : mapping
        The keys of TCP that determine how the windows open.
    begin_s, end_s : float
        The measured time.
    """

    tcp: Mapping[str, Any]
    begin_s: float
    end_s: float


HALF_WINDOW = {"initial_window_segments": 1, "initial_ssthresh_segments": 16}
SLOW_START = {"initial_window_segments": 1}
AT_ONCE = {"initial_window_segments": WINDOW_SEGMENTS}
PAPER = Course(HALF_WINDOW, 0.0, 45.0)
"""All of the paper's 45 s. It does not give the initial ssthresh: half of the largest window takes
about as long to fill the windows as the paper reports."""
FULL = Course(HALF_WINDOW, 30.0, 45.0)
"""The time in which nearly all windows are full."""
START = Course(SLOW_START, 5.0, 45.0)
"""Slow start up to the largest window, so that nearly all segments wait at the senders at 5 s."""
STEADY = Course(SLOW_START, 80.0, 110.0)
"""Long after the start: the queue of a full-duplex access point has drained."""

MAC: Mapping[str, Any] = {
    "rate_mbps": 54.0,
    "basic_rates_mbps": [6.0],
    "rts_rate_mbps": 12.0,
    "rts_threshold_bytes": 0,
    "model_header_us": 24.0,
    "mac_header_bytes": 10,
    "llc_bytes": 0,
    "cw_min": 31,
    "cw_max": 1023,
    "short_retry_limit": 255,
    "long_retry_limit": 255,
    "slot_grid": "difs",
}
TIMEOUTS: Mapping[str, Any] = {"slot_grid": "standard"}
"""After a collision the stations wait as in 802.11: a CTS timeout, all others an EIFS."""
TCP: Mapping[str, Any] = {
    "mss_bytes": MSS_BYTES,
    "header_bytes": HEADER_BYTES,
    "timestamps": False,
    "delayed_ack": "none",
    # The paper assumes that there are no timeouts; those of RFC 6298 begin at 1 s.
    "rto_initial_ms": 60_000.0,
    "rto_min_ms": 60_000.0,
}


def cell(
    stations: int,
    uploads: float,
    r2: float | None = 36.0,
    *,
    course: Course = PAPER,
    options: Mapping[str, Any] | None = None,
    station: Mapping[str, Any] | None = None,
    wlan: Mapping[str, Any] | None = None,
    flow: Mapping[str, Any] | None = None,
    tcp: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Scenario:
    """Return the paper's cell.

    Parameters
    ----------
    stations : int
        N.
    uploads : float
        f, the fraction of the stations that upload; N f is rounded.
    r2 : float or None
        The rate of the access point while it receives; `HALF` for a half-duplex cell.
    course : Course, optional
        How the windows open, and the time that is measured.
    options : mapping, optional
        Further keys of ``wlan.full_duplex``, of a full-duplex cell.
    station, wlan, flow, tcp : mapping, optional
        Further keys of the stations, of the table ``wlan``, of all flows, and of their TCP.
    **keys
        Further tables of the scenario.
    """
    count = round(stations * uploads)
    both = {"window_segments": WINDOW_SEGMENTS, **TCP, **course.tcp, **(tcp or {})}
    common = {**(flow or {}), "tcp": both}
    flows = []
    if count:
        flows.append({"from": _stations(0, count), "to": "server", **common})
    if count < stations:
        flows.append({"from": "server", "to": _stations(count, stations), **common})
    return Scenario(
        title="A full-duplex access point" if r2 else "A half-duplex access point",
        standard="11a",
        duration_s=course.end_s,
        warmup_s=course.begin_s,
        wlan={**MAC, **duplex(r2, options), **(wlan or {})},
        flows=flows,
        stations={"count": stations, **(station or {})},
        **keys,
    )


def duplex(r2: float | None, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the keys of ``wlan`` for the rate of the access point while it receives."""
    return {"full_duplex": {"secondary_rate_mbps": r2, **(options or {})}} if r2 else {}


def _stations(begin: int, end: int) -> str:
    return f"sta{begin}" if end == begin + 1 else f"sta{begin}-{end - 1}"


SHARE = "stations_fraction."
NOT_NUMBERS = float("nan")
COUNTERS = {
    "secondary_share": "full_duplex.secondary_share",
    "secondary_probability": "full_duplex.secondary_probability",
    "ap_attempt_probability": "full_duplex.ap_attempt_probability",
    "ap_collision_probability": "ap.collision_probability",
    "station_attempt_probability": "full_duplex.station_attempt_probability",
    "station_collision_probability": "full_duplex.station_collision_probability",
    "queue_packets": "ap.queue_packets.mean",
    "queue_drops": "total.queue_drops",
}


def measure(run: Run) -> dict[str, float]:
    """Extract throughput, counters, and the time in which k stations contend from a run."""
    taken = {
        name: float(run.summary.get(path, NOT_NUMBERS) or 0.0) for name, path in COUNTERS.items()
    }
    taken[TOTAL] = COUNTED * float(run.summary["total.goodput_mbps"] or 0.0)
    for k in range(int(run.scenario.get("stations.count")) + 1):
        share = run.summary.get(f"contending.stations_fraction[{k}]", 0.0)
        taken[f"{SHARE}{k}"] = float(share or 0.0)
    flows = run.flows
    goodput = [float(flow["goodput_mbps"] or 0.0) for flow in flows]
    down = sum(each for each, flow in zip(goodput, flows, strict=True) if flow["from"] == "server")
    taken[DOWN] = down / max(sum(goodput), 1e-9)
    return taken


def total(sample: Sample) -> Value:
    """Return the mean throughput."""
    return Value.mean(sample[TOTAL])


def gain(full: Sample, half: Sample) -> Value:
    """Return the mean gain of full duplex over half duplex in percent, by pairs of runs."""
    return Value.mean(100 * (full[TOTAL] / half[TOTAL] - 1))


def share(full: Sample, half: Sample) -> Value:
    """Return the mean throughput of full duplex in percent of half duplex, by pairs of runs."""
    return Value.mean(100 * full[TOTAL] / half[TOTAL])


def replications(lab: Lab) -> int:
    """Return the number of runs of each case."""
    return lab.pick(5, 3)
