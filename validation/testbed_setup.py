"""The set-ups of the measured networks, as scenarios: one set of unknowns for all points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GUARD_NS = 800
"""The guard interval of the access point, which the set-ups do not tell."""
STATION_MCS = 15
"""Stations choose their own mode, which the set-ups do not tell: the highest of two streams."""
WINDOW_BYTES = 3 << 20
"""Half of ``tcp_rmem`` of 2016, because Linux counts the memory of packets."""
TURNAROUND_MS = 0.5
"""How long a host takes to answer a ping, which the set-ups do not tell."""

NODES = {"osx": "sta0", "delay": "near", "server": "far"}
"""The nodes of the measured hosts: a laptop, and two hosts on the wire of the other station."""
ROUTER_WIRES = [
    {"from": "sta1", "to": "near", "rate_mbps": 1000.0, "delay_ms": 0.05},
    {"from": "near", "to": "far", "rate_mbps": 1000.0, "delay_ms": 0.1},
]
"""The second station is a router. Pings before the flows begin take 1.3 ms to the laptop, 1.4 ms to
`near` and 1.6 ms to `far`: the delays are half of the differences."""
ROUTER: dict[str, Any] = {"queue": "fq_codel", "ring_packets": 1424}
"""OpenWrt's queue discipline above the descriptors of ath10k's firmware 10.x."""


def pings(start: str, to: str) -> dict[str, Any]:
    """The flows of pings."""
    ping = {"reply_after_ms": TURNAROUND_MS}
    return {"from": start, "to": to, "start_spread_s": 0.0, "traffic": {"ping": ping}}


def linux_tcp(**more: Any) -> dict[str, Any]:
    """TCP of the senders: SACK, timestamps, the largest window of 2016."""
    return {"window_max_bytes": WINDOW_BYTES, **more}


ATH9K: dict[str, Any] = {"hardware_aggregates": 2}
"""Two A-MPDUs are in the hardware, one on the air and one ready."""
DRIVER_FIFO: dict[str, Any] = {"ring_packets": 123, **ATH9K}
"""Up to Linux 4.9 the driver has a queue of 123 frames."""
MAC80211: dict[str, Any] = {"mac80211": {"scheduler": "ath9k", "drop_batch_packets": 1}}
"""Equal airtime by ath9k, as in Linux 4.10."""

SETUPS: dict[str, dict[str, Any]] = {
    "fq_codel_airtime": {"queue": MAC80211, **ATH9K},
    "fq_codel_airtime_ecn": {"queue": MAC80211, **ATH9K},
    "stock_4.4": {"queue": {"fq_codel": {}}, **DRIVER_FIFO},
    "pfifo_1000": {"queue": {"drop_tail": {"limit_packets": 1000}}, **DRIVER_FIFO},
    "pfifo_20": {"queue": {"drop_tail": {"limit_packets": 20}}, **DRIVER_FIFO},
}


def cell(ap: Mapping[str, Any], ap_mcs: int, guard_ns: int) -> dict[str, Any]:
    """The cell: the MCS is forced at the access point only; ath9k sends at most 32 frames and 4
    ms at once."""
    return {
        "standard": "11n",
        "duration_s": 28.0,
        "warmup_s": 8.0,
        "stations": {"count": 2, "ap_mcs": ap_mcs},
        "wlan": {
            "mcs": STATION_MCS,
            "guard_ns": guard_ns,
            # hostapd and ath9k have no TXOP limit for best effort.
            "edca_defaults": "2012",
            "aggregation": {"frames": 32, "duration_us": 4096.0},
        },
        "ap": dict(ap),
        "wire": {"rate_mbps": 1000.0, "delay_ms": 0.2},
    }


OSX_CUBIC = {
    "cubic": {
        "beta": 0.8,
        "hystart": False,
        "fast_convergence": False,
        "friendly": False,
        "growth": "rfc9438",
    }
}
"""CUBIC of macOS in 2016."""
SENDERS = {"bbr": "bbr", "cubic": "cubic"}
"""Congestion control of Linux by the names of the titles; the endpoint sets their rules."""


def linux_ends(**rules: bool) -> dict[str, Any]:
    """Both ends of a flow as Linux of 2016, whose TSQ bounds what a sender has in its own queue."""
    return {"endpoint": {"linux": {"version": "4.9", **rules}}}


ENDS = linux_ends()
"""With all offloads."""
UPLOAD_ENDS = linux_ends(gro=False)
"""The host that receives uploads acknowledges 1.95 segments at a time, as its counters tell."""
WITHOUT_OFFLOADS = linux_ends(gso=False, gro=False)
"""With offloads switched off, as some titles tell."""
