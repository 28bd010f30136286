"""One upload over 802.11b: alone, shut out at times, and with frames that Bluetooth corrupts.

The paper's node 1 sends a file through its base station to a remote server. Tables IV to VI have it
without interference, and shut out for 250 ms every 2 s, because a hidden cell captures the channel.
Here the shut-out is a rule and no second cell: the station is out of range for that time. Its phase
is random. Tables II and III have Bluetooth voice near the receiver. Here each frame of the station
and of the access point is lost with the probability of the paper for a data packet of 1500 bytes;
in the paper TCP ACKs and MAC ACKs are never lost.

The paper gives the rates, the buffer, the thresholds of RED and the number of attempts. The study
assumes the rest: headers of ns-2 (34 bytes, no LLC), MAC ACKs at 11 Mb/s, and timestamps without
which Karn's rule would keep the timer backed off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simoom.evidence import Value
from simoom.scenario import Scenario
from simoom.studies.figure import Curve, Source, curve
from simoom.studies.lab import Lab, Sample
from simoom.studies.lt_tcp.link import COLOURS, CONTROLS, GOODPUT, RED, measure

RTTS = (10.0, 80.0, 200.0)
WARMUP_S = 20.0
PERIOD_S, SHUT_S = 2.0, 0.25
NEAR_M, FAR_M = 5.0, 1e5
MOMENT_S = 1e-6
"""How long a change of place takes."""
HEADERS: Mapping[str, Any] = {
    "basic_rates_mbps": [11.0],
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
ATTEMPTS = {"IV": 3, "V": 3, "VI": 7}


def upload(
    protocol: str,
    *,
    rtt_ms: float,
    attempts: int,
    measured_s: float,
    is_shut: bool = False,
    frame_loss: float = 0.0,
) -> Scenario:
    """Return the upload of node 1.

    Parameters
    ----------
    protocol : str
        "SACK" or "LT-TCP".
    rtt_ms : float
        Round-trip time of the wire.
    attempts : int
        K, the number of attempts of a frame.
    measured_s : float
        Time that is measured, after 20 s that are not.
    is_shut : bool
        Whether the station is out of range for 250 ms every 2 s.
    frame_loss : float
        Probability that a frame with data is corrupted, in either direction.
    """
    control, tcp = CONTROLS[protocol]
    end_s = WARMUP_S + measured_s
    station: dict[str, Any] = {"rate_mbps": 11.0, "data_loss": frame_loss, "queue": {"red": RED}}
    if is_shut:
        station["waypoints"] = _absences(end_s)
    return Scenario(
        title=f"{protocol} over 802.11b",
        standard="11b",
        duration_s=end_s,
        warmup_s=WARMUP_S,
        wlan={**HEADERS, "short_retry_limit": attempts, "long_retry_limit": attempts},
        **({"radio": {}} if is_shut else {}),
        stations=station,
        ap={"queue": {"drop_tail": {"limit_packets": 100}}},
        wire={"delay_ms": rtt_ms / 2},
        flows=[
            {
                "from": "sta0",
                "to": "server",
                "control": control,
                "tcp": tcp | {"timestamps": True, "header_bytes": 40},
                "start_spread_s": PERIOD_S,  # the phase of the absences is random
            }
        ],
    )


def _absences(end_s: float) -> list[dict[str, Any]]:
    """Return the places of a station that is away for 250 ms at the end of every 2 s."""
    rows = []
    for number in range(1, int(end_s / PERIOD_S) + 2):
        leaves, returns = number * PERIOD_S - SHUT_S, number * PERIOD_S
        for at_s, away_m in (
            (leaves, NEAR_M),
            (leaves + MOMENT_S, FAR_M),
            (returns, FAR_M),
            (returns + MOMENT_S, NEAR_M),
        ):
            rows.append({"at_s": at_s, "position_m": [away_m, 0.0]})
    return rows


def measured_s(lab: Lab) -> float:
    """Return the measured time of a run."""
    return lab.pick(300.0, 100.0)


def replications(lab: Lab) -> int:
    """Return the number of runs of each case; the paper has six for Figure 1."""
    return lab.pick(6, 4)


def table_runs(lab: Lab, table: str) -> dict[str, Curve]:
    """Return the goodput against the round-trip time, by protocol."""
    cases = {
        (protocol, rtt): upload(
            protocol,
            rtt_ms=rtt,
            attempts=ATTEMPTS[table],
            measured_s=measured_s(lab),
            is_shut=table != "IV",
        )
        for protocol in COLOURS
        for rtt in RTTS
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    return {p: goodput(p, table, RTTS, [found[p, rtt] for rtt in RTTS]) for p in COLOURS}


def goodput(
    protocol: str, setting: str, x_values: Iterable[Any], samples: Iterable[Sample]
) -> Curve:
    """Return the goodputs of a protocol; the setting tells the tables apart."""
    values = [
        Value.mean(sample[GOODPUT]).named(f"goodput of {protocol} by simulation", setting, str(x))
        for x, sample in zip(x_values, samples, strict=True)
    ]
    return curve(protocol, Source.SIMULATION, x_values, values, GOODPUT, colour=COLOURS[protocol])


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
