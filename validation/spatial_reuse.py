"""Spatial reuse of two BSSs: against published values of ns-3."""

from __future__ import annotations

from typing import Any

from validation.case import Case, Group, Option
from validation.ns3_modern import EDCA
from validation.ofdma import SIMULATED, TIMING
from validation.references import given, goodput, table

ENERGY = Option(
    "radio.energy_after_frame_dbm",
    -82,
    "after a frame that a node has received, what is on the air keeps its medium busy from the "
    "power of a preamble on",
)


def scenario(distance_m: float, obss_pd_dbm: str) -> dict[str, Any]:
    """Two stations, each 30 m from its access point, with datagrams for it all the time."""
    reuse = {"spatial_reuse": {"obss_pd_dbm": float(obss_pd_dbm)}} if obss_pd_dbm else {}
    power = {"tx_power_dbm": 21.0}
    return {
        "standard": "11ax",
        "duration_s": 6.0,
        "warmup_s": 1.0,
        "wlan": {"width_mhz": 20, "mcs": 3, **reuse},
        "radio": {
            "tx_power_dbm": 10.0,
            "propagation": {"friis": {"frequency_mhz": 5500.0}},
            "error_model": "table",
        },
        "ap": power,
        "cells": [{"position_m": [distance_m, 0.0], **power}],
        "stations": [
            {"position_m": [0.0, 30.0]},
            {"position_m": [distance_m, 30.0], "cell": 1},
        ],
        "flows": [
            {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}},
        ],
    }


def groups() -> list[Group]:
    """Goodput of both BSSs together by OBSS PD level and distance."""
    cases = []
    for row in table("ns3_spatial_reuse"):
        distance, level = row["distance_m"], row["obss_pd_dbm"]
        with_level = f"OBSS PD {level} dBm" if level else "without"
        cases.append(
            Case(
                f"{distance} m, {with_level}",
                scenario(float(distance), level),
                (given(goodput(SIMULATED), row, "goodput_mbps"),),
                (TIMING, EDCA, ENERGY),
                quick=distance == "100" and level in {"", "-72"},
            )
        )
    about = (
        "Two BSSs of one station each at 802.11ax MCS 3, 20 MHz, whose uplinks are saturated; "
        "stations have 10 dBm, access points 21 dBm, free space at 5.5 GHz. ns-3 after 3.48, one "
        "run. With levels above -72 dBm a station that has ignored a PPDU has less than its 10 dBm."
    )
    return [Group("Spatial reuse in ns-3", "ns-3", about, tuple(cases))]
