"""What a report shows of a run: the lines of its headline, and its sections, each declared once.

The terminal, the page of a report, notebooks and the page of ``simoom serve`` show all of them, in
this order. A new section is one entry of `SECTIONS`, a new line one of `HEADLINE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple

from simoom.base.kinds import CAUSES
from simoom.base.needs import remedy_of
from simoom.results.tables import (
    WORDS,
    Column,
    Row,
    Value,
    airtime,
    delays,
    digits,
    flow_rows,
    groups,
    handovers,
    hops,
    hundredths_of_ms,
    interferers,
    interval,
    limited,
    links,
    milliseconds,
    mu_users,
    nodes,
    number,
    observed,
    percent,
    plain,
    reusers,
    roamers,
    rows,
    sleepers,
    thousandths,
    used,
)
from simoom.scenario.observables import observable
from simoom.twin import predict

if TYPE_CHECKING:
    from simoom.results.run import Run

Summary = Mapping[str, Value]

# --- The headline -------------------------------------------------------------------------------

ALWAYS = ("queue_drops", "retry_drops")
"""The causes of losses that a report names even if nothing is lost by them."""


class Fact(NamedTuple):
    """A line of the headline: its name, and what it says of a summary; nothing if that is empty."""

    name: str
    say: Callable[[Summary], str]


def headline(summary: Summary) -> list[tuple[str, str]]:
    """Return the most important numbers, each with its name: first those of its traffic."""
    said = ((fact.name, fact.say(summary)) for fact in HEADLINE)
    return [(name, text) for name, text in said if text]


def _calls(summary: Summary) -> str:
    """Return the opinion score of the worst call, and of many also the mean."""
    scores = {
        str(flow.get("name")): score
        for flow in rows(summary, "flows")
        if (score := number(flow.get("mos"))) is not None
    }
    if not scores:
        return ""
    worst = min(scores, key=scores.__getitem__)
    several = f" ({worst}), {digits(math.fsum(scores.values()) / len(scores))} in the mean"
    return f"MOS {digits(scores[worst])}{several if len(scores) > 1 else ''}"


def _conferences(summary: Summary) -> str:
    """Return the freezes, late frames and rate of the conference with most late frames."""
    late = {
        str(flow.get("name")): (share, flow)
        for flow in rows(summary, "flows")
        if (share := number(flow.get("conference.late_fraction"))) is not None
    }
    if not late:
        return ""
    worst = max(late, key=lambda name: late[name][0])
    share, flow = late[worst]
    freezes = plain(flow.get("conference.freezes"))
    rate = digits(number(flow.get("conference.rate_mbps")) or 0.0)
    text = f"{freezes} freezes, {percent(share)} % of the frames late, {rate} Mb/s"
    return f"{text} ({worst})" if len(late) > 1 else text


def _goodput(summary: Summary) -> str:
    goodput = number(summary.get("total.goodput_mbps"))
    half = interval(summary.get("total.goodput_ci95_mbps"))
    return "" if goodput is None else f"{digits(goodput)} {half} Mb/s"


def _number(path: str) -> Fact:
    """Return the line of a number by its path."""

    def say(summary: Summary) -> str:
        value = number(summary.get(path))
        return "" if value is None else digits(value)

    return Fact(observable(path).title, say)


def _delay(summary: Summary, path: str = "total.delay_s") -> str:
    mean, p95 = summary.get(f"{path}.mean"), milliseconds(summary.get(f"{path}.p95"))
    return "" if number(mean) is None else f"{milliseconds(mean)} ms, 95 % within {p95} ms"


def _files(summary: Summary) -> str:
    path = "total.session_delay_s"
    found = _delay(summary, path).replace(" ms,", " ms each,", 1)
    return found and f"{plain(summary.get(f'{path}.count'))} in {found}"


def _losses(summary: Summary) -> str:
    """Return how many packets are lost by each cause; the first causes also if by none."""
    if number(summary.get("total.queue_drops")) is None:
        return ""
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


def _link_failures(summary: Summary) -> str:
    failures = number(summary.get("routing.link_failures"))
    false = number(summary.get("routing.false_link_failures")) or 0.0
    return "" if failures is None else f"{failures:.0f}, {false:.0f} to neighbours in range"


def _messages(summary: Summary) -> str:
    messages = number(summary.get("routing.messages"))
    size = (number(summary.get("routing.message_bytes")) or 0.0) / 1e3
    return f"{messages:.0f}, {size:.0f} kB" if messages else ""


def _limits(summary: Summary) -> str:
    """Return what limited TCP senders for at least 1 % of the time, in the mean of the flows."""
    flows = [limits for flow in rows(summary, "flows") if (limits := limited(flow))]
    mean = {
        name: math.fsum(limits[name] for limits in flows) / len(flows)
        for name in (flows[0] if flows else ())
    }
    most = sorted(mean, key=lambda name: -mean[name])
    parts = [f"{name} {100 * mean[name]:.0f} %" for name in most if mean[name] >= 0.01]
    return f"{', '.join(parts)} of the time" if parts else ""


HEADLINE = (
    Fact("conference", _conferences),
    Fact("calls", _calls),
    Fact(observable("total.goodput_mbps").title, _goodput),
    _number("total.jain_index"),
    _number("total.collision_probability"),
    Fact(observable("total.delay_s").title, _delay),
    Fact("files", _files),
    Fact("packets lost", _losses),
    Fact("link failures", _link_failures),
    Fact(observable("routing.messages").title, _messages),
    Fact("limited by", _limits),
)
"""The lines of the headline: what matters most for the traffic, then what every run has."""

LISTED = (
    "total.goodput_mbps",
    "total.jain_index",
    "total.collision_probability",
    "total.delay_s.mean",
)
"""The results in a list of runs."""

# --- The columns of the sections ----------------------------------------------------------------

ROUTE = Column("route", "from → to")

SUMS = (
    Column("name", "flows"),
    Column("flows", "number"),
    Column("goodput_mbps", "goodput\nMb/s"),
    Column("least_mbps", "least\nMb/s"),
    Column("most_mbps", "most\nMb/s"),
    Column("lost", "lost"),
)

FLOWS = (
    *observed("flows[i]", "name"),
    ROUTE,
    *observed("flows[i]", "goodput_mbps"),
    *observed("flows[i]", "goodput_ci95_mbps", interval),
    *observed("flows[i]", "hops_mean"),
    *observed("flows[i]", "delay_s.mean delay_s.p95 rtt_s.mean", milliseconds),
    *observed("flows[i]", "retransmissions timeouts lost"),
    Column("limited_by", "limited by", path="flows[i].limited_by.*"),
    *observed("flows[i]", "jitter_s", milliseconds),
    *observed("flows[i]", "late_fraction", percent),
    *observed("flows[i]", "mos conference.rate_mbps conference.in_time_mbps conference.freezes"),
    *observed("flows[i]", "conference.late_fraction", percent),
    *observed("flows[i]", "video.rate_mbps video.rebuffers session_delay_s.count"),
    *observed("flows[i]", "session_delay_s.mean session_delay_s.p95", milliseconds),
)

NODES = (
    *observed("stations[i]", "name"),
    Column("on_air", "on the\nair, %", percent),
    *observed("stations[i]", "data_rate_mbps attempts collision_probability noise_losses"),
    *observed("stations[i]", "interference_losses mpdus_per_ppdu"),
    *observed("stations[i]", "repeats_per_mpdu", thousandths),
    *observed("stations[i]", "retry_drops lifetime_drops queue_drops"),
    *observed("stations[i]", "queue_packets.mean", thousandths),
    *observed("stations[i]", "queue_packets.max"),
)

LINKS = (
    *observed("links[i]", "name"),
    ROUTE,
    *observed("links[i]", "utilisation", thousandths),
    *observed("links[i]", "packets drops losses ecn_marks"),
    *observed("links[i]", "queue_packets.mean", thousandths),
    *observed("links[i]", "queue_packets.max"),
    *observed("links[i]", "ring.queueing_s", hundredths_of_ms),
    *observed("links[i]", "ring.limit_bytes.mean"),
)
"""The directions of wired links."""

INTERFERERS = (
    *observed("interferers[i]", "name data_frames_lost control_frames_lost packets"),
    *observed("interferers[i]", "error_rate loss_rate", thousandths),
)

OF_DELAY = "queueing_s contention_s transmission_s retries_s"

HOPS = (
    Column("name", "flow"),
    Column("hop", "hop"),
    *observed("hops[i]", "packets_of"),
    *observed("hops[i]", f"{OF_DELAY} propagation_s delay_s", hundredths_of_ms),
)
"""The delays of flows by hop, of a scenario with ``measure.hops``."""

DELAYS = (
    Column("name", "mean delay\nof a packet"),
    *observed("stations[i]", OF_DELAY, hundredths_of_ms),
    *observed("links[i]", "propagation_s", hundredths_of_ms),
    Column("delay_s", "all\nms", hundredths_of_ms),
)
"""The delays of packets of all flows, over links and at nodes."""

SLEEPERS = (
    *observed("stations[i]", "name"),
    *observed("stations[i]", "power_save.awake_fraction", percent),
    *observed("stations[i]", "power_save.buffered"),
    *observed("stations[i]", "power_save.buffering_s", hundredths_of_ms),
    *observed("stations[i]", "power_save.drops power_save.polls power_save.null_frames"),
    *observed("stations[i]", "power_save.beacons_missed"),
)

MU_USERS = (
    *observed("stations[i]", "name mu.ppdus"),
    *observed("ap", "mu.users_per_ppdu"),
    *observed("stations[i]", "mu.tones mu.mpdus_per_user"),
    *observed("stations[i]", "mu.padding_fraction", percent),
    *observed("stations[i]", "mu.triggers"),
    *observed("ap", "mu.ra_rus"),
    *observed("ap", "mu.ra_efficiency", percent),
    *observed("stations[i]", "mu.ra_attempts"),
    *observed("stations[i]", "mu.ra_success_fraction", percent),
    *observed("stations[i]", "mu.muted_fraction", percent),
    *observed("stations[i]", "mu.muted_s", hundredths_of_ms),
)
"""An access point that sends to several stations at once, and its stations."""

REUSERS = (
    *observed("stations[i]", "name spatial_reuse.ignored spatial_reuse.ignored_in_group"),
    *observed("stations[i]", "spatial_reuse.txops spatial_reuse.reduced"),
)
"""Nodes that ignore PPDUs of other BSSs, with spatial reuse."""

ROAMERS = (
    *observed("stations[i]", "name roaming.handovers roaming.scans"),
    Column("roaming.outage_s", "outage\ns"),
    Column("roaming.outage_fraction", "outage\n%", percent),
)

HANDOVERS = (
    Column("name", "station"),
    Column("at", "handover\nat, s"),
    Column("from", "from"),
    Column("to", "to"),
)

SHARES = (Column("name", "use"), Column("share", "airtime\n%", percent))

TWIN = (
    Column("name", "value"),
    Column("measured", "measured"),
    Column("half", "95 %"),
    Column("predicted", "predicted"),
    Column("residual", "residual\n%"),
    Column("widths", "half-\nwidths"),
)

# --- The sections -------------------------------------------------------------------------------


class Found(NamedTuple):
    """What a run has for a section: rows, and a caption. Without either it is not shown."""

    rows: Sequence[Row]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A table of reports: its title, its columns, and what it finds in a run.

    A table of `shares` has the parts of a whole, by ``kind``, and a terminal draws it as a bar.
    """

    title: str
    columns: tuple[Column, ...]
    find: Callable[[Run], Found]
    shares: bool = False


def _in(find: Callable[[Summary], Sequence[Row]]) -> Callable[[Run], Found]:
    """Return a function that finds the rows of a section in the summary of a run."""

    @wraps(find)
    def found(run: Run) -> Found:
        return Found(find(run.summary))

    return found


def twin(run: Run) -> Found:
    """Return each value that the analytic twin and a run have, and the name of the model."""
    if not nodes(run.summary):
        return Found([])
    try:
        predicted = predict(run.scenario)
    except ModuleNotFoundError as error:
        if (remedy := remedy_of(error)) is None:
            raise
        return Found([], remedy)
    if predicted.model is None:
        return Found([], "no model fits; `simoom model` says why")
    stretched = len(predicted.model.stretched)
    plural = "" if stretched == 1 else "s"
    model = f"{predicted.model.family}, {predicted.model.form}"
    table: list[Row] = [
        {
            "name": each.path,
            "measured": digits(each.measured, 4),
            "half": "" if each.half_width is None else interval(each.half_width),
            "predicted": digits(each.predicted, 4),
            "residual": f"{each.percent:+.1f}",
            "widths": "" if each.half_widths is None else f"{each.half_widths:+.1f}",
        }
        for each in predicted.compare(run)
        if not each.path.startswith("flows[")  # Single flows vary much; their total is compared.
    ]
    return Found(table, f"{model}; {stretched} assumption{plural} stretched")


OF_FLOWS = (
    Section("Groups of flows", SUMS, _in(groups)),
    Section("Flows", FLOWS, _in(flow_rows)),
)
"""The sections that come before the notices of a run."""

SECTIONS = (
    *OF_FLOWS,
    Section("Delays by hop", HOPS, _in(hops)),
    Section("Delays by link and node", DELAYS, _in(delays)),
    Section("Links", LINKS, _in(links)),
    Section("Stations", NODES, _in(nodes)),
    Section("OFDMA", MU_USERS, _in(mu_users)),
    Section("Spatial reuse", REUSERS, _in(reusers)),
    Section("Power save", SLEEPERS, _in(sleepers)),
    Section("Roaming", ROAMERS, _in(roamers)),
    Section("Handovers", HANDOVERS, _in(handovers)),
    Section("Interferers", INTERFERERS, _in(interferers)),
    Section("Airtime", SHARES, _in(airtime), shares=True),
    Section("Analytic twin", TWIN, twin),
)
"""All sections, in the order in which they are shown."""


class Table(NamedTuple):
    """A section of a run: those of its columns that have values, and its rows."""

    section: Section
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""

    @property
    def title(self) -> str:
        """The title of the section."""
        return self.section.title

    @property
    def headings(self) -> list[str]:
        """The headings of the columns, with their units, of one line or several."""
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The values as they are written, by row."""
        return [[each.write(row.get(each.key)) for each in self.columns] for row in self.rows]

    @property
    def brief(self) -> list[Column]:
        """The columns that fit into 100 characters."""
        return [_brief(column) for column in self.columns if column.key not in LONG]

    def data(self) -> dict[str, object]:
        """Return the table as plain data, for pages that draw it."""
        columns = [{"heading": each.heading, "words": each.key in WORDS} for each in self.columns]
        return {"title": self.title, "caption": self.caption, "columns": columns,
                "rows": self.cells}  # fmt: skip


LONG = ("delay_s.p95", "jitter_s", "session_delay_s.p95")
"""The columns for which a terminal has no room."""


def _brief(column: Column) -> Column:
    """Return a column as a terminal shows it: with the abbreviations of the RFCs."""
    if column.key != "limited_by":
        return column
    return replace(column, heading="limited\nby", write=_abbreviated)


def _abbreviated(value: Value) -> str:
    text = plain(value)
    for name, short in ("receive window", "rwnd"), ("congestion window", "cwnd"):
        text = text.replace(name, short)
    return text


def shown(run: Run) -> list[Table]:
    """Return the tables of a report, in their order."""
    found = ((section, section.find(run)) for section in SECTIONS)
    return [
        Table(section, used(section.columns, has.rows), has.rows, has.caption)
        for section, has in found
        if has.rows or has.caption
    ]


def column_paths(run: Run) -> list[tuple[str, str]]:
    """Return the heading of each column of the terminal, in one line, and its path."""
    return [
        (column.heading.replace("-\n", "").replace("\n", " "), column.path)
        for table in shown(run)
        for column in table.brief
        if column.path
    ]
