"""Global sensitivity of a result: which settings move it, over whole ranges (SALib).

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", duration_s=1.0, stations=2,
...                 flows=[{"from": "sta*", "to": "ap", "traffic": "saturated"}])
>>> space = {"stations": (1, 9), "wire.delay_ms": (1.0, 9.0)}
>>> found = sm.sensitivity(s, space, points=8, replications=2)
>>> found["stations"].total.mean > found["wire.delay_ms"].total.mean
True
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simoom.base.arguments import whole
from simoom.base.frames import pl
from simoom.base.issue import ArgumentError
from simoom.base.needs import need
from simoom.base.workers import Progress
from simoom.runs.designs import Space, check_space, scaled
from simoom.runs.stats import Estimate
from simoom.runs.sweep import Sweep, sweep
from simoom.scenario.observables import check_path, nearest
from simoom.scenario.scenario import ScenarioLike
from simoom.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("sobol", "morris")
LEVELS = 4
"""The levels of each range in Morris's design (Saltelli et al. 2008, section 3.2)."""


@dataclass(frozen=True)
class Effect:
    """How one setting moves a result.

    Attributes
    ----------
    path : str
        The setting.
    total : Estimate
        Sobol: the fraction of the variance that vanishes if all other settings are fixed in the
        mean, which interactions count in. Morris: the mean absolute change of the result when the
        setting alone goes through its range, in the unit of the result.
    first : Estimate or None
        Sobol: the fraction of the variance that the setting explains alone.
    spread : float or None
        Morris: the standard deviation of that change, which interactions and curvature make.
    """

    path: str
    total: Estimate
    first: Estimate | None = None
    spread: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """The sensitivity of a result to several settings.

    Attributes
    ----------
    result, method : str
        The result, and the method.
    effects : tuple of Effect
        The settings, that with the largest total effect first.
    noise : float
        The fraction of the variance between points that is at most due to chance: what the same
        settings with other random numbers would change. More replications make it smaller.
    sweep : Sweep
        The runs.
    """

    result: str
    method: str
    effects: tuple[Effect, ...]
    noise: float
    sweep: Sweep

    def __getitem__(self, path: str) -> Effect:
        for effect in self.effects:
            if effect.path == path:
                return effect
        raise KeyError(f"there is no {path!r}{nearest(path, [e.path for e in self.effects])}")

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def frame(self) -> pl.DataFrame:
        """Return a row for each setting: the effects with the ends of their 95 % intervals.

        Returns
        -------
        polars.DataFrame
            A row for each setting.
        """
        rows: list[dict[str, Any]] = []
        for each in self.effects:
            named = {"total": each.total, **({"first": each.first} if each.first else {})}
            row: dict[str, Any] = {"path": each.path}
            for name, value in named.items():
                row |= {
                    name: value.mean,
                    f"{name}_low": value.ci_low,
                    f"{name}_high": value.ci_high,
                }
            rows.append(row | ({} if each.spread is None else {"spread": each.spread}))
        return pl.DataFrame(rows)

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.path}: {each.total}" for each in self.effects)
        return f"Sensitivity({self.result} by {self.method}; {shown}; noise {self.noise:.2g})"


def sensitivity(
    scenario: ScenarioLike,
    space: Space,
    *,
    result: str = "total.goodput_mbps",
    method: str = "sobol",
    points: int = 64,
    replications: int = 5,
    seed: int = 1,
    log: Collection[str] = (),
    store: Store | Path | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Find out which settings move a result, over whole ranges.

    All points have the same seeds, so that differences between them are those of their settings.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to vary.
    space : mapping
        The range of each setting, or a list of its values, as in `simoom.designs`; at least two
        settings.
    result : str, optional
        The result.
    method : str, optional
        "sobol", which divides the variance of the result among the settings, or "morris", which
        needs fewer points and only ranks them.
    points : int, optional
        The number of base points, for Sobol a power of two, or of Morris's trajectories. The
        scenario is run at (settings + 2), or (settings + 1), times as many points.
    replications : int, optional
        The runs of each point, over which the result is averaged.
    seed : int, optional
        The root of the random streams of all runs, and of the design.
    log : collection of str, optional
        Settings whose logarithm is uniform.
    store, executor, progress : optional
        As in `simoom.sweep`.

    Returns
    -------
    Sensitivity
        The effects of the settings with their intervals.

    Raises
    ------
    ScenarioError
        A setting does not exist or cannot have a value of its range; no run was started.
    ValueError
        The result has no value at some points, or the same at all.
    MissingPackageError
        SALib is not installed.

    References
    ----------
    A. Saltelli et al. Variance based sensitivity analysis of model output. Computer Physics
    Communications 181:2, 2010. M. D. Morris. Factorial sampling plans for preliminary computational
    experiments. Technometrics 33:2, 1991.
    """
    if method not in METHODS:
        raise ArgumentError("method", f"must be one of {', '.join(METHODS)}, is {method!r}")
    check_space(space, points, log)
    if len(space) < 2:
        raise ArgumentError(
            "space", "must name at least two paths, of which it finds the important one"
        )
    if method == "sobol" and points & (points - 1):
        raise ArgumentError("points", f"must be a power of two for sobol, is {points}")
    whole("replications", replications, bits=32)
    check_path("result", result)
    problem = {"num_vars": len(space), "names": list(space), "bounds": [[0.0, 1.0]] * len(space)}
    unit = _sample(problem, method, points, seed)
    listed = scaled(space, log, unit)
    # Whole numbers and lists make equal points, which are run once.
    distinct = {tuple(map(repr, each.values())): each for each in listed}
    done = sweep(
        scenario, over=list(distinct.values()), replications=replications, seed=seed, keep=[result],
        store=store, executor=executor, progress=progress,
    )  # fmt: skip
    means, noise = _means(done, result)
    place = {key: n for n, key in enumerate(distinct)}
    y = means[[place[tuple(map(repr, each.values()))] for each in listed]]
    variance = float(np.var(y))
    if variance <= (1e-12 * float(np.max(np.abs(y)))) ** 2:
        raise ArgumentError(
            "result", f"{result} is {y[0]:g} at all points, so that nothing moves it"
        )
    effects = _effects(problem, method, unit, y, seed)
    ranked = sorted(effects, key=lambda effect: -effect.total.mean)
    return Sensitivity(result, method, tuple(ranked), min(1.0, noise / variance), done)


def _sample(problem: dict[str, Any], method: str, points: int, seed: int) -> NDArray[np.float64]:
    """Return the design in the unit cube."""
    sample = need(f"SALib.sample.{method}", "a sensitivity analysis").sample
    rng = np.random.default_rng(seed)
    if method == "sobol":
        found = sample(problem, points, calc_second_order=False, seed=rng)
    else:
        found = sample(problem, points, num_levels=LEVELS, seed=rng)
    return np.asarray(found, dtype=float)


def _effects(
    problem: dict[str, Any],
    method: str,
    unit: NDArray[np.float64],
    y: NDArray[np.float64],
    seed: int,
) -> Iterator[Effect]:
    analyze = need(f"SALib.analyze.{method}", "a sensitivity analysis").analyze
    rng = np.random.default_rng(seed)
    if method == "sobol":
        found = analyze(problem, y, calc_second_order=False, seed=rng)
        for n, path in enumerate(problem["names"]):
            total, first = (
                _estimate(found[name][n], found[f"{name}_conf"][n], y.size) for name in ("ST", "S1")
            )
            yield Effect(path, total, first)
        return
    found = analyze(problem, unit, y, num_levels=LEVELS, seed=rng)
    for n, path in enumerate(problem["names"]):
        total = _estimate(found["mu_star"][n], found["mu_star_conf"][n], y.size)
        yield Effect(path, total, spread=float(found["sigma"][n]))


def _estimate(mean: float, half: float, n: int) -> Estimate:
    return Estimate(float(mean), float(mean - half), float(mean + half), n)


def _means(done: Sweep, result: str) -> tuple[NDArray[np.float64], float]:
    """Return the mean at each point, and the mean variance of these means by chance."""
    if not any(point.replications.measured(result) for point in done.points):
        raise ArgumentError("result", f"{result} has no value in any run")
    means, chance = [], []
    for point in done.points:
        found = [run.summary.get(result) for run in point.replications]
        values = [float(value) for value in found if isinstance(value, (int, float))]
        values = [value for value in values if math.isfinite(value)]
        if not values:
            at = ", ".join(f"{path}={value}" for path, value in point.settings.items())
            raise ArgumentError("result", f"{result} has no value at {at}; choose another range")
        means.append(float(np.mean(values)))
        chance.append(float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else math.nan)
    return np.array(means), float(np.mean(chance))
