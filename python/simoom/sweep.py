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
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom.axes import Label, Over, describe, find_label, points, scenarios
from simoom.precision import Reached, Rule, Until
from simoom.replications import Replications, check_warmup, look, pilot_probe, plan, without_series
from simoom.run import Run, RunJob, callback
from simoom.runner import Runner
from simoom.scenario import Scenario, ScenarioLike
from simoom.stats import mean_ci
from simoom.store import Store, identity, sources
from simoom.workers import LostWorkerError, Progress

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


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
        In the order of the axes' values, the last axis varying fastest; or as they were listed.
    """

    scenario: Scenario
    over: Mapping[str, tuple[Label, ...]]
    points: tuple[Point, ...]

    @property
    def is_grid(self) -> bool:
        """Whether every combination of the values of the axes is a point."""
        return len(self.points) == math.prod(map(len, self.over.values()))

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

        if not any(run.summary.get(path) is not None for run in self):
            self.points[0].replications.values(path)  # raises with suggestions
        rows = [{**p.settings, **_estimate(p, path, confidence)} for p in self.points]
        return pl.DataFrame(rows, infer_schema_length=None)

    def quantile(self, path: str, probability: float, *, confidence: float = 0.95) -> pl.DataFrame:
        """Return a quantile over the replications, with its interval, for each point.

        Columns are the axes, ``quantile``, ``ci_low``, ``ci_high`` and ``n``; see
        `Replications.quantile`.
        """
        import polars as pl

        rows = []
        for point in self.points:
            each = point.replications.quantile(path, probability, confidence=confidence)
            found = {"quantile": each.mean, "ci_low": each.ci_low, "ci_high": each.ci_high}
            rows.append({**point.settings, **found, "n": each.n})
        return pl.DataFrame(rows, infer_schema_length=None)

    def at(self, settings: Mapping[str, Any]) -> Replications:
        """Return the runs of one point; axes with a single value may be omitted."""
        fixed = {path: values[0] for path, values in self.over.items() if len(values) == 1}
        wanted = fixed | {
            path: find_label(value, self.over.get(path, ())) for path, value in settings.items()
        }
        for point in self.points:
            if point.settings == wanted:
                return point.replications
        known = "; ".join(f"{path}: {list(values)}" for path, values in self.over.items())
        raise KeyError(f"there is no point {describe(wanted)}; the axes are {known}")

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
        counts = {len(point.replications) for point in self.points}
        each = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        if not self.is_grid:
            axes = f"{len(self.points)} points of {', '.join(self.over)}"
        return f"Sweep({axes}, {each} runs each)"


def sweep(
    scenario: ScenarioLike,
    *,
    over: Over,
    replications: int = 10,
    seed: int = 1,
    until: Until | None = None,
    max_replications: int | None = None,
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
    over : mapping or list of mapping
        The values of each path, for example ``{"stations": [1, 2, 5], "flows[*].control":
        ["cubic", Mine]}``, of which every combination is run; or a list of points, each with a
        value for each path (`simoom.designs` makes such lists). A value is anything that
        `Scenario.set` accepts. A mapping of values, ``{"mine": Mine, "standard": "cubic"}``, gives
        them names for tables and figures.
    replications : int, optional
        The number of runs of each point; with `until` the least number, and at least 20.
    seed : int, optional
        The root of the random streams of all runs.
    until : str, number or mapping, optional
        The precision until which each point is repeated, as in `simoom.replicate`.
    max_replications : int, optional
        The bound on the runs of each point with `until`, by default 1000.
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
    rule = plan(replications, seed, until, max_replications)
    at = points(over)
    all_scenarios = scenarios(scenario, at)
    runs = _SweepRuns(all_scenarios, at.settings, seed, None if store is None else _open(store))
    runs.check, runs.progress = check, progress
    runs.run(executor, replications, rule)
    for message in runs.warnings():
        warnings.warn(message, stacklevel=2)
    done = [Point(chosen, runs.point(n)) for n, chosen in enumerate(at.settings)]
    return Sweep(scenario, at.labels, tuple(done))


class _SweepRuns:
    """The runs of a sweep: those in the store, and those to be computed."""

    def __init__(
        self,
        points: Sequence[Scenario],
        settings: Sequence[Mapping[str, Label]],
        seed: int,
        store: Store | None,
    ) -> None:
        self.seed, self.store, self.scenarios, self.settings = seed, store, points, settings
        self.check = False
        self.progress: Progress | None = None
        self.results: dict[tuple[int, int], Run] = {}
        # The source of controllers is read before the runs, because it may be edited meanwhile.
        self.sources = [sources(each) if store is not None else () for each in points]
        self.wanted = [0] * len(points)
        self.reached: list[tuple[Reached, ...]] = [() for _ in points]
        self.short_warmups: list[str] = []

    def run(self, executor: Executor | None, replications: int, rule: Rule | None) -> None:
        """Read the stored runs, compute the missing ones, and store each when it ends."""
        done = [0] * len(self.scenarios)
        self.wanted = [replications if rule is None else rule.least for _ in done]
        probes = [pilot_probe(each, rule) for each in self.scenarios]
        with Runner(executor) as runner:
            while done != self.wanted:
                # One replication of all points, then the next: an interrupted sweep covers all.
                pending = [
                    (n, r)
                    for r in range(min(done), max(self.wanted))
                    for n in range(len(done))
                    if done[n] <= r < self.wanted[n]
                ]
                self._read(pending)
                self._compute(runner, [key for key in pending if key not in self.results], probes)
                if rule is not None and not any(done):
                    self._check_warmups(probes)
                    probes = [() for _ in done]
                done = list(self.wanted)
                if rule is not None:
                    self._look(rule)

    def _read(self, pending: Sequence[tuple[int, int]]) -> None:
        """Read the stored runs among these."""
        for n, r in pending:
            if self.store is None:
                break
            found = self.store.get(self._name(n, r), self.scenarios[n], checked=self.check)
            if found is not None:
                self.results[n, r] = found
        self._report_progress()

    def _compute(
        self,
        runner: Runner,
        missing: Sequence[tuple[int, int]],
        probes: Sequence[tuple[str, ...]],
    ) -> None:
        jobs = [
            RunJob(self.scenarios[n], self.seed, r, probes[n], self.check, sources=self.sources[n])
            for n, r in missing
        ]

        def describe_job(number: int) -> str:
            n, r = missing[number]
            return f"replication {r} at {describe(self.settings[n])}"

        try:
            for number, result in runner.results(jobs, describe=describe_job):
                self._keep(missing[number], result)
                self._report_progress()
        except (KeyboardInterrupt, LostWorkerError):
            # Further runs have ended, and the interrupt may have come before one was stored.
            for number, result in runner.done(jobs):
                self._keep(missing[number], result)
            raise

    def _name(self, n: int, r: int) -> str:
        return identity(self.scenarios[n], seed=self.seed, replication=r, known=self.sources[n])

    def _keep(self, key: tuple[int, int], result: Run) -> None:
        if self.store is not None:
            self.store.put(self._name(*key), result, checked=self.check)
        self.results[key] = result

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(len(self.results) / sum(self.wanted))

    def _check_warmups(self, probes: Sequence[tuple[str, ...]]) -> None:
        """Check the warm-up at each point by the runs that were computed, which have series."""
        for n, paths in enumerate(probes):
            for path in paths:
                keys = [(n, r) for r in range(self.wanted[n])]
                runs = [self.results[key] for key in keys]
                judged = check_warmup(self.scenarios[n], runs, path)
                if judged is not None and judged.too_short:
                    self.short_warmups.append(f"{judged} (at {describe(self.settings[n])}")
                self.results |= {
                    key: without_series(run, paths) for key, run in zip(keys, runs, strict=True)
                }

    def _look(self, rule: Rule) -> None:
        """Examine the runs so far, and plan further ones."""
        for target in rule.targets:
            if all(run.summary.get(target.path) is None for run in self.results.values()):
                self.point(0).values(target.path)  # raises with suggestions, or all are NaN
        for n, wanted in enumerate(self.wanted):
            if not self.reached[n] or not all(each.reached for each in self.reached[n]):
                self.reached[n], self.wanted[n] = look(rule, self.point(n))
                self.wanted[n] = max(wanted, self.wanted[n])

    def point(self, n: int) -> Replications:
        """Return the runs of a point."""
        runs = tuple(self.results[n, r] for r in range(self.wanted[n]) if (n, r) in self.results)
        return Replications(self.scenarios[n], runs, self.reached[n])

    def warnings(self) -> list[str]:
        """Return what the user must know: short warm-ups, and points without the precision."""
        found = list(self.short_warmups[:1])
        if (others := len(self.short_warmups) - 1) > 0:
            found[0] += f", and {others} more"
        found = [f"{message})" for message in found]
        lacking = [
            f"{each} (at {describe(settings)}"
            for settings, reached in zip(self.settings, self.reached, strict=True)
            for each in reached
            if not each.reached and each.estimate is not None
        ]
        if lacking:
            more = f", and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            found.append(f"{lacking[0]}{more})")
        return found


def _open(store: Store | Path | str) -> Store:
    return store if isinstance(store, Store) else Store(store)


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
