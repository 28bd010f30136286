"""The table of agreement: all groups, and references that cannot be compared."""

from __future__ import annotations

from dataclasses import replace

from validation import ns2, ns3, ns3_cells, ns3_modern, theory, wired
from validation.case import Group
from validation.references import table


def groups() -> list[Group]:
    """All cases."""
    return [
        *theory.chains(),
        theory.monte_carlo(),
        ns3.saturation(),
        ns3.one_flow(),
        ns3.many_flows(),
        ns3_modern.saturation(),
        ns3_modern.one_flow(),
        *ns3_cells.groups(),
        ns2.downloads(),
        ns2.collision_probability(),
        ns2.option_effects(),
        ns2.sessions(),
        wired.sack(),
        wired.pftk(),
        theory.table_2(),
    ]


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
    ]
    return [line for line in waiting if line[1]]
