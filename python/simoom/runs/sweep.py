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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom.base.arguments import callback
from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.base.workers import Progress
from simoom.results.run import Run
from simoom.runs.axes import Label, Over, describe, find_label, points, scenarios
from simoom.runs.precision import Rule, Until
from simoom.runs.replications import Replications, plan, repeat
from simoom.runs.rounds import Request, Rounds, opened
from simoom.runs.stats import mean_ci
from simoom.scenario.observables import check_path
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.store.shards import Shard, read_shard
from simoom.store.store import Store

if TYPE_CHECKING:
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
        """Return a tidy data frame with a row for each run; columns are axes, then result paths.

        Returns
        -------
        polars.DataFrame
            A row for each run; columns are the axes, seed, replication and the paths of the
            results.
        """
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

        Returns
        -------
        polars.DataFrame
            A row for each point; columns are the axes, and the estimate in the unit of the result.
        """
        return pl.DataFrame(self.means(path, confidence=confidence), infer_schema_length=None)

    def means(self, path: str, *, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return the rows of `mean` as plain data.

        Returns
        -------
        list of dict
            A row for each point.
        """
        if not any(run.summary.get(path) is not None for run in self):
            self.points[0].replications.values(path)  # raises with suggestions
        return [{**p.settings, **_estimate(p, path, confidence)} for p in self.points]

    def quantile(self, path: str, probability: float, *, confidence: float = 0.95) -> pl.DataFrame:
        """Return a quantile over the replications, with its interval, for each point.

        Columns are the axes, ``quantile``, ``ci_low``, ``ci_high`` and ``n``; see
        `Replications.quantile`.

        Returns
        -------
        polars.DataFrame
            A row for each point; columns are the axes, and the estimate in the unit of the result.
        """
        rows = []
        for point in self.points:
            each = point.replications.quantile(path, probability, confidence=confidence)
            found = {"quantile": each.mean, "ci_low": each.ci_low, "ci_high": each.ci_high}
            rows.append({**point.settings, **found, "n": each.n})
        return pl.DataFrame(rows, infer_schema_length=None)

    def at(self, settings: Mapping[str, Any]) -> Replications:
        """Return the runs of one point; axes with a single value may be omitted.

        Returns
        -------
        Replications
            The runs of the point.
        """
        fixed = {path: values[0] for path, values in self.over.items() if len(values) == 1}
        wanted = fixed | {
            path: find_label(value, self.over.get(path, ())) for path, value in settings.items()
        }
        for point in self.points:
            if point.settings == wanted:
                return point.replications
        known = "; ".join(f"{path}: {list(values)}" for path, values in self.over.items())
        raise KeyError(f"there is no point {describe(wanted)}; the axes are {known}")

    @door
    def plot(self, *, x: str, y: str, hue: str | None = None) -> Figure:
        """Return a plot of a result, with 95 % intervals, against one axis.

        Parameters
        ----------
        x, hue : str
            The axes for position and colour. Dashes distinguish the values of further axes;
            without `hue` colours do.
        y : str
            Path of the result.

        Returns
        -------
        matplotlib.figure.Figure
            The plot.
        """
        raise NotImplementedError

    def __len__(self) -> int:
        return sum(len(point.replications) for point in self.points)

    def __iter__(self) -> Iterator[Run]:
        return itertools.chain.from_iterable(point.replications for point in self.points)

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

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
    shard: Shard | None = None,
    keep: Iterable[str] | None = None,
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
        The store to which each run is written when it ends, a folder or a URL such as
        ``s3://BUCKET/FOLDER``. Stored runs are not computed again: after Ctrl-C or a failure, the
        same call continues.
    shard : str or tuple of int, optional
        Run a part of the runs, ``"2/8"`` the second of eight; `simoom.merge`, or ``simoom store
        merge``, joins the stores of all parts.
    keep : iterable of str, optional
        The results of each run that the `Sweep` has, ``flows[*].goodput_mbps`` those of all flows;
        by default all. A store has all of them.
    executor : concurrent.futures.Executor, optional
        The executor of the runs, for example a ``ProcessPoolExecutor`` or that of a Dask client; by
        default a thread for each core.
    progress : callable, optional
        Called after each run with the fraction of completed runs.
    check : bool, optional
        Whether to check the laws of conservation during the runs. Stored runs that were not
        checked are computed again.

    Returns
    -------
    Sweep
        The runs of all points, in the order of the points.

    Raises
    ------
    ScenarioError
        An axis or a point has faults; no run was started.
    """
    scenario = Scenario.of(scenario)
    callback(progress)
    rule = plan(replications, seed, until, max_replications)
    part = None if shard is None else read_shard(shard)
    if part is not None and (store is None or rule is not None):
        what = "needs a store, which keeps its runs" if store is None else "not with until"
        raise ValueError(f"shard: {what}")
    at = points(over)
    kept = None if keep is None else _kept(keep, rule)
    rounds = Rounds(
        scenarios(scenario, at),
        Request(seed, (), check, progress, kept, part),
        lambda n, r: f"replication {r} at {describe(at.settings[n])}",
        opened(store),
    )
    runs = repeat(rounds, executor, replications, rule)
    done = tuple(itertools.starmap(Point, zip(at.settings, runs, strict=True)))
    for message in _warnings(rounds, done):
        warnings.warn(message, stacklevel=2)
    return Sweep(scenario, at.labels, done)


def _kept(keep: Iterable[str], rule: Rule | None) -> tuple[str, ...]:
    """Return the results to keep: those of the caller, and those of the rule."""
    paths = (keep,) if isinstance(keep, str) else tuple(keep)
    for path in paths:
        check_path("keep", path.replace("[*]", "[0]"), text=True)
    return tuple(dict.fromkeys((*paths, *(t.path for t in (rule.targets if rule else ())))))


def _warnings(rounds: Rounds, done: Sequence[Point]) -> Iterator[str]:
    """Yield what the user must know: short warm-ups, and points without the precision."""
    short = [f"{judged} (at {describe(done[n].settings)}" for n, judged in rounds.warmups]
    lacking = [
        f"{each} (at {describe(point.settings)}"
        for point in done
        for each in point.replications.reached
        if not each.reached and each.estimate is not None
    ]
    for found in (short, lacking):
        if found:
            yield f"{found[0]}, and {len(found) - 1} more)" if found[1:] else f"{found[0]})"


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
