"""Runs of scenarios that are compared: each replication once, all with the same seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from simoom.base.arguments import callback, whole
from simoom.base.workers import Progress
from simoom.results.run import Run, RunJob
from simoom.runs.runner import Runner
from simoom.runs.stats import Estimate, mean_ci
from simoom.scenario.scenario import Scenario


class Laboratory:
    """Runs scenarios, each replication once, all with the same seeds."""

    def __init__(
        self, runner: Runner, replications: int, seed: int, progress: Progress | None
    ) -> None:
        self.replications, self.seed = replications, seed
        self.part = (0.0, 1.0)
        """The part of all progress that the next runs are."""
        self._runner, self._progress = runner, progress
        self._done: dict[RunJob, Run] = {}

    def runs(self, scenarios: Sequence[Scenario], count: int | None = None) -> list[list[Run]]:
        """Return so many runs of each scenario, by replication."""
        count = count or self.replications
        jobs = {
            (n, r): RunJob(scenario, self.seed, r)
            for r in range(count)
            for n, scenario in enumerate(scenarios)
        }
        missing = list(dict.fromkeys(job for job in jobs.values() if job not in self._done))
        for done, (number, run) in enumerate(self._runner.results(missing), start=1):
            self._done[missing[number]] = run
            if self._progress is not None:
                begin, end = self.part
                self._progress(begin + (end - begin) * done / len(missing))
        return [[self._done[jobs[n, r]] for r in range(count)] for n in range(len(scenarios))]


def check(replications: int, seed: int, progress: Progress | None) -> None:
    """Raise unless intervals can be computed from these runs."""
    callback(progress)
    whole("replications", replications, bits=32)
    if replications < 2:
        raise ValueError(f"replications: must be at least 2 for an interval, is {replications}")
    whole("seed", seed, bits=64)


def estimate(values: Iterable[float]) -> Estimate:
    """Estimate the mean of the values that were measured; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return mean_ci(known) if known else Estimate(math.nan, math.nan, math.nan, 0)
