"""Figures of a run's results; a function whose name begins with `draw_` draws on given axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simoom import _core
from simoom.base.kinds import AIRTIME
from simoom.base.palette import BLACK, BLUE, CYCLE, GREEN, ORANGE, SKY, USES, VERMILION, YELLOW
from simoom.plots.style import MARKERS, Picture, alone, below, legend_beside, literal, style
from simoom.plots.words import MOST_POINTS, binned, in_ms
from simoom.results.run import Run
from simoom.results.tables import SENT, Row, digits, group_of, nodes, number
from simoom.runs.replications import Replications
from simoom.runs.stats import mean_ci
from simoom.scenario.observables import observable
from simoom.scenario.words import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GROUPS = 8
ELEPHANTS = 50.0
"""If the largest value is this many times the least, the axis is logarithmic."""

GOOD_MOS, FAIR_MOS = 4.0, 3.1
"""From these scores on most users are satisfied, and nearly all are not (ITU-T G.107 annex B)."""
MOST_BARS = 24
"""If there are more flows, they are drawn as one sorted line."""


def airtime(run: Run) -> Figure:
    """Return the airtime ledger as a stacked bar, or with radios one bar for each transmitter."""
    return alone(draw_airtime, run, height=_airtime_height(run))


def draw_airtime(axes: Axes, run: Run, *, columns: int = 5) -> None:
    """Draw the airtime ledger with its legend below: one bar, or one for each radio."""
    if _has_ledger(run):
        _draw_ledger(axes, run)
        axes.set(xlim=(0, 100), yticks=[], title="Airtime, %")
    else:
        _draw_radios(axes, run)
        axes.set(xlim=(0, 100), title="Time on the air, %")
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    below(axes, inches=0.3, columns=columns)


def _has_ledger(run: Run) -> bool:
    """Return whether the medium is common to all nodes, so that airtime fractions add up to 1."""
    return "airtime.idle_fraction" in run.summary


def _busiest(run: Run) -> list[Row]:
    """Return the nodes with the most airtime, in the order of the scenario."""
    table = nodes(run.summary)
    by_share = sorted(table, key=lambda row: -(number(row.get("on_air")) or 0.0))
    chosen = {id(row) for row in by_share[:MOST_BARS]}
    return [row for row in table if id(row) in chosen]


def _airtime_height(run: Run) -> float:
    return 1.4 if _has_ledger(run) else max(1.8, 1.0 + 0.24 * len(_busiest(run)))


def _draw_radios(axes: Axes, run: Run) -> None:
    table = _busiest(run)
    left = np.zeros(len(table))
    for colour, (kind, label) in zip(itertools.cycle(CYCLE), SENT.items(), strict=False):
        shares = 100 * np.nan_to_num(_column(table, f"airtime.{kind}_fraction"))
        if shares.any():
            axes.barh(_names(table), shares, left=left, color=colour, label=label)
        left += shares
    axes.invert_yaxis()


def _draw_ledger(axes: Axes, run: Run) -> None:
    left = 0.0
    for kind, label in AIRTIME.items():
        percent = 100 * (number(run.summary.get(f"airtime.{kind}_fraction")) or 0.0)
        if percent == 0:
            continue
        colour = USES[kind].colour
        axes.barh(
            0, percent, left=left, color=colour, edgecolor="white", linewidth=0.8, label=label
        )
        if percent >= 4:
            axes.text(
                left + percent / 2, 0, f"{percent:.0f}", ha="center", va="center", size=8,
                color="white" if colour in (BLUE, GREEN, VERMILION) else "black",
            )  # fmt: skip
        left += percent


def goodput(runs: Run | Replications) -> Figure:
    """Return the goodput of every flow with its 95 % interval.

    The interval of one run is that of its batch means; that of several runs is Student's t
    interval.
    """
    count = len(_first(runs).flows)
    height = 1.0 + 0.24 * count if count <= MOST_BARS else 3.0
    return alone(draw_goodput, runs, height=max(1.8, height))


def draw_goodput(axes: Axes, runs: Run | Replications) -> None:
    """Draw the goodput of every flow: bars, or one sorted line if there are many flows."""
    flows = _first(runs).flows
    shown = observable("flows[i].goodput_mbps")
    label = f"{shown.heading}, {shown.unit}"
    if isinstance(runs, Replications):
        paths = [f"flows[{index}].goodput_mbps" for index in range(len(flows))]
        estimates = [mean_ci(runs.values(path)) for path in paths]
        mean = np.array([estimate.mean for estimate in estimates])
        half = np.array([estimate.half_width for estimate in estimates])
        title = f"Goodput by flow, mean and 95 % interval of {len(runs)} runs"
    else:
        mean = _column(flows, "goodput_mbps")
        half = _column(flows, "goodput_ci95_mbps")
        title = "Goodput by flow, 95 % interval"
    half = np.where(np.isfinite(half), half, 0.0)
    if len(flows) > MOST_BARS:
        _draw_groups(axes, flows, mean, half)
        axes.set(xlabel="flow, by rank in its group", ylabel=label, title=title)
        return
    positions = np.arange(len(flows))
    bars = {"ecolor": BLACK, "elinewidth": 0.9, "capsize": 2}
    axes.barh(positions, mean, xerr=half, color=BLUE, height=0.7, error_kw=bars)
    axes.set_yticks(positions, _names(flows))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel=label, title=title)
    axes.set_xlim(0, 1.12 * float(np.nanmax(np.append(mean + half, 1e-9))))
    for place, (value, end) in enumerate(zip(mean, mean + half, strict=True)):
        if math.isfinite(value):
            axes.annotate(
                digits(value), (end, place), (3, 0), textcoords="offset points", va="center", size=7
            )


def _draw_groups(
    axes: Axes,
    flows: Sequence[dict[str, Any]],
    mean: np.ndarray[Any, np.dtype[np.float64]],
    half: np.ndarray[Any, np.dtype[np.float64]],
) -> None:
    """Draw a sorted line for each group of flows: those of a name, or of a direction."""
    groups: dict[str, list[int]] = {}
    for number_, flow in enumerate(flows):
        groups.setdefault(group_of(flow), []).append(number_)
    if len(groups) > MOST_GROUPS:
        groups = {"all flows": list(range(len(flows)))}
    for place, (name, members) in enumerate(groups.items()):
        order = np.array(members)[np.argsort(-mean[members])]
        rank = np.arange(1, len(members) + 1)
        colour, marker = CYCLE[place % len(CYCLE)], MARKERS[place % len(MARKERS)]
        low, high = (mean - half)[order], (mean + half)[order]
        axes.fill_between(rank, np.maximum(low, 0.0), high, color=colour, alpha=0.2, linewidth=0)
        label = literal(f"{name} ({len(members)})")
        axes.plot(rank, mean[order], color=colour, marker=marker, markersize=3, label=label)
    positive = mean[mean > 0]
    if positive.size and positive.max() / positive.min() > ELEPHANTS:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(groups) > 1:
        legend_beside(axes)


def delay(run: Run, quantity: str = "delay_s") -> Figure:
    """Return the distribution of a delay for each flow.

    Parameters
    ----------
    run : Run
        The run.
    quantity : {"delay_s", "rtt_s", "session_delay_s"}, optional
        One-way delay of packets, round-trip time, or the time to fetch a file.
    """
    count = min(MOST_BARS, len(_measured(run, quantity)))
    return alone(draw_delay, run, quantity, height=max(1.8, 1.0 + 0.24 * count))


DELAYS = {
    quantity: observable(f"flows[i].{quantity}").title.capitalize()
    for quantity in ("delay_s", "rtt_s", "session_delay_s")
}


def draw_delay(axes: Axes, run: Run, quantity: str = "delay_s") -> None:
    """Draw median, mean and upper quantiles of a delay for every flow, in milliseconds."""
    _draw_delays(axes, _measured(run, quantity), quantity)
    axes.set_title(DELAYS[quantity])


def _draw_delays(axes: Axes, all_flows: Sequence[dict[str, Any]], quantity: str) -> None:
    flows = _some_of_each_group(all_flows)
    positions = np.arange(len(flows))
    p50, p90, p99, mean = (
        1e3 * _column(flows, f"{quantity}.{part}") for part in ("p50", "p90", "p99", "mean")
    )
    axes.hlines(positions, p50, p99, color=SKY, linewidth=2, label="median to 99 %")
    axes.hlines(positions, p50, p90, color=BLUE, linewidth=5, label="median to 90 %")
    axes.plot(
        p50, positions, "o", color="white", markeredgecolor=BLUE, markersize=5, label="median"
    )
    axes.plot(mean, positions, "D", color=ORANGE, markersize=3.5, label="mean")
    axes.set_yticks(positions, _names(flows))
    axes.set_ylim(len(flows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    low, high = np.nanmin(np.append(p50, mean)), np.nanmax(np.append(p99, mean))
    if low > 0 and high / low > 20:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    count = len(all_flows)
    cut = f", {len(flows)} of {count} flows" if len(flows) < count else ""
    axes.set(xlabel=f"ms{cut}" if cut else "milliseconds")
    below(axes, inches=0.45, columns=4)


def _some_of_each_group(flows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the flows for which a figure has room: of too many the first ones of each group."""
    groups: dict[str, list[int]] = {}
    for place, flow in enumerate(flows):
        groups.setdefault(group_of(flow), []).append(place)
    turns = itertools.zip_longest(*groups.values())
    chosen = [place for turn in turns for place in turn if place is not None][:MOST_BARS]
    return [flows[place] for place in sorted(chosen)]


def contenders(run: Run) -> Figure:
    """Return the distribution over time of the number of stations that have a frame to send."""
    return alone(draw_contenders, run, height=2.6)


def draw_contenders(axes: Axes, run: Run) -> None:
    """Draw the histogram of the number of contending stations."""
    fractions: list[float] = []
    while (path := f"contending.stations_fraction[{len(fractions)}]") in run.summary:
        fractions.append(number(run.summary[path]) or 0.0)
    # Levels that are too rare to be visible are not drawn.
    shown = max((k for k, fraction in enumerate(fractions) if fraction >= 5e-3), default=0) + 1
    axes.bar(range(shown), fractions[:shown], color=GREEN, width=0.85)
    axes.grid(visible=False, axis="x")
    axes.set(
        xlabel="stations with a frame to send, without the access point",
        ylabel="fraction of time",
        title="Contending stations",
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def series(run: Run, *paths: str) -> Figure:
    """Return time series, with one panel for each kind.

    Parameters
    ----------
    run : Run
        A run with probes.
    *paths : str
        The probes; by default all of them.
    """
    panels = _panels(paths or run.probes)
    with style():
        figure = Picture(figsize=(6.4, 0.6 + 1.7 * len(panels)), layout="constrained")
        columns = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, group in zip(columns, panels, strict=True):
            draw_series(axes, run, group)
            axes.label_outer()
    return figure


def draw_series(axes: Axes, run: Run, paths: Sequence[str]) -> None:
    """Draw time series of one kind on the same axes."""
    crowd = len(paths) > len(CYCLE)
    colours = _crowd(run, paths) if crowd else {}
    courses = {path: binned(*run.samples(path)) for path in paths}
    factor, said = in_ms(paths[0], *(value for _, value in courses.values()))
    for path, (time_s, value) in courses.items():
        style_: Any = {"color": colours[path][1], "alpha": 0.4} if crowd else {}
        label = colours[path][0] if crowd else _place(run, path)
        axes.plot(time_s, factor * value, label=literal(label), linewidth=1.0, **style_)
    title = said(words(_core.general(paths[0], "[*]") if len(paths) > 1 else paths[0]))
    if paths[0].endswith("goodput_mbps"):
        # Else a rate above that of the radio looks like a fault.
        title += ", as delivered in order: what waited for a repair counts when it is complete"
    axes.set_title(title[:1].upper() + title[1:])
    axes.margins(x=0)
    axes.set(xlabel=f"time, s{_bin_text(run, paths[0])}", ylim=(0, None))
    measured = number(run.summary.get("run.measured_s"))
    if measured is not None and measured < run.simulated_s:
        # The warm-up, which is not measured.
        axes.axvspan(0, run.simulated_s - measured, color="#EEEEEE", zorder=0)
    if crowd or len(paths) > 1:
        # Of a crowd the legend has one line for each group.
        lines, labels = axes.get_legend_handles_labels()
        shown = dict(zip(labels, lines, strict=True))
        if len(shown) > 1:
            legend_beside(axes, handles=list(shown.values()), labels=list(shown))


def _crowd(run: Run, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the group and its colour of each of many series: the groups of flows, or one."""
    names = {path: _owner(run, path) for path in paths}
    groups = list(dict.fromkeys(group_of(row) if row else "" for row in names.values()))
    if len(groups) > MOST_GROUPS:
        return dict.fromkeys(paths, ("", BLUE))
    found = {}
    for path, row in names.items():
        group = group_of(row) if row else ""
        found[path] = (group, CYCLE[groups.index(group) % len(CYCLE)])
    return found


def _owner(run: Run, path: str) -> dict[str, Any] | None:
    """Return the flow that a probe observes, if it is one of a flow."""
    found = _core.element(path, "flows")
    return run.flows[found[0]] if found else None


def _place(run: Run, path: str) -> str:
    """Return what distinguishes a probe from its neighbours: its flow, or where its path begins."""
    flow = _owner(run, path)
    return str(flow["name"]) if flow else path[: path.rfind("]") + 1] or path


def _bin_text(run: Run, path: str) -> str:
    time_s, _ = run.samples(path)
    size = -(-time_s.size // MOST_POINTS)
    if size < 2:
        return ""
    return f"; means over {digits(size * (time_s[1] - time_s[0]), 2)} s"


def calls(run: Run) -> Figure:
    """Return the mean opinion score of each call, and its late packets."""
    count = min(MOST_BARS, len(_calls(run)))
    return alone(draw_calls, run, height=max(1.8, 1.0 + 0.24 * count))


def draw_calls(axes: Axes, run: Run) -> None:
    """Draw the mean opinion score of every call, with the fraction of its packets that are late."""
    flows = _some_of_each_group(_calls(run))
    positions = np.arange(len(flows))
    scores, late = _column(flows, "mos"), 100 * _column(flows, "late_fraction")
    colours = [GREEN if score >= GOOD_MOS else YELLOW if score >= FAIR_MOS else VERMILION
               for score in scores]  # fmt: skip
    axes.barh(positions, scores - 1, left=1, color=colours, height=0.7)
    for place, (score, percent) in enumerate(zip(scores, late, strict=True)):
        if math.isfinite(score):
            said = f"{digits(score, 3)}; {digits(percent, 2)} % late"
            axes.annotate(
                said, (score, place), (3, 0), textcoords="offset points", va="center", size=7
            )
    axes.set_yticks(positions, _names(flows))
    axes.set_ylim(len(flows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    # Room for the text beside the longest bar.
    axes.set(xlim=(1, 6.2), xticks=[1, 2, 3, 4, 4.5], xlabel="mean opinion score, 1 to 4.5")
    axes.set_title("Calls: opinion score, late packets")


def has_calls(run: Run) -> bool:
    """Return whether a run has calls."""
    return bool(_calls(run))


def _calls(run: Run) -> list[dict[str, Any]]:
    return [flow for flow in run.flows if number(flow.get("mos")) is not None]


def _draw_datagrams(axes: Axes, flows: Sequence[dict[str, Any]]) -> None:
    """Draw the delays of flows of datagrams, with the fraction of them that are late."""
    late = (number(flow.get("late_fraction")) or 0.0 for flow in flows)
    named = [
        {**flow, "name": f"{flow.get('name')}, {digits(100 * fraction, 2)} % late"}
        for flow, fraction in zip(flows, late, strict=True)
    ]
    _draw_delays(axes, named, "delay_s")
    axes.set_title("Datagrams: delay, late packets")


def overview(run: Run) -> Figure:
    """Return one figure with what matters for the traffic of a run.

    These are airtime, the opinion scores of calls or the delays of datagrams beside other traffic,
    goodput, delays, contending stations and time series.
    """
    plots: list[Callable[[Axes], None]] = []
    datagrams = [flow for flow in _measured(run, "delay_s") if "late_fraction" in flow]
    if _calls(run):
        plots.append(lambda axes: draw_calls(axes, run))
    elif 0 < len(datagrams) < len(run.flows):
        plots.append(lambda axes: _draw_datagrams(axes, datagrams))
    plots.append(lambda axes: draw_goodput(axes, run))
    quantity = next((q for q in ("session_delay_s", "delay_s") if _measured(run, q)), None)
    if quantity is not None:
        plots.append(lambda axes: draw_delay(axes, run, quantity))
    has_cell = bool(nodes(run.summary))
    if number(run.summary.get("contending.stations_mean")):
        plots.append(lambda axes: draw_contenders(axes, run))
    if run.probes:
        group = _panels(run.probes)[0]
        plots.append(lambda axes: draw_series(axes, run, group))
    lines = max(5, min(MOST_BARS, len(run.flows)))
    upper, lower = 1.2 + 0.2 * lines, 2.6
    with style():
        above = [_airtime_height(run) - 0.2] if has_cell else []
        heights = [*above, upper, *([lower] * math.ceil((len(plots) - 2) / 2))]
        figure = Picture(figsize=(10, sum(heights)), layout="constrained")
        figure.suptitle(literal(run.title), fontsize=13, fontweight="bold", x=0.01, ha="left")
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
        if has_cell:
            draw_airtime(figure.add_subplot(grid[0, :]), run, columns=len(AIRTIME))
        for place, draw in enumerate(plots):
            alone_in_row = place == len(plots) - 1 and place % 2 == 0
            column = slice(None) if alone_in_row else place % 2
            draw(figure.add_subplot(grid[len(above) + place // 2, column]))
    return figure


def measured_delays(run: Run) -> list[str]:
    """Return the delays that this run has."""
    return [quantity for quantity in DELAYS if _measured(run, quantity)]


def _panels(paths: Sequence[str]) -> list[list[str]]:
    """Group paths that differ only in an index."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(_core.general(path, "[*]"), []).append(path)
    return list(groups.values())


def _first(runs: Run | Replications) -> Run:
    return runs[0] if isinstance(runs, Replications) else runs


def _measured(run: Run, quantity: str) -> list[dict[str, Any]]:
    """Return the flows that have such a delay."""
    return [flow for flow in run.flows if number(flow.get(f"{quantity}.p50")) is not None]


def _column(flows: Sequence[dict[str, Any]], key: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = (number(flow.get(key)) for flow in flows)
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _names(flows: Sequence[dict[str, Any]]) -> list[str]:
    return [literal(flow.get("name", "")) for flow in flows]
