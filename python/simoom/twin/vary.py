"""Predictions over a grid of values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from simoom.base.frames import pl
from simoom.results.tables import digits, number
from simoom.scenario.scenario import Scenario
from simoom.twin.selection import predict

MOST_POINTS = 100_000
"""A larger grid is taken for a mistake."""


class HasSummary(Protocol):
    """An object with values by path: a `Twin` or a `Run`."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The values."""


Evaluate = Callable[[Scenario], HasSummary]
"""`predict`, `run`, or another function that returns values by path for a scenario."""


@dataclass(frozen=True, repr=False)
class Variation:
    """Values by path at each point of a grid.

    Attributes
    ----------
    scenario : Scenario
        The scenario to vary.
    over : mapping
        The values of each axis, by its path.
    points : tuple of dict
        The grid, the last axis fastest.
    results : tuple
        A `Twin` (or the result of `using`) for each point.
    """

    scenario: Scenario
    over: Mapping[str, tuple[Any, ...]]
    points: tuple[dict[str, Any], ...]
    results: tuple[HasSummary, ...]

    def values(self, path: str) -> list[float]:
        """Return the values at a path for all points; NaN where there is no prediction."""
        found = [number(result.summary.get(path)) for result in self.results]
        return [math.nan if value is None else value for value in found]

    def frame(self) -> pl.DataFrame:
        """Return a row for each point: axes, model and all values except those of single flows."""
        paths = {
            path: None
            for result in self.results
            for path in result.summary
            if not path.startswith(("flows[", "stations["))
        }
        rows = [
            {**point, "model": _model(result), **{p: result.summary.get(p) for p in paths}}
            for point, result in zip(self.points, self.results, strict=True)
        ]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells of a table for printing."""
        frame = self.frame()
        cells = [
            [digits(cell, 4) if isinstance(cell, float) else _plain(cell) for cell in row]
            for row in frame.rows()
        ]
        return frame.columns, cells

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        axes = ", ".join(f"{path}: {len(values)}" for path, values in self.over.items())
        return f"Variation({len(self)} points; {axes})"


def _model(result: HasSummary) -> str:
    model = getattr(result, "model", None)
    return model.family if model is not None else "none"


def _plain(cell: object) -> str:
    return "-" if cell is None else str(cell)


def vary(
    scenario: Scenario, over: Mapping[str, Iterable[Any]], *, using: Evaluate = predict
) -> Variation:
    """Predict a scenario at every point of a grid.

    Parameters
    ----------
    scenario : Scenario
        The scenario to vary.
    over : mapping
        The values of each path.
    using : callable, optional
        The function that evaluates a scenario: `predict`, or `run` to simulate.

    Raises
    ------
    ScenarioError
        A path does not exist, or a value is invalid for it.
    ValueError
        `over` has no values, or makes more than a hundred thousand points.

    Examples
    --------
    >>> import simoom as sm
    >>> flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    >>> cell = sm.Scenario(standard="11b", stations=1, flows=flows)
    >>> [round(x, 2) for x in vary(cell, {"stations": [1, 5, 25]}).values("total.goodput_mbps")]
    [6.11, 6.24, 5.25]
    """
    axes = {path: tuple(values) for path, values in over.items()}
    check_axes(axes)
    points = tuple(
        dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())
    )
    results = tuple(using(scenario_at(scenario, point)) for point in points)
    return Variation(scenario, axes, points, results)


def check_axes(axes: Mapping[str, Sequence[Any]]) -> None:
    """Raise if a grid has no points or too many."""
    if not axes:
        raise ValueError("over: names no path")
    for path, values in axes.items():
        if not values:
            raise ValueError(f"{path}: has no values to take")
    if (count := math.prod(map(len, axes.values()))) > MOST_POINTS:
        raise ValueError(f"over: makes {count} points, more than {MOST_POINTS}")


def scenario_at(scenario: Scenario, point: Mapping[str, Any]) -> Scenario:
    """Return the scenario at a point."""
    for path, value in point.items():
        scenario = scenario.set(path, value)
    return scenario
