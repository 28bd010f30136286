"""Runs all cases on all cores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

import simoom as sm
from simoom.run import cores
from simoom.stats import mean_ci
from validation.case import Case, Group, Row

SEED = 1


def measure(
    groups: Iterable[Group], progress: Callable[[int, int], object] | None = None
) -> list[tuple[Group, list[Row]]]:
    """Run what the cases need; `progress` is told how many runs of how many are done."""
    groups = list(groups)
    stop = threading.Event()

    def attend(_: float) -> None:
        if stop.is_set():
            raise InterruptedError("another run failed or was interrupted")

    with ThreadPoolExecutor(cores()) as pool:
        runs: dict[tuple[sm.Scenario, int], Future[sm.Run]] = {}
        for case in (case for group in groups for case in group.cases):
            for scenario in {case.standard(), case.compared()}:
                for replication in range(case.replications):
                    if (scenario, replication) not in runs:
                        runs[scenario, replication] = pool.submit(
                            sm.run,
                            scenario,
                            seed=SEED,
                            replication=replication,
                            progress=attend,
                        )
        try:
            for done, run in enumerate(as_completed(runs.values()), start=1):
                run.result()
                if progress is not None:
                    progress(done, len(runs))
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    found = {key: run.result() for key, run in runs.items()}
    return [(group, [row for case in group.cases for row in rows(case, found)]) for group in groups]


def rows(case: Case, runs: dict[tuple[sm.Scenario, int], sm.Run]) -> list[Row]:
    """Compare what the runs of a case gave with what they should."""

    def estimate(scenario: sm.Scenario, of: Callable[[sm.Run], float]) -> sm.Estimate:
        return mean_ci([of(runs[scenario, r]) for r in range(case.replications)])

    standard, compared = case.standard(), case.compared()
    return [
        Row(
            case,
            check,
            estimate(standard, check.quantity.of),
            estimate(compared, check.quantity.of),
        )
        for check in case.checks
    ]
