"""The networks of the study, and the values that figures need from a run.

There is no paper. Where a figure repeats a published measurement, it is that of the tests of L4S
behind radio links with a wired DualPI2 ("HE"), whose numbers are in `PUBLISHED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.run import Run
from simoom.scenario import Scenario

OURS = "a finding of this study"
"""What stands for a paper's wording."""

PRAGUE: Mapping[str, Any] = {"control": "prague", "tcp": {"ecn": "accurate"}}
CUBIC: Mapping[str, Any] = {"control": "cubic"}

STEPS_MS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Steps of the L queue."""

PUBLISHED: Mapping[tuple[float, float], float] = {
    (20.0, 1.0): 14.3,
    (20.0, 5.0): 18.5,
    (40.0, 1.0): 22.0,
    (40.0, 5.0): 36.9,
}
"""Published goodput of Prague in Mb/s by the rate of the wire, Mb/s, and the step, ms."""


def dualpi2(step_ms: float = 1.0, **others: Any) -> dict[str, Any]:
    """Return a DualPI2 queue with a step of L."""
    return {"dualpi2": {"step_us": 1e3 * step_ms, **others}}


def flow(name: str, source: str, sink: str, control: Mapping[str, Any]) -> dict[str, Any]:
    """Return an endless transfer."""
    return {"name": name, "from": source, "to": sink, "traffic": "bulk", **control}


def fibre(rtt_ms: float, queue: Mapping[str, Any], *, rate_mbps: float = 100.0) -> Scenario:
    """Return Prague beside CUBIC over one link.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time without queues.
    queue : mapping
        The queue of the link.
    rate_mbps : float, optional
        Its rate.
    """
    link = {"from": "server", "to": "home", "rate_mbps": rate_mbps, "delay_ms": rtt_ms / 2}
    return Scenario(
        title="Prague beside CUBIC",
        duration_s=40.0,
        warmup_s=15.0,
        links=[{**link, "queue": dict(queue)}],
        flows=[
            flow("Prague", "server", "home", PRAGUE),
            flow("CUBIC", "server", "home", CUBIC),
        ],
    )


def cell(
    queue: Mapping[str, Any],
    *,
    standard: str = "11ac",
    stations: int = 1,
    frames: int | None = None,
    control: Mapping[str, Any] = PRAGUE,
    rtt_ms: float = 10.0,
) -> Scenario:
    """Return downloads through an access point, whose queue is the bottleneck.

    Parameters
    ----------
    queue : mapping
        The queue of the access point.
    standard : str, optional
        The standard.
    stations : int, optional
        Stations, each with a download.
    frames : int, optional
        The most frames of an A-MPDU; by default those of the standard.
    control : mapping, optional
        Keys of the flows.
    rtt_ms : float, optional
        The round-trip time of the wire.
    """
    wlan: dict[str, Any] = {} if frames is None else {"aggregation": {"frames": frames}}
    return Scenario(
        title="L4S downloads through an access point",
        standard=standard,
        duration_s=12.0,
        warmup_s=4.0,
        wlan=wlan,
        stations=stations,
        ap={"queue": dict(queue)},
        wire={"rate_mbps": 10_000.0, "delay_ms": rtt_ms / 2},
        flows=[flow("download", "server", "sta*", control)],
    )


def bursty(rate_mbps: float, step_ms: float, control: Mapping[str, Any] = PRAGUE) -> Scenario:
    """Return an upload whose A-MPDUs arrive in bursts at a wired DualPI2, with an RTT of 7 ms."""
    return Scenario(
        title="A radio link before a wired DualPI2",
        standard="11ac",
        duration_s=20.0,
        warmup_s=5.0,
        stations=1,
        wire={"rate_mbps": rate_mbps, "delay_ms": 3.0, "queue": dualpi2(step_ms)},
        flows=[flow("upload", "sta0", "server", control)],
    )


def measure_pair(run: Run) -> dict[str, float]:
    """Extract the goodputs of two flows over a link and the delays of its queues."""
    found = run.summary
    return {
        "prague_mbps": float(found["flows[0].goodput_mbps"]),
        "cubic_mbps": float(found["flows[1].goodput_mbps"]),
        "l_ms": 1e3 * float(found["links[0].l_queue.queueing_s"]),
        "c_ms": 1e3 * float(found["links[0].c_queue.queueing_s"]),
        "p99_ms": 1e3 * float(found["flows[0].delay_s.p99"]),
    }


def measure_total(run: Run) -> dict[str, float]:
    """Extract the goodput of all flows and the 99th percentile of the delays of packets."""
    return {
        "goodput_mbps": float(run.summary["total.goodput_mbps"]),
        "p99_ms": 1e3 * float(run.summary["total.delay_s.p99"]),
    }
