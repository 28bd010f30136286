"""The routes of an ad-hoc network and their use, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from simoom.base.frames import pl
from simoom.base.palette import CYCLE
from simoom.plots.stretch import trace_of
from simoom.plots.style import Picture, style
from simoom.results.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

GATEWAY = "ap"
"""The node over which packets for a node outside leave the network."""
BINS = 120
ROW_IN = 0.24
MOST_HOPS = 5
"""Routes of so many hops and more have one colour."""
UNKNOWN = "#999999"
"""The colour where routers do not report hops: with static routes."""
BASE, TALLEST = 0.1, 0.75
"""The height of the line of a route, and of the largest rate above it, in rows."""


def route_courses(
    run: Run, *, flows: list[int] | None = None, title: str | None = None, width_in: float = 6.4
) -> Figure:
    """Return the hops of the route of each flow over time, and the data that arrive over it.

    Parameters
    ----------
    run : Run
        A run with a trace: ``sm.run(scenario, trace=True)``.
    flows : list of int, optional
        The numbers of the flows; by default all.
    title : str, optional
        The heading; by default that of the scenario.
    width_in : float, optional
        The width in inches.

    Raises
    ------
    ValueError
        The run has no trace, or no such flow.
    """
    count = len(run.flows)
    chosen = list(range(count)) if flows is None else flows
    if any(not 0 <= flow < count for flow in chosen):
        raise ValueError(f"flows: there are {count} flows, 0 to {count - 1}")
    with style():
        size = (width_in, 1.3 + ROW_IN * len(chosen))
        figure = Picture(figsize=size, layout="constrained")
        axes = figure.subplots()
        draw_route_courses(axes, run, chosen)
        axes.set_title((run.title or "Routes") if title is None else title)
    return figure


def draw_route_courses(axes: Axes, run: Run, flows: list[int]) -> None:
    """Draw a row for each flow; see `route_courses`.

    A line stands where the sender's node knows a route, in the colour of its number of hops. On it
    stands the rate at which data arrive, in proportion to the largest rate of any flow.
    """
    trace, end_s = trace_of(run), run.simulated_s
    edges = np.linspace(0.0, end_s, BINS + 1)
    rates = {flow: _rates(trace.packets, str(run.flows[flow]["name"]), edges) for flow in flows}
    most = max((float(each.max()) for each in rates.values()), default=0.0)
    seen: set[int] = set()
    for row, flow in enumerate(reversed(flows)):
        course = _course(trace.routes, run.flows[flow], end_s)
        patches, colours = [], []
        for begin, end, hops in course:
            patches.append(Rectangle((begin, row), end - begin, BASE))
            colours.append(_colour(hops))
            seen.add(min(hops, MOST_HOPS))
        for begin, end, rate in zip(edges[:-1], edges[1:], rates[flow], strict=True):
            if rate > 0:
                height = TALLEST * rate / most
                patches.append(Rectangle((begin, row + BASE), end - begin, height))
                colours.append(_colour(_hops_at(course, (begin + end) / 2)))
        axes.add_collection(PatchCollection(patches, facecolors=colours, linewidths=0))
    names = [str(run.flows[flow]["name"]) for flow in reversed(flows)]
    axes.set_yticks(np.arange(len(flows)) + 0.3, names)
    axes.set(xlim=(0.0, end_s), ylim=(-0.1, len(flows)), xlabel="time, s")
    _draw_key(axes, seen, most)


def _rates(packets: pl.DataFrame, flow: str, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Mb/s of packets with data that arrive, with headers, between the edges."""
    arrived = packets.filter(
        (pl.col("flow").cast(pl.String) == flow)
        & (pl.col("step").cast(pl.String) == "arrived")
        & (pl.col("direction").cast(pl.String) == "forward")
    )
    at_s, size = arrived["time_s"].to_numpy(), arrived["size_bytes"].to_numpy()
    sums, _ = np.histogram(at_s, edges, weights=size.astype(float))
    return np.asarray(8e-6 * sums / np.diff(edges))


def _course(
    routes: pl.DataFrame, flow: Mapping[str, object], end_s: float
) -> list[tuple[float, float, int]]:
    """Return when the sender's node knew a route of how many hops: begin, end, hops."""
    inside = set(routes["node"].cast(pl.String).unique())
    source, sink = (
        name if name in inside else GATEWAY for name in (str(flow["from"]), str(flow["to"]))
    )
    changes = routes.filter(
        (pl.col("event").cast(pl.String) == "changed")
        & (pl.col("node").cast(pl.String) == source)
        & (pl.col("destination").cast(pl.String) == sink)
    ).sort("time_s", maintain_order=True)
    times = [*changes["time_s"].to_list(), end_s]
    return [
        (begin, end, hops)
        for begin, end, hops in zip(times, times[1:], changes["hops"].to_list(), strict=False)
        if hops is not None and end > begin
    ]


def _hops_at(course: list[tuple[float, float, int]], at_s: float) -> int | None:
    """Return the hops of the last route that began before a time."""
    began = [hops for begin, _, hops in course if begin <= at_s]
    return began[-1] if began else None


def _colour(hops: int | None) -> str:
    return UNKNOWN if hops is None else str(CYCLE[(min(hops, MOST_HOPS) - 1) % len(CYCLE)])


def _draw_key(axes: Axes, seen: set[int], most: float) -> None:
    def label(hops: int) -> str:
        return f"{hops} hop{'s' * (hops > 1)}{' and more' * (hops == MOST_HOPS)}"

    entries = [Patch(color=_colour(hops), label=label(hops)) for hops in sorted(seen)]
    axes.figure.legend(
        handles=entries or [Patch(color=UNKNOWN, label="static routes")],
        ncols=MOST_HOPS,
        loc="outside lower left",
        title=f"height: data that arrive, at most {most:.3g} Mb/s",
        title_fontsize=8,
        alignment="left",
    )
