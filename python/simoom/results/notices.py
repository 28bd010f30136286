"""What a run tells of itself beside its numbers: what misleads, and the key to change.

Notices are read off the results, by a function for each kind. None concerns a value that the
scenario sets, which is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simoom.base.kinds import CAUSES, WITH_MCS
from simoom.results.tables import Row, Value, digits, flow_rows, nodes, number
from simoom.scenario.hearing import hearing
from simoom.scenario.interfaces import stations

if TYPE_CHECKING:
    from simoom.results.run import Run

MOST = 3
"""A report has no more notices than this; those that come first matter most."""
MOST_NAMES = 3
MOST_FLOWS = 5
LONG_S = 1.0
"""A mean wait in a queue that is seen by every user."""
MOST_TIME = 0.5
"""The part of the time that is most of it."""
MANY = 1 / 3
"""The part of a node's attempts that fail if its data frames do: others are short ones."""
FULL_PATH = 0.25
"""If packets wait for this part of a round trip, the path is full: autotuning allows one half."""
FEWEST = 10
"""Fewer attempts may fail by chance."""
USUAL_PACKETS = 1000
"""The limit of a device's queue in Linux (`txqueuelen`)."""

ALL = 0.99
"""The fraction of attempts that collide from which a source gets nothing through."""
FEWEST_COLLISIONS = 3
"""Fewer attempts may all collide by chance."""
APART = (
    "sources that send at the same instants collide for ever: give flows[*].start_spread_s more "
    "than 0, and broadcasts jitter (routing.protocol.aodv.originated_jitter_ms, "
    "routing.arp_jitter_ms)"
)

FEEDBACK = {"off": "none", "classic": "classic", "each_mark": "classic", "accurate": "accurate"}
"""The feedback of RFC 9768, RFC 3168 or none that a setting of `tcp.ecn` offers."""
OFFERS = ("none", "classic", "accurate")
"""From least to most: both ends agree on the lesser offer."""
NEEDS = {
    "prague": ("accurate", "Prague falls back to NewReno, without ECT(1)"),
    "dctcp": ("classic", "DCTCP falls back to NewReno"),
}
"""The least feedback that a congestion control needs, and what happens without."""
CRAMPED = "ecn.acks_without_option"
WORDS = {"none": "no ECN", "classic": "ECN by RFC 3168", "accurate": "accurate ECN"}


def notices(run: Run) -> list[str]:
    """Return what misleads about the results of a run, one sentence each.

    These are sources of which nothing arrives, fixed modes that fail, what is not modelled, queues
    without a limit in which packets wait for seconds, default receive windows that limit flows, and
    congestion controls that fall back. The first matter most.
    """
    return [
        *_nothing_arrives(run), *_caveats(run), *_queues(run), *_windows(run), *_fallbacks(run)
    ]  # fmt: skip


def told(run: Run) -> list[str]:
    """Return those notices for which a report has room."""
    return run.notices[:MOST]


def listed(names: Iterable[Value], most: int = MOST_NAMES) -> str:
    """Return names as a text, of many the first.

    Examples
    --------
    >>> listed(["sta0", "sta1", "sta2", "sta3", "sta4"])
    'sta0, sta1, sta2 and 2 more'
    """
    every = [str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def _caveats(run: Run) -> list[str]:
    return run.scenario.caveats(seed=run.seed, replication=run.replication)


def _nothing_arrives(run: Run) -> list[str]:
    """Return the first cause that is found of losses of nearly all packets."""
    return [*_in_step(run)] or _undetected(run) or [*_failing(run)] or [*_lost(run)]


def _silent(run: Run) -> list[Row]:
    """Return the flows of which packets are sent and none arrives."""
    flows = flow_rows(run.summary)
    return [flow for flow in flows if number(flow.get("goodput_mbps")) == 0 and _sent(flow)]


def _sent(flow: Mapping[str, Value]) -> float:
    return number(flow.get("packets_sent")) or 0.0


def _in_step(run: Run) -> Iterator[str]:
    """Flows of which nothing arrives because all frames collide.

    Such sources usually send at the same instants: with one start and one interval, or broadcasts
    without jitter.
    """
    names = [flow["name"] for flow in _silent(run) if _collides(flow, run)]
    if names:
        every = listed(names, MOST_FLOWS)
        yield f"nothing arrives, because all frames collide: {every}; {APART}"


def _collides(flow: Row, run: Run) -> bool:
    """Return whether all frames of the radio of a flow's source collide."""
    station = stations(run.scenario).get(str(flow.get("from")))
    path = "ap" if station is None else f"stations[{station}]"
    attempts = number(run.summary.get(f"{path}.attempts")) or 0.0
    collided = number(run.summary.get(f"{path}.collision_probability")) or 0.0
    return attempts >= FEWEST_COLLISIONS and collided >= ALL


def _undetected(run: Run) -> list[str]:
    if not _silent(run) or run.scenario.get("radio") is None:
        return []

    heard = hearing(run.scenario, seed=run.seed, replication=run.replication)
    undetected = [f"{link.source} → {link.sink}" for link in heard.links if not link.detected]
    if not undetected:
        return []
    return [f"too weak to be received: {listed(undetected, 5)}; `simoom hearing` shows all links"]


def _lost(run: Run) -> Iterator[str]:
    """Flows of which all is lost, for the cause by which most of it is."""
    by_cause: dict[str, list[Row]] = {}
    for flow in _silent(run):
        drops = {cause: number(flow.get(cause.result)) or 0.0 for cause in CAUSES}
        if any(drops.values()):
            most = max(drops, key=drops.__getitem__)
            words = f"{most.label} ({most.hint})" if most.hint else most.label
            by_cause.setdefault(words, []).append(flow)
    for cause, flows in by_cause.items():
        names = listed(flow["name"] for flow in flows)
        yield f"nothing arrives of {names}: packets are lost {cause}"


def _failing(run: Run) -> Iterator[str]:
    """Nodes with a radio of whose frames noise corrupts most, in a mode that is fixed."""
    scenario = run.scenario
    if scenario.get("radio") is None:
        return
    failing = []
    for node in nodes(run.summary):
        attempts = number(node.get("attempts")) or 0.0
        noise = number(node.get("noise_losses")) or 0.0
        name = _plain(node)
        if attempts < FEWEST or noise < MANY * attempts:
            continue
        key = _rate_control_key(run, name)
        if scenario.get(key) == "fixed":
            failing.append((noise / attempts, name, key))
    if failing:
        fraction, _, key = max(failing)
        modern = scenario.get("standard") in WITH_MCS
        control = "minstrel_ht" if modern else "minstrel"
        yield (
            f"the fixed mode is too fast for {listed(name for _, name, _ in failing)}, where noise "
            f"corrupts {100 * fraction:.0f} % of the attempts: {key}={control}"
        )


def _rate_control_key(run: Run, name: str) -> str:
    """Return the path of the rate control of a node: its own, or that of all."""
    own = f"{_place(run, name) if name in stations(run.scenario) else 'ap'}.rate_control"
    return "wlan.rate_control" if run.scenario.get(own) is None else own


def _queues(run: Run) -> Iterator[str]:
    """Queues without a limit in which packets wait for seconds, and more than a device holds."""
    long = []
    for name, wait, most in _waits(run.summary):
        if wait < LONG_S or most <= USUAL_PACKETS:
            continue
        key = _queue_key(run, name)
        if limitless(run, key):
            long.append((wait, name, most, key))
    if long:
        wait, name, most, key = max(long)
        others = f" (and {len(long) - 1} more)" if len(long) > 1 else ""
        yield (
            f"the queue of {name}{others} has no limit and held {most:,.0f} packets, "
            f"{digits(wait, 2)} s: {key}.limit_packets={USUAL_PACKETS}"
        )


def _waits(summary: Mapping[str, Value]) -> list[tuple[str, float, float]]:
    """Return the name of each queue, the mean wait in it, and the most packets that waited."""
    places = [(_plain(node), node) for node in nodes(summary)]
    places += [(path, _at(summary, path)) for path in _wires(summary)]
    found = []
    for name, queue in places:
        wait, most = number(queue.get("queueing_s")), number(queue.get("queue_packets.max"))
        found.append((name, wait or 0.0, most or 0.0))
    return found


def limitless(run: Run, key: str) -> bool:
    """Return whether the queue whose settings have this path has no limit."""
    place, _, discipline = key.rpartition(".")
    chosen = run.scenario.get(place)
    settings = chosen.get(discipline) if isinstance(chosen, dict) else None
    return settings is not None and not settings["limit_packets"] and not settings["limit_bytes"]


def _queue_key(run: Run, name: str) -> str:
    """Return the path of the settings of a drop-tail queue, which is the one without a limit."""
    return f"{_place(run, name)}.queue.drop_tail"


def _place(run: Run, name: str) -> str:
    """Return the path of the settings of a node or a link."""
    if name in stations(run.scenario):
        return f'stations["{name}"]'
    return "wire" if name.startswith("wire.") else name.removesuffix(".reverse")


def _windows(run: Run) -> Iterator[str]:
    """Windows at the maximum of autotuning, of flows whose path is not full.

    A window that the scenario fixes is meant, and the column "limited by" shows it.
    """
    longest = max((wait for _, wait, _ in _waits(run.summary)), default=0.0)
    limited = []
    for flow in flow_rows(run.summary):
        fraction = number(flow.get("limited_by.receive_window_fraction")) or 0.0
        round_trip = number(flow.get("rtt_s.mean")) or 0.0
        if fraction >= MOST_TIME and longest < FULL_PATH * round_trip:
            limited.append((fraction, flow["name"]))
    tables = [table["tcp"] for table in run.scenario.to_dict()["flows"]] if limited else []
    if limited and not any(table["window_bytes"] or table["window_segments"] for table in tables):
        yield (
            f"the receive window limits {listed(name for _, name in limited)} for "
            f"{100 * max(limited)[0]:.0f} % of the time: flows[*].tcp.window_max_bytes"
        )


def _plain(node: Mapping[str, Value]) -> str:
    """Return the name of a node in paths."""
    name = str(node["name"])
    return "ap" if name == "access point" else name


def _wires(summary: Mapping[str, Value]) -> list[str]:
    suffix = ".queueing_s"
    return [
        path.removesuffix(suffix)
        for path in summary
        if path.startswith(("wire.", "links[")) and path.endswith(suffix)
        if path.count(".") <= 2 and "_queue." not in path and ".ring." not in path
    ]


def _at(summary: Mapping[str, Value], place: str) -> Row:
    parts = ("queueing_s", "queue_packets.max")
    return {part: summary.get(f"{place}.{part}") for part in parts}


def _fallbacks(run: Run) -> Iterator[str]:
    """Tables of flows whose congestion control falls back, and ACKs without room for an option."""
    for place, table in enumerate(run.scenario.to_dict()["flows"]):
        control = _chosen(table["control"])
        if control not in NEEDS:
            continue
        needed, otherwise = NEEDS[control]
        sender = FEEDBACK[_chosen(table["tcp"]["ecn"])]
        receiver = FEEDBACK[_chosen(table["tcp"]["ecn_receiver"] or table["tcp"]["ecn"])]
        agreed = min(sender, receiver, key=OFFERS.index)
        if OFFERS.index(agreed) >= OFFERS.index(needed):
            continue
        end, key = ("receiver", "ecn_receiver") if sender != agreed else ("sender", "ecn")
        yield (
            f"flows[{place}]: {otherwise}: the {end} offers {WORDS[agreed]}, "
            f"and not {WORDS[needed]} (tcp.{key})"
        )
    acks = [run.summary.get(f"flows[{i}].{CRAMPED}", 0) for i in range(len(run.flows))]
    if flows := [f"flows[{i}] ({count})" for i, count in enumerate(acks) if count]:
        yield (
            "ACKs without the option of accurate ECN, for which timestamps and SACK blocks left no "
            f"room: {listed(flows, MOST_FLOWS)}"
        )


def _chosen(choice: str | Mapping[str, Any]) -> str:
    return choice if isinstance(choice, str) else next(iter(choice))
