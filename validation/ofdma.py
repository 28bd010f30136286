"""Saturated downlink OFDMA: against the closed form, and against published values of ns-3."""

from __future__ import annotations

from typing import Any

from simoom.models import ofdma
from simoom.runs.evidence import Reference
from validation.case import Case, Expected, Group, Option
from validation.ns3_modern import EDCA
from validation.references import given, goodput, table

TIMING = Option(
    "wlan.ppdu_timing",
    "ns3",
    "HE-LTFs last 8 us whatever their type, and there is no packet extension",
)
ALONE = Option(
    "wlan.mu.min_users",
    1,
    "one station alone gets a PPDU to several stations, over the whole channel",
)
TXOP: dict[str, Any] = {"cw_min": 15, "cw_max": 1023, "aifsn": 2}
"""The access category of the paper, with its TXOP limit."""
CLOSED, SIMULATED = 0.005, 0.03
"""Tolerances: of the closed form, and of values of another simulator without an interval."""
QUEUE = {"drop_tail": {"limit_packets": 50_000}}
"""As much as saturated sources keep for all stations."""


def scenario(
    stations: int,
    *,
    mcs: int,
    payload_bytes: int,
    acknowledgement: str = "",
    txop_us: float = 0.0,
) -> dict[str, Any]:
    """The keys of a cell whose access point always has datagrams for each station."""
    traffic = {"saturated": {"payload_bytes": payload_bytes}}
    edca = {"best_effort": {**TXOP, "txop_limit_us": txop_us}} if txop_us else {}
    return {
        "standard": "11ax",
        "stations": stations,
        "duration_s": 6.0,
        "warmup_s": 1.0,
        "wlan": {
            "width_mhz": 20,
            "mcs": mcs,
            **({"mu": {"acknowledgement": acknowledgement}} if acknowledgement else {}),
            **({"edca": edca} if edca else {}),
        },
        "ap": {"queue": QUEUE, **({"edca": edca} if edca else {})},
        "flows": [{"from": "ap", "to": "sta*", "traffic": traffic}],
    }


def closed_form() -> Group:
    """The goodput of one cycle, by the durations of ns-3."""
    cases = []
    for mcs, payload in ((7, 1472), (5, 1000)):
        for users in (1, 2, 4, 9):
            for how in ofdma.SEQUENCES:
                found = ofdma.saturated(
                    users, mcs=mcs, payload_bytes=payload, acknowledgement=how, ltf_us=8.0
                )
                expected = Expected(goodput(CLOSED), Reference(found.throughput_mbps, 0.0))
                cases.append(
                    Case(
                        f"MCS {mcs}, {users} stations, {how}",
                        scenario(users, mcs=mcs, payload_bytes=payload, acknowledgement=how),
                        (expected,),
                        (TIMING, EDCA, ALONE),
                        quick=mcs == 7 and how == "mu_bar",
                    )
                )
    about = (
        "An access point alone with datagrams of 1472 bytes at MCS 7, or 1000 at MCS 5, for each "
        "station; 20 MHz, one stream, round_robin, PPDUs of up to 5.484 ms. The closed form is one "
        "cycle: AIFS, the mean back-off, the PPDU and its acknowledgements."
    )
    return Group("Downlink OFDMA by closed form", "`simoom.models.ofdma`", about, tuple(cases))


def ns3() -> Group:
    """Published values of ns-3, without intervals."""
    cases = []
    for row in table("ns3_ofdma"):
        how = row["acknowledgement"]
        keys = scenario(
            int(row["stations"]),
            mcs=int(row["mcs"]),
            payload_bytes=int(row["payload_bytes"]),
            acknowledgement=how,
            txop_us=float(row["txop_us"]),
        )
        edca = () if float(row["txop_us"]) else (EDCA,)
        cases.append(
            Case(
                f"{row['source']}, {row['stations']} stations, {how or row['case']}",
                keys,
                (given(goodput(SIMULATED), row, "goodput_mbps"),),
                (TIMING, *edca, ALONE) if how else (TIMING, *edca),
                quick=row["stations"] in {"4", "9"},
            )
        )
    about = (
        "As by closed form. *benchmark*: ns-3 after 3.48, 1472 bytes at MCS 7. *paper*: D. Magrin, "
        "S. Avallone, S. Roy and M. Zorzi (2023), 1000 bytes at MCS 5 in TXOPs of 4.8 ms. HE-SIG-B "
        "is at the MCS of the slowest user, at most 5."
    )
    return Group("Downlink OFDMA in ns-3", "ns-3", about, tuple(cases))


def groups() -> list[Group]:
    """All groups."""
    return [closed_form(), ns3()]
