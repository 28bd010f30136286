"""The table of agreement: all groups, and what cannot be compared yet."""

from __future__ import annotations

from dataclasses import replace

from validation import ns2, ns3, theory
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
        ns2.downloads(),
        ns2.collision_probability(),
        ns2.shares(),
        ns2.sessions(),
        theory.table_2(),
    ]


def quick() -> list[Group]:
    """Some cases of each kind, for every change."""
    some = [
        replace(group, cases=tuple(case for case in group.cases if case.quick))
        for group in groups()
    ]
    return [group for group in some if group.cases]


def not_yet() -> list[tuple[str, int, str]]:
    """Reference values that wait for something: what, how many, for what."""
    flows = table("ns3_s2")
    dcf = [row for row in flows if row["phy"] in ns3.BASIC_RATES]
    lossy = [row for row in dcf if row["macq"] == "100p"]
    cubic = [row for row in dcf if row["cc"] == "TcpCubic" and row not in lossy]
    modern = [row for row in flows if row not in dcf]
    return [
        (
            "ns-3, one flow over 802.11a, windows of 4 MiB and queues of 100 packets",
            len(lossy),
            "SACK and proportional rate reduction: ns-3 recovers many losses of a window at once",
        ),
        (
            "ns-3, one CUBIC flow over 802.11a, b and g, window 65535 bytes",
            len(cubic),
            "CUBIC; the values equal those of NewReno, as the window is the limit",
        ),
        (
            "ns-3, one flow over 802.11n and ac",
            len(modern),
            "802.11n and ac",
        ),
        (
            "ns-2, capture of the stronger of two colliding frames",
            sum(row["variant"] == "capture10dB" for row in table("ns2_p1x")),
            "received powers; with equal distances it changes nothing in ns-2 either",
        ),
    ]
