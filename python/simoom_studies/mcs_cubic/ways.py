"""The ways to read the experiment: the queue, the rules of the simulator, and the driver.

"The queuing function adapted to each device is Tail Drop, with a queuing buffer size of 10 packets"
is read as ten frames in the device, each until its BlockAck arrives, below FQ-CoDel: so are the
defaults of the paper's simulator, ns-3.40. This decides all verdicts. The other ways are shown
beside it; that fewer frames come nearer to the paper was seen before they were added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simoom.runs.evidence import Check
from simoom.studies.claim import Reading
from simoom.studies.lab import Lab, Sample
from simoom_studies.mcs_cubic.paper import (
    CONTROLS,
    PROBES,
    READINGS,
    Rules,
    measure,
    upload,
)

FIRST = {"hystart_rule": "first"}
"""HyStart as first published, which ends slow start at once."""
REDUCTION = {"recovery": {"sack": {"reduction": "proportional_rfc6937"}}}
"""PRR of RFC 6937."""
RECOVERY: Mapping[str, Any] = {
    "recovery": {
        "sack": {
            "rack": False,
            "reduction": "proportional_rfc6937",
            "f_rto": False,
            "undo": False,
        }
    },
    "eifel": False,
    "rtt_scaling": False,
    "delayed_ack": {"fixed": {"segments": 2, "timer_ms": 200.0}},
}
"""TCP of ns-3: losses by RFC 6675, PRR of RFC 6937, no detection of spurious retransmissions."""
WLAN: Mapping[str, Any] = {"ppdu_timing": "ns3", "eifs": "none", "slot_grid": "free"}
AGGREGATION: Mapping[str, Any] = {"retries": "counted", "delivery": "mpdu"}

EACH: Mapping[str, Any] = {**RECOVERY, "delayed_ack": "none"}
"""The same with an ACK for each segment, a reading of the paper, which does not say."""
ALL = "TCP and Wi-Fi of ns-3"
RULES = {
    "the study": Rules(),
    "the first HyStart": Rules(cubic=FIRST),
    "PRR of RFC 6937": Rules(tcp=REDUCTION),
    "TCP of ns-3": Rules(cubic=FIRST, tcp=RECOVERY),
    ALL: Rules(cubic=FIRST, tcp=RECOVERY, wlan=WLAN, aggregation=AGGREGATION),
    "the same, an ACK for each segment": Rules(
        cubic=FIRST, tcp=EACH, wlan=WLAN, aggregation=AGGREGATION
    ),
    "the same, Reno-friendly": Rules(
        cubic={**FIRST, "friendly": True}, tcp=RECOVERY, wlan=WLAN, aggregation=AGGREGATION
    ),
}
"""The last row has the region that ns-3 has from 3.41 on."""
DRIVERS = {
    "the last round-trip time": Rules(driver={"samples": 1}),
    "the mean of 100 round-trip times": Rules(driver={"samples": 100}),
    "the smoothed round-trip time": Rules(driver={"average": "smoothed"}),
}
"""The "moving average of n RTTs" of equation (2); the study has n = 10."""
READ = READINGS["fair"].name
"""The reading that decides."""
WAYS: Mapping[str, tuple[str, Rules]] = {
    READ: ("fair", Rules()),
    **{each.name: (key, Rules()) for key, each in READINGS.items() if key != "fair"},
    **{name: ("fair", rules) for name, rules in RULES.items() if name != "the study"},
    **{name: ("fair", rules) for name, rules in DRIVERS.items()},
}
"""Queue and rules by name."""
QUICK = (READ, READINGS["7 frames"].name, ALL)

Runs = Mapping[str, Mapping[str, Sample]]
"""Samples by way and control."""


def run_ways(lab: Lab, to_mcs: int) -> Runs:
    """Run the upload by every way."""
    ways = lab.pick(tuple(WAYS), QUICK)
    cases = {
        (way, control): upload(to_mcs, control, reading=WAYS[way][0], rules=WAYS[way][1])
        for way in ways
        for control in CONTROLS
    }
    read = {key: case for key, case in cases.items() if key[0] == READ}
    rest = {key: case for key, case in cases.items() if key[0] != READ}
    found = lab.sample(read, measure, replications=lab.pick(10, 5), probes=PROBES)
    found |= lab.sample(rest, measure, replications=lab.pick(10, 3), probes=PROBES)
    return {way: {control: found[way, control] for control in CONTROLS} for way in ways}


def by_way(
    runs: Runs, checks: Callable[[Mapping[str, Sample]], tuple[Check, ...]]
) -> dict[str, Any]:
    """Return the arguments of a claim: its checks by the reading that decides, and by all others.

    `checks` has the samples by control.
    """
    return {
        "checks": checks(runs[READ]),
        "reading": READ,
        "others": [Reading(way, checks(found)) for way, found in runs.items() if way != READ],
    }
