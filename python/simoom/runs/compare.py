"""Comparison of two scenarios by pairs of runs with common random numbers.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", duration_s=2.0, stations=2,
...                 flows=[{"from": "server", "to": "sta*"}])
>>> sm.compare(s, s.set("stations", 4), replications=5)["total.goodput_mbps"].verdict
'undecided'
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from simoom.base.arguments import callback
from simoom.base.frames import pl
from simoom.base.issue import ArgumentError
from simoom.base.workers import Progress
from simoom.runs.precision import Reached, Rule, Until
from simoom.runs.replications import Judged, Replications, plan, repeat
from simoom.runs.rounds import Request, Rounds, opened
from simoom.runs.stats import Estimate, holm, mean_ci, paired_p_value
from simoom.runs.variates import Controlled, controlled, controls
from simoom.scenario.observables import check_path, nearest, unit_of
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.store.store import Store

MORE_IS_BETTER = re.compile(
    r".*\b(goodput_mbps|jain_index|mos|rating|video\.rate_mbps|conference\.(rate|in_time)_mbps)\)?"
)
LESS_IS_BETTER = re.compile(
    r".*(_drops|_losses|\bretransmissions|\btimeouts|\bcollision_probability|\brebuffers"
    r"|\bfreezes|\b(late|dropped|undelivered|rebuffering|frozen)_fraction"
    r"|\b(jitter|startup_delay)_s"
    r"|\b(delay|session_delay|rtt|discovery_delay)_s\.(mean|p\d+|max))\)?"
)
"""Results of which less is better. Of all others neither is."""

SECONDARY = re.compile(r"_ci95_|\.(count|sd|p50|p90|max)$")
"""Results that are compared only if they are named: each further one weakens all verdicts."""

DEFAULT_RUNS = 20


@dataclass(frozen=True)
class Row:
    """A result of both scenarios.

    Attributes
    ----------
    path, unit : str
        The result and its unit.
    first, second : Estimate
        Its mean in each scenario.
    difference : Estimate
        The second minus the first, over the pairs of runs.
    p_value : float
        Of the paired t test that there is no difference, adjusted for all rows (Holm 1979).
    verdict : str
        "better" or "worse" for the second scenario; "higher" or "lower" for a result of which
        neither is better; "undecided"; or "equal", if all pairs are.
    saved : float
        The fraction of the variance of the difference that pairing saves; negative if it adds.
    controlled : Controlled or None
        The difference by control variates, if a scenario has some (docs/sweep.md). The verdict is
        that of the plain difference.
    """

    path: str
    unit: str
    first: Estimate
    second: Estimate
    difference: Estimate
    p_value: float
    verdict: str
    saved: float
    controlled: Controlled | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The comparison of two scenarios.

    Attributes
    ----------
    first, second : Replications
        The runs of both, in pairs.
    rows : tuple of Row
        The results.
    confidence : float
        The probability that no verdict on a difference is wrong.
    reached : tuple of Reached
        With ``until``: the differences that it names, and whether the runs suffice.
    """

    first: Replications
    second: Replications
    rows: tuple[Row, ...]
    confidence: float
    reached: tuple[Reached, ...] = ()

    def __getitem__(self, path: str) -> Row:
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"there is no {path!r}{nearest(path, [row.path for row in self.rows])}")

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a row for each result as plain data.

        Returns
        -------
        list of dict
            A row for each result, with the keys of `frame`.
        """
        return [
            {
                "result": row.path,
                "unit": row.unit,
                "first": row.first.mean,
                "second": row.second.mean,
                "difference": row.difference.mean,
                "ci_low": row.difference.ci_low,
                "ci_high": row.difference.ci_high,
                "n": row.difference.n,
                "p_value": row.p_value,
                "verdict": row.verdict,
                "saved": row.saved,
                **_controlled_columns(row),
            }
            for row in self.rows
        ]

    def frame(self) -> pl.DataFrame:
        """Return a data frame with a row for each result.

        Returns
        -------
        polars.DataFrame
            A row for each result, in the unit of the result: means, difference, interval, verdict.
        """
        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    @property
    def caption(self) -> str:
        """What the table shows, with the multiplicity of its verdicts."""
        level = f"{100 * self.confidence:g} %"
        if not (self.first.is_random or self.second.is_random):
            return (
                "second minus first; all runs of each are the same: nothing in them is random, "
                "and each difference is exact"
            )
        return (
            f"second minus first, {len(self.first)} pairs of runs with common random numbers; "
            f"each interval has {level} confidence, all verdicts together {level} "
            f"(Holm, {len(self.rows)} results)"
        )

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for row in self.rows:
            counts[row.verdict] = counts.get(row.verdict, 0) + 1
        found = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        return f"Comparison({len(self.first)} pairs; {found})"


def compare(
    first: ScenarioLike,
    second: ScenarioLike,
    *,
    results: Iterable[str] | None = None,
    replications: int = DEFAULT_RUNS,
    until: Until | None = None,
    max_replications: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    store: Store | Path | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Comparison:
    """Compare two scenarios by pairs of runs with the same random numbers.

    Parameters
    ----------
    first, second : Scenario, path or mapping
        The scenarios.
    results : iterable of str, optional
        Paths of results; by default those of all flows together, ``total.*``,
        that both scenarios have, of delays mean, 95 % and 99 %.
    replications : int, optional
        The number of pairs; with `until` the least number, and at least 20.
    until : str, number or mapping, optional
        Run until the interval of a difference is narrow enough, as in `simoom.replicate`; a
        percentage is of the mean in the first scenario.
    max_replications : int, optional
        The bound on the number of pairs with `until`, by default 1000.
    seed : int, optional
        The root of the random streams of all runs.
    confidence : float, optional
        Of each interval, and of all verdicts together.
    store : Store or path, optional
        The store to which each run is written when it ends, and from which stored runs are read.
    executor : concurrent.futures.Executor, optional
        The executor of the runs; by default a thread for each core.
    progress : callable, optional
        Called after each run with the fraction of completed runs, of those planned so far.
    check : bool, optional
        Whether to check the laws of conservation during the runs.

    Returns
    -------
    Comparison
        The results of both scenarios and their differences.

    Raises
    ------
    ScenarioError
        A scenario has faults; no run was started.
    ValueError
        A result is in none of both scenarios.
    """
    callback(progress)
    rule = plan(replications, seed, until, max_replications)
    if rule is None and replications < 2:
        raise ArgumentError("replications", f"must be at least 2, is {replications}")
    if not 0 < confidence < 1:
        raise ArgumentError("confidence", f"must be in (0, 1), is {confidence}")
    scenarios = (Scenario.of(first), Scenario.of(second))
    for each in scenarios:
        each.check()
    paths = None if results is None else _named(results)
    rounds = Rounds(scenarios, Request(seed, check=check, progress=progress), _describe,
                    opened(store))  # fmt: skip
    one, two = repeat(rounds, executor, replications, rule, _differences, together=2)
    for target in one.reached:
        if not target.reached:
            warnings.warn(f"difference of {target}", stacklevel=2)
    if paths is None:
        paths = _totals(one, two)
    return Comparison(one, two, tuple(_rows(one, two, paths, confidence)), confidence, one.reached)


def _controlled_columns(row: Row) -> dict[str, Any]:
    found = row.controlled
    if found is None:
        return {}
    each = found.estimate
    return {
        "controlled": each.mean,
        "controlled_low": each.ci_low,
        "controlled_high": each.ci_high,
        "controlled_saved": found.saved,
    }


def _difference_by_controls(
    first: Replications, second: Replications, path: str, confidence: float
) -> Controlled | None:
    """Return the difference of a result by the controls of both scenarios, if they have some."""
    columns = [
        (f"{name} {each.name}", [each.value(run.summary) for run in runs])
        for name, runs in (("first", first), ("second", second))
        for each in controls(runs.scenario)
    ]
    if not columns:
        return None
    apart = np.array(second.values(path)) - np.array(first.values(path))
    chance = np.array([values for _, values in columns]).T
    return controlled(apart, chance, [name for name, _ in columns], confidence=confidence)


def _describe(number: int, replication: int) -> str:
    return f"replication {replication} of the {number + 1}. scenario"


def _named(results: Iterable[str]) -> list[str]:
    paths = [results] if isinstance(results, str) else list(dict.fromkeys(results))
    if not paths:
        raise ArgumentError("results", "must name at least one, is empty")
    for path in paths:
        check_path("results", path)
    return paths


def _totals(first: Replications, second: Replications) -> list[str]:
    """Return the results of all flows together that both scenarios have; numbers only."""
    return [
        path
        for path in first[0].summary
        if path.startswith("total.")
        and not SECONDARY.search(path)
        and _pairs(first, second, path).shape[1] > 1
    ]


def _pairs(first: Replications, second: Replications, path: str) -> Any:
    """Return the values of a result in the pairs of runs in which both have one."""
    values = [each.values(path) if each.measured(path) else [] for each in (first, second)]
    if not all(values):
        return np.zeros((2, 0))
    both = np.array(values)
    return both[:, np.isfinite(both).all(axis=0)]


def _rows(
    first: Replications, second: Replications, paths: Sequence[str], confidence: float
) -> Iterator[Row]:
    found = []
    for path in paths:
        a, b = _pairs(first, second, path)
        if a.size < 2:
            for each in (first, second):
                if not each.measured(path):
                    each.values(path)  # raises if the scenario does not have the result
            raise ArgumentError("results", f"{path}: fewer than two pairs of runs measured it")
        apart = float(np.var(a) + np.var(b))
        saved = 1 - float(np.var(b - a)) / apart if apart > 0 else math.nan
        estimates = [mean_ci(x, confidence=confidence) for x in (a, b, b - a)]
        found.append((path, estimates, paired_p_value(a, b), saved))
    adjusted = holm([p for _, _, p, _ in found])
    for (path, (one, two, difference), _, saved), p in zip(found, adjusted, strict=True):
        verdict = _verdict(path, difference, p, 1 - confidence)
        by_controls = _difference_by_controls(first, second, path, confidence)
        yield Row(path, unit_of(path), one, two, difference, p, verdict, saved, by_controls)


def _verdict(path: str, difference: Estimate, p_value: float, level: float) -> str:
    if difference.mean == 0 and difference.half_width == 0:
        return "equal"
    if p_value >= level:
        return "undecided"
    more = difference.mean > 0
    if MORE_IS_BETTER.fullmatch(path):
        return "better" if more else "worse"
    if LESS_IS_BETTER.fullmatch(path):
        return "worse" if more else "better"
    return "higher" if more else "lower"


def _differences(rule: Rule, first: Replications, second: Replications) -> Judged:
    """Yield the targets of a rule, and the differences that are to meet them."""
    for target in rule.targets:
        first.values(target.path)  # raises if there is no such result
        a, b = _pairs(first, second, target.path)
        width = target.of(float(np.mean(a))) if a.size else target.half_width
        yield replace(target, half_width=width, relative=False) if width else target, list(b - a)
