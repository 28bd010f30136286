"""Cases against ns-3 for 802.11n and ac: EDCA, A-MPDUs, block acknowledgement."""

from __future__ import annotations

from typing import Any

from validation.case import Case, Group, Option
from validation.ns3 import CONTROLS, EIFS, GRID, RECOVERY, WIRE, tcp
from validation.references import given, goodput, table

TIMING = Option(
    "wlan.ppdu_timing",
    "ns3",
    "PPDUs have no VHT-SIG-B, and data with a short guard interval is not rounded up to 4 us",
)
EDCA = Option(
    "wlan.edca_defaults",
    "ns3",
    "best effort has no TXOP limit, and the access point contends as its stations do",
)
LENGTH = Option(
    "wlan.aggregation.bytes",
    65_535,
    "an A-MPDU has at most 65535 bytes whatever the standard (BE_MaxAmpduSize)",
)
COUNTED = Option(
    "wlan.aggregation.retries",
    "counted",
    "MPDUs under a block ack agreement are discarded at the retry limit",
)
PIECEMEAL = Option(
    "wlan.aggregation.delivery",
    "mpdu",
    "each MPDU is delivered when its own part of the PPDU ends, so that the TCP ACKs of an upload "
    "arrive one by one and the access point needs more accesses for them",
)
OPTIONS = (TIMING, EDCA, LENGTH, COUNTED, PIECEMEAL, EIFS, GRID)

MODES: dict[str, dict[str, Any]] = {
    "n20": {"standard": "11n", "guard_ns": 800},
    "ac20": {"standard": "11ac", "guard_ns": 400},
}
"""The meaning of the names of PHYs in the tables."""


def saturation() -> Group:
    """UDP saturation of one station, by MCS."""
    flow = {"from": "sta0", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}
    cases = [
        Case(
            f"MCS {row['mcs']}",
            {
                "standard": "11n",
                "stations": 1,
                "duration_s": 22.0,
                "warmup_s": 2.0,
                "wlan": {"mcs": int(row["mcs"])},
                "flows": [flow],
            },
            (given(goodput(0.015), row, "goodput_mbps"),),
            OPTIONS,
            quick=row["mcs"] == "7",
        )
        for row in table("ns3_ht")
    ]
    about = (
        "One station of 802.11n at 20 MHz with a guard interval of 800 ns always has datagrams of "
        "1472 bytes for the access point, and 28 of UDP and IP. The reference has two decimals."
    )
    return Group("802.11n UDP saturation in ns-3", "ns-3", about, tuple(cases))


def is_modern(row: dict[str, str]) -> bool:
    """Whether the standard of a row has MCSs."""
    return row["phy"] in MODES and row["cc"] in CONTROLS


def one_flow() -> Group:
    """One TCP flow over 802.11n or ac."""
    about = (
        "As over 802.11a, b and g: one flow between a station and a server behind 1 Gb/s and 2 ms; "
        "20 MHz, one stream, a guard interval of 800 ns in n and 400 ns in ac. The window is 1 "
        "MiB, and nothing is lost; or it is 4 MiB, and the queues hold 100 packets."
    )
    cases = tuple(_one_flow(row) for row in table("ns3_s2") if is_modern(row))
    return Group("One TCP flow over 802.11n and ac in ns-3", "ns-3.37", about, cases)


def _one_flow(row: dict[str, str]) -> Case:
    modes = dict(MODES[row["phy"]])
    standard, down = modes.pop("standard"), row["dir"] == "down"
    delayed, lossy = int(row["delack"]), row["macq"] == "100p"
    ends = ("server", "sta0") if down else ("sta0", "server")
    queue = {"queue": {"drop_tail": {"limit_packets": 100}}} if lossy else {}
    name = f"802.{standard}, MCS {row['mcs']}, {row['cc'].removeprefix('Tcp')}, "
    name += f"{row['dir']}, d = {delayed}"
    flow = tcp(ends, 1448, delayed, window=int(row["w_max"]), control=CONTROLS[row["cc"]])
    return Case(
        name + (", queues of 100" if lossy else ""),
        {
            "standard": standard,
            "stations": {"count": 1, **queue},
            "ap": queue,
            "duration_s": 20.0,
            "warmup_s": 5.0,
            "wire": WIRE,
            "wlan": {"mcs": int(row["mcs"]), **modes},
            "flows": [flow],
        },
        (given(goodput(0.03), row, "goodput_mbps"),),
        (*OPTIONS, RECOVERY) if lossy else OPTIONS,
        quick=row["phy"] == "n20" and down and row["cc"] == "TcpNewReno",
    )
