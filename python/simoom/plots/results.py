"""Figures of a run's results; a function whose name begins with `draw_` draws on given axes."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simoom.axis_text import short
from simoom.observables import observable
from simoom.palette import BLACK, BLUE, CYCLE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from simoom.plots.style import Picture, alone, literal, style
from simoom.plots.words import MOST_POINTS, binned, words
from simoom.replications import Replications
from simoom.run import Run
from simoom.stats import mean_ci
from simoom.sweep import Sweep
from simoom.tables import AIRTIME, SENT, Row, digits, group_of, nodes, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AIRTIME_COLOURS = {
    "payload": BLUE,
    "tcp_ack": SKY,
    "header": "#9CC5DF",
    "mac_ack": GREEN,
    "rts_cts": "#8FD3BE",
    "beacon": "#B8E2D2",
    "power_save": "#4F7F6F",
    "ifs_backoff": YELLOW,
    "collision": VERMILION,
    "lost": PURPLE,
    "two_frames": ORANGE,
    "busy_tone": "#F5D6A8",
    "idle": "#E4E4E4",
}

DASHES = ("-", "--", ":", "-.")

MARKERS = "osD^vP*X"
MOST_GROUPS = 8
ELEPHANTS = 50.0
"""If the largest value is this many times the least, the axis is logarithmic."""
FLAT = 0.25
"""If means differ by less than this part of the largest, the axis does not begin at 0."""

ASIDE = 0.06
"""Distance of neighbouring points of an axis without numbers, in distances of its values."""
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
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=columns)


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
        colour = AIRTIME_COLOURS[kind]
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
        _legend_beside(axes)


def _legend_beside(axes: Axes, **options: Any) -> None:
    """Add a legend beside the axes, where it hides no data."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **options)


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
    all_flows = _measured(run, quantity)
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
    cut = f"; {len(flows)} of {count} flows, some of each group" if len(flows) < count else ""
    axes.set(xlabel=f"milliseconds{cut}", title=DELAYS[quantity])
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1, 0.97),
        ncols=4,
        columnspacing=0.9,
        handlelength=1.2,
        handletextpad=0.4,
    )


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
    for path in paths:
        time_s, value = binned(*run.samples(path))
        style_: Any = {"color": colours[path][1], "alpha": 0.4} if crowd else {}
        label = colours[path][0] if crowd else _place(run, path)
        axes.plot(time_s, value, label=literal(label), linewidth=1.0, **style_)
    title = words(_gauge(paths[0]) if len(paths) > 1 else paths[0])
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
            _legend_beside(axes, handles=list(shown.values()), labels=list(shown))


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
    found = re.match(r"flows\[(\d+)\]", path)
    return run.flows[int(found[1])] if found else None


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


def sweep(result: Sweep, *, x: str, y: str, hue: str | None = None) -> Figure:
    """Return a plot of a result of a sweep, with 95 % intervals, against one axis.

    Parameters
    ----------
    result : Sweep
        The sweep.
    x, hue : str
        The axes for position and colour. Dashes distinguish the values of further axes; without
        `hue` colours do.
    y : str
        Path of the result.
    """
    return alone(draw_sweep, result, x=x, y=y, hue=hue)


def draw_sweep(axes: Axes, result: Sweep, *, x: str, y: str, hue: str | None = None) -> None:
    """Draw a line of means with intervals for each combination of the other axes."""
    for name in filter(None, (x, hue)):
        if name not in result.over:
            raise ValueError(f"{name!r} is not an axis of the sweep; these are {list(result.over)}")
    frame = result.mean(y)
    others = [name for name, values in result.over.items() if name != x and len(values) > 1]
    if not result.is_grid:
        # Of other axes each point may have its own values.
        others = [hue] if hue else []
    colours = [name for name in others if name == hue] if hue else others
    dashed = [name for name in others if name not in colours]
    numeric = frame[x].dtype.is_numeric()
    values = result.over[x]
    seen: tuple[list[Any], list[Any]] = ([], [])
    for line in frame.partition_by(others, maintain_order=True) if others else [frame]:
        first = line.row(0, named=True)
        place = []
        for known, names in zip(seen, (colours, dashed), strict=True):
            key = [first[name] for name in names]
            known.extend([key] * (key not in known))
            place.append(known.index(key))
        line = line.sort(x) if numeric else line
        mean = line["mean"].cast(float).fill_null(math.nan).to_numpy()
        half = ((line["ci_high"] - line["ci_low"]) / 2).cast(float).fill_null(math.nan).to_numpy()
        axes.errorbar(
            line[x].to_numpy()
            if numeric
            # Side by side, so that equal means hide none.
            else [values.index(value) + ASIDE * sum(place) for value in line[x]],
            mean,
            # A single run has no interval.
            yerr=np.where(np.isfinite(half), half, 0.0),
            color=CYCLE[place[0] % len(CYCLE)],
            linestyle=DASHES[place[1] % len(DASHES)] if numeric and result.is_grid else "none",
            marker=MARKERS[(place[0] + place[1]) % len(MARKERS)],
            markersize=3.5,
            capsize=2,
            label=", ".join(literal(short(first[name])) for name in others),
        )
    if not numeric:
        axes.set_xticks(range(len(values)), [literal(short(value)) for value in values])
    axes.set(xlabel=words(x), ylabel=words(y), title=f"{words(y)}: mean and 95 % interval")
    means = frame["mean"].cast(float).drop_nulls().to_numpy()
    if not means.size or means.min() <= 0 or np.ptp(means) > FLAT * means.max():
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    if others:
        _legend_beside(axes, title=", ".join(words(name) for name in others))


def overview(run: Run) -> Figure:
    """Return one figure with airtime, goodput, delays, contending stations and time series."""
    plots: list[Callable[[Axes], None]] = [lambda axes: draw_goodput(axes, run)]
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
        groups.setdefault(_gauge(path), []).append(path)
    return list(groups.values())


def _gauge(path: str) -> str:
    """Return the path with a wildcard in place of each index."""
    return re.sub(r"\[\d+\]", "[*]", path)


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
