"""Figures of predictions, and of predictions with measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simoom import plots
from simoom.twin.vary import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "total.goodput_mbps": "goodput (Mb/s)",
    "total.collision_probability": "collision probability",
    "total.session_delay_s.mean": "session delay (s)",
    "total.delay_s.mean": "packet delay (s)",
    "contending.stations_mean": "contending stations",
}
"""The values that are drawn, in this order, with the labels of their axes."""


def variation(found: Variation) -> Figure:
    """Draw the predictions over the first path, with a line for each value of the second."""
    paths = [p for p in LABELS if any(map(math.isfinite, found.values(p)))]
    with plots.style():
        rows = max(1, len(paths))
        figure = plots.Picture(figsize=(6.4, 2.6 * rows), layout="constrained")
        every = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
        for axes, path in zip(every, paths, strict=False):
            draw_variation(axes, found, path)
        if not paths:
            every[0].set_title("no model fits at any point", loc="left")
        every[-1].set_xlabel(next(iter(found.over)))
        if len(found.over) > 1 and paths:
            every[0].legend(title=list(found.over)[1])
    return figure


def draw_variation(axes: Axes, found: Variation, path: str) -> None:
    """Draw one predicted value into axes."""
    (first, across), *rest = found.over.items()
    values = found.values(path)
    lines: Sequence[Any] = rest[0][1] if rest else (None,)
    words = any(isinstance(value, str) for value in across)
    marker = "o" if len(across) <= 30 else None
    for place, name in enumerate(lines):
        own = values[place :: len(lines)]
        label = None if name is None else f"{name:g}" if isinstance(name, float) else str(name)
        axes.plot(
            [str(value) for value in across] if words else list(across),
            own,
            marker=marker,
            label=label,
        )
    axes.set_ylabel(LABELS[path])
    axes.set_title(f"{LABELS[path]} against {first}", loc="left")
