"""Optimisation of a scenario's settings, by the twin or by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simoom.base.frames import pl
from simoom.base.needs import Later
from simoom.base.workers import Progress
from simoom.results.tables import digits, number
from simoom.runs.search import Constraint, Given, Held, Search, constraints, objective_of
from simoom.runs.stats import Estimate
from simoom.scenario.scenario import Scenario
from simoom.store.store import Store
from simoom.twin.selection import predict
from simoom.twin.vary import Evaluate, HasSummary, check_axes, scenario_at

minimum = Later("scipy.optimize", "an optimum")

Objective = str | Callable[[HasSummary], float]

EVALUATIONS = 60
"""Steps of the bounded search over one range."""


@dataclass(frozen=True, repr=False)
class Optimum:
    """The best point that was found.

    Attributes
    ----------
    scenario : Scenario
        The scenario at that point.
    at : dict
        The point, by path.
    value : float
        The objective there.
    objective : str
        The quantity that was maximised or minimised.
    tried : tuple of dict
        Every evaluated point in order, with its ``value``; NaN if no model fits. With `given` also
        the constrained results, and whether they meet the constraints, ``feasible``.
    estimate : Estimate or None
        With `replications`: the objective with its interval, of runs that did not choose the point.
    given : tuple of Held
        With `replications`: each constraint with its result and a verdict, of the same runs.
    ahead : Estimate or None
        With `replications`: the objective minus that of the second-best point, over pairs of these
        runs.
    """

    scenario: Scenario
    at: dict[str, Any]
    value: float
    objective: str
    tried: tuple[dict[str, Any], ...]
    estimate: Estimate | None = None
    given: tuple[Held, ...] = ()
    ahead: Estimate | None = None

    def frame(self) -> pl.DataFrame:
        """Return a row for each point that was tried.

        Returns
        -------
        polars.DataFrame
            A row for each evaluated point.
        """
        return pl.DataFrame(list(self.tried), infer_schema_length=None, strict=False)

    def __repr__(self) -> str:
        at = ", ".join(f"{path}={_short(value)}" for path, value in self.at.items())
        value = digits(self.value, 5) if self.estimate is None else str(self.estimate)
        held = "".join(f"; {each.constraint}: {each.verdict}" for each in self.given)
        return f"Optimum({at}: {self.objective} = {value}, of {len(self.tried)}{held})"


def _short(value: object) -> str:
    return digits(value, 4) if isinstance(value, float) else str(value)


@dataclass
class _Search:
    """Evaluates points and stores their values."""

    scenario: Scenario
    objective: Objective
    sign: float
    using: Evaluate
    given: tuple[Constraint, ...] = ()
    tried: list[dict[str, Any]] = field(default_factory=list)

    def cost(self, point: Mapping[str, Any]) -> float:
        """Return the value for a minimiser."""
        result = self.using(scenario_at(self.scenario, point))
        if callable(self.objective):
            value = float(self.objective(result))
        else:
            found = number(result.summary.get(self.objective))
            value = math.nan if found is None else found
        row = {**point, "value": value}
        for each in self.given:
            found = number(result.summary.get(each.path))
            row[each.path] = math.nan if found is None else found
        feasible = all(each.excess(row[each.path]) <= 0 for each in self.given)
        self.tried.append(row | ({"feasible": feasible} if self.given else {}))
        return self.sign * value if math.isfinite(value) and feasible else math.inf

    def over_ranges(
        self, fixed: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]]
    ) -> None:
        """Search the ranges with all else fixed: one bounded scalar, or differential evolution."""
        paths, bounds = list(ranges), list(ranges.values())

        def cost(x: Any) -> float:
            values = [float(value) for value in np.atleast_1d(x)]
            return self.cost({**fixed, **dict(zip(paths, values, strict=True))})

        if len(paths) == 1:
            minimum.minimize_scalar(
                cost, bounds=bounds[0], method="bounded", options={"maxiter": EVALUATIONS}
            )
            return
        # A fixed seed, so that equal calls give equal results.
        rough = minimum.differential_evolution(
            cost, bounds, rng=np.random.default_rng(1), maxiter=40, popsize=8, polish=False
        )
        options = {"maxiter": 100}
        minimum.minimize(cost, rough.x, bounds=bounds, method="Nelder-Mead", options=options)


def optimise(
    scenario: Scenario,
    *,
    over: Mapping[str, Iterable[Any] | tuple[float, float]],
    objective: Objective = "total.goodput_mbps",
    maximise: bool = True,
    using: Evaluate = predict,
    given: Given = (),
    replications: int | None = None,
    trials: int = EVALUATIONS,
    seed: int = 1,
    store: Store | Path | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Optimum:
    """Find the settings with the best value of an objective.

    Parameters
    ----------
    scenario : Scenario
        The scenario to change.
    over : mapping
        For each path a list (or `range`) of values, all of which are tried, or a tuple of two
        numbers: a range, which SciPy searches (one range by bounded minimisation, several by
        differential evolution, then Nelder and Mead).
    objective : str or callable, optional
        A path of the summary, or a function of the result of `using`.
    maximise : bool, optional
        Whether to maximise the objective; otherwise it is minimised.
    using : callable, optional
        The function that evaluates a scenario: `predict`, or `run` to simulate once.
    given : str or iterable of str, optional
        Constraints that the best point must meet: ``"total.delay_s.p99 < 50 ms"``.
    replications : int, optional
        Simulate so many runs at each point, with the same seeds at all points, and compare their
        means. Lists are tried in full if they make at most `trials` points, otherwise Optuna
        searches. The four best points are run again with other seeds, and the best of these once
        more, so that its interval is not that of the luckiest runs.
    trials : int, optional
        The bound on the number of points with `replications`.
    seed : int, optional
        With `replications`: the root of the streams of the runs, and of the search.
    store, executor, progress : optional
        With `replications`: as in `simoom.sweep`.

    Returns
    -------
    Optimum

    Raises
    ------
    ScenarioError
        A path does not exist, or a value is invalid for it.
    ValueError
        `over` has no values, the objective has a value at no point, or no point meets the
        constraints.
    MissingPackageError
        Optuna is needed and not installed.

    Examples
    --------
    >>> import simoom as sm
    >>> flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    >>> cell = sm.Scenario(standard="11b", stations=20, flows=flows)
    >>> sm.optimise(cell, over={"wlan.cw_min": [31, 63, 127, 255, 511, 1023]})
    Optimum(wlan.cw_min=255: total.goodput_mbps = 6.2073, of 6)
    """
    if not isinstance(maximise, bool):
        raise TypeError(f"maximise: must be True or False, is {maximise!r}")
    sign, bounds = -1.0 if maximise else 1.0, constraints(given)
    if replications is not None:
        if using is not predict:
            raise ValueError("using: is for single evaluations; replications are simulated")
        name, measure = objective_of(objective)
        space = {path: each if _is_range(each) else list(each) for path, each in over.items()}
        winner = Search(scenario, space, measure, name, sign, bounds, replications, trials, seed,
                        store, executor, progress).run()  # fmt: skip
        return Optimum(
            scenario_at(scenario, winner.at), winner.at, winner.estimate.mean, name, winner.tried,
            winner.estimate, winner.given, winner.ahead,
        )  # fmt: skip
    ranges = {path: _range(path, each) for path, each in over.items() if _is_range(each)}
    axes = {path: tuple(each) for path, each in over.items() if path not in ranges}
    if axes or not ranges:
        check_axes(axes)
    search = _Search(scenario, objective, sign, using, bounds)
    for values in itertools.product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        if ranges:
            search.over_ranges(point, ranges)
        else:
            search.cost(point)
    name = objective if isinstance(objective, str) else getattr(objective, "__name__", "objective")
    found = [row for row in search.tried if math.isfinite(row["value"])]
    if found and bounds and not (found := [row for row in found if row["feasible"]]):
        wanted = ", ".join(map(str, bounds))
        raise ValueError(f"given: none of {len(search.tried)} points has {wanted}")
    if not found:
        raise ValueError(f"objective: {name} has a value at none of {len(search.tried)} points")
    best = min(found, key=lambda row: search.sign * row["value"])
    at = {path: best[path] for path in over}
    return Optimum(scenario_at(scenario, at), at, best["value"], name, tuple(search.tried))


def _is_range(given: object) -> bool:
    """Whether a tuple of two numbers, which a list is not."""
    return (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in given)
    )


def _range(path: str, given: Any) -> tuple[float, float]:
    low, high = map(float, given)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{path}: must go from a number to a larger one, is {given}")
    return low, high
