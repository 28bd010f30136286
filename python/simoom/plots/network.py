"""A map of an ad-hoc network: positions, links, and what the links carry at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import patheffects
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simoom.base.arguments import moment
from simoom.base.frames import pl
from simoom.base.palette import BLACK, BLUE, VERMILION
from simoom.plots.stretch import trace_of
from simoom.plots.style import Picture, below, style
from simoom.results.run import Run
from simoom.scenario.interfaces import stations
from simoom.scenario.routes import Routes, routes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WIDTH_PT = 6.0
"""The width of the link that carries the most."""
LEAST_PART = 0.02
"""A link that carries a smaller part of what the busiest link carries is not drawn as used."""
NARROWEST = 0.35
"""A map is at least so wide as a part of its length."""
NAMED_NODES = 60
"""In larger networks nodes have no names."""
GREY, PALE = "#555555", "#DDDDDD"


def network(
    run: Run, at_s: float, *, window_s: float = 1.0, title: str | None = None, width_in: float = 6.4
) -> Figure:
    """Return a map of an ad-hoc network at a time, with the data frames around this time.

    Parameters
    ----------
    run : Run
        A run with a trace: ``sm.run(scenario, trace=True)``.
    at_s : float
        The simulated time of the positions and links.
    window_s : float, optional
        Data frames count that begin within half of this time before or after.
    title : str, optional
        The heading; by default that of the scenario, with the time.
    width_in : float, optional
        The width in inches.
    """
    with style():
        figure = Picture(figsize=(width_in, 0.92 * width_in), layout="constrained")
        axes = figure.subplots()
        draw_network(axes, run, at_s, window_s=window_s)
        heading = f"{run.title or 'Network'}, {at_s:g} s" if title is None else title
        axes.set_title(heading)
    return figure


def draw_network(axes: Axes, run: Run, at_s: float, *, window_s: float = 1.0) -> None:
    """Draw a map of an ad-hoc network; see `network`.

    Links that may be used are pale lines. The width of a blue line is the rate of payload that the
    link has carried in this direction, on the right of the direction; the part that was lost is
    red. Links that carry less than 2 % of what the busiest link carries have no such line.
    """
    moment("at_s", at_s)
    if not window_s > 0:
        raise ValueError(f"window_s {window_s:g}: must be above 0")
    found = routes(run.scenario, seed=run.seed, replication=run.replication, times_s=[at_s])
    positions = dict(zip(found.nodes, found.positions_m[0], strict=True))
    _draw_links(axes, found)
    carried = carried_mbps(run, at_s, window_s=window_s)
    most = max((sum(rates) for rates in carried.values()), default=0.0)
    carried = {ends: rates for ends, rates in carried.items() if sum(rates) >= LEAST_PART * most}
    for lost in (False, True):
        lines, widths = [], []
        for (source, sink), (received, failed) in carried.items():
            rate = failed if lost else received + failed
            if rate > 0 and source in positions and sink in positions:
                lines.append(_beside(positions[source], positions[sink], found))
                widths.append(max(0.3, MOST_WIDTH_PT * rate / most))
        colour = VERMILION if lost else BLUE
        axes.add_collection(
            LineCollection(lines, linewidths=widths, colors=colour, capstyle="butt", zorder=3)
        )
    x, y = found.positions_m[0].T
    axes.scatter(x, y, s=26, color="white", edgecolors=BLACK, linewidths=0.8, zorder=4)
    if len(found.nodes) <= NAMED_NODES:
        known = stations(run.scenario)
        for name, (east, north) in positions.items():
            axes.annotate(
                name.removeprefix("sta") if name in known else name,
                (east, north),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=6,
                color=GREY if name in known else BLACK,
                weight="normal" if name in known else "bold",
                path_effects=[patheffects.withStroke(linewidth=1.5, foreground="white")],
                zorder=5,
            )
    axes.set(aspect="equal", xlabel="east, m", ylabel="north, m")
    axes.margins(0.06)
    # A chain of nodes needs some width, too.
    (west, east_), (south, north_) = axes.get_xlim(), axes.get_ylim()
    half = max(east_ - west, north_ - south) * NARROWEST / 2
    for low, high, limit in ((west, east_, axes.set_xlim), (south, north_, axes.set_ylim)):
        middle = (low + high) / 2
        limit(min(low, middle - half), max(high, middle + half))
    _draw_key(axes, most, window_s)


def carried_mbps(
    run: Run, at_s: float, *, window_s: float = 1.0
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the rates in Mb/s of data frames on each link: those received, and those lost.

    The key is transmitter and receiver. Bytes are those of the PSDU.
    """
    begin_s, end_s = at_s - window_s / 2, at_s + window_s / 2
    frames = trace_of(run).frames.filter(
        pl.col("start_s").is_between(begin_s, end_s, closed="left")
        & (pl.col("kind").cast(pl.String) == "Data")
        & pl.col("receiver").is_not_null()
    )
    received = pl.col("outcome").cast(pl.String) == "received"
    bits = 8.0 * pl.col("psdu_bytes")
    sums = frames.group_by("transmitter", "receiver").agg(
        bits.filter(received).sum().alias("received"), bits.filter(~received).sum().alias("lost")
    )
    scale = 1e-6 / window_s
    rows = sums.cast({"transmitter": pl.String, "receiver": pl.String}).sort(
        "transmitter", "receiver"
    )
    return {(a, b): (good * scale, bad * scale) for a, b, good, bad in rows.iter_rows()}


def _draw_links(axes: Axes, found: Routes) -> None:
    low, high = np.nonzero(np.triu(found.linked[0]))
    ends = found.positions_m[0]
    lines = np.stack([ends[low], ends[high]], axis=1)
    axes.add_collection(LineCollection(list(lines), linewidths=0.5, colors=PALE, zorder=1))


def _beside(
    begin: np.ndarray[tuple[int], np.dtype[np.float64]],
    end: np.ndarray[tuple[int], np.dtype[np.float64]],
    found: Routes,
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return a line on the right of the line from one position to another."""
    span = float(np.ptp(found.positions_m[0], axis=0).max()) or 1.0
    along = end - begin
    length = float(np.hypot(*along)) or 1.0
    right = np.array([along[1], -along[0]]) / length * 0.006 * span
    return np.stack([begin + right, end + right])


def _draw_key(axes: Axes, most: float, window_s: float) -> None:
    entries = [
        Line2D([], [], color=PALE, linewidth=1.0, label="link"),
        Line2D([], [], color=BLUE, linewidth=MOST_WIDTH_PT, label=f"{most:.3g} Mb/s sent"),
        Line2D([], [], color=VERMILION, linewidth=MOST_WIDTH_PT, label="of it lost"),
    ]
    below(
        axes,
        inches=0.5,
        columns=3,
        handles=entries,
        title=f"data frames within {window_s:g} s",
        title_fontsize=8,
        alignment="left",
    )
