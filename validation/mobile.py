"""Mobile nodes with DSR, against ns-2.35."""

from __future__ import annotations

from typing import Any

from simoom import Run
from validation import chains
from validation.case import Case, Group, Option, Quantity
from validation.references import DATA, given, goodput, plain, table

MEASURED_S, WARMUP_S = 190.0, 10.0
NODES = 50
TOLERANCE = 0.10
QUEUE = Option("stations.queue", chains.QUEUE.value, chains.QUEUE.why)
ARP = Option(
    "routing.arp",
    "ns2",
    "the address of a neighbour is asked for, one packet waits for the answer, and the next one "
    "replaces it",
)
OPTIONS = (*chains.OPTIONS, QUEUE, chains.PRESET, ARP)


def network(movement: str, flows: int, alpha: float) -> dict[str, Any]:
    """The nodes of a movement file with the first of its flows."""
    _, control = chains.controller({"alpha": str(alpha)})
    one = chains.chain(1, chains.window(1000), control)
    ends = [
        {
            "from": f"sta{row['source']}",
            "to": f"sta{row['destination']}",
            "start_s": float(row["start_s"]),
        }
        for row in table(f"movement/{movement}_flows")[:flows]
    ]
    return {
        **one,
        "duration_s": WARMUP_S + MEASURED_S,
        "warmup_s": WARMUP_S,
        "routing": {"protocol": "dsr"},
        "stations": {
            "count": NODES,
            "movement": {"setdest": {"file": str(DATA / "movement" / f"{movement}.tcl")}},
        },
        "flows": [{**one["flows"][0], **each} for each in ends],
    }


def hops(run: Run) -> float:
    """The mean number of hops of all data packets that arrived."""
    flows = [f"flows[{index}]" for index in range(len(run.flows))]
    arrived = [plain(run.summary[f"{flow}.delay_s.count"]) for flow in flows]
    each = [
        plain(run.summary[f"{flow}.hops_mean"]) * count if count else 0.0
        for flow, count in zip(flows, arrived, strict=True)
    ]
    return sum(each) / sum(arrived)


HOPS = Quantity("hops", hops, relative=TOLERANCE)


def dsr() -> Group:
    """Goodput and hops of mobile nodes (ns2_adhoc)."""
    cases = []
    for row in table("ns2_adhoc"):
        if not (movement := row["movement"]):
            continue
        flows, (name, _) = int(row["flows"]), chains.controller(row)
        expected = (
            given(goodput(TOLERANCE), row, "goodput_mbps"),
            given(HOPS, row, "hops"),
        )
        cases.append(
            Case(
                f"{name}, {movement}, {flows} flows",
                network(movement, flows, float(row["alpha"])),
                expected,
                OPTIONS,
                replications=16,
                quick=(movement, name, flows) == ("waypoint_3", "NewReno", 10),
            )
        )
    about = (
        "50 nodes on 1 km² that move at up to 10 m/s and pause for 2 s, by five movement files of "
        "`setdest`; TCP flows from node f to another, with W* = 1000 segments. DSR of ns-2 sends "
        "more routing packets: docs/dsr.md has the comparison."
    )
    return Group("Mobile nodes with DSR in ns-2", "ns-2.35", about, tuple(cases))
