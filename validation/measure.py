"""Runs all cases on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import simoom as sm
from simoom.results.run import RunJob
from simoom.runs.evidence import Value
from simoom.runs.runner import Runner
from simoom.runs.stats import mean_ci
from validation.case import Case, Group, Row

SEED = 1


def measure(
    groups: Iterable[Group], progress: Callable[[int, int], object] | None = None
) -> list[tuple[Group, list[Row]]]:
    """Run the scenarios of the cases; `progress` gets the completed and total number of runs."""
    groups = list(groups)
    cases = [case for group in groups for case in group.cases]
    every = (run for case in cases for which in run_jobs(case) for run in which)
    jobs = list(dict.fromkeys(every))
    found: dict[RunJob, sm.Run] = {}
    with Runner() as runner:
        for number, run in runner.results(jobs):
            found[jobs[number]] = run
            if progress is not None:
                progress(len(found), len(jobs))
    return [(group, [row for case in group.cases for row in rows(case, found)]) for group in groups]


def run_jobs(case: Case) -> list[list[RunJob]]:
    """Return the runs of a case: by the standard, and with its options."""
    return [
        [RunJob(scenario, SEED, replication) for replication in range(case.replications)]
        for scenario in (case.standard(), case.compared())
    ]


def rows(case: Case, found: Mapping[RunJob, sm.Run]) -> list[Row]:
    """Compare the results of a case's runs with the expected values."""
    standard, compared = ([found[run] for run in which] for which in run_jobs(case))

    def mean(runs: list[sm.Run], of: Callable[[sm.Run], float]) -> Value:
        return Value.estimated(mean_ci(map(of, runs)))

    return [
        Row(case, each, mean(standard, each.quantity.of), mean(compared, each.quantity.of))
        for each in case.expected
    ]
