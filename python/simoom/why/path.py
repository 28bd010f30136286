"""Counterfactuals of the queues and links on the way of a flow."""

from __future__ import annotations

from typing import Any

from simoom.results.tables import Row, digits, number
from simoom.twin.inputs import choice
from simoom.why.case import Case, Interface
from simoom.why.counterfactual import Answer, Change, setting, without
from simoom.why.draft import Edit

FAST_MBPS = 100_000.0
"""A rate at which a link is no bottleneck."""
NO_WAIT = "packets of the flow wait in no queue"
FAIR = ("fq_codel", "airtime_fair", "mac80211")


def busiest(case: Case) -> Row | None:
    """Return the hop at which packets of the flow queue longest."""
    known = [hop for hop in case.hops if number(hop["queueing_s"]) is not None]
    return max(known, key=lambda hop: number(hop["queueing_s"]) or 0.0, default=None)


def queue_of(case: Case, at: Interface | None) -> tuple[str, Any] | None:
    """Return the path and the settings of the queue at an interface; None without its own."""
    keys = case.cell.keys
    match at:
        case Interface(kind="station", number=int(number)):
            for path, table, members in case.station_groups:
                if number in members:
                    return f"{path}.queue", table.get("queue") or "drop_tail"
        case Interface(kind="ap" | "wire" as table):
            return f"{table}.queue", keys[table]["queue"]
        case Interface(kind="cell", number=int(number)):
            return f"cells[{number}].queue", keys["cells"][number]["queue"]
        case Interface(kind="link", number=int(number)):
            link = keys["links"][number]
            own = (link.get("reverse") or {}).get("queue") if at.is_reverse else None
            return f"{at.name}.queue", own or link["queue"]
    return None


def fq_codel(case: Case) -> Answer:
    """Replace the queue in which packets of the flow wait longest by FQ-CoDel."""
    hop = busiest(case)
    if hop is None or not number(hop["queueing_s"]):
        return NO_WAIT
    found = queue_of(case, case.interfaces[str(hop["at"])])
    if found is None:
        return f"the queue of {hop['at']} has no settings of its own"
    path, queue = found
    name, _ = choice(queue)
    if name in FAIR:
        return f"{path} is {name} already"
    wait = digits(1e3 * (number(hop["queueing_s"]) or 0.0))
    cause = f"the queue of {hop['at']} ({name}), in which {hop['packets_of']} wait {wait} ms"
    return Change([Edit(path, "fq_codel")], cause, "with FQ-CoDel", setting(f"{path}=fq_codel"))


def buffer(case: Case) -> Answer:
    """Let no queue on the way of the flow have a limit."""
    edits, limits = [], []
    for at in dict.fromkeys(str(hop["at"]) for hop in case.hops):
        found = queue_of(case, case.interfaces[at])
        if found is None:
            continue
        path, queue = found
        name, settings = choice(queue)
        given = [k for k in ("limit_packets", "limit_bytes") if settings.get(k) is not None]
        limits += [f"{path}.{name}.{key}" for key in given if name not in FAIR]
        if given and name not in FAIR:
            kept = {k: v for k, v in settings.items() if k not in given and v is not None}
            edits.append(Edit(path, {name: kept}))
    if not edits:
        return "no queue on the way has a limit"
    cause = "the size of the buffers on the way"
    return Change(edits, cause, "without limits", without(*limits))


def wire(case: Case) -> Answer:
    """Let the links in the direction of the data be fast."""
    return _fast(case, "data")


def reverse_wire(case: Case) -> Answer:
    """Let the links in the direction of the TCP ACKs be fast."""
    if not case.flow.over_tcp:
        return "the flow runs over UDP and has no ACKs"
    return _fast(case, "TCP ACKs")


def _fast(case: Case, packets: str) -> Answer:
    keys = case.cell.keys
    edits: list[Edit] = []
    slowest: tuple[float, str] | None = None
    for hop in case.hops:
        at = case.interfaces[str(hop["at"])]
        if hop["packets_of"] != packets or at.kind not in ("wire", "link"):
            continue
        if at.number is None:
            rate, path = keys["wire"]["rate_mbps"], "wire.rate_mbps"
            if packets != "data":
                return "[wire] has one rate for both directions: see the data's links"
        else:
            link = keys["links"][at.number]
            reverse = (link.get("reverse") or {}).get("rate_mbps")
            rate, path = link["rate_mbps"], f"{at.name}.rate_mbps"
            if at.is_reverse:
                rate = reverse or rate
            elif reverse is None and rate:
                edits.append(Edit(f"links[{at.number}].reverse.rate_mbps", rate))
        if rate and rate < FAST_MBPS:
            edits.append(Edit(path, FAST_MBPS))
            slowest = min(slowest or (rate, path), (rate, path))
    if slowest is None:
        return f"no link with a rate carries {packets}"
    cause = f"the link of {digits(slowest[0])} Mb/s for {packets}"
    key = setting(f"{slowest[1]}={FAST_MBPS:g}")
    return Change(edits, cause, f"with a rate of {FAST_MBPS / 1e3:g} Gb/s", key)


def wire_loss(case: Case) -> Answer:
    """Let no link lose packets."""
    keys = case.cell.keys
    paths = ["wire.loss"] if (keys["wire"] or {}).get("loss") else []
    for n, link in enumerate(keys["links"]):
        paths += [f"links[{n}].loss"] if link.get("loss") else []
        paths += [f"links[{n}].reverse.loss"] if (link.get("reverse") or {}).get("loss") else []
    if not paths:
        return "no link loses packets"
    edits = [Edit(path) for path in paths]
    return Change(edits, "the losses on links", "without them", without(*paths))
