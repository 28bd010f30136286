"""The hidden cell of the paper's Figure 4: two cells in space, and sources that stand for one.

Node 1 uploads through BS-1; node 2 downloads from a server beside BS-2. The paper has cells of
30 m, a transmission range of 250 m and an interference range of 500 m, within which a signal
destroys each frame that it overlaps. Here path loss is that of two rays with the constants of ns-2,
nodes detect each other up to 250 m, and a frame survives if it is 39.7 dB above all other signals
together: from 30 m this is the case if they come from 500 m or more. The base stations are 480 m
apart and the nodes are on the far sides, so that of the four nodes only the base stations disturb
each other, as the paper describes it.

The paper does not say why the capture of the channel ends. A download without end never ends it.
Here node 2 fetches files that last about 250 ms, with pauses of 1.75 s.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from simoom.results.run import Run
from simoom.results.tables import number
from simoom.scenario.scenario import Scenario
from simoom_studies.lt_tcp.cell import (
    MAC_ACK_BYTES,
    MAC_MBPS,
    PERIOD_S,
    SHUT_S,
    TIMEOUTS,
    WARMUP_S,
    upload,
)
from simoom_studies.lt_tcp.link import CONTROLS, GOODPUT

RADIUS_M = 30.0
RATE_MBPS = 11.0
APART_M = 480.0
"""Between the base stations: within 500 m, with 510 m from each to the node of the other."""
NEARER_M = 440.0
"""Where a source also reaches node 1, 470 m away."""
CAPTURE_RATIO_DB = 10.0
"""The ratio to interference from which ns-2 receives a frame (``CPThresh_``)."""
TX_POWER_DBM = 24.5
RADIO: Mapping[str, Any] = {
    "propagation": "two_ray",
    "tx_power_dbm": TX_POWER_DBM,
    # The power at 250 m, the reception threshold of ns-2.
    "detect_dbm": -64.3747,
    "energy_dbm": -64.3747,
    "sensitivity_dbm": -64.3747,
    # The ratio of a signal from 30 m to one from 500 m.
    "error_model": {"threshold": {"sinr_db": 39.7}},
}
FILE_BYTES = 137_500
"""What a cell carries in 250 ms at the 4.4 Mb/s that the paper has without interference."""


def files(shut_s: float = SHUT_S) -> dict[str, Any]:
    """Return the traffic of a second cell that is busy for so long every 2 s."""
    return {
        "web": {
            "size": {"constant": {"bytes": round(FILE_BYTES * shut_s / SHUT_S)}},
            "think_s": PERIOD_S - shut_s,
            "pauses": "constant",
        }
    }


FILES: Mapping[str, Any] = files()
ENDLESS: Mapping[str, Any] = {"bulk": {}}
SECOND = "second_mbps"
MEDIAN_MS, LONG_MS = "shut_median_ms", "shut_p90_ms"
SHUT_FRACTION = "shut_fraction"
SAMPLE_S = 0.01
SHORTEST_S = 0.05
"""A shorter time without a delivery may be one of ordinary retries."""
PROBES = ("stations[0].sent", "stations[0].attempts")


def alone(protocol: str, *, rtt_ms: float, **upload_keys: Any) -> Scenario:
    """Return the upload of node 1 in space, without a second cell; see `upload`."""
    keys = _given(upload(protocol, rtt_ms=rtt_ms, **upload_keys))
    del keys["wire"]
    keys["stations"] = [keys["stations"] | {"position_m": [-RADIUS_M, 0.0]}]
    keys["flows"][0]["to"] = "remote"
    return Scenario(
        **keys | {"title": f"{protocol} in one of two cells"},
        radio=RADIO,
        links=[{"from": "remote", "to": "ap", "delay_ms": rtt_ms / 2}],
        measure={"interval_s": SAMPLE_S},
    )


def beside_cell(scenario: Scenario, traffic: Mapping[str, Any]) -> Scenario:
    """Return the scenario with the second cell: BS-2, node 2 and its server.

    Parameters
    ----------
    scenario : Scenario
        The upload `alone`.
    traffic : mapping
        What node 2 downloads: `FILES` or `ENDLESS`.
    """
    keys = _given(scenario)
    _, tcp = CONTROLS["SACK"]
    drop_tail = {"drop_tail": {"limit_packets": 100}}
    keys["cells"] = [{"position_m": [APART_M, 0.0], "queue": drop_tail}]
    keys["stations"].append(
        {
            "cell": 1,
            "position_m": [APART_M + RADIUS_M, 0.0],
            "rate_mbps": RATE_MBPS,
            "queue": drop_tail,
        }
    )
    keys["flows"].append(
        {
            "from": "server",
            "to": "sta1",
            "control": "new_reno",
            "tcp": tcp | {"timestamps": True, "header_bytes": 40},
            "traffic": traffic,
            "start_spread_s": PERIOD_S,
        }
    )
    return Scenario(**keys)


def beside_source(scenario: Scenario, *, at_m: float = APART_M, shut_s: float = SHUT_S) -> Scenario:
    """Return the scenario with a source in place of BS-2, which is on for a part of every 2 s.

    Its phase is random.
    """
    source = {"on_ms": 1e3 * shut_s, "period_ms": 1e3 * PERIOD_S}
    cell = {
        "name": "cell 2",
        "position_m": [at_m, 0.0],
        "tx_power_dbm": TX_POWER_DBM,
        "sensed": False,
        "source": {"duty_cycle": source},
    }
    return Scenario(**_given(scenario), interferers=[cell])


def measure_shut_outs(run: Run) -> dict[str, float]:
    """Return goodputs, and of cell 1 timeouts, MAC throughput, and how long it is shut out.

    A shut-out is a time of at least 50 ms between two deliveries of node 1 in which a frame fails
    at all of its attempts.
    """
    get = run.summary.get
    gaps, measured_s = shut_outs(run)
    middle, long = np.percentile(gaps, [50, 90]) if gaps.size else (0.0, 0.0)
    has_second = len(run.flows) > 1
    return {
        GOODPUT: number(get("flows[0].goodput_mbps")) or 0.0,
        SECOND: (number(get("flows[1].goodput_mbps")) or 0.0) if has_second else 0.0,
        TIMEOUTS: (number(get("flows[0].timeouts")) or 0.0) * 100.0 / measured_s,
        MAC_MBPS: _mac_mbps(run),
        MEDIAN_MS: 1e3 * middle,
        LONG_MS: 1e3 * long,
        SHUT_FRACTION: float(gaps.sum()) / measured_s,
    }


PREAMBLE_S, PREAMBLE_BYTES = 192e-6, 24
"""Preamble and PHY header at 1 Mb/s."""


def _mac_mbps(run: Run) -> float:
    """Return the bits of all attempts and MAC ACKs of cell 1 per time, preambles included."""

    def share(node: str) -> float:
        """Return the bytes that a node sends in data frames per second."""
        attempts = (number(run.summary.get(f"{node}.attempts")) or 0.0) / seconds
        air = number(run.summary.get(f"{node}.airtime.data_fraction")) or 0.0
        frames = (air - attempts * PREAMBLE_S) * 1e6 / 8 * RATE_MBPS
        answered = (number(run.summary.get(f"{node}.sent")) or 0.0) / seconds
        return frames + attempts * PREAMBLE_BYTES + answered * MAC_ACK_BYTES

    seconds = float(run.summary["run.measured_s"])
    return 8e-6 * (share("stations[0]") + share("ap"))


def shut_outs(run: Run) -> tuple[np.ndarray[Any, Any], float]:
    """Return the lengths of the shut-outs of node 1 and the measured time, in seconds."""
    at, sent = run.samples(PROBES[0])
    _, attempts = run.samples(PROBES[1])
    first = int(np.searchsorted(at, WARMUP_S))
    last = at.size - 1
    delivered = np.flatnonzero(np.diff(sent[first:]) > 0) + first + 1
    edges = np.concatenate(([first], delivered, [last]))
    length = np.diff(at[edges])
    failed = np.diff(attempts[edges]) - np.diff(sent[edges])
    retries = run.scenario.get("wlan.short_retry_limit")
    is_shut = (length >= SHORTEST_S - SAMPLE_S / 2) & (failed >= retries)
    return length[is_shut], float(at[last] - at[first])


def _given(scenario: Scenario) -> dict[str, Any]:
    """Return the keys of a scenario that were given, as plain data."""
    return tomllib.loads(scenario.to_toml())
