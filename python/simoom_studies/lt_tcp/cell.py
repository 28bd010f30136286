"""One upload over 802.11b: alone, shut out at times, and near Bluetooth voice.

The paper's node 1 sends a file through its base station to a remote server. Tables IV to VI have it
without interference, and shut out for 250 ms every 2 s, because a hidden cell captures the channel.
`second_cell` has that cell; here the shut-out is a rule, an interferer that corrupts every frame
for that time, whose phase is random. Tables II and III have Bluetooth voice near the receiver, by
the paper's rule of whole slots: the loss of a data frame depends on its rate and size, and MAC ACKs
are never lost.

The paper gives the rates, the buffer, the thresholds of RED and the number of attempts. The study
assumes the rest: headers of ns-2 (34 bytes, no LLC), MAC ACKs at the rate of the frame that they
answer, and timestamps without which Karn's rule would keep the timer backed off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from simoom.models import bluetooth
from simoom.results.run import Run
from simoom.results.tables import number
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Curve, Source, curve
from simoom.studies.lab import Lab, Sample
from simoom_studies.lt_tcp.link import COLOURS, CONTROLS, GOODPUT, RED

At = TypeVar("At", float, str)
RTTS = (10.0, 80.0, 200.0)
WARMUP_S = 20.0
PERIOD_S, SHUT_S = 2.0, 0.25
HEADERS: Mapping[str, Any] = {
    "basic_rates_mbps": [1.0, 2.0, 5.5, 11.0],  # a MAC ACK has the rate of its frame
    "mac_header_bytes": 30,
    "llc_bytes": 0,
}

PAPER = {
    "IV": {
        "LT-TCP": ((4.43, 4.36, 4.49), (4.40, 4.34, 4.46), (4.39, 4.34, 4.43)),
        # The interval printed for 10 ms, 4.61 to 4.62, does not contain the mean.
        "SACK": ((4.64, 4.61, 4.64), (4.63, 4.63, 4.65), (4.52, 4.45, 4.61)),
    },
    "V": {
        "LT-TCP": ((3.30, 3.21, 3.39), (2.97, 2.63, 3.30), (2.35, 2.01, 2.68)),
        "SACK": ((3.22, 3.10, 3.34), (1.56, 1.50, 1.61), (0.24, 0.23, 0.25)),
    },
    "VI": {
        "LT-TCP": ((3.72, 3.70, 3.74), (3.76, 3.69, 3.83), (2.54, 2.43, 2.64)),
        "SACK": ((4.08, 4.07, 4.09), (3.07, 2.98, 3.15), (0.37, 0.30, 0.44)),
    },
}
"""Goodputs of Tables IV to VI in Mb/s with their 95 % intervals, for RTTs of 10, 80 and 200 ms."""
PAPER_MAC = {
    "IV": {"LT-TCP": (5.70, 5.68, 5.64), "SACK": (5.89, 5.88, 5.72)},
    "V": {"LT-TCP": (5.30, 5.01, 4.39), "SACK": (4.71, 2.36, 0.46)},
    "VI": {"LT-TCP": (5.24, 5.26, 3.56), "SACK": (5.44, 4.00, 0.62)},
}
"""MAC throughputs of Tables IV to VI in Mb/s."""
PAPER_TIMEOUTS = {
    "V": {"LT-TCP": (55.0, 21.0, 1.16), "SACK": (141.0, 146.0, 200.0)},
    "VI": {"LT-TCP": (0.0, 0.0, 0.0), "SACK": (0.0, 0.0, 25.8)},
}
"""Timeouts of Tables V and VI in a run, whose duration the paper does not give."""
ATTEMPTS = {"IV": 3, "V": 3, "VI": 7}


TIMEOUTS = "timeouts_per_100_s"
MAC_MBPS = "mac_mbps"


def upload(
    protocol: str,
    *,
    rtt_ms: float,
    attempts: int,
    measured_s: float,
    is_shut: bool = False,
    shut_s: float = SHUT_S,
    interferers: Iterable[Mapping[str, Any]] = (),
    queue: Mapping[str, Any] = MappingProxyType({"red": RED}),
    rate_mbps: float = 11.0,
    rate_control: str = "fixed",
    wlan: Mapping[str, Any] = MappingProxyType({}),
    flow: Mapping[str, Any] = MappingProxyType({}),
) -> Scenario:
    """Return the upload of node 1.

    Parameters
    ----------
    protocol : str
        "SACK" or "LT-TCP", or another key of `CONTROLS`.
    rtt_ms : float
        Round-trip time of the wire.
    attempts : int
        K, the number of attempts of a frame.
    measured_s : float
        Time that is measured, after 20 s that are not.
    is_shut : bool
        Whether the cell is shut out for a part of every 2 s.
    shut_s : float
        How long.
    interferers : iterable of mapping
        Further interferers, for example `headset`.
    queue : mapping
        The queue of the station.
    rate_mbps : float
        The rate of the station's frames, the highest one with rate control.
    rate_control : str
        The rate control of the station's frames.
    wlan : mapping
        Further keys of the network.
    flow : mapping
        Further keys of the flow; those of `tcp` are added to the protocol's.
    """
    control, tcp = CONTROLS[protocol]
    own = dict(flow)
    headers = {"timestamps": True, "header_bytes": 40}
    end_s = WARMUP_S + measured_s
    all_interferers = [dict(each) for each in interferers]
    if is_shut:
        all_interferers.append(hidden_cell(shut_s))
    return Scenario(
        title=f"{protocol} over 802.11b",
        standard="11b",
        duration_s=end_s,
        warmup_s=WARMUP_S,
        wlan={**HEADERS, "short_retry_limit": attempts, "long_retry_limit": attempts, **wlan},
        stations={"rate_mbps": rate_mbps, "queue": dict(queue), "rate_control": rate_control},
        ap={"queue": {"drop_tail": {"limit_packets": 100}}},
        wire={"delay_ms": rtt_ms / 2},
        **({"interferers": all_interferers} if all_interferers else {}),
        flows=[
            {
                "from": "sta0",
                "to": "server",
                "control": control,
                "tcp": tcp | headers | own.pop("tcp", {}),
                "start_spread_s": PERIOD_S,
                **own,
            }
        ],
    )


def hidden_cell(shut_s: float) -> dict[str, Any]:
    """Return the interferer that stands for the second cell: it corrupts all frames at times."""
    period = {"on_ms": 1e3 * shut_s, "period_ms": 1e3 * PERIOD_S}
    return {"name": "cell2", "corrupts": True, "source": {"duty_cycle": period}}


def headset(voice: str, *, p: str = "printed", **source: Any) -> dict[str, Any]:
    """Return a Bluetooth voice link by the paper's rule; `source` has further keys of it."""
    hit = bluetooth.slot_hit_probability(voice, p=p)
    rule = {"rule": "slots", "slot_probability": hit}
    return {
        "name": "headset",
        "corrupts": True,
        "source": {"sco": {"format": voice, **(source or rule)}},
    }


def measure(run: Run) -> dict[str, float]:
    """Return the goodput, the timeouts, and the bits of all frames on the air."""
    get, seconds = run.summary.get, number(run.summary["run.measured_s"]) or math.nan
    return {
        GOODPUT: number(get("total.goodput_mbps")) or 0.0,
        TIMEOUTS: 100.0 * (number(get("flows[0].timeouts")) or 0.0) / seconds,
        MAC_MBPS: _mac_mbps(run, seconds),
    }


FRAME_BYTES = 34 + 24
"""The MAC header with its FCS, and preamble and PHY header, which the paper counts in bytes."""
TCP_BYTES = 40
"""TCP and IP headers, timestamps included."""
CODE_BYTES, CODE_ACK_BYTES = 12, 28
"""What LT-TCP adds to the header of a segment and of an acknowledgement."""
MAC_ACK_BYTES = 14 + 24


def _mac_mbps(run: Run, seconds: float) -> float:
    """Return the bits of all attempts and MAC ACKs, preambles included, per time.

    The paper does not define its MAC throughput; of the readings tried this one comes nearest. A
    lost frame counts with the mean payload of those that arrived, at the mean rate of the frames.
    """

    def count(path: str) -> float:
        return number(run.summary.get(path)) or 0.0

    coded = run.summary.get("flows[0].fec.overhead_fraction") is not None
    sent, attempts = count("stations[0].sent"), count("stations[0].attempts")
    answers, responses = count("ap.attempts"), count("ap.sent")
    air_s = count("airtime.payload_fraction") * seconds
    payload = air_s * count("stations[0].data_rate_mbps") * 1e6 / 8 / sent if sent else 0.0
    data = payload + TCP_BYTES + CODE_BYTES * coded + FRAME_BYTES
    answer = TCP_BYTES + CODE_ACK_BYTES * coded + FRAME_BYTES
    total = attempts * data + answers * answer
    return 8e-6 * (total + MAC_ACK_BYTES * (sent + responses)) / seconds


def measured_s(lab: Lab) -> float:
    """Return the measured time of a run."""
    return lab.pick(150.0, 100.0)


def replications(lab: Lab) -> int:
    """Return the number of runs of each case; the paper has six for Figure 1."""
    return lab.pick(6, 4)


def grid(
    lab: Lab, cases: Mapping[tuple[str, At], Scenario], quantity: str = GOODPUT
) -> dict[str, Curve]:
    """Return a curve for each label of cases that are named by a label and an x value.

    The label begins with the protocol: "SACK, K = 3".
    """
    return by_label(lab.sample(cases, measure, replications=replications(lab)), quantity)


def by_label(
    found: Mapping[tuple[str, At], Sample], quantity: str, setting: str = ""
) -> dict[str, Curve]:
    """Return a curve for each label; the setting tells equal labels apart."""
    rows: dict[str, list[At]] = {}
    for label, x in found:
        rows.setdefault(label, []).append(x)
    return {
        label: measured(
            label.partition(",")[0],
            f"{label}{setting}",
            xs,
            [found[label, x] for x in xs],
            quantity,
            label=label,
            colour=colour,
        )
        for colour, (label, xs) in enumerate(rows.items())
    }


def measured(
    protocol: str,
    setting: str,
    x_values: Iterable[Any],
    samples: Iterable[Sample],
    quantity: str = GOODPUT,
    *,
    label: str = "",
    colour: int | None = None,
) -> Curve:
    """Return values of a protocol; the setting tells the tables apart."""
    x = tuple(x_values)
    name = {GOODPUT: "goodput", TIMEOUTS: "timeouts", MAC_MBPS: "MAC throughput"}[quantity]
    values = [
        Value.mean(sample[quantity]).named(f"{name} of {protocol} by simulation", setting, str(at))
        for at, sample in zip(x, samples, strict=True)
    ]
    shade = COLOURS.get(protocol, 0) if colour is None else colour
    return curve(label or protocol, Source.SIMULATION, x, values, quantity, colour=shade)


def printed(table: str) -> dict[str, Curve]:
    """Return the goodputs of the paper, by protocol."""
    return {
        protocol: curve(
            protocol,
            Source.PAPER,
            RTTS,
            [Value(mean, low, high, 0, "printed") for mean, low, high in rows],
            GOODPUT,
            colour=COLOURS[protocol],
        )
        for protocol, rows in PAPER[table].items()
    }


def printed_mac(table: str) -> dict[str, Curve]:
    """Return the MAC throughputs of the paper, by protocol; they have no intervals."""
    return {
        protocol: curve(
            protocol,
            Source.PAPER,
            RTTS,
            [Value.printed(each) for each in row],
            MAC_MBPS,
            colour=COLOURS[protocol],
        )
        for protocol, row in PAPER_MAC[table].items()
    }
