"""Figures of a sweep's results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from simoom.base.palette import CYCLE
from simoom.plots.style import MARKERS, alone, legend_beside, literal
from simoom.plots.words import in_ms
from simoom.runs.axis_text import short
from simoom.runs.sweep import Sweep
from simoom.scenario.words import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("-", "--", ":", "-.")
FLAT = 0.25
"""If means differ by less than this part of the largest, the axis does not begin at 0."""
ASIDE = 0.06
"""Distance of neighbouring points of an axis without numbers, in distances of its values."""
FEW = 8
"""So few values of an axis have a label each, also if they are no whole numbers."""
MOST_TICKS = 24
"""If the values of an axis are nearer to each other than this part of it, some have no label."""


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
    factor, said = in_ms(y, frame["mean"].cast(float).fill_null(math.nan).to_numpy())
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
            factor * mean,
            # A single run has no interval.
            yerr=factor * np.where(np.isfinite(half), half, 0.0),
            color=CYCLE[place[0] % len(CYCLE)],
            linestyle=DASHES[place[1] % len(DASHES)] if numeric and result.is_grid else "none",
            marker=MARKERS[(place[0] + place[1]) % len(MARKERS)],
            markersize=3.5,
            capsize=2,
            label=", ".join(literal(short(first[name])) for name in others),
        )
    if not numeric:
        axes.set_xticks(range(len(values)), [literal(short(value)) for value in values])
    elif len(values) <= FEW or all(float(value).is_integer() for value in values):
        axes.set_xticks(_apart(values))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=words(x), ylabel=said(words(y)), title="Mean and 95 % interval")
    means = frame["mean"].cast(float).drop_nulls().to_numpy()
    if not means.size or means.min() <= 0 or np.ptp(means) > FLAT * means.max():
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    else:
        _break(axes)
    if others:
        legend_beside(axes, title=", ".join(words(name) for name in others))


def _break(axes: Axes) -> None:
    """Mark that the vertical axis does not begin at 0."""
    axes.plot(
        [0, 0], [0.04, 0.065], linestyle="none", marker=[(-1, -0.5), (1, 0.5)], markersize=8,
        color="black", clip_on=False, transform=axes.transAxes,
    )  # fmt: skip


def _apart(values: Sequence[Any]) -> list[float]:
    """Return the values of an axis whose labels have room beside each other."""
    places = sorted(float(value) for value in values)
    room = (places[-1] - places[0]) / MOST_TICKS
    kept = [places[-1]]
    for place in reversed(places[:-1]):
        if kept[-1] - place >= room:
            kept.append(place)
    return kept[::-1]
