"""The tables of a report: the paths, headings and number formats of their columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simoom import _core
from simoom.base.kinds import AIRTIME
from simoom.scenario.observables import catalogue, observable

Value = float | int | str | None
Row = dict[str, Value]

SENT = {
    path.split(".airtime.")[1].removesuffix("_fraction"): each.heading
    for path, each in catalogue().items()
    if path.startswith(("ap.airtime.", "stations[i].airtime."))
}
"""Kinds of airtime of a node in a scenario with a radio, with their labels. A station has its Null
frames either under `null` (roaming) or under `power_save`."""


_LIMITED = "flows[i].limited_by."

LIMITS = {
    path.removeprefix("flows[i]."): each.heading
    for path, each in catalogue().items()
    if path.startswith(_LIMITED)
}
"""What may limit a TCP sender: fractions of time by the last part of their path, with labels."""


def visible(text: str) -> str:
    r"""Return a text in which control characters are escaped, so that a terminal obeys none.

    Examples
    --------
    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(
        char if char in "\n\t" or char.isprintable() else repr(char)[1:-1] for char in text
    )


def rows(summary: Mapping[str, Value], prefix: str) -> list[Row]:
    """Return the values of a summary for each element of a list.

    Examples
    --------
    >>> rows({"flows[0].name": "a", "flows[1].name": "b", "total.attempts": 3}, "flows")
    [{'name': 'a'}, {'name': 'b'}]
    """
    found: dict[int, Row] = {}
    for path, value in summary.items():
        if each := _core.element(path, prefix):
            found.setdefault(each[0], {})[each[1]] = value
    return [row for _, row in sorted(found.items())]


def names_of(summary: Mapping[str, Value]) -> dict[str, str]:
    """Return the names of flows and nodes by their paths.

    Examples
    --------
    >>> names_of({"flows[0].name": "download", "flows[0].goodput_mbps": 2.5})
    {'flows[0]': 'download'}
    """
    end = ".name"
    return {
        path.removesuffix(end): str(name) for path, name in summary.items() if path.endswith(end)
    }


def nodes(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of a summary for each access point, then for each station.

    With a radio, `on_air` is the fraction of time in which the node transmits frames of any kind.

    Examples
    --------
    >>> sent = {"ap.airtime.data_fraction": 0.5, "ap.airtime.rts_fraction": 0.25}
    >>> nodes(sent)[0]["on_air"]
    0.75
    """
    prefix = "ap."
    ap: Row = {p.removeprefix(prefix): v for p, v in summary.items() if p.startswith(prefix)}
    if not ap:
        return []
    further = rows(summary, "cells")
    table: list[Row] = [{"name": "ap" if further else "access point", **ap}]
    table += [{"name": f"cells[{k}]", **row} for k, row in enumerate(further)]
    table += rows(summary, "stations")
    for row in table:
        sent = [number(row.get(f"airtime.{kind}_fraction")) for kind in SENT]
        if any(fraction is not None for fraction in sent):
            row["on_air"] = math.fsum(fraction or 0.0 for fraction in sent)
    return table


def links(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of a summary for each direction of each link to which packets were offered.

    Examples
    --------
    >>> paths = {"links[0].name": "a-b", "links[0].from": "a", "links[0].to": "b"}
    >>> paths |= {"links[0].packets": 9, "links[0].reverse.packets": 0}
    >>> links(paths)
    [{'name': 'a-b', 'from': 'a', 'to': 'b', 'packets': 9, 'route': 'a → b'}]
    """
    directions: list[Row] = []
    for link in rows(summary, "links"):
        prefix = "reverse."
        forward: Row = {key: value for key, value in link.items() if not key.startswith(prefix)}
        reverse: Row = {k.removeprefix(prefix): v for k, v in link.items() if k.startswith(prefix)}
        directions += [forward, {"name": f"{link['name']}, reverse", **reverse}]
    counters = ("packets", "drops", "losses")
    offered = [direction for direction in directions if any(map(direction.get, counters))]
    return [{**row, "route": f"{row['from']} → {row['to']}"} for row in offered]


PARTS = ("queueing_s", "contention_s", "transmission_s", "retries_s", "propagation_s")
"""The parts of the delay of a packet at a node, over a link, or at a hop of a flow."""


def delays(summary: Mapping[str, Value]) -> list[Row]:
    """Return the mean delay of a packet, and its parts, over each link and at each node.

    Examples
    --------
    >>> delays({"wire.down.queueing_s": 0.25, "wire.down.propagation_s": 0.5})
    [{'name': 'wire.down', 'queueing_s': 0.25, 'propagation_s': 0.5, 'delay_s': 0.75}]
    """
    prefixes = ("wire.down.", "wire.up.")
    wires: list[Row] = [
        {"name": prefix[:-1], **{p.removeprefix(prefix): v for p, v in summary.items()
                                 if p.startswith(prefix)}}
        for prefix in prefixes
    ]  # fmt: skip
    table: list[Row] = []
    for row in (*wires, *links(summary), *nodes(summary)):
        parts = {part: number(row.get(part)) for part in PARTS if row.get(part) is not None}
        if parts.get("queueing_s") is not None:
            total = math.fsum(value or 0.0 for value in parts.values())
            table.append({"name": row["name"], **parts, "delay_s": total})
    return table


def hops(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of each hop of each flow, where they are measured."""
    return [
        {"name": row["flow"], "hop": f"{row['at']} → {row['to']}", **row}
        for row in rows(summary, "hops")
    ]


def sleepers(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of a summary for each station that saves power."""
    return [row for row in rows(summary, "stations") if "power_save.awake_fraction" in row]


def mu_users(summary: Mapping[str, Value]) -> list[Row]:
    """Return the access point that sends to several stations at once, and those stations."""
    return [row for row in nodes(summary) if "mu.ppdus" in row]


def reusers(summary: Mapping[str, Value]) -> list[Row]:
    """Return the nodes that ignore PPDUs of other BSSs."""
    return [row for row in nodes(summary) if "spatial_reuse.ignored" in row]


def roamers(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of a summary for each station that roams."""
    return [row for row in rows(summary, "stations") if "roaming.handovers" in row]


def handovers(summary: Mapping[str, Value]) -> list[Row]:
    """Return each change of access point, of one station after the other.

    Examples
    --------
    >>> station = {"handovers": 1, "handover_at_s[0]": 25.4, "handover_from[0]": 0.0}
    >>> station["handover_to[0]"] = 2.0
    >>> handovers({f"stations[0].roaming.{key}": value for key, value in station.items()})
    [{'name': None, 'at': '25.4', 'from': 'ap', 'to': 'cells[1]'}]
    """
    return [change for station in roamers(summary) for change in _changes(station)]


def _changes(station: Row) -> list[Row]:
    found: list[Row] = []
    while (at := number(station.get(f"roaming.handover_at_s[{len(found)}]"))) is not None:
        left, entered = (
            _cell(number(station.get(f"roaming.handover_{end}[{len(found)}]")))
            for end in ("from", "to")
        )
        found.append({"name": station.get("name"), "at": digits(at), "from": left, "to": entered})
    return found


def _cell(cell: float | None) -> str:
    return f"cells[{round(cell) - 1}]" if cell else "ap"


def interferers(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of a summary for each interferer."""
    return rows(summary, "interferers")


def airtime(summary: Mapping[str, Value]) -> list[Row]:
    """Return the uses of the airtime of a medium that is common to all nodes.

    Examples
    --------
    >>> airtime({"airtime.payload_fraction": 0.25, "airtime.idle_fraction": 0.75})
    [{'name': 'payload', 'kind': 'payload', 'share': 0.25}, ...]
    """
    shares = {kind: number(summary.get(f"airtime.{kind}_fraction")) for kind in AIRTIME}
    is_common = "airtime.idle_fraction" in summary
    return [
        {"name": AIRTIME[kind], "kind": kind, "share": share}
        for kind, share in shares.items()
        if share and is_common
    ]


def number(value: Value) -> float | None:
    """Return a value if it is a finite number."""
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return float(value) if known else None  # type: ignore[arg-type]


def digits(value: float, count: int = 3) -> str:
    """Write a number with `count` significant digits, if possible without an exponent.

    Examples
    --------
    >>> digits(0.24698), digits(7.8942), digits(1234.5), digits(0.0), digits(4.2e-9)
    ('0.247', '7.89', '1234', '0', '4.2e-09')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    if not -5 < exponent < 9:
        return f"{value:.{count}g}"
    return f"{value:.{max(0, count - 1 - exponent)}f}"


def plain(value: Value) -> str:
    """Write a value unchanged, and None as a dash."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    return digits(value) if isinstance(value, float) else visible(str(value))


def milliseconds(value: Value) -> str:
    """Write seconds as milliseconds."""
    known = number(value)
    return "-" if known is None else digits(1e3 * known)


def hundredths_of_ms(value: Value) -> str:
    """Write seconds as milliseconds with two decimals, and nothing as a dash."""
    known = number(value)
    return "-" if not known else f"{1e3 * known:.2f}"


def thousandths(value: Value) -> str:
    """Write a number with three decimals."""
    known = number(value)
    return "-" if known is None else f"{known:.3f}"


def percent(value: Value) -> str:
    """Write a fraction in percent."""
    known = number(value)
    return "-" if known is None else f"{100 * known:.1f}"


def interval(value: Value) -> str:
    """Write the half-width of an interval."""
    known = number(value)
    return "-" if known is None else f"±{digits(known, 2)}"


@dataclass(frozen=True)
class Column:
    """A column of a table: the last part of the path, the heading, number format, and the path."""

    key: str
    heading: str
    write: Callable[[Value], str] = plain
    path: str = ""


UNITS: dict[Callable[[Value], str], dict[str, str]] = {
    plain: {"Mb/s": "Mb/s"},
    milliseconds: {"s": "ms"},
    hundredths_of_ms: {"s": "ms"},
    percent: {"1": "%"},
}
"""Units below a heading by number format; a half-width has the unit of its value."""


def observed(place: str, keys: str, write: Callable[[Value], str] = plain) -> tuple[Column, ...]:
    """Return the columns of observables of a place, with their headings and units.

    Examples
    --------
    >>> [column.path for column in observed("flows[i]", "timeouts lost")]
    ['flows[i].timeouts', 'flows[i].lost']
    """
    return tuple(_observed(place, key, write) for key in keys.split())


def _observed(place: str, key: str, write: Callable[[Value], str]) -> Column:
    each = observable(f"{place}.{key}")
    unit = UNITS.get(write, {}).get(each.unit)
    heading = f"{each.heading}\n{unit}" if unit else each.heading
    return Column(key, heading, write, each.path)


WORDS = ("name", "route", "limited_by", "hop", "packets_of")
"""Columns that contain words."""

EXPENDABLE = (
    "saved",
    "packets_of",
    "propagation_s",
    "retries_s",
    "route",
    "queue_packets.max",
    "lifetime_drops",
    "attempts",
    "repeats_per_mpdu",
    "limited_by",
)
"""Columns that a narrow table drops, the least important first."""

MOST_ROWS = 20
"""Longer tables are truncated in a terminal or notebook; pages and files have all rows."""


def flow_rows(summary: Mapping[str, Value]) -> list[Row]:
    """Return the values of each flow, with the route of flows that have names.

    `limited_by` is what limited a TCP sender for most of the time.
    """
    flows = rows(summary, "flows")
    for flow in flows:
        if limits := limited(flow):
            name, fraction = max(limits.items(), key=lambda limit: limit[1])
            flow["limited_by"] = f"{name} {100 * fraction:.0f} %"
    if any(flow.get("name") != f"{flow.get('from')}->{flow.get('to')}" for flow in flows):
        for flow in flows:
            flow["route"] = f"{flow.get('from')} → {flow.get('to')}"
    return flows


def group_of(flow: Row) -> str:
    """Return the group of a flow: its name without the ends, or its direction.

    Examples
    --------
    >>> group_of({"name": "sta3->server", "from": "sta3", "to": "server"})
    'sta* → server'
    >>> group_of({"name": "call sta3", "from": "sta3", "to": "server"})
    'call'
    """
    name, ends = str(flow.get("name", "")), (str(flow.get("from", "")), str(flow.get("to", "")))
    words = [word for word in name.split() if word not in ends and not word.startswith("#")]
    if words and "->" not in name:
        return " ".join(words)
    return " → ".join(re.sub(r"[0-9]+$", "*", end) for end in ends)


def sums(flows: Sequence[Row]) -> list[Row]:
    """Return a row for each group of flows: those of a name, or of a direction."""
    groups: dict[str, list[Row]] = {}
    for flow in flows:
        groups.setdefault(group_of(flow), []).append(flow)
    table: list[Row] = []
    for name, members in groups.items():
        rates = [number(flow.get("goodput_mbps")) or 0.0 for flow in members]
        lost = sum(int(number(flow.get("lost")) or 0) for flow in members)
        table.append({
            "name": name, "flows": len(members), "goodput_mbps": math.fsum(rates),
            "least_mbps": min(rates), "most_mbps": max(rates), "lost": lost,
        })  # fmt: skip
    return table


def groups(summary: Mapping[str, Value]) -> list[Row]:
    """Return the sums of groups of flows, if the flows are too many to be seen at once."""
    flows = flow_rows(summary)
    return sums(flows) if len(flows) > MOST_ROWS else []


def limited(flow: Row) -> dict[str, float]:
    """Return what limited a TCP sender, and for which fraction of the time; empty over UDP."""
    fractions = {name: number(flow.get(path)) for path, name in LIMITS.items()}
    return {name: fraction for name, fraction in fractions.items() if fraction is not None}


def used(columns: Sequence[Column], table: Sequence[Row]) -> list[Column]:
    """Return the columns for which at least one row has a value."""
    return [c for c in columns if any(row.get(c.key) is not None for row in table)]
