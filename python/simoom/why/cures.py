"""Cures: what a network can have, whether or not its lack is a cause."""

from __future__ import annotations

from simoom.results.tables import digits, number, rows
from simoom.twin.inputs import choice
from simoom.why.air import NO_CELL, airtime_of_others, airtime_of_stations
from simoom.why.case import Case, Interface
from simoom.why.counterfactual import Answer, Change, setting
from simoom.why.draft import Edit
from simoom.why.path import NO_WAIT, busiest, queue_of

LEAST_WAIT_S = 1e-3
"""Packets that wait for less do not wait in a queue."""
SHORT = 50
"""The packets of a short queue."""
SHAPED = 0.9
"""The part of what the access point delivers that a shaper before it passes on."""


def _waits_at(case: Case) -> Interface | None:
    """Return the interface at which packets of the flow wait longest; None if they do not wait."""
    hop = busiest(case)
    if hop is None or (number(hop["queueing_s"]) or 0.0) < LEAST_WAIT_S:
        return None
    return case.interfaces[str(hop["at"])]


def _queue(case: Case) -> tuple[str, str] | str:
    """Return path and discipline of the queue in which packets of the flow wait longest."""
    found = queue_of(case, _waits_at(case))
    return NO_WAIT if found is None else (found[0], choice(found[1])[0])


def cake(case: Case) -> Answer:
    """Replace the queue in which packets of the flow wait longest by CAKE."""
    found = _queue(case)
    if isinstance(found, str):
        return found
    path, name = found
    if name == "cake":
        return f"{path} is cake already"
    return Change([Edit(path, "cake")], "no CAKE", f"CAKE in {path}", setting(f"{path}=cake"))


def limit(case: Case) -> Answer:
    """Let few packets wait where packets of the flow wait longest."""
    found = _queue(case)
    if isinstance(found, str):
        return found
    path, name = found
    if name != "drop_tail":
        return f"{path} is {name}, which limits the wait itself"
    return _short(path, f"at most {SHORT} packets in {path}")


def senders_limit(case: Case) -> Answer:
    """Let few packets wait at the other station that takes the most airtime."""
    used = airtime_of_others(case)
    sending = {case.cell.flows[n].facts["from_station"] for n in case.others}
    used = {n: share for n, share in used.items() if n in sending}
    if not used:
        return "no other station sends"
    worst = f"sta{max(used, key=lambda n: used[n])}"
    path, queue = queue_of(case, case.interfaces[worst]) or ("", "")
    if not isinstance(case.cell.keys["stations"], list) or choice(queue)[0] != "drop_tail":
        return f"the queue of {worst} has no settings of its own, or limits the wait itself"
    return _short(path, f"at most {SHORT} packets in {worst}")


def _short(path: str, words: str) -> Change:
    edits = [Edit(path, {"drop_tail": {"limit_packets": SHORT}})]
    key = setting(f"{path}.drop_tail.limit_packets={SHORT}")
    return Change(edits, "long queues", words, key)


def airtime_fairness(case: Case) -> Answer:
    """Let stations have equal airtime at the access point, as in Linux."""
    if not case.has_cell:
        return NO_CELL
    if choice(case.cell.keys["ap"]["queue"])[0] in ("mac80211", "airtime_fair"):
        return "the access point schedules airtime already"
    if len(airtime_of_stations(case)) < 2:
        return "no other station has flows"
    key = setting("ap.queue=mac80211")
    return Change([Edit("ap.queue", "mac80211")], "no airtime fairness", "airtime fairness", key)


def voice(case: Case) -> Answer:
    """Let the packets of the flow have the access category of voice."""
    if not case.has_cell:
        return NO_CELL
    if case.flow.table.get("class") == "voice":
        return "the flow has the access category of voice"
    edits, key = [case.edit("class", "voice")], setting(case.flow_key("class=voice"))
    return Change(edits, "no priority", "the flow as voice (AC_VO)", key)


def shaper(case: Case) -> Answer:
    """Let a shaper before the access point pass on less than it can deliver."""
    at = _waits_at(case)
    if at is None or at.kind != "ap":
        return "packets of the flow do not wait at the access point"
    if case.cell.keys["wire"] is None:
        return "there is no [wire] before the access point"
    down = {flow.index for flow in case.cell.flows if flow.source == "server"}
    flows = enumerate(rows(case.summary, "flows"))
    rate = sum(number(row["goodput_mbps"]) or 0.0 for n, row in flows if n in down)
    shaped = float(digits(SHAPED * rate, 2)) if rate > 0 else 0.0
    if shaped <= 0:
        return "nothing arrives from the server"
    edits = [Edit("wire.queue", {"cake": {"bandwidth_mbps": shaped}})]
    key = setting(f"wire.queue.cake.bandwidth_mbps={shaped:g}")
    return Change(edits, "no shaper", f"CAKE at {shaped:g} Mb/s before the Wi-Fi", key)
