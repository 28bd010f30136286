"""The figure of an explanation: the flow as it is, each change alone, and changes together."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from simoom.base.frames import np
from simoom.base.needs import Later
from simoom.base.palette import BLACK, BLUE, GREEN, VERMILION
from simoom.runs.stats import Estimate
from simoom.why.result import Effect, Why
from simoom.why.table import COUNTERFACTUALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    import simoom.plots.style as look
else:
    look = Later("simoom.plots.style", "a figure")

TITLES = {each.name: each.title for each in COUNTERFACTUALS}
MOST_CAUSES = 8
LABEL_WIDTH = 30
"""Longer labels of bars are divided into lines of so many characters."""
ELEPHANTS = 50.0
"""If the largest value is this many times the least, the axis is logarithmic."""


class Bar(NamedTuple):
    """A bar of the figure: its label, its value, and the value at which it begins."""

    label: str
    value: Estimate
    colour: str
    begin: float = 0.0


def bars(why: Why) -> list[Bar]:
    """Return the bars of the figure from top to bottom.

    The flow as it is comes first, then each change that helps, alone, then the waterfall: each of
    its bars begins where the one before has ended.
    """
    found = [Bar("as it is", why.value, VERMILION)]
    causes = why.causes[:MOST_CAUSES]
    found += [Bar(TITLES[each.name], _paired(each), BLUE) for each in causes]
    before = why.value.mean
    if len(why.waterfall) > 1:
        for number, step in enumerate(why.waterfall):
            also = "and " if number else "together: "
            found.append(Bar(f"{also}{TITLES[step.name]}", step.value, GREEN, before))
            before = step.value.mean
    return [bar for bar in found if bar.value.n]


def _paired(effect: Effect) -> Estimate:
    """Return the value with a change, with the interval of its difference."""
    mean, half = effect.value.mean, effect.difference.half_width
    return replace(effect.value, ci_low=mean - half, ci_high=mean + half)


def figure(why: Why) -> Figure:
    """Return the figure."""
    return look.alone(draw, why, height=max(1.8, 1.0 + 0.36 * len(bars(why))))


def draw(axes: Axes, why: Why) -> None:
    """Draw the bars with their intervals on axes."""
    goal, shown = why.goal, bars(why)
    values = goal.scale * np.array([bar.value.mean for bar in shown])
    begins = goal.scale * np.array([bar.begin for bar in shown])
    halves = goal.scale * np.array([bar.value.half_width for bar in shown])
    halves = np.where(np.isfinite(halves), halves, 0.0)
    places = np.arange(len(shown))
    axes.barh(places, values - begins, left=begins, height=0.6, color=[bar.colour for bar in shown])
    axes.errorbar(values, places, xerr=halves, fmt="none", ecolor=BLACK, elinewidth=0.9, capsize=2)
    labels = ["\n".join(textwrap.wrap(bar.label, LABEL_WIDTH)) for bar in shown]
    axes.set_yticks(places, [look.literal(label) for label in labels])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    positive = values[values > 0]
    if positive.size and positive.max() / positive.min() > ELEPHANTS:
        axes.set_xscale("log")
        axes.set_xlim(0.5 * positive.min(), 2.5 * positive.max())
    elif values.size:
        axes.set_xlim(0.0, max(1.18 * float(np.max(values + halves)), 1e-9))
    unit = goal.unit.strip("()")
    axes.set(xlabel=f"{goal.name}, {unit}", title=look.literal(f"{why.flow}: {goal.name}"))
    for place, (bar, end) in enumerate(
        zip(shown, np.maximum(values + halves, begins), strict=True)
    ):
        text = goal.written(bar.value.mean).removesuffix(f" {goal.unit}")
        axes.annotate(
            text, (float(end), place), (3, 0), textcoords="offset points", va="center", size=7
        )


def finding(why: Why) -> str:
    """Return what the figure shows in a sentence, for who does not see it."""
    value = why.goal.written(why.value.mean)
    if not why.causes:
        return f"{why.flow} has {value}; no change of one thing helps."
    first = why.causes[0]
    after = why.goal.written(first.value.mean)
    return f"{why.flow} has {value}; {TITLES[first.name]}: {after}."
