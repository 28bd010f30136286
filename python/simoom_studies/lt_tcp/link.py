"""The lossy link of Figures 1 to 3, and its measurements.

The paper gives only the capacity, the number of flows and the kind of loss. The study assumes the
rest: RED with ECN before the link, with the thresholds and the buffer of section IV-D; losses of
data behind the queue, but not of acknowledgements; a round-trip time of 80 ms in Figure 1. The
paper does not give the parameters of the Gilbert model. Here good and bad periods last 10 ms on
average, and lose 0.5 p and 1.5 p. In a second reading bad periods lose all packets, and make up a
fraction p of the time.

LT-TCP is a reconstruction from the paper and its sources; see ``docs/studies/lt_tcp.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Axis, Curve, Source, curve
from simoom.studies.lab import Lab, Sample

CAPACITY_MBPS = 10.0
BURST_MS = 10.0
FIGURE_1_RTT_MS = 80.0
GOODPUT = "goodput_mbps"
OVERHEAD = "overhead_fraction"
LOSS_AXIS = Axis("loss", "packets lost", 0, 0.52)
PANEL = Axis(GOODPUT, "goodput of all flows, Mb/s", 0, 10.5)
FULL_LOSSES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
QUICK_LOSSES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)
LINK_RTTS = (10.0, 80.0, 200.0)
WARMUP_S = 50.0
SMALL = 0.05
FAR = 0.2
MOST = 0.5

SACK: dict[str, Any] = {
    "mss_bytes": 1460,
    "timestamps": False,
    "window_segments": 2000,
    "initial_window_segments": 2,  # windowInit_ of ns-2.35
    "delayed_ack": "none",
    "ecn": "classic",
    "rto_min_ms": 200.0,
    "recovery": {"sack": {"rack": False, "reduction": "at_once", "f_rto": False, "undo": False}},
    "close": "none",
}
"""TCP of its time: RFC 6675, an acknowledgement for each segment."""
LT: dict[str, Any] = SACK | {"fec": {}, "recovery": "sack", "mss_bytes": 1448}
"""Packets of 1500 bytes too, of which 12 describe the code."""
PARTS = {
    "LT-TCP": LT,
    "parity for the mean": LT | {"fec": {"parity": {"normal": {"margin": 0.0}}}},
    "no parity in advance": LT | {"fec": {"parity": "none"}},
    "the window alone": SACK | {"recovery": "sack"},
}
"""LT-TCP with parts of its code; the last variant retransmits losses found by RFC 8985."""
LATER: dict[str, Any] = SACK | {"recovery": "sack", "initial_window_segments": 10}
"""TCP of today with an acknowledgement for each segment: RFC 8985, 9937, 5682 and 6928."""
CONTROLS = (
    {"SACK": ("new_reno", SACK)}
    | {name: ("lt", tcp) for name, tcp in PARTS.items()}
    | {"CUBIC": ("cubic", LATER), "BBR": ("bbr", LATER), "BBR version 3": ("bbr3", LATER)}
)
COLOURS = {"SACK": 0, "LT-TCP": 1}

UNIFORM, BURSTY, ERASED = "independent", "bursts", "bursts that lose all"
RED = {
    "min_packets": 25,
    "max_packets": 90,
    "limit_packets": 100,
    "weight": 0.002,
    "ecn": True,
    "mark_limit_p": 0.1,  # mark_p_ of ns-2.35
}


def loss_model(kind: str, loss: float) -> dict[str, Any]:
    """Return the loss model of the link: a mean loss rate, independent or in bursts."""
    if kind == UNIFORM:
        return {"uniform": {"probability": loss}}
    if kind == BURSTY:
        channel = (BURST_MS, 0.5 * loss, 1.5 * loss)
    else:
        channel = (BURST_MS * (1 - loss) / loss, 0.0, 1.0)
    good_ms, good_loss, bad_loss = channel
    return {
        "gilbert_elliott": {
            "good_ms": good_ms,
            "bad_ms": BURST_MS,
            "good_loss": good_loss,
            "bad_loss": bad_loss,
        }
    }


def link(
    protocol: str,
    *,
    loss: float,
    rtt_ms: float,
    flows: int = 1,
    kind: str = UNIFORM,
    measured_s: float,
) -> Scenario:
    """Return downloads over a link of 10 Mb/s between two lossless links of 100 Mb/s."""
    control, tcp = CONTROLS[protocol]
    edge = {"rate_mbps": 100.0, "delay_ms": 0.1}
    slow: dict[str, Any] = {
        "name": "slow",
        "from": "r1",
        "to": "r2",
        "rate_mbps": CAPACITY_MBPS,
        "delay_ms": rtt_ms / 2 - 0.2,
        "queue": {"red": RED},
    }
    if loss > 0:
        slow["loss"] = loss_model(kind, loss)
    return Scenario(
        title=f"{protocol} over a lossy link",
        duration_s=WARMUP_S + measured_s,
        warmup_s=WARMUP_S,
        links=[
            {"from": "source", "to": "r1", **edge},
            slow,
            {"from": "r2", "to": "sink", **edge},
        ],
        flows=[
            {
                "from": "source",
                "to": "sink",
                "count": flows,
                "start_spread_s": 1.0 if flows > 1 else 0.0,
                "control": control,
                "tcp": tcp,
            }
        ],
    )


def measure(run: Run) -> Mapping[str, float]:
    """Return the values that the figures need."""
    overhead = run.summary.get("flows[0].fec.overhead_fraction")
    return {
        GOODPUT: _number(run.summary["total.goodput_mbps"]),
        OVERHEAD: 0.0 if overhead is None else _number(overhead),
    }


def _number(value: object) -> float:
    """Return a result as a number; NaN if it could not be measured."""
    return float(value) if isinstance(value, int | float) else math.nan


def simulate(
    lab: Lab, protocols: Iterable[str], *, flows: int = 1, **axes: Iterable[Any]
) -> dict[tuple[Any, ...], Sample]:
    """Run each protocol at each point of the grid of ``kind``, ``rtt_ms`` and ``loss``."""

    def measured_s(protocol: str, loss: float) -> float:
        # At high loss rates a longer run is needed for enough packets. Ten flows, and LT-TCP, have
        # them in a quarter of the time.
        rare = protocol == "SACK" and flows == 1 and loss > 0
        if rare:
            return lab.pick(950.0, 400.0)
        return lab.pick(250.0, 150.0 if loss >= MOST else 70.0)

    cases = {
        (protocol, kind, rtt_ms, loss): link(
            protocol,
            loss=loss,
            rtt_ms=rtt_ms,
            flows=flows,
            kind=kind,
            measured_s=measured_s(protocol, loss),
        )
        for protocol in protocols
        for kind in axes["kind"]
        for rtt_ms in axes["rtt_ms"]
        for loss in axes["loss"]
    }
    return lab.sample(cases, measure, replications=lab.pick(6, 4))


def goodputs(
    label: str,
    runs: Mapping[tuple[Any, ...], Sample],
    key: tuple[str, str, float],
    losses: Iterable[float],
    *,
    colour: int,
    dashed: bool = False,
) -> Curve:
    """Return goodput against the loss rate, means over runs."""
    values = {loss: Value.mean(runs[(*key, loss)][GOODPUT]) for loss in losses}
    x_values = tuple(values)
    return curve(
        label,
        Source.SIMULATION,
        x_values,
        values.values(),
        GOODPUT,
        colour=colour,
        dashed=dashed,
        subject=f"goodput of {key[0]}",
    )


def bound(losses: Iterable[float], packet_bytes: int, payload_bytes: int) -> Curve:
    """Return the goodput of full packets that the link delivers, the bound of any code."""
    share = CAPACITY_MBPS * payload_bytes / packet_bytes
    x_values = tuple(losses)
    values = [share * (1 - loss) for loss in x_values]
    return curve("what arrives", Source.ANALYSIS, x_values, values, GOODPUT, colour=7)
