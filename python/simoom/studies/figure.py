"""Figures and tables of a study: data first, a picture second.

All have the same shape. A figure is a number of curves over the same axis, each of one quantity;
its data is one long frame, a row a point. Tables of a paper are figures whose axis has names.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom.evidence import Value
from simoom.studies.claim import Claim

if TYPE_CHECKING:
    import matplotlib.figure
    import polars as pl

X = float | str


class Source(enum.StrEnum):
    """Where a number comes from."""

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
        What the legend says, without the source.
    source : Source
        Where the numbers come from.
    x : tuple
        Numbers or names.
    values : tuple of Value
        As many.
    quantity : str
        Which panel it belongs to: a name with its unit, ``session_delay_s``.
    colour : int
        Place in the colour cycle; what is the same setting has the same colour.
    dashed : bool
        For a second form of the same thing.
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
            raise ValueError(f"{self.label}: {len(self.x)} places, {len(self.values)} values")

    @property
    def name(self) -> str:
        """Label and source."""
        return f"{self.label} ({self.source.value})"

    def at(self, x: X) -> Value:
        """Return the value at a place."""
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
) -> Curve:
    """Return a curve; bare numbers are exact.

    Parameters
    ----------
    label, source, x, quantity, colour, dashed
        As in `Curve`.
    values : callable or iterable
        The values in order of `x`, or what gives the value at a place.
    """
    places = tuple(x)
    found = map(values, places) if callable(values) else values
    exact = tuple(v if isinstance(v, Value) else Value.exact(float(v)) for v in found)
    return Curve(label, source, places, exact, quantity, colour, dashed)


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    Parameters
    ----------
    column : str
        Name in the data, with its unit: ``think_s``. For a panel it is the quantity.
    label : str
        What stands at the axis, with the unit.
    low, high : float, optional
        Its ends, as the paper draws it where that is known.
    log : bool
        Logarithmic.
    ticks : tuple of float
        Where its numbers stand, if not where they usually do.
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
        What it shows.
    x : Axis
        The common axis.
    panels : tuple of Axis
        One for each quantity.
    curves : tuple of Curve
        The numbers.
    claims : tuple of Claim
        What the paper says about it.
    notes : str
        What one has to know to read it.
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
        """The numbers as a long data frame, a row a point."""
        import polars as pl

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

    def plot(self) -> matplotlib.figure.Figure:
        """Draw it."""
        from simoom.studies import draw

        return draw.figure(self)

    def frame(self) -> pl.DataFrame:
        """Return `data`; every result has a frame."""
        return self.data

    def __repr__(self) -> str:
        counts = f"{len(self.curves)} curves, {len(self.claims)} claims"
        return f"Figure({self.key}: {self.title}; {counts})"


def places(curves: Sequence[Curve], *, most: int = 9) -> list[X]:
    """Return the places that a table shows: those of points rather than those of smooth lines."""
    points = [c for c in curves if c.source is not Source.ANALYSIS] or list(curves)
    all_x = list(dict.fromkeys(x for c in points for x in c.x))
    if not any(isinstance(x, str) for x in all_x):
        all_x.sort(key=float)
    if len(all_x) <= most:
        return all_x
    step = (len(all_x) - 1) / (most - 1)
    return [all_x[round(i * step)] for i in range(most)]
