"""The tables of a report: the paths, headings and number formats of their columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from simoom.base.kinds import CAUSES
from simoom.scenario import address
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


ALWAYS = ("queue_drops", "retry_drops")
"""The causes of losses that a report names even if nothing is lost by them."""

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
    return [row for _, row in sorted(address.rows(summary, prefix).items())]


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


def observed(place: str, key: str, write: Callable[[Value], str] = plain) -> Column:
    """Return the column of an observable, with its heading and unit."""
    each = observable(f"{place}.{key}")
    unit = UNITS.get(write, {}).get(each.unit)
    heading = f"{each.heading}\n{unit}" if unit else each.heading
    return Column(key, heading, write, each.path)


ROUTE = Column("route", "from → to")

FLOWS = (
    observed("flows[i]", "name"),
    ROUTE,
    observed("flows[i]", "goodput_mbps"),
    observed("flows[i]", "goodput_ci95_mbps", interval),
    observed("flows[i]", "hops_mean"),
    observed("flows[i]", "delay_s.mean", milliseconds),
    observed("flows[i]", "delay_s.p95", milliseconds),
    observed("flows[i]", "rtt_s.mean", milliseconds),
    observed("flows[i]", "retransmissions"),
    observed("flows[i]", "timeouts"),
    observed("flows[i]", "lost"),
    Column("limited_by", "limited by", path="flows[i].limited_by.*"),
    observed("flows[i]", "jitter_s", milliseconds),
    observed("flows[i]", "late_fraction", percent),
    observed("flows[i]", "mos"),
    observed("flows[i]", "video.rate_mbps"),
    observed("flows[i]", "video.rebuffers"),
    observed("flows[i]", "session_delay_s.count"),
    observed("flows[i]", "session_delay_s.mean", milliseconds),
    observed("flows[i]", "session_delay_s.p95", milliseconds),
)


def abbreviated(value: Value) -> str:
    """Write what limited a flow with the abbreviations of the RFCs."""
    text = plain(value)
    for name, short in ("receive window", "rwnd"), ("congestion window", "cwnd"):
        text = text.replace(name, short)
    return text


FLOWS_BRIEF = tuple(
    replace(column, heading="limited\nby", write=abbreviated)
    if column.key == "limited_by"
    else column
    for column in FLOWS
    if column.key not in ("delay_s.p95", "jitter_s", "session_delay_s.p95")
)
"""The columns of flows that fit into 100 characters."""

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

NODES = (
    observed("stations[i]", "name"),
    Column("on_air", "on the\nair, %", percent),
    observed("stations[i]", "data_rate_mbps"),
    observed("stations[i]", "attempts"),
    observed("stations[i]", "collision_probability"),
    observed("stations[i]", "noise_losses"),
    observed("stations[i]", "interference_losses"),
    observed("stations[i]", "mpdus_per_ppdu"),
    observed("stations[i]", "repeats_per_mpdu", thousandths),
    observed("stations[i]", "retry_drops"),
    observed("stations[i]", "lifetime_drops"),
    observed("stations[i]", "queue_drops"),
    observed("stations[i]", "queue_packets.mean", thousandths),
    observed("stations[i]", "queue_packets.max"),
)

LINKS = (
    observed("links[i]", "name"),
    ROUTE,
    observed("links[i]", "utilisation", thousandths),
    observed("links[i]", "packets"),
    observed("links[i]", "drops"),
    observed("links[i]", "losses"),
    observed("links[i]", "ecn_marks"),
    observed("links[i]", "queue_packets.mean", thousandths),
    observed("links[i]", "queue_packets.max"),
    observed("links[i]", "ring.queueing_s", hundredths_of_ms),
    observed("links[i]", "ring.limit_bytes.mean"),
)
"""The directions of wired links."""

INTERFERERS = (
    observed("interferers[i]", "name"),
    observed("interferers[i]", "data_frames_lost"),
    observed("interferers[i]", "control_frames_lost"),
    observed("interferers[i]", "packets"),
    observed("interferers[i]", "error_rate", thousandths),
    observed("interferers[i]", "loss_rate", thousandths),
)

HOPS = (
    Column("name", "flow"),
    Column("hop", "hop"),
    observed("hops[i]", "packets_of"),
    observed("hops[i]", "queueing_s", hundredths_of_ms),
    observed("hops[i]", "contention_s", hundredths_of_ms),
    observed("hops[i]", "transmission_s", hundredths_of_ms),
    observed("hops[i]", "retries_s", hundredths_of_ms),
    observed("hops[i]", "propagation_s", hundredths_of_ms),
    observed("hops[i]", "delay_s", hundredths_of_ms),
)
"""The delays of flows by hop, of a scenario with ``measure.hops``."""

DELAYS = (
    Column("name", "mean delay\nof a packet"),
    observed("stations[i]", "queueing_s", hundredths_of_ms),
    observed("stations[i]", "contention_s", hundredths_of_ms),
    observed("stations[i]", "transmission_s", hundredths_of_ms),
    observed("stations[i]", "retries_s", hundredths_of_ms),
    observed("links[i]", "propagation_s", hundredths_of_ms),
    Column("delay_s", "all\nms", hundredths_of_ms),
)
"""The delays of packets of all flows, over links and at nodes."""


def flow_rows(summary: Mapping[str, Value]) -> list[Row]:
    """Return the rows of `FLOWS`, with the route of flows that have names.

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


SUMS = (
    Column("name", "flows"),
    Column("flows", "number"),
    Column("goodput_mbps", "goodput\nMb/s"),
    Column("least_mbps", "least\nMb/s"),
    Column("most_mbps", "most\nMb/s"),
    Column("lost", "lost"),
)
"""The columns of groups of flows."""


def sums(flows: Sequence[Row]) -> list[Row]:
    """Return a row of `SUMS` for each group of flows: those of a name, or of a direction."""
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


def limited(flow: Row) -> dict[str, float]:
    """Return what limited a TCP sender, and for which fraction of the time; empty over UDP."""
    fractions = {name: number(flow.get(path)) for path, name in LIMITS.items()}
    return {name: fraction for name, fraction in fractions.items() if fraction is not None}


def _mean_limits(summary: Mapping[str, Value]) -> str:
    """Return what limited TCP senders for at least 1 % of the time, in the mean of the flows."""
    flows = [limits for flow in rows(summary, "flows") if (limits := limited(flow))]
    mean = {
        name: math.fsum(limits[name] for limits in flows) / len(flows)
        for name in (flows[0] if flows else ())
    }
    most = sorted(mean, key=lambda name: -mean[name])
    parts = [f"{name} {100 * mean[name]:.0f} %" for name in most if mean[name] >= 0.01]
    return f"{', '.join(parts)} of the time" if parts else ""


def _losses(summary: Mapping[str, Value]) -> str:
    """Return how many packets are lost by each cause; the first causes also if by none."""
    flows = rows(summary, "flows")
    counts: dict[str, float] = {}
    for cause in CAUSES:
        of_flows = [number(flow.get(cause.result)) for flow in flows if cause.result in flow]
        total = summary.get(f"total.{cause.result}", math.fsum(filter(None, of_flows)))
        count = number(total) or 0.0
        if count or (f"total.{cause.result}" in summary and cause.result in ALWAYS):
            counts[cause.label] = count
    text = ", ".join(f"{count:.0f} {label}" for label, count in counts.items())
    lost = number(summary.get("total.lost"))
    # What a MAC discards may have arrived, or may be sent another way.
    known = lost is None or lost == sum(counts.values())
    return text if known else f"{lost:.0f} by all causes; discarded: {text}"


def used(columns: Sequence[Column], table: Sequence[Row]) -> list[Column]:
    """Return the columns for which at least one row has a value."""
    return [c for c in columns if any(row.get(c.key) is not None for row in table)]


def headline(summary: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return the most important numbers, each with its name."""

    def get(path: str) -> float | None:
        return number(summary.get(path))

    def name(path: str) -> str:
        return observable(path).title

    lines = []
    if (goodput := get("total.goodput_mbps")) is not None:
        half = interval(summary.get("total.goodput_ci95_mbps"))
        lines.append((name("total.goodput_mbps"), f"{digits(goodput)} {half} Mb/s"))
    if (jain := get("total.jain_index")) is not None:
        lines.append((name("total.jain_index"), digits(jain)))
    if (collision := get("total.collision_probability")) is not None:
        lines.append((name("total.collision_probability"), digits(collision)))
    if (mean := get("total.delay_s.mean")) is not None:
        p95 = milliseconds(summary.get("total.delay_s.p95"))
        lines.append((name("total.delay_s"), f"{digits(1e3 * mean)} ms, 95 % within {p95} ms"))
    if (mean := get("total.session_delay_s.mean")) is not None:
        count = plain(summary.get("total.session_delay_s.count"))
        p95 = milliseconds(summary.get("total.session_delay_s.p95"))
        lines.append(("files", f"{count} in {digits(1e3 * mean)} ms each, 95 % within {p95} ms"))
    if get("total.queue_drops") is not None:
        lines.append(("packets lost", _losses(summary)))
    if (failures := get("routing.link_failures")) is not None:
        false = get("routing.false_link_failures") or 0.0
        lines.append(("link failures", f"{failures:.0f}, {false:.0f} to neighbours in range"))
    if messages := get("routing.messages"):
        size = (get("routing.message_bytes") or 0.0) / 1e3
        lines.append((name("routing.messages"), f"{messages:.0f}, {size:.0f} kB"))
    if limits := _mean_limits(summary):
        lines.append(("limited by", limits))
    return lines
