"""The table of agreement: all groups, and references that cannot be compared."""

from __future__ import annotations

from dataclasses import replace

from validation import (
    chains,
    mobile,
    ns2,
    ns3,
    ns3_cells,
    ns3_modern,
    ofdma,
    random_access,
    spatial_reuse,
    theory,
    uplink,
    wired,
)
from validation.case import DETECTED, Group
from validation.references import table


def groups() -> list[Group]:
    """All cases whose comparison can fail."""
    return decisive(every())


def decisive(groups: list[Group]) -> list[Group]:
    """The groups with the comparisons that can fail."""
    found = [_decisive(group) for group in groups]
    return [group for group in found if group.cases]


def _decisive(group: Group) -> Group:
    """The comparisons of a group that can fail."""
    kept = []
    for case in group.cases:
        expected = tuple(each for each in case.expected if each.can_fail)
        if expected:
            kept.append(replace(case, expected=expected))
    return replace(group, cases=tuple(kept))


def every() -> list[Group]:
    """All cases, also those whose reference is too uncertain for a comparison."""
    return [
        *theory.chains(),
        theory.monte_carlo(),
        ns3.saturation(),
        ns3.one_flow(),
        ns3.many_flows(),
        ns3_modern.saturation(),
        ns3_modern.one_flow(),
        *ns3_cells.groups(),
        *ofdma.groups(),
        *random_access.groups(),
        uplink.twin(),
        uplink.ns3(),
        *spatial_reuse.groups(),
        ns2.downloads(),
        ns2.collision_probability(),
        ns2.option_effects(),
        ns2.sessions(),
        wired.sack(),
        wired.pftk(),
        theory.table_2(),
        *chains.groups(),
    ]


def multi_hop() -> list[Group]:
    """Chains and mobile nodes against ns-2; mobile nodes are not part of the table."""
    return [*chains.groups(), mobile.dsr()]


def quick() -> list[Group]:
    """Some cases of each kind, for the quick run."""
    some = [
        replace(group, cases=tuple(case for case in group.cases if case.quick))
        for group in groups()
    ]
    return [group for group in some if group.cases]


def not_comparable() -> list[tuple[str, int, str]]:
    """References that cannot be compared: name, number of values, and what is missing."""
    waiting = [
        (
            "ns-2, capture of the stronger of two colliding frames",
            sum(row["variant"] == "capture10dB" for row in table("ns2_p1x")),
            "received powers; with equal distances it changes nothing in ns-2 either",
        ),
        (
            "ns-2, routing packets of DSR among mobile nodes",
            sum(row["movement"] != "" for row in table("ns2_adhoc")),
            "runs with intervals of less than 10 %; docs/dsr.md has the values",
        ),
        (
            "ns-3, three cells in a row, 25 m apart",
            sum(ns3_cells.OUT_OF_REACH in row["case"] for row in table("ns3_cells")),
            (
                "two rules of its carrier sense: after a PPDU, energy above -82 dBm is a busy "
                "medium (with CcaSensitivity = -62 the middle cell has 14.4 Mb/s and not 3.7), and "
                "after a PHY header that it cannot decode, the medium is idle without an EIFS"
            ),
        ),
        uplink.beside_edca(),
    ]
    for group in every():
        wide = sum(not each.can_fail for case in group.cases for each in case.expected)
        need = f"intervals of less than {100 * DETECTED:g} % of the value"
        waiting.append((f"{group.title}: values with wide intervals", wide, need))
    return [line for line in waiting if line[1]]
