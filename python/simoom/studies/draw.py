"""Drawing a figure of a study.

In all figures, colour shows the setting and shape the source: an analysis is a line, a simulation
is a band with points, reference values are hollow, and the paper's numbers are crosses.
"""

from __future__ import annotations

import math
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from simoom import plots
from simoom.studies.figure import Axis, Curve, Figure, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS: dict[Source, dict[str, Any]] = {
    Source.ANALYSIS: {"marker": "", "linestyle": "-"},
    Source.SIMULATION: {"marker": "o", "markersize": 4.5, "linestyle": ":", "linewidth": 0.9},
    Source.MONTE_CARLO: {"marker": "D", "markersize": 5.5, "markerfacecolor": "none"},
    Source.NS2: {"marker": "s", "markersize": 6.5, "markerfacecolor": "none"},
    Source.NS3: {"marker": "D", "markersize": 5, "markerfacecolor": "none"},
    Source.PAPER: {"marker": "x", "markersize": 6.5, "markeredgewidth": 1.6},
}
DASHED = {
    Source.SIMULATION: "^",
    Source.MONTE_CARLO: "d",
    Source.NS2: "p",
    Source.NS3: "d",
    Source.PAPER: "+",
}
"""Markers of the second form of a setting, which has a dashed line if it has one."""
POINTS = (Source.MONTE_CARLO, Source.NS2, Source.NS3, Source.PAPER)
"""Sources of single numbers, which no line joins."""

PANEL_INCHES = (5.0, 3.4)
ACROSS = 3
"""Panels side by side."""
ALONE_INCHES = 6.8
"""Width of a figure of one panel."""
LEGEND_INCHES = 0.19
"""Height of a line of the legend."""
LETTER_INCHES = 0.066
"""Width of a letter of the legend."""
UPRIGHT_LETTERS = 32
"""Letters in a line of an upright name below an axis."""


def figure(each: Figure) -> Picture:
    """Draw all panels of a figure, three side by side, with one legend below them."""
    count = len(each.panels)
    # Axes with names need room: their panels are stacked vertically.
    across = 1 if each.named else min(count, ACROSS)
    down = math.ceil(count / across)
    width = ALONE_INCHES if across == 1 else across * PANEL_INCHES[0]
    names = {c.name for c in each.curves}
    entry = max(map(len, names)) * LETTER_INCHES + 0.7
    columns = max(1, min(3, int(width / entry)))
    legend = LEGEND_INCHES * math.ceil(len(names) / columns) + 0.3
    upright = UPRIGHT_LETTERS * LETTER_INCHES if _are_upright(_names(each)) else 0.0
    height = down * (PANEL_INCHES[1] + upright) + legend
    with plots.style():
        picture = Picture(figsize=(width, height), layout="constrained")
        head = f"{each.key[0].upper()}{each.key[1:]}: {each.title}"
        picture.suptitle(head, x=0.01, ha="left", fontsize=10, fontweight="bold")
        places = list(picture.subplots(down, across, squeeze=False).flat)
        for axes, panel in zip(places, each.panels, strict=False):
            _panel(axes, each, panel)
        for axes in places[count:]:
            axes.remove()
        picture.legend(handles=_handles(each), loc="outside lower center", ncols=columns)
    return picture


def _panel(axes: Axes, each: Figure, panel: Axis) -> None:
    """Draw the curves of one quantity."""
    names = _names(each)
    shown = each.panel(panel.column)
    beside = _sides(shown) if each.named else {}
    for curve in shown:
        x = _positions(curve, names) + beside.get(curve.name, 0.0)
        _curve(axes, curve, x, connected=not each.named)
    if each.named:
        _name_ticks(axes, names)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.grid(visible=False, axis="x")
    else:
        _scale(axes, "x", each.x)
    _scale(axes, "y", panel)
    axes.set(xlabel=each.x.label, ylabel=panel.label)


def _names(each: Figure) -> list[str]:
    """Return the names on the x axis; none if it has numbers."""
    return list(dict.fromkeys(str(x) for c in each.curves for x in c.x)) if each.named else []


def _are_upright(names: list[str]) -> bool:
    """Whether two neighbours of these names have no room side by side."""
    room = ALONE_INCHES / LETTER_INCHES / max(1, len(names))
    lines = (_wrapped(name).splitlines() for name in names)
    pairs = (pair for labels in pairwise(lines) for pair in zip(*labels, strict=False))
    return any((len(left) + len(right)) / 2 > room for left, right in pairs)


def _name_ticks(axes: Axes, names: list[str]) -> None:
    """Label the ticks of an axis with names."""
    if _are_upright(names):
        labels = [textwrap.fill(name, UPRIGHT_LETTERS) for name in names]
        axes.set_xticks(range(len(names)), labels, rotation=90)
    else:
        axes.set_xticks(range(len(names)), [_wrapped(name) for name in names])


def _curve(axes: Axes, curve: Curve, x: np.ndarray[Any, Any], *, connected: bool) -> None:
    """Draw one curve with its interval."""
    value = np.array([v.value for v in curve.values])
    low = np.array([v.low if math.isfinite(v.low) else v.value for v in curve.values])
    high = np.array([v.high if math.isfinite(v.high) else v.value for v in curve.values])
    style = _style(curve, connected=connected)
    if np.any(high > low):
        if connected and curve.source is Source.SIMULATION:
            axes.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)
        whiskers = np.vstack([value - low, high - value])
        axes.errorbar(x, value, whiskers, fmt="none", ecolor=style["color"], elinewidth=0.8,
                      capsize=2.0)  # fmt: skip
    axes.plot(x, value, **style)


def _style(curve: Curve, *, connected: bool) -> dict[str, Any]:
    """Return the style of a curve."""
    style = MARKERS[curve.source] | {"color": plots.CYCLE[curve.colour % len(plots.CYCLE)]}
    if curve.source is Source.PAPER and curve.colour == 0:
        style["color"] = plots.BLACK
    if curve.dashed:
        style |= {"linestyle": "--", "marker": DASHED.get(curve.source, "")}
    if not connected or curve.source in POINTS:
        style["linestyle"] = "none"
    if not connected and not style["marker"]:
        style |= {"marker": "_", "markersize": 14, "markeredgewidth": 2.0}
    return style


def _handles(each: Figure) -> list[Line2D]:
    """Return the entries of the legend: every name once."""
    styles: dict[str, dict[str, Any]] = {}
    for curve in each.curves:
        styles.setdefault(curve.name, _style(curve, connected=not each.named))
    return [Line2D([], [], label=name, **style) for name, style in styles.items()]


def _positions(curve: Curve, names: list[str]) -> np.ndarray[Any, Any]:
    if names:
        return np.array([float(names.index(str(x))) for x in curve.x])
    return np.array([float(x) for x in curve.x])


def _sides(shown: list[Curve]) -> dict[str, float]:
    """Return the offsets of curves over names, so that none hides another."""
    names = [curve.name for curve in shown]
    width = min(0.5, 0.14 * (len(names) - 1))
    return {name: -width / 2 + i * width / max(1, len(names) - 1) for i, name in enumerate(names)}


def _scale(axes: Axes, which: str, axis: Axis) -> None:
    """Set the ends and the kind of an axis."""
    if axis.log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    # None leaves an end where it is.
    (axes.set_xlim if which == "x" else axes.set_ylim)(axis.low, axis.high)
    line = axes.xaxis if which == "x" else axes.yaxis
    if axis.ticks:
        line.set_major_locator(FixedLocator(axis.ticks))
        line.set_minor_locator(NullLocator())
    if axis.ticks or (axis.log and which == "x"):
        line.set_major_formatter(lambda value, _: f"{value:g}")


def _wrapped(name: str) -> str:
    """Break a long name at its commas."""
    return name.replace(", ", ",\n") if len(name) > 12 else name
