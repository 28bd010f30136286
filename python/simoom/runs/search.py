"""Search for the best settings by simulation, where each value has noise (Optuna).

All points of the search have the same seeds (common random numbers). The best of many noisy values
is too good on average, so that the finalists are run again with other seeds, and the winner once
more: its interval is from runs that did not choose it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simoom.base.arguments import callback, whole
from simoom.base.issue import ArgumentError
from simoom.base.needs import need
from simoom.base.workers import Progress
from simoom.results.run import Run
from simoom.results.tables import digits, number
from simoom.runs.designs import check_range
from simoom.runs.replications import Replications
from simoom.runs.stats import Estimate, mean_ci, paired_difference
from simoom.runs.sweep import Point, sweep
from simoom.scenario.observables import check_path, unit_of
from simoom.scenario.scenario import Scenario
from simoom.store.store import Store

Given = str | Iterable[str]
"""Constraints such as "total.delay_s.p99 < 50 ms"."""

FINALISTS = 4
"""So many points are run again with other seeds."""
STARTUP = 10
"""So many points at the beginning are drawn at random: Optuna's default."""
PREFIXES = {"ms": 1e-3, "us": 1e-6}
"""Units that a constraint may use for a result in seconds."""

_CONSTRAINT = re.compile(
    r"\s*(?P<path>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)"
    r"\s*(?P<unit>\S*)\s*"
)


@dataclass(frozen=True)
class Constraint:
    """A bound on a result.

    Attributes
    ----------
    path : str
        The result.
    bound : float
        The bound in the unit of the result.
    below : bool
        Whether the result must be below the bound; otherwise above it.
    """

    path: str
    bound: float
    below: bool

    def excess(self, value: float) -> float:
        """Return by how much a value violates the bound; at most 0 if it does not."""
        return value - self.bound if self.below else self.bound - value

    def verdict(self, estimate: Estimate) -> str:
        """Return "met", "violated", or "undecided" if the interval has the bound inside."""
        low, high = sorted((self.excess(estimate.ci_low), self.excess(estimate.ci_high)))
        return "met" if high <= 0 else "violated" if low > 0 else "undecided"

    def __str__(self) -> str:
        unit = unit_of(self.path)
        sign = "<=" if self.below else ">="
        return f"{self.path} {sign} {self.bound:g}{f' {unit}' if unit else ''}"


@dataclass(frozen=True)
class Held:
    """A constraint at the best point.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    estimate : Estimate
        The mean of its result, of runs that did not choose the point.
    verdict : str
        "met", "violated" or "undecided", at the confidence of the interval.
    """

    constraint: Constraint
    estimate: Estimate
    verdict: str


def constraints(given: Given) -> tuple[Constraint, ...]:
    """Read constraints.

    Raises
    ------
    ValueError
        One is malformed, or of another unit than its result.

    Examples
    --------
    >>> constraints("total.delay_s.p99 < 50 ms")
    (Constraint(path='total.delay_s.p99', bound=0.05, below=True),)
    """
    texts = [given] if isinstance(given, str) else list(given)
    return tuple(map(_constraint, texts))


def _constraint(text: object) -> Constraint:
    example = 'write "RESULT < NUMBER UNIT", as "total.delay_s.p99 < 50 ms"'
    match = _CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
    try:
        bound = float(match["number"]) if match else math.nan
    except ValueError:
        bound = math.nan
    if match is None or math.isnan(bound):
        raise ArgumentError("given", f"{text!r}: {example}")
    path, unit = match["path"], match["unit"]
    check_path("given", path)
    known = unit_of(path)
    if unit and unit != known:
        if known != "s" or unit not in PREFIXES:
            raise ArgumentError("given", f"{text!r}: the unit of {path} is {known or 'none'}")
        bound *= PREFIXES[unit]
    return Constraint(path, bound, match["sign"].startswith("<"))


@dataclass(frozen=True)
class Winner:
    """The result of a search.

    Attributes
    ----------
    at : dict
        The best point, by path.
    estimate : Estimate
        The objective there, of runs that did not choose the point.
    given : tuple of Held
        The constraints there, of the same runs.
    ahead : Estimate or None
        The objective there minus that of the second-best point, over pairs of these runs.
    tried : tuple of dict
        Every point in order, with the mean of the objective as ``value``, the means of the
        constrained results, and whether they meet the constraints, ``feasible``.
    """

    at: dict[str, Any]
    estimate: Estimate
    given: tuple[Held, ...]
    ahead: Estimate | None
    tried: tuple[dict[str, Any], ...]


@dataclass
class Search:
    """A search over noisy runs.

    Parameters
    ----------
    scenario : Scenario
        The scenario to change.
    over : mapping
        For each path a list of values, or the ends of a range.
    measure : callable
        Returns the objective of a run.
    name : str
        The objective, for messages.
    sign : float
        -1 to maximise, 1 to minimise.
    given : tuple of Constraint
        The constraints.
    replications, trials, seed : int
        The runs of each point, the bound on the number of points, and the root of the streams.
    """

    scenario: Scenario
    over: Mapping[str, Any]
    measure: Callable[[Run], float]
    name: str
    sign: float
    given: tuple[Constraint, ...]
    replications: int
    trials: int
    seed: int
    store: Store | Path | str | None = None
    executor: Executor | None = None
    progress: Progress | None = None
    tried: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole("replications", self.replications, bits=32)
        whole("trials", self.trials, bits=32)
        whole("seed", self.seed, bits=64)
        callback(self.progress)
        if self.replications < 2:
            raise ArgumentError("replications", f"must be at least 2, is {self.replications}")
        if self.trials < 1:
            raise ArgumentError("trials", f"must be at least 1, is {self.trials}")
        if not self.over:
            raise ArgumentError("over", "names no path")
        for path, values in self.over.items():
            check_range("over", path, values, logarithmic=False)

    def run(self) -> Winner:
        """Search, and return the best point."""
        if self._lists and math.prod(map(len, self.over.values())) <= self.trials:
            every = itertools.product(*self.over.values())
            self._evaluate([dict(zip(self.over, each, strict=True)) for each in every])
        else:
            self._ask_optuna()
        finalists = self._finalists()
        again = self._sweep([row["at"] for row in finalists], self.seed + 1)
        ranked = sorted(again, key=lambda point: self._rank(self._row({}, point.replications)))
        best = [finalists[again.index(point)]["at"] for point in ranked[:2]]
        last = self._sweep(best, self.seed + 2)
        values = [self._values(point.replications) for point in last]
        held = tuple(self._held(each, last[0].replications) for each in self.given)
        ahead = paired_difference(values[1], values[0]) if len(values) > 1 else None
        rows = ({key: value for key, value in row.items() if key != "at"} | row["at"]
                for row in self.tried.values())  # fmt: skip
        tried = tuple({**{p: row[p] for p in self.over}, **row} for row in rows)
        return Winner(best[0], mean_ci(values[0]), held, ahead, tried)

    @property
    def _lists(self) -> bool:
        return not any(isinstance(values, tuple) for values in self.over.values())

    def _ask_optuna(self) -> None:
        """Try the points that Optuna's tree-structured Parzen estimator suggests."""
        optuna = need("optuna", "an optimisation over runs")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(
            seed=self.seed % (1 << 32),
            n_startup_trials=min(STARTUP, max(1, self.trials // 2)),
        )
        study = optuna.create_study(sampler=sampler)
        for _ in range(self.trials):
            trial = study.ask()
            point = {path: _suggest(trial, path, values) for path, values in self.over.items()}
            (row,) = self._evaluate([point])
            for each in self.given:
                trial.set_constraint(str(each), each.excess(row[each.path]))
            study.tell(trial, self.sign * row["value"])

    def _evaluate(self, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a row for each point; a point that was tried is not run again."""
        keys = [tuple(map(repr, point.values())) for point in points]
        new = {key: point for key, point in zip(keys, points, strict=True) if key not in self.tried}
        done = self._sweep(list(new.values()), self.seed) if new else []
        for (key, point), found in zip(new.items(), done, strict=True):
            self.tried[key] = self._row(point, found.replications)
        if self.progress is not None:
            self.progress(min(1.0, len(self.tried) / self.trials))
        return [self.tried[key] for key in keys]

    def _sweep(self, points: Sequence[dict[str, Any]], seed: int) -> tuple[Point, ...]:
        return sweep(
            self.scenario, over=list(points), replications=self.replications,
            seed=seed % (1 << 64), store=self.store, executor=self.executor,
        ).points  # fmt: skip

    def _values(self, runs: Replications) -> list[float]:
        values = [self.measure(run) for run in runs]
        if not all(map(math.isfinite, values)):
            raise ArgumentError("objective", f"{self.name} has no value in some runs")
        return values

    def _row(self, at: dict[str, Any], runs: Replications) -> dict[str, Any]:
        means = {each.path: runs.mean(each.path).mean for each in self.given}
        excess = [each.excess(means[each.path]) for each in self.given]
        value = math.fsum(self._values(runs)) / len(runs)
        return {"at": at, "value": value, **means, "feasible": all(e <= 0 for e in excess)}

    def _rank(self, row: Mapping[str, Any]) -> tuple[bool, float]:
        return not row["feasible"], self.sign * row["value"]

    def _finalists(self) -> list[dict[str, Any]]:
        feasible = [row for row in self.tried.values() if row["feasible"]]
        if not feasible:
            raise ArgumentError("given", self._nearest())
        return sorted(feasible, key=self._rank)[:FINALISTS]

    def _nearest(self) -> str:
        """Return why no point meets the constraints."""

        def worst(row: Mapping[str, Any]) -> float:
            return max(
                each.excess(row[each.path]) / (abs(each.bound) or 1.0) for each in self.given
            )

        row = min(self.tried.values(), key=worst)
        wanted = ", ".join(map(str, self.given))
        has = ", ".join(f"{each.path} = {digits(row[each.path], 4)}" for each in self.given)
        at = ", ".join(f"{path}={value}" for path, value in row["at"].items())
        return f"none of {len(self.tried)} points has {wanted}; the nearest has {has} at {at}"

    def _held(self, constraint: Constraint, runs: Replications) -> Held:
        estimate = runs.mean(constraint.path)
        return Held(constraint, estimate, constraint.verdict(estimate))


def _suggest(trial: Any, path: str, values: Any) -> Any:
    """Return Optuna's value of one setting."""
    if not isinstance(values, tuple):
        place = trial.suggest_categorical(path, list(range(len(values))))
        return values[place]
    low, high = values
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(path, low, high)
    return trial.suggest_float(path, float(low), float(high))


def objective_of(objective: str | Callable[[Any], float]) -> tuple[str, Callable[[Run], float]]:
    """Return the name of an objective, and the function that takes it from a run."""
    if callable(objective):
        return getattr(objective, "__name__", "objective"), lambda run: float(objective(run))
    check_path("objective", objective)

    def measure(run: Run) -> float:
        value = number(run.summary.get(objective))
        return math.nan if value is None else value

    return objective, measure
