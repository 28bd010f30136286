"""Random access of uplink OFDMA, UORA: against a Monte Carlo of its rule."""

from __future__ import annotations

from typing import Any

from simoom.runs.evidence import Reference
from validation.case import Case, Expected, Group, Quantity
from validation.references import number, table

RECEIVED = Quantity("received per RA-RU", number("ap.mu.ra_efficiency"), relative=0.03, digits=4)
MUTED = {"best_effort": {"aifsn": 0, "timer": 255}}
"""Who has sent in an RA-RU sends by Trigger frames only."""
LATE = {"best_effort": {"cw_min": 32767, "cw_max": 32767, "aifsn": 15}}
"""Of stations: who has not contends rarely."""


def scenario(stations: int, units: int, exponents: tuple[int, int]) -> dict[str, Any]:
    """The keys of a cell whose stations always have datagrams, and whose access point asks none.

    What stations send by EDCA changes the number of Trigger frames, and not what follows one.
    """
    random_access = {
        "units": units,
        "triggers": "basic",
        "eocw_min": exponents[0],
        "eocw_max": exponents[1],
        "room_bytes": 300,
    }
    uplink = {"access_interval_us": 100, "bsrp": False, "random_access": random_access}
    mu = {"max_users": units, "min_users": 1, "uplink": uplink, "edca": MUTED}
    return {
        "standard": "11ax",
        "stations": stations,
        "duration_s": 20.0,
        "warmup_s": 1.0,
        "wlan": {"width_mhz": 20, "mcs": 7, "mu": mu, "edca": LATE},
        "ap": {"edca": {"best_effort": {"cw_min": 15, "cw_max": 1023, "aifsn": 3}}},
        "flows": [{"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 200}}}],
    }


def monte_carlo() -> Group:
    """What is received in an RA-RU."""
    cases = []
    for row in table("monte_carlo_random_access"):
        stations, units = int(row["stations"]), int(row["units"])
        exponents = int(row["eocw_min"]), int(row["eocw_max"])
        reference = Reference(float(row["received"]), float(row["received_ci95"]))
        cases.append(
            Case(
                f"{stations} stations, {units} RA-RUs, EOCW {exponents[0]} to {exponents[1]}",
                scenario(stations, units, exponents),
                (Expected(RECEIVED, reference),),
                quick=units == 3 and stations in (8, 20),
            )
        )
    about = (
        "An independent program counts Trigger frames one by one: stations that always have "
        "something to send and are never asked. Here the same in a cell of 802.11ax, in Basic "
        "Trigger frames with RA-RUs only."
    )
    return Group("Random access by Monte Carlo", "slot-level Monte Carlo", about, tuple(cases))


def groups() -> list[Group]:
    """All groups."""
    return [monte_carlo()]
