"""Replications: independent runs of one scenario on all cores, as many as the answer needs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simoom.base.arguments import callback, whole
from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.base.workers import Progress
from simoom.results.run import Run, Summary
from simoom.runs.precision import LEAST_RUNS, Reached, Rule, Target, Until, rule_of
from simoom.runs.rounds import Request, Rounds, check_warmup, opened
from simoom.runs.stats import Estimate, mean_ci, quantile_ci
from simoom.runs.transient import Warmup
from simoom.runs.variates import Controlled, controlled, controls
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.store.store import Store

Judged = Iterator[tuple[Target, Sequence[float]]]
"""Each target of a rule, with the values that are to meet it: NaN where a run measured none."""


@dataclass(frozen=True, eq=False, repr=False)
class Replications:
    """Independent runs of one scenario, in the order of their replications."""

    scenario: Scenario
    runs: tuple[Run, ...]
    reached: tuple[Reached, ...] = ()
    """With ``until``: the estimate of each result that it names, and whether the runs suffice."""

    @property
    def is_random(self) -> bool:
        """Whether runs differ. Several that do not have shown that nothing is random in them."""
        return len(self.runs) < 2 or len({run.digest for run in self.runs}) > 1

    def frame(self) -> pl.DataFrame:
        """Return a tidy data frame with a row for each run; columns are paths.

        Returns
        -------
        polars.DataFrame
            A row for each run; columns are seed, replication and the paths of the results.
        """
        return pl.DataFrame([run.row() for run in self.runs], infer_schema_length=None)

    def measured(self, path: str) -> bool:
        """Whether any run has a value at a path.

        Returns
        -------
        bool
            Whether a run could measure the result.
        """
        return any(run.summary.get(path) is not None for run in self.runs)

    def values(self, path: str) -> list[float]:
        """Return the number at a path for each run; NaN if a run could not measure it.

        Returns
        -------
        list of float
            The values of the runs that measured the result, in its unit.
        """
        known = Summary((key, value) for run in self.runs for key, value in run.summary.items())
        if isinstance(known[path], str):
            raise TypeError(f"{path}: is text, {known[path]!r}, and not a number")
        found = (run.summary.get(path) for run in self.runs)
        return [float(value) if isinstance(value, (int, float)) else math.nan for value in found]

    def mean(self, path: str, *, confidence: float = 0.95) -> Estimate:
        """Estimate the mean of the number at a path over the `n` runs that measured it.

        Returns
        -------
        Estimate
            The mean with its interval, in the unit of the result.
        """
        measured = [value for value in self.values(path) if not math.isnan(value)]
        if not measured:
            raise ValueError(f"{path}: no run could measure it")
        return mean_ci(measured, confidence=confidence)

    def quantile(self, path: str, probability: float, *, confidence: float = 0.95) -> Estimate:
        """Estimate a quantile over the runs of the number at a path, with its interval.

        It says how good or bad single runs are: one run in ten is worse than the 10 % quantile of
        goodput. See `simoom.quantile_ci`.

        Returns
        -------
        Estimate
            The quantile with its interval, in the unit of the result.
        """
        measured = [value for value in self.values(path) if not math.isnan(value)]
        if not measured:
            raise ValueError(f"{path}: no run could measure it")
        return quantile_ci(measured, probability, confidence=confidence)

    def controlled(self, path: str, *, confidence: float = 0.95) -> Controlled | None:
        """Estimate the mean by control variates, if the scenario has some; see docs/sweep.md.

        Returns None if the scenario has none, or there are fewer than twenty runs.

        Returns
        -------
        Controlled
            The mean with its interval, and the variance saved.
        """
        found = controls(self.scenario)
        values = self.values(path)
        chance = np.array([[each.value(run.summary) for each in found] for run in self.runs])
        names = [each.name for each in found]
        return controlled(values, chance, names, confidence=confidence) if found else None

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, replication: int) -> Run:
        return self.runs[replication]

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        if not self.runs:
            return "Replications(0 runs)"
        first = self.runs[0]
        return (
            f"Replications({len(self.runs)} runs, seed={first.seed}, "
            f"{len(first.summary)} values each)"
        )


def replicate(
    scenario: ScenarioLike,
    *,
    replications: int = 10,
    seed: int = 1,
    until: Until | None = None,
    max_replications: int | None = None,
    probes: Iterable[str] = (),
    store: Store | Path | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Replications:
    """Run independent replications of a scenario on all cores.

    The result does not depend on the number of workers.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to run: a `Scenario`, its TOML file, or its keys.
    replications : int, optional
        The number of runs; with `until` the least number of runs, and at least 20.
    seed : int, optional
        The root of the random streams of all runs.
    until : str, number or mapping, optional
        Run until the 95 % interval of the mean is narrow enough: ``"2 %"`` for a half-width of 2 %
        of total.goodput_mbps, ``"0.5"`` for 0.5 Mb/s, or a mapping of several results,
        ``{"total.goodput_mbps": "2 %", "total.delay_s.p99": "0.001"}``. A warning says where the
        warm-up of the scenario is too short.
    max_replications : int, optional
        The bound on the number of runs with `until`, by default 1000. A warning says which results
        are not precise enough then.
    probes : iterable of str, optional
        Paths whose time series are recorded.
    store : Store or path, optional
        The store to which each run is written when it ends, and from which stored runs are read.
    executor : concurrent.futures.Executor, optional
        The executor of the runs; by default a thread for each core, because runs release the GIL.
    progress : callable, optional
        Called after each run with the fraction of completed runs, of those planned so far.
    check : bool, optional
        Whether to check the laws of conservation during the runs.

    Returns
    -------
    Replications
        The runs, in the order of their numbers.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
    >>> len(sm.replicate(s, replications=4))
    4
    >>> sm.replicate(s, until="5 %").reached[0].reached
    True
    """
    scenario = Scenario.of(scenario)
    callback(progress)
    rule = plan(replications, seed, until, max_replications)
    probes = (probes,) if isinstance(probes, str) else tuple(probes)
    if store is not None and probes:
        raise ValueError("probes: a store keeps no time series; leave out the store or the probes")
    scenario.check()
    request = Request(seed, probes, check, progress)
    rounds = Rounds([scenario], request, lambda _, r: f"replication {r}", opened(store))
    (done,) = repeat(rounds, executor, replications, rule)
    for _, judged in rounds.warmups:
        warnings.warn(str(judged), stacklevel=2)
    for each in done.reached:
        if not each.reached:
            warnings.warn(str(each), stacklevel=2)
    return done


def plan(
    replications: int, seed: int, until: Until | None, max_replications: int | None
) -> Rule | None:
    """Check the parameters of replications, and return the rule by which they end."""
    whole("replications", replications, bits=32)
    if replications == 0:
        raise ValueError("replications: must be at least 1, is 0")
    whole("seed", seed, bits=64)
    if max_replications is not None:
        whole("max_replications", max_replications, bits=32)
        if until is None:
            raise ValueError("max_replications: bounds the runs of until=..., which is missing")
    return None if until is None else rule_of(until, replications, max_replications)


def of_means(rule: Rule, done: Replications) -> Judged:
    """Yield each target of a rule, with the values of its result in runs of one scenario."""
    for each in rule.targets:
        yield each, done.values(each.path) if done.measured(each.path) else [math.nan]


def repeat(
    rounds: Rounds,
    executor: Executor | None,
    replications: int,
    rule: Rule | None,
    judged: Callable[..., Judged] = of_means,
    *,
    together: int = 1,
) -> list[Replications]:
    """Run, look whether the runs suffice, and run as many more as they lack.

    Parameters
    ----------
    rounds : Rounds
        The runs.
    executor : concurrent.futures.Executor, optional
        The executor of the runs.
    replications : int
        The number of runs of each scenario without a rule.
    rule : Rule, optional
        The rule by which the runs end.
    judged : callable, optional
        Yields each target with the values that are to meet it, of the runs of `together`
        scenarios.
    together : int, optional
        The number of scenarios in a row that are judged together, and run equally often.

    Returns
    -------
    list of Replications
        The runs of each scenario, with how far they meet the targets.
    """
    reached: dict[int, tuple[Reached, ...]] = {}

    def of(n: int) -> Replications:
        return Replications(rounds.scenarios[n], rounds.of(n), reached.get(n - n % together, ()))

    def look() -> list[int]:
        assert rule is not None
        for target in rule.targets:
            if all(run.summary.get(target.path) is None for run in rounds.results.values()):
                of(0).values(target.path)  # raises with suggestions, or all are NaN
        counts = list(rounds.wanted)
        for n in range(0, len(counts), together):
            if n not in reached or not all(each.reached for each in reached[n]):
                group = range(n, n + together)
                reached[n], wanted = rule.look(judged(rule, *map(of, group)), counts[n])
                counts[n : n + together] = [max(counts[n], wanted)] * together
        return counts

    least = replications if rule is None else rule.least
    rounds.run(executor, least, rule if together == 1 else None,
               None if rule is None else look)  # fmt: skip
    return [of(n) for n in range(len(rounds.scenarios))]


def warmup(
    scenario: ScenarioLike,
    *,
    result: str = "total.goodput_mbps",
    replications: int = LEAST_RUNS,
    seed: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Warmup:
    """Check by MSER-5 whether the warm-up of a scenario covers its transient.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario.
    result : str, optional
        The probe whose transient is sought.
    replications, seed : int, optional
        The number of runs over which the probe is averaged, and the root of their streams.
    executor : concurrent.futures.Executor, optional
        The executor of the runs.
    progress : callable, optional
        Called after each run with the fraction of completed runs.

    Returns
    -------
    Warmup
        What MSER-5 finds about the warm-up of the runs.

    Raises
    ------
    ValueError
        The series cannot tell: it has gaps, or fewer than 100 samples.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
    >>> sm.warmup(s, replications=5).too_short
    False
    """
    scenario = Scenario.of(scenario)
    whole("replications", replications, bits=32)
    if replications < 2:
        raise ValueError(f"replications: must be at least 2, is {replications}")
    runs = replicate(scenario, replications=replications, seed=seed, probes=[result],
                     executor=executor, progress=progress)  # fmt: skip
    judged = check_warmup(scenario, runs.runs, result)
    if judged is None:
        raise ValueError(f"{result}: its series has gaps or fewer than 100 samples; choose another")
    return judged
