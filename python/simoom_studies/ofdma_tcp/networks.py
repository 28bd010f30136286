"""The cells of the study, and the values that figures need from a run.

There is no paper. A cell of 802.11ax, 20 MHz, MCS 7, one stream, without losses; servers behind a
wire of 1 Gb/s, 10 ms there and back. The access point has Linux's queues (mac80211): a queue for
each flow, CoDel, and fair airtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Curve, Source, curve
from simoom.studies.lab import Lab, Sample

SINGLE = "single user"
CHAIN = "round_robin, bar_chain"
BY_TRIGGER = "round_robin, mu_bar"
MULTI = "round_robin"
ALL = "head_of_line"
BACKLOG = "backlog"
MIXED = "backlog, single_above_us = 1000"
SHORTEST = "shortest_first"
TRIGGERS = "triggers and EDCA"
TRIGGERED = "triggers only"

SCHEDULERS: Mapping[str, Any] = {
    MULTI: "round_robin",
    ALL: "head_of_line",
    BACKLOG: "backlog",
    MIXED: {"backlog": {"single_above_us": 1000.0}},
    SHORTEST: "shortest_first",
}
"""`wlan.mu.scheduler` of each way to send, with MU-BARs in the A-MPDUs."""

SEQUENCES: Mapping[str, str] = {CHAIN: "bar_chain", BY_TRIGGER: "mu_bar"}
"""`wlan.mu.acknowledgement` of those that are by `round_robin` with another sequence."""


POLL_US = 5000.0
"""The access interval of an access point that triggers."""
LONGEST = 255
"""The timer of hostapd's example of MU EDCA, 2.089 s."""


def by_triggers(way: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `wlan.mu` of an access point that triggers, and serves long queues alone.

    The keys are those of `wlan.mu.uplink`, and `timer`, that of MU EDCA with AIFSN 0: stations that
    send by triggers only have the longest.
    """
    timer = given.get("timer", LONGEST if way == TRIGGERED else 0)
    uplink = {key: value for key, value in given.items() if key != "timer"}
    muted = {"edca": {"best_effort": {"aifsn": 0, "timer": timer}}} if timer else {}
    return {**mu(MIXED)["mu"], "uplink": {"access_interval_us": POLL_US, **uplink}, **muted}


def mu(way: str, uplink: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the keys of `wlan` for a way to send: PPDUs of a single user, or OFDMA."""
    if way == SINGLE:
        return {}
    if way in (TRIGGERS, TRIGGERED):
        return {"mu": by_triggers(way, uplink or {})}
    acknowledgement = SEQUENCES.get(way, "aggregated_mu_bar")
    scheduler = SCHEDULERS.get(way, "round_robin")
    return {"mu": {"acknowledgement": acknowledgement, "scheduler": scheduler}}


def cell(
    way: str,
    stations: int,
    flows: list[dict[str, Any]],
    *,
    txop_us: float | None = None,
    uplink: Mapping[str, Any] | None = None,
    duration_s: float = 12.0,
) -> Scenario:
    """Return a cell whose access point sends in some way.

    Parameters
    ----------
    way : str
        A key of `SCHEDULERS` or `SEQUENCES`, `SINGLE`, or `TRIGGERS` or `TRIGGERED`.
    stations : int
        The number of stations.
    flows : list
        The flows.
    txop_us : float, optional
        The TXOP limit of the access point's best effort, 0 for none. Default: the standard's,
        2.528 ms.
    uplink : mapping, optional
        What `by_triggers` has otherwise.
    duration_s : float, optional
        Simulated time, of which the first third is not measured.
    """
    ap: dict[str, Any] = {"queue": "mac80211"}
    if txop_us is not None:
        ap["edca"] = {"best_effort": {"txop_limit_us": txop_us}}
    return Scenario(
        title="TCP over downlink OFDMA",
        standard="11ax",
        duration_s=duration_s,
        warmup_s=duration_s / 3,
        wlan={"width_mhz": 20, "mcs": 7, **mu(way, uplink)},
        stations=stations,
        ap=ap,
        wire={"rate_mbps": 1000.0, "delay_ms": 5.0},
        flows=flows,
    )


PING = {"name": "ping", "from": "server", "to": "sta*", "traffic": {"ping": {"interval_ms": 50.0}}}
"""Echo requests to each station."""


TIMEOUT_MS = 2000.0
"""When a ping counts as lost."""


def bulk(control: str = "cubic", segments: int | None = None) -> dict[str, Any]:
    """Return an endless download of each station.

    Parameters
    ----------
    control : str, optional
        The congestion control.
    segments : int, optional
        The segments that an acknowledgement is for. Default: two, or 40 ms (RFC 1122).
    """
    down = {"name": "bulk", "from": "server", "to": "sta*", "traffic": "bulk", "control": control}
    if segments is None:
        return down
    fixed = {"segments": segments, "timer_ms": 40.0}
    return {**down, "tcp": {"delayed_ack": {"fixed": fixed}}}


def saturated() -> dict[str, Any]:
    """Return datagrams that always wait for each station, as large as the data of segments."""
    traffic = {"saturated": {"payload_bytes": 1448}}
    return {"name": "datagrams", "from": "ap", "to": "sta*", "traffic": traffic}


def web(mean_bytes: float = 50_000, think_s: float = 1.0) -> dict[str, Any]:
    """Return responses over a connection of each station, with pauses between them."""
    requests = {"size": {"exponential": {"mean_bytes": mean_bytes}}, "think_s": think_s}
    return {"name": "web", "from": "server", "to": "sta*", "traffic": {"requests": requests}}


def small(rate_mbps: float = 1.0, *, up: bool = False) -> dict[str, Any]:
    """Return datagrams of 200 bytes to or from each station, at random times."""
    traffic = {"poisson": {"rate_mbps": rate_mbps, "payload_bytes": 200}}
    ends = ("sta*", "ap") if up else ("ap", "sta*")
    return {"name": "small", "from": ends[0], "to": ends[1], "traffic": traffic}


def replications(lab: Lab) -> int:
    """Return how often each cell is run."""
    return lab.pick(24, 7)


def measure(run: Run) -> dict[str, float]:
    """Extract goodput of all flows, and what OFDMA does to the air."""
    found = run.summary
    users = found.get("ap.mu.users_per_ppdu")
    return {
        "goodput_mbps": float(found["total.goodput_mbps"]),
        "users": float("nan") if users is None else float(users),
        "padding": float(found.get("airtime.padding_fraction") or 0.0),
    }


def measure_pings(run: Run) -> dict[str, float]:
    """Extract the goodput, and the 95th percentile of round trips of pings: the mean of flows.

    A flow without a reply counts with the time-out of pings.
    """
    found = run.summary
    pings = [
        TIMEOUT_MS if value is None else 1e3 * float(value)
        for path, value in found.items()
        if path.endswith(".rtt_s.p95")
        and str(found[path.replace("rtt_s.p95", "name")]).startswith("ping")
    ]
    return {**measure(run), "ping_p95_ms": float(np.mean(pings))}


def measure_delay(run: Run) -> dict[str, float]:
    """Extract the 95th percentile of the delay of packets."""
    return {**measure(run), "p95_ms": 1e3 * float(run.summary["total.delay_s.p95"])}


def measure_files(run: Run) -> dict[str, float]:
    """Extract the 95th percentile of the time per file."""
    return {**measure(run), "file_p95_ms": 1e3 * float(run.summary["total.session_delay_s.p95"])}


def paired(over: Sample, under: Sample, quantity: str, *names: str) -> Value:
    """Return the mean ratio of two values over pairs of runs with the same seeds."""
    ratio: NDArray[np.float64] = over[quantity] / under[quantity]
    return Value.mean(ratio).named(f"{quantity} over that of single users", *names)


def means(
    found: Mapping[tuple[str, int], Sample],
    ways: Sequence[str],
    numbers: Sequence[int],
    quantity: str,
) -> tuple[Curve, ...]:
    """Return a curve of the means of a value over these numbers for each way to send."""
    return tuple(
        curve(
            way,
            Source.SIMULATION,
            numbers,
            [Value.mean(found[way, number][quantity]) for number in numbers],
            quantity,
            colour=colour,
        )
        for colour, way in enumerate(ways)
    )
