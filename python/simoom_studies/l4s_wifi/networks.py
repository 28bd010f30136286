"""The networks of the study, and the values that figures need from a run.

There is no paper. Where a figure repeats a published measurement, it is that of tests of L4S behind
a radio link with a wired DualPI2 (P. Heist and J. Morton, "L4S tests", 2020 to 2021), whose numbers
are in `PUBLISHED`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Axis, Curve, Source, X, curve
from simoom.studies.lab import Sample

Point = TypeVar("Point", float, str)

PRAGUE: Mapping[str, Any] = {"control": "prague", "tcp": {"ecn": "accurate"}}
CUBIC: Mapping[str, Any] = {"control": "cubic"}

STEPS_MS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Steps of the L queue."""

ONE = "802.11ac"
FAST = "802.11ac, 80 MHz"
SOME = "802.11ac, 5 stations"
MANY = "802.11ac, 20 stations"
SHORT = "802.11ac, 8 frames"
LINKS: Mapping[str, Mapping[str, Any]] = {
    "802.11n": {"standard": "11n"},
    ONE: {"standard": "11ac"},
    "802.11ax": {"standard": "11ax"},
    "802.11ac, MCS 2": {"standard": "11ac", "mcs": 2},
    FAST: {"standard": "11ac", "width_mhz": 80},
    SOME: {"standard": "11ac", "stations": 5},
    MANY: {"standard": "11ac", "stations": 20},
    SHORT: {"standard": "11ac", "frames": 8},
}
"""The keys of `cell` for each link."""


def dualpi2(step_ms: float = 1.0, **others: Any) -> dict[str, Any]:
    """Return a DualPI2 queue with a step of L."""
    return {"dualpi2": {"step_us": 1e3 * step_ms, **others}}


def flow(name: str, source: str, sink: str, control: Mapping[str, Any]) -> dict[str, Any]:
    """Return an endless transfer."""
    return {"name": name, "from": source, "to": sink, "traffic": "bulk", **control}


def fibre(rtt_ms: float, queue: Mapping[str, Any]) -> Scenario:
    """Return Prague beside CUBIC over one link of 100 Mb/s.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time without queues.
    queue : mapping
        The queue of the link.
    """
    link = {"from": "server", "to": "home", "rate_mbps": 100.0, "delay_ms": rtt_ms / 2}
    return Scenario(
        title="Prague beside CUBIC",
        duration_s=90.0,
        warmup_s=30.0,
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
    mcs: int | None = None,
    width_mhz: int | None = None,
    control: Mapping[str, Any] = PRAGUE,
    device: Mapping[str, Any] | None = None,
) -> Scenario:
    """Return downloads through an access point, whose queue is the bottleneck; RTT 10 ms.

    Parameters
    ----------
    queue : mapping
        The queue of the access point.
    standard : str, optional
        The standard.
    stations : int, optional
        Stations, each with a download.
    frames, mcs, width_mhz : int, optional
        The most frames of an A-MPDU, the MCS and the bandwidth; by default those of the standard.
    control : mapping, optional
        Keys of the flows.
    device : mapping, optional
        Keys of the access point's device, below the queue.
    """
    wlan: dict[str, Any] = {
        key: value for key, value in (("mcs", mcs), ("width_mhz", width_mhz)) if value is not None
    }
    if frames is not None:
        wlan["aggregation"] = {"frames": frames}
    return Scenario(
        title="L4S downloads through an access point",
        standard=standard,
        duration_s=40.0,
        # Prague gains some 20 Mb/s a second, and fills the fastest link in 15 s.
        warmup_s=20.0,
        wlan=wlan,
        stations=stations,
        ap={"queue": dict(queue), **(device or {})},
        wire={"rate_mbps": 10_000.0, "delay_ms": 5.0},
        flows=[flow("download", "server", "sta*", control)],
    )


PUBLISHED: Mapping[tuple[float, float], float] = {
    (20.0, 1.0): 14.3,
    (20.0, 5.0): 18.5,
    (40.0, 1.0): 22.0,
    (40.0, 5.0): 36.9,
}
"""Published goodput of Prague in Mb/s by the rate of the wire, Mb/s, and the step, ms."""

PERIOD_MS = 8.0
ALONE = "802.11ac alone"
BUSY = "beside a busy station"
RADIOS: Mapping[str, float] = {
    ALONE: 0.0,
    "silent for 1 of 8 ms": 1.0,
    "silent for 2 of 8 ms": 2.0,
    "silent for 4 of 8 ms": 4.0,
    BUSY: 0.0,
}
"""How long the radio link of `bursty` is silent in each period, in milliseconds."""


def bursty(radio: str, rate_mbps: float, step_ms: float) -> Scenario:
    """Return an upload over a radio link and then a wired DualPI2, with an RTT of 7 ms.

    The published radio link is a proprietary one with a schedule, of which is known that its bursts
    last up to 4 ms. Here a source that is not 802.11 silences the link for a part of each period:
    energy detection hears it, and it is too weak to destroy a frame. Packets gather meanwhile, and
    arrive at the wire together. Alternatively, another station always has frames to send.

    Parameters
    ----------
    radio : str
        A key of `RADIOS`.
    rate_mbps, step_ms : float
        The rate of the wire and the step of its L queue.
    """
    silent_ms = RADIOS[radio]
    schedule = {
        "name": "schedule",
        "source": {"duty_cycle": {"on_ms": silent_ms, "period_ms": PERIOD_MS}},
        "position_m": [1.0, 1.0],
        "tx_power_dbm": -8.0,
    }
    busy = {"cbr": {"rate_mbps": 150.0, "payload_bytes": 1472}}
    ends = {"from": "sta1", "to": "ap"}
    neighbour = {"name": "neighbour", **ends, "start_spread_s": 0.0, "traffic": busy}
    stations = {"position_m": [2.0, 0.0], "queue": {"drop_tail": {"limit_packets": 500}}}
    upload = flow("upload", "sta0", "server", PRAGUE)
    return Scenario(
        title="A radio link before a wired DualPI2",
        standard="11ac",
        duration_s=40.0,
        warmup_s=10.0,
        radio={},
        stations=[stations, stations] if radio == BUSY else [stations],
        wlan={"width_mhz": 80, "mcs": 4},
        wire={"rate_mbps": rate_mbps, "delay_ms": 3.0, "queue": dualpi2(step_ms)},
        interferers=[schedule] if silent_ms else [],
        flows=[upload, neighbour] if radio == BUSY else [upload],
    )


ACCURATE = "Prague, accurate ECN"
BARE = "Prague, accurate ECN without its option"
CLASSIC = "Prague, echo of RFC 3168"
DCTCP_ACCURATE = "DCTCP, accurate ECN"
DCTCP_EACH = "DCTCP, echo of RFC 8257"

ECHOES: Mapping[str, tuple[str, Any]] = {
    ACCURATE: ("prague", "accurate"),
    BARE: ("prague", {"accurate": {"option": False}}),
    CLASSIC: ("prague", "classic"),
    DCTCP_ACCURATE: ("dctcp", "accurate"),
    DCTCP_EACH: ("dctcp", "each_mark"),
}
"""Control and echo of a flow."""

ECHO_MS = 10.0
"""The propagation delay of the link of `echo`, in each direction."""


def echo(name: str, ack_loss: float) -> Scenario:
    """Return a flow over a wire of 50 Mb/s that loses a share of acknowledgements from 1 s on.

    L of the queue has ECT(1) for Prague, and any ECN-capable packet for DCTCP.

    Parameters
    ----------
    name : str
        A key of `ECHOES`.
    ack_loss : float
        The probability of a loss.
    """
    control, ecn = ECHOES[name]
    codepoints: dict[str, Any] = {"low_latency": "any_ect"} if control == "dctcp" else {}
    # Without a SYN-ACK twice, accurate ECN falls back (RFC 9768 section 3.1.4.1): a loss of the
    # handshake is no matter of the echo.
    reverse = {"loss": {"trace": {"times_s": [0.0, 1.0], "probabilities": [0.0, ack_loss]}}}
    keys = {"control": control, "tcp": {"ecn": ecn}}
    return Scenario(
        title="Congestion feedback over a path that loses acknowledgements",
        duration_s=40.0,
        warmup_s=10.0,
        links=[
            {
                "from": "server",
                "to": "home",
                "rate_mbps": 50.0,
                "delay_ms": ECHO_MS,
                "queue": dualpi2(**codepoints),
                "reverse": reverse,
            }
        ],
        flows=[flow("flow", "server", "home", keys)],
    )


def measure_pair(run: Run) -> dict[str, float]:
    """Extract the goodputs of two flows over a link and the delays of its queues."""
    found = run.summary
    return {
        "prague_mbps": float(found["flows[0].goodput_mbps"]),
        "cubic_mbps": float(found["flows[1].goodput_mbps"]),
        "l_ms": 1e3 * float(found["links[0].l_queue.queueing_s"]),
        "c_ms": 1e3 * float(found["links[0].c_queue.queueing_s"]),
    }


def measure_first(run: Run) -> dict[str, float]:
    """Extract goodput and delay of the first flow: the 99th percentile over its packets."""
    return {
        "goodput_mbps": float(run.summary["flows[0].goodput_mbps"]),
        "p99_ms": 1e3 * float(run.summary["flows[0].delay_s.p99"]),
    }


def measure_total(run: Run) -> dict[str, float]:
    """Extract the goodput of all flows and the 99th percentile of the delays of packets."""
    return {
        "goodput_mbps": float(run.summary["total.goodput_mbps"]),
        "p99_ms": 1e3 * float(run.summary["total.delay_s.p99"]),
    }


def paired(over: Sample, under: Sample, quantity: str) -> Value:
    """Return the mean ratio of two values over pairs of runs with the same seeds."""
    ratio: NDArray[np.float64] = over[quantity] / under[quantity]
    return Value.mean(ratio)


SHARE = Axis("share", "goodput over that of CUBIC")
P99 = Axis("p99_ms", "99th percentile of the packet delay, ms")
PANELS = (SHARE, P99)
"""What figures of an access point show."""


def curves_of(
    label: str,
    x: Iterable[X],
    samples: Iterable[Sample],
    classics: Iterable[Sample],
    colour: int,
) -> tuple[Curve, Curve]:
    """Return the curves of goodput, over that of CUBIC with the same seeds, and of delay.

    Parameters
    ----------
    label : str
        The text of the legend.
    x : iterable
        The points.
    samples, classics : iterable of Sample
        The values of `measure_total` at each point, of Prague and of CUBIC.
    colour : int
        The index of the colour.
    """
    points, runs = tuple(x), list(samples)
    pairs = zip(runs, classics, strict=True)
    shares = [paired(run, classic, "goodput_mbps") for run, classic in pairs]
    delays = [Value.mean(run["p99_ms"]) for run in runs]
    return (
        curve(label, Source.SIMULATION, points, shares, SHARE.column, colour=colour),
        curve(label, Source.SIMULATION, points, delays, P99.column, colour=colour),
    )


def curves_of_links(
    labels: Iterable[str],
    x: Iterable[Point],
    found: Mapping[tuple[str, Point], Sample],
    classics: Mapping[str, Sample],
) -> dict[str, tuple[Curve, Curve]]:
    """Return the curves of goodput and of delay of each link.

    Parameters
    ----------
    labels : iterable of str
        The links.
    x : iterable
        The points.
    found : mapping of (str, point) to Sample
        The values of `measure_total` of Prague, by link and point.
    classics : mapping of str to Sample
        Those of CUBIC, by link.
    """
    points = tuple(x)
    return {
        label: curves_of(
            label,
            points,
            [found[label, point] for point in points],
            [classics[label]] * len(points),
            colour,
        )
        for colour, label in enumerate(labels)
    }
