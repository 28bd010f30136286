"""The experiment of the paper, its readings, and the values that figures need from a run.

A client uploads 500 MB over 802.11ac (20 MHz, one stream, guard interval 400 ns) and a wire of
1 Gb/s and 2 ms. At 20 s the MCS of its data frames changes from 0 to x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.scenario.scenario import Scenario

CHANGE_S = 20.0
END_S = 40.0
MSS_BYTES = 1448
BIN_S = 0.1
"""Time between two samples of window and goodput."""
STEPS = tuple(range(1, 9))
"""x of Fig. 3b."""

WINDOW = "flows[0].control.window_segments"
GOODPUT = "flows[0].goodput_mbps"
PROBES = (WINDOW, GOODPUT)

PLAIN = "CUBIC"
DRIVEN = "CUBIC driven by the MCS"
CUBIC: Mapping[str, Any] = {"cubic": {"friendly": False}}
"""CUBIC as in the paper's ns-3.40, which has no Reno-friendly region."""
CONTROLS: Mapping[str, Any] = {PLAIN: CUBIC, DRIVEN: {"cross_layer": {"inner": CUBIC}}}


@dataclass(frozen=True)
class Reading:
    """A reading of "the queue adapted to each device is Tail Drop, 10 packets".

    Parameters
    ----------
    name : str
        The text of the legend.
    queue : mapping
        The queue of client and access point.
    ring_packets : int or None
        Limit of the packets in their devices, below the queue.
    both : bool
        Whether the access point's MCS changes with the client's.
    amsdu_bytes : int
        The largest A-MSDU; 0 means none.
    """

    name: str
    queue: Mapping[str, Any]
    ring_packets: int | None
    both: bool = False
    amsdu_bytes: int = 0


FQ_CODEL: Mapping[str, Any] = {"fq_codel": {}}
TEN: Mapping[str, Any] = {"drop_tail": {"limit_packets": 10}}
READINGS = {
    "fair": Reading("10 frames below FQ-CoDel", FQ_CODEL, 10),
    "fair, A-MSDU": Reading("the same with A-MSDUs", FQ_CODEL, 10, amsdu_bytes=1498),
    "fair, both": Reading("10 frames below FQ-CoDel, both ends step", FQ_CODEL, 10, both=True),
    "ten": Reading("10 packets in all", TEN, None),
    "wire": Reading("10 packets on the wire only", {"drop_tail": {"limit_packets": 500}}, None),
}
"""Readings by name; the study uses the first. A device holds a frame until its BlockAck arrives."""


OCCUPANCIES = (5, 6, 7, 8, 9, 10, 12, 16)
"""Frames in the device, those included that are in the air or wait for their BlockAck."""
READINGS |= {
    f"{n} frames": Reading(f"{n} frames below FQ-CoDel", FQ_CODEL, n)
    for n in OCCUPANCIES
    if n != 10
}


@dataclass(frozen=True)
class Rules:
    """Departures of a simulator from the standard, or of the driver from the study's reading."""

    cubic: Mapping[str, Any] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    wlan: Mapping[str, Any] = field(default_factory=dict)
    aggregation: Mapping[str, Any] = field(default_factory=dict)
    driver: Mapping[str, Any] = field(default_factory=dict)


def upload(
    to_mcs: int,
    control: str,
    *,
    reading: str = "fair",
    rules: Rules | None = None,
    from_mcs: int = 0,
    end_s: float = END_S,
    base: Mapping[str, Any] | None = None,
) -> Scenario:
    """Return the upload in which the client's MCS changes at 20 s.

    Parameters
    ----------
    to_mcs, from_mcs : int
        The MCS after and before.
    control : str
        `PLAIN` or `DRIVEN`.
    reading : str, optional
        A key of `READINGS`.
    rules : Rules, optional
        Departures from the standard.
    end_s : float, optional
        The end of the run.
    base : mapping, optional
        A controller instead of CUBIC.
    """
    read = READINGS[reading]
    change = {"schedule": {"steps": [{"at_s": CHANGE_S, "mcs": to_mcs}]}}
    chosen = CONTROLS[control]
    if base is not None:
        chosen = dict(base) if control == PLAIN else {"cross_layer": {"inner": dict(base)}}
    rules = rules or Rules()
    if rules.cubic and base is None:
        cubic = {"cubic": {**CUBIC["cubic"], **rules.cubic}}
        chosen = cubic if control == PLAIN else {"cross_layer": {"inner": cubic}}
    if control == DRIVEN and rules.driver:
        chosen = {"cross_layer": {**chosen["cross_layer"], **rules.driver}}
    ring = {} if read.ring_packets is None else {"ring_packets": read.ring_packets}
    return Scenario(
        title="An MCS that changes under TCP",
        standard="11ac",
        duration_s=end_s,
        warmup_s=0.0,
        wlan={
            "mcs": from_mcs,
            "guard_ns": 400,
            "edca_defaults": "ns3",
            "aggregation": {"frames": 32, "amsdu_bytes": read.amsdu_bytes, **rules.aggregation},
            **rules.wlan,
        },
        stations={"rate_control": change, "queue": dict(read.queue), **ring},
        ap={"queue": dict(read.queue), **ring, **({"rate_control": change} if read.both else {})},
        wire={"rate_mbps": 1000.0, "delay_ms": 2.0, "queue": dict(TEN)},
        flows=[
            {
                "name": "upload",
                "from": "sta0",
                "to": "server",
                "traffic": {"bulk": {"size_bytes": 500_000_000}},
                "control": dict(chosen),
                "tcp": {
                    "mss_bytes": MSS_BYTES,
                    "window_bytes": 2_000_000,
                    "initial_window_segments": 10,
                    "rto_min_ms": 1000.0,
                    **rules.tcp,
                },
            }
        ],
        measure={"interval_s": BIN_S},
    )


def name(quantity: str, begin_s: float) -> str:
    """Return the name of a time bin in the values of a run."""
    return f"{quantity}.{begin_s:.1f}"


def measure(run: Run) -> dict[str, float]:
    """Extract goodput and window of each time bin from a run."""
    taken: dict[str, float] = {}
    for quantity, path in (("goodput_mbps", GOODPUT), ("window_segments", WINDOW)):
        time_s, value = run.samples(path)
        for end_s, each in zip(time_s, value, strict=True):
            taken[name(quantity, end_s - BIN_S)] = float(each)
    return taken


def mean_between(
    sample: Mapping[str, NDArray[np.float64]], begin_s: float, end_s: float
) -> NDArray[np.float64]:
    """Return the mean goodput of each run between two times, in Mb/s."""
    return np.asarray(np.mean(_bins(sample, "goodput_mbps", begin_s, end_s), axis=0))


def windows_kb(
    sample: Mapping[str, NDArray[np.float64]], begin_s: float, end_s: float
) -> NDArray[np.float64]:
    """Return the windows of each run between two times, in kB: an array (bins, runs)."""
    return _bins(sample, "window_segments", begin_s, end_s) * MSS_BYTES / 1e3


def settled_s(sample: Mapping[str, NDArray[np.float64]], *, part: float = 0.95) -> list[float]:
    """Return for each run the time from the change until the goodput reaches its final level.

    The final level is the mean of the last eight seconds; the goodput is that of half a second.
    """
    level = mean_between(sample, END_S - 8.0, END_S)
    found = np.full(level.shape, math.inf)
    for k in range(int((END_S - CHANGE_S) / 0.5)):
        begin_s = CHANGE_S + 0.5 * k
        reached = mean_between(sample, begin_s, begin_s + 0.5) >= part * level
        found = np.where(reached & np.isinf(found), 0.5 * k, found)
    return [float(each) for each in found]


def _bins(
    sample: Mapping[str, NDArray[np.float64]], quantity: str, begin_s: float, end_s: float
) -> NDArray[np.float64]:
    count = round((end_s - begin_s) / BIN_S)
    return np.array([sample[name(quantity, begin_s + BIN_S * k)] for k in range(count)])
