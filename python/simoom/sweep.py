"""Sweeps: runs of a scenario at every combination of some values.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", duration_s=2.0, stations=1,
...                 flows=[{"from": "server", "to": "sta*"}])
>>> res = sm.sweep(s, over={"stations": [1, 3]}, replications=2)
>>> res.mean("total.goodput_mbps").columns
['stations', 'mean', 'ci_low', 'ci_high', 'n']
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom.control import import_path
from simoom.issue import Issue, ScenarioError
from simoom.run import Replications, Run, RunJob, callback, whole
from simoom.runner import Runner
from simoom.scenario import Scenario, ScenarioLike, toml_value
from simoom.stats import mean_ci
from simoom.store import Store, identity, sources
from simoom.workers import LostWorkerError, Progress

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Label = str | bool | int | float
"""A value of an axis as tables and figures show it."""


@dataclass(frozen=True, eq=False)
class Point:
    """One point of a sweep.

    Attributes
    ----------
    settings : mapping
        The value of each axis.
    replications : Replications
        Its runs.
    """

    settings: Mapping[str, Label]
    replications: Replications


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The results of a sweep.

    Attributes
    ----------
    scenario : Scenario
        The scenario before its values were varied.
    over : mapping
        Each axis with its values, as tables show them.
    points : tuple of Point
        In the order of the axes' values, the last axis varying fastest.
    """

    scenario: Scenario
    over: Mapping[str, tuple[Label, ...]]
    points: tuple[Point, ...]

    def frame(self) -> pl.DataFrame:
        """Return a tidy data frame with a row for each run; columns are axes, then result paths."""
        import polars as pl

        rows = [
            # If a result has the name of an axis (`flows[0].name`), the column is that of the axis.
            {**point.settings, **{k: v for k, v in run.row().items() if k not in self.over}}
            for point in self.points
            for run in point.replications
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def mean(self, path: str, *, confidence: float = 0.95) -> pl.DataFrame:
        """Return the mean of a result over the replications, with its interval, for each point.

        Columns are the axes, ``mean``, ``ci_low``, ``ci_high`` and ``n``, the number of runs that
        measured the result. If ``n`` is 0, the mean is null.
        """
        import polars as pl

        if not any(path in run.summary for run in self):
            self.points[0].replications.values(path)  # raises with suggestions
        rows = [{**p.settings, **_estimate(p, path, confidence)} for p in self.points]
        return pl.DataFrame(rows, infer_schema_length=None)

    def at(self, settings: Mapping[str, Any]) -> Replications:
        """Return the runs of one point; axes with a single value may be omitted."""
        fixed = {path: values[0] for path, values in self.over.items() if len(values) == 1}
        wanted = fixed | {path: _label(value) for path, value in settings.items()}
        for point in self.points:
            if point.settings == wanted:
                return point.replications
        known = "; ".join(f"{path}: {list(values)}" for path, values in self.over.items())
        raise KeyError(f"there is no point {_describe(wanted)}; the axes are {known}")

    def plot(self, *, x: str, y: str, hue: str | None = None) -> Figure:
        """Return a plot of a result, with 95 % intervals, against one axis.

        Parameters
        ----------
        x, hue : str
            The axes for position and colour. Dashes distinguish the values of further axes;
            without `hue` colours do.
        y : str
            Path of the result.
        """
        from simoom import plots

        return plots.sweep(self, x=x, y=y, hue=hue)

    def __len__(self) -> int:
        return sum(len(point.replications) for point in self.points)

    def __iter__(self) -> Iterator[Run]:
        return itertools.chain.from_iterable(point.replications for point in self.points)

    def _repr_html_(self) -> str:
        from simoom import notebook

        return notebook.sweep(self)

    def __repr__(self) -> str:
        axes = " x ".join(f"{path} ({len(values)})" for path, values in self.over.items())
        return f"Sweep({axes}, {len(self.points[0].replications)} runs each)"


def sweep(
    scenario: ScenarioLike,
    *,
    over: Mapping[str, Iterable[Any]],
    replications: int = 10,
    seed: int = 1,
    store: Store | Path | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Sweep:
    """Run replications of a scenario at every combination of some values, on all cores.

    All points use the same seeds, so that runs can be compared in pairs. The result depends neither
    on the number of workers nor on the contents of the store.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to vary: a `Scenario`, its TOML file, or its keys.
    over : mapping
        The values of each path, for example ``{"stations": [1, 2, 5], "flows[*].control":
        ["cubic", Mine]}``. A value is anything that `Scenario.set` accepts.
    replications : int, optional
        The number of runs of each point.
    seed : int, optional
        The root of the random streams of all runs.
    store : Store or path, optional
        The store to which each run is written when it ends. Stored runs are not computed again:
        after Ctrl-C or a failure, the same call continues the sweep.
    executor : concurrent.futures.Executor, optional
        The executor of the runs, for example a ``ProcessPoolExecutor`` or that of a Dask client; by
        default a thread for each core.
    progress : callable, optional
        Called after each run with the fraction of completed runs.
    check : bool, optional
        Whether to check the laws of conservation during the runs. Stored runs that were not
        checked are computed again.

    Raises
    ------
    ScenarioError
        An axis or a point has faults; no run was started.
    """
    scenario = Scenario.of(scenario)
    callback(progress)
    whole("replications", replications, bits=32)
    if replications == 0:
        raise ValueError("replications: must be at least 1, is 0")
    whole("seed", seed, bits=64)
    axes = {path: _values(path, values) for path, values in over.items()}
    if not axes:
        raise ValueError("over: must name at least one path, is empty")
    labels = {path: _labels(path, values) for path, values in axes.items()}
    settings = [dict(zip(axes, combination, strict=True))
                for combination in itertools.product(*labels.values())]  # fmt: skip
    scenarios = _points(scenario, axes, settings)
    runs = _SweepRuns(scenarios, replications, seed, None if store is None else _open(store))
    runs.run(executor, progress, check, lambda number: _describe(settings[number]))
    points = [
        Point(chosen, Replications(each, tuple(runs.results[n, r] for r in range(replications))))
        for n, (chosen, each) in enumerate(zip(settings, scenarios, strict=True))
    ]
    return Sweep(scenario, labels, tuple(points))


class _SweepRuns:
    """The runs of a sweep: those in the store, and those to be computed."""

    def __init__(
        self, scenarios: Sequence[Scenario], replications: int, seed: int, store: Store | None
    ) -> None:
        self.seed, self.store, self.scenarios = seed, store, scenarios
        self.check = False
        self.results: dict[tuple[int, int], Run] = {}
        self.names: dict[tuple[int, int], str] = {}
        # One replication of all points, then the next: an interrupted sweep covers all points.
        self.all = [(n, r) for r in range(replications) for n in range(len(scenarios))]
        for n, r in self.all if store is not None else ():
            # The source of controllers is read before the runs, because it may be edited meanwhile.
            self.names[n, r] = identity(scenarios[n], seed=seed, replication=r)
        self.sources = [sources(each) if store is not None else () for each in scenarios]

    def run(
        self,
        executor: Executor | None,
        progress: Progress | None,
        check: bool,
        describe_point: Callable[[int], str],
    ) -> None:
        """Read the stored runs, compute the missing ones, and store each when it ends."""
        for n, r in self.names:
            if self.store is not None:
                found = self.store.get(self.names[n, r], self.scenarios[n], checked=check)
                if found is not None:
                    self.results[n, r] = found
        missing = [key for key in self.all if key not in self.results]
        self._report_progress(progress)
        self.check = check
        jobs = [
            RunJob(self.scenarios[n], self.seed, r, check=check, sources=self.sources[n])
            for n, r in missing
        ]

        def describe_job(number: int) -> str:
            n, r = missing[number]
            return f"replication {r} at {describe_point(n)}"

        with Runner(executor) as runner:
            try:
                for number, result in runner.results(jobs, describe=describe_job):
                    self._keep(missing[number], result)
                    self._report_progress(progress)
            except (KeyboardInterrupt, LostWorkerError):
                # Further runs have ended, and the interrupt may have come before one was stored.
                for number, result in runner.done(jobs):
                    self._keep(missing[number], result)
                raise

    def _keep(self, key: tuple[int, int], result: Run) -> None:
        if self.store is not None:
            self.store.put(self.names[key], result, checked=self.check)
        self.results[key] = result

    def _report_progress(self, progress: Progress | None) -> None:
        if progress is not None:
            progress(len(self.results) / len(self.all))


def _open(store: Store | Path | str) -> Store:
    return store if isinstance(store, Store) else Store(store)


def _values(path: str, values: Iterable[Any]) -> list[Any]:
    """Return the values of an axis; raise if there are none."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"over[{path!r}]: must be a list of values, is {values!r}")
    # Arrays and scalars of NumPy are converted to plain data.
    plain = [value.tolist() if hasattr(value, "tolist") else value for value in values]
    if not plain:
        raise ValueError(f"over[{path!r}]: must have at least one value, is empty")
    return plain


def _label(value: Any) -> Label:
    """Return the label of a value in tables: numbers and names unchanged, others as in TOML."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, type):
        return import_path(value)
    return toml_value(value)


def _labels(path: str, values: Sequence[Any]) -> tuple[Label, ...]:
    labels: list[Label] = [_label(value) for value in values]
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in labels)
    if not numbers and len({type(label) for label in labels}) > 1:
        labels = [label if isinstance(label, str) else toml_value(label) for label in labels]
    for n, label in enumerate(labels):
        if label in labels[:n]:
            raise ValueError(f"over[{path!r}]: has {label!r} twice")
    return tuple(labels)


def _points(
    scenario: Scenario, axes: Mapping[str, Sequence[Any]], settings: Sequence[Mapping[str, Label]]
) -> list[Scenario]:
    """Return the scenarios of all points; raise with the faults of all points, each once."""
    points: list[Scenario] = []
    faults: dict[Issue, None] = {}
    faulty_points: dict[Issue, list[int]] = {}
    for n, combination in enumerate(itertools.product(*axes.values())):
        point = scenario
        try:
            for path, value in zip(axes, combination, strict=True):
                point = point.set(path, value)
        except ScenarioError as error:
            faults |= dict.fromkeys(error.issues)
            continue
        points.append(point)
        try:
            point.check()
        except ScenarioError as error:
            for issue in error.issues:
                faulty_points.setdefault(issue, []).append(n)
    for issue, numbers in faulty_points.items():
        at_all_points = len(numbers) == len(settings)
        note = "" if at_all_points else f" (at {_describe(settings[numbers[0]])})"
        faults[Issue(issue.path, issue.message + note)] = None
    if faults:
        raise ScenarioError(faults)
    return points


def _describe(settings: Mapping[str, Label]) -> str:
    """Return a point as text for messages."""
    return ", ".join(f"{path}={value}" for path, value in settings.items())


def _estimate(point: Point, path: str, confidence: float) -> dict[str, float | int | None]:
    found = [run.summary.get(path) for run in point.replications]
    if text := next((value for value in found if isinstance(value, str)), None):
        raise TypeError(f"{path}: is text, {text!r}, and not a number")
    numbers = [float(value) for value in found if isinstance(value, (int, float))]
    measured = [value for value in numbers if not math.isnan(value)]
    if not measured:
        return {"mean": None, "ci_low": None, "ci_high": None, "n": 0}
    estimate = mean_ci(measured, confidence=confidence)
    return {
        "mean": estimate.mean,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "n": estimate.n,
    }
