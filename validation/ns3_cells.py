"""Cases against results of ns-3.37 for the settings of `ns3_settings`.

Modern modes and aggregation, access categories, TCP, hidden nodes, the range limits of modes, cells
that detect each other in part, rate control.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from simoom import Run
from simoom.runs.evidence import Reference
from validation.case import Case, Expected, Group, Option, Quantity, Rule
from validation.ns3 import EIFS, GRID, PERSISTENT, RECOVERY
from validation.ns3_modern import COUNTED, EDCA, PIECEMEAL, TIMING
from validation.ns3_settings import (
    aggregates,
    by_mode,
    categories,
    contending,
    overlapping_cells,
    pairs,
    range_limits,
    rates,
    transport,
)
from validation.ns3_setup import Setup
from validation.references import HALF_OF_DETECTED, given, goodput, plain, table


def parts(setup: Setup) -> dict[str, tuple[int, ...]]:
    """Flows whose share is compared, by their names in tables."""
    categories = [flow.category for flow in setup.flows]
    if len(set(categories)) > 1:
        return {
            name: tuple(i for i, category in enumerate(categories) if category == name)
            for name in dict.fromkeys(categories)
        }
    if setup.radio and len(setup.flows) > 1:
        # Of two flows, the share of the first suffices.
        compared = 1 if len(setup.flows) == 2 else len(setup.flows)
        return {f"flow {i}": (i,) for i in range(compared)}
    return {}


@cache
def share(name: str, flows: tuple[int, ...]) -> Quantity:
    """The fraction of the total goodput that these flows have."""

    def of(run: Run) -> float:
        each = [plain(row["goodput_mbps"]) for row in run.flows]
        return sum(each[i] for i in flows) / (sum(each) or 1.0)

    return Quantity(f"share of {name}", of, relative=HALF_OF_DETECTED, digits=4)


def options(setup: Setup) -> tuple[Option, ...]:
    """The options that reproduce ns-3; with a radio, physics decides which nodes detect a frame."""
    found = [GRID] if setup.radio else [EIFS, GRID]
    found += [PERSISTENT] if setup.rts else []
    if setup.is_modern:
        found += [TIMING, EDCA, COUNTED]
        found += [] if setup.radio else [PIECEMEAL]
    if setup.radio:
        # Frames are lost, so that TCP has to recover.
        tcp = [i for i, flow in enumerate(setup.flows) if flow.kind == "tcp"]
        found += [replace(RECOVERY, path=f"flows[{i}].tcp.recovery") for i in tcp]
    return tuple(found)


CF_END_US = 16 + 52
"""SIFS and a CF-End frame at 6 Mb/s."""


def cf_end(each_s: float) -> Rule:
    """The CF-End frames that ns-3 sends, so many each second."""
    why = "ns-3 ends a TXOP by a CF-End frame if there is time left for it"
    return Rule(why, 1 / (1 - 1e-6 * CF_END_US * each_s))


RULES = {
    "802.11n, MCS 7, TXOP of 3008 us": cf_end(328.5),
    "802.11n, MCS 7, TXOP of 1504 us": cf_end(626.5),
    "802.11ac, MCS 8, TXOP of 2528 us": cf_end(405.5),
    "802.11n, MCS 7, table, 31.34 m": Rule(
        # 1538 bytes at 18.43 dB. The table has 97.85 % of 1458 bytes at 18.0 and 73.93 % at 18.5
        # dB; the ratios of 50 and 10 % are 18.80 and 19.63 dB.
        "between two points of the table, 0.5 dB apart, ns-3 interpolates the error rate "
        "linearly, and Simoom the logarithm of the number of errors; four fifths of MPDUs are lost",
        0.1810 / 0.2095,
    ),
}
"""Rules of ns-3 that no option has, by the beginning of the setting's name. The numbers of CF-End
frames are those of ns-3's trace."""

OUT_OF_REACH = "three cells in a row, 25 m"
"""A setting in which rules of ns-3's carrier sense decide that no option has."""

QUICK = {
    "802.11ax, 20 MHz, MCS 11",
    "802.11n, 20 MHz, MCS 7, N = 2",
    "802.11n, MCS 7, A-MPDU of 2",
    "802.11n, MCS 7, A-MPDU of 0 bytes, a station each: VO, VI",
    "802.11ax, 20 MHz, MCS 11, down, d = 2",
    "802.11a, udp, RTS/CTS, in hearing",
    "802.11a, 24 Mb/s, nist, 45.72 m",
    "802.11a, 6 Mb/s, hidden, 70 and 80 dB",
    "802.11n, ideal, 10 m",
}
"""Settings of the quick run, one of each group."""


def case(setup: Setup, rows: dict[str, dict[str, str]]) -> Case:
    """The comparison of a setting with the results of ns-3."""
    rule = next((rule for name, rule in RULES.items() if setup.name.startswith(name)), None)
    total = float(rows["total"]["value"])
    expected = [given(goodput(0.03), rows["total"], "value", rule=rule)]
    for name, flows in parts(setup).items():
        if name in rows:
            value, interval = (float(rows[name][key]) / total for key in ("value", "value_ci95"))
            if value >= STARVED:
                expected.append(Expected(share(name, flows), Reference(value, interval)))
    # Runs differ more where chance decides who transmits and what is lost, most over TCP.
    replications = 5 if setup.radio or len(setup.flows) > 1 else 3
    replications *= 2 if setup.radio and setup.flows[0].kind == "tcp" else 1
    quick = setup.name in QUICK
    return Case(setup.name, setup.scenario(), tuple(expected), options(setup), replications, quick)


STARVED = 0.05
"""A smaller share is not compared: a few frames decide it."""

Maker = Callable[[], list[Setup]]

ABOUT: dict[Maker, tuple[str, str]] = {
    by_mode: (
        "Modern modes in ns-3",
        "UDP saturation of one station with 1472 bytes; A-MPDUs of at most 65535 bytes.",
    ),
    contending: ("Contention under EDCA in ns-3", "As before, with N stations."),
    aggregates: (
        "Aggregation and TXOPs in ns-3",
        "One station, 20 MHz unless stated otherwise.",
    ),
    categories: (
        "Access categories in ns-3",
        (
            "UDP saturation in several categories, from a station for each, from one station, or "
            "from five stations with two each. Shares are of all goodput."
        ),
    ),
    transport: (
        "TCP over modern modes in ns-3",
        (
            "Server behind 1 Gb/s and 2 ms, segments of 1448 bytes; one flow with a window of 1 "
            "MiB, or a flow for each of 10 stations with 256 KiB and an ACK for two segments."
        ),
    ),
    pairs: (
        "Hidden pairs in ns-3",
        (
            "Two stations 50 dB from the access point, hidden from each other or not: UDP "
            "saturation, or uploads over TCP to the access point with 65535 bytes and an ACK for "
            "two segments; 1448 bytes in a, 1000 in b."
        ),
    ),
    range_limits: (
        "The edge of a mode in ns-3",
        (
            "UDP saturation of one station around the distance at which a tenth of frames is "
            "lost. Losses by the third power of the distance, 16 dBm, noise figure 7 dB."
        ),
    ),
    overlapping_cells: (
        "Several in space in ns-3",
        (
            "UDP saturation: hidden stations of unequal power; access points that each send to "
            "a client and detect each other in part; cells in a row. Shares are of all goodput."
        ),
    ),
    rates: (
        "Rate control in ns-3",
        (
            "UDP saturation of one station at three distances. Both simulators implement the "
            "rule, with different details."
        ),
    ),
}
"""Groups of settings: title and common description."""


def setups() -> list[Setup]:
    """All settings, in the order of the table."""
    return [setup for make in ABOUT for setup in make()]


def groups() -> list[Group]:
    """All settings that ns-3 has results for."""
    results: dict[str, dict[str, dict[str, str]]] = {}
    for row in table("ns3_cells"):
        results.setdefault(row["case"], {})[row["quantity"]] = row
    made = []
    for make, (title, about) in ABOUT.items():
        compared = (setup for setup in make() if OUT_OF_REACH not in setup.name)
        cases = [case(setup, results[setup.name]) for setup in compared if setup.name in results]
        made.append(Group(title, "ns-3.37", about, tuple(cases)))
    return [group for group in made if group.cases]
