"""Figures and tables of a study: data first, a picture second.

A figure has several curves over the same axis, each of one quantity. Its data is one long frame
with a row for each point. Tables of a paper are figures whose axis has names.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.runs.evidence import Value
from simoom.studies.claim import Claim

if TYPE_CHECKING:
    import matplotlib.figure

X = float | str


class Source(enum.StrEnum):
    """The source of a number."""

    PAPER = "paper"
    ANALYSIS = "analysis"
    SIMULATION = "simulation"
    MONTE_CARLO = "Monte Carlo"
    NS2 = "ns-2.35"
    NS3 = "ns-3.37"


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity along the axis of a figure.

    Parameters
    ----------
    label : str
        The text of the legend, without the source.
    source : Source
        The source of the numbers.
    x : tuple
        Numbers or names.
    values : tuple of Value
        The values, one for each element of `x`.
    quantity : str
        The quantity of its panel: a name with its unit, ``session_delay_s``.
    colour : int
        Index in the colour cycle; equal settings have equal colours.
    dashed : bool
        Whether the line is dashed, for a second form of the same setting; its points have another
        form.
    """

    label: str
    source: Source
    x: tuple[X, ...]
    values: tuple[Value, ...]
    quantity: str
    colour: int = 0
    dashed: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.values):
            raise ValueError(f"{self.label}: {len(self.x)} x values, {len(self.values)} values")

    @property
    def name(self) -> str:
        """Label and source."""
        return f"{self.label} ({self.source.value})"

    def at(self, x: X) -> Value:
        """Return the value at x."""
        return self.values[self.x.index(x)]


def curve(
    label: str,
    source: Source,
    x: Iterable[X],
    values: Callable[[X], Value | float] | Iterable[Value | float],
    quantity: str,
    *,
    colour: int = 0,
    dashed: bool = False,
    subject: str = "",
) -> Curve:
    """Return a curve; bare numbers are exact.

    Parameters
    ----------
    label, source, x, quantity, colour, dashed
        As in `Curve`.
    subject : str
        What the numbers are about, if `quantity` does not suffice: "goodput of SACK". Subject and
        source, label and x name the values, see `Value.quantity`.
    values : callable or iterable
        The values in the order of `x`, or a function of an element of `x`.
    """
    x_values = tuple(x)
    found = map(values, x_values) if callable(values) else values
    exact = (v if isinstance(v, Value) else Value.exact(float(v)) for v in found)
    about = f"{subject or quantity} by {source.value}"
    named = tuple(v.named(about, label, str(at)) for v, at in zip(exact, x_values, strict=True))
    return Curve(label, source, x_values, named, quantity, colour, dashed)


@dataclass(frozen=True)
class Axis:
    """An axis.

    Parameters
    ----------
    column : str
        Name in the data, with its unit: ``think_s``. For a panel it is the quantity.
    label : str
        The label of the axis, with the unit.
    low, high : float, optional
        Its ends, as in the paper's figure if known.
    log : bool
        Whether the axis is logarithmic.
    ticks : tuple of float
        The positions of the ticks, if they are not the default ones.
    """

    column: str
    label: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """A figure or table of a study.

    Attributes
    ----------
    key : str
        ``figure 5``, ``table 2``.
    title : str
        The title.
    x : Axis
        The common axis.
    panels : tuple of Axis
        One for each quantity.
    curves : tuple of Curve
        The numbers.
    claims : tuple of Claim
        The claims of the paper about it.
    notes : str
        Notes for the reader.
    """

    key: str
    title: str
    x: Axis
    panels: tuple[Axis, ...]
    curves: tuple[Curve, ...]
    claims: tuple[Claim, ...] = ()
    notes: str = ""

    def __post_init__(self) -> None:
        known = {panel.column for panel in self.panels}
        for each in self.curves:
            if each.quantity not in known:
                raise ValueError(f"{self.key}: no panel shows {each.quantity}")

    @property
    def data(self) -> pl.DataFrame:
        """The numbers as a long data frame with a row for each point."""
        rows = [
            (x, c.quantity, c.label, c.source.value, v.value, v.low, v.high, v.statistic, v.n)
            for c in self.curves
            for x, v in zip(c.x, c.values, strict=True)
        ]
        names = ("quantity", "series", "source", "value", "ci_low", "ci_high", "statistic", "runs")
        return pl.DataFrame(rows, schema=(self.x.column, *names), orient="row")

    @property
    def named(self) -> bool:
        """Whether the axis has names instead of numbers."""
        return any(isinstance(x, str) for each in self.curves for x in each.x)

    def panel(self, quantity: str) -> list[Curve]:
        """Return the curves of one quantity."""
        return [each for each in self.curves if each.quantity == quantity]

    @door
    def plot(self) -> matplotlib.figure.Figure:
        """Draw it."""
        raise NotImplementedError

    def frame(self) -> pl.DataFrame:
        """Return `data`; every result has a frame."""
        return self.data

    def __repr__(self) -> str:
        counts = f"{len(self.curves)} curves, {len(self.claims)} claims"
        return f"Figure({self.key}: {self.title}; {counts})"


def shown_x_values(curves: Sequence[Curve], *, most: int = 9) -> list[X]:
    """Return the x values that a table shows: those of points, not of smooth lines."""
    points = [c for c in curves if c.source is not Source.ANALYSIS] or list(curves)
    all_x = list(dict.fromkeys(x for c in points for x in c.x))
    if not any(isinstance(x, str) for x in all_x):
        all_x.sort(key=float)
    if len(all_x) <= most:
        return all_x
    step = (len(all_x) - 1) / (most - 1)
    return [all_x[round(i * step)] for i in range(most)]
