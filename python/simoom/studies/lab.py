"""The lab runs the scenarios of a study: on all cores, each run once, in any order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import update_wrapper
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from simoom.base.workers import Progress
from simoom.results.run import Run, RunJob
from simoom.runs.runner import Runner
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Figure

Measure = Callable[[Run], Mapping[str, float]]
"""Extracts from a run the values that a study needs, so that the run can be discarded."""

Key = TypeVar("Key", bound=Hashable)

MOST_TIMES = 4
"""The largest factor by which a figure has more replications to decide a claim."""


@dataclass(frozen=True)
class _MeasureJob:
    """A job that runs a scenario and keeps only the extracted values."""

    job: RunJob
    measure: Measure

    def __call__(self, progress: Progress | None = None) -> Mapping[str, float]:
        return self.measure(self.job(progress))


class Sample(dict[str, "NDArray[np.float64]"]):
    """Values of replications: for each quantity an array in the order of replications."""


class Lab:
    """Runs scenarios for the figures of a study.

    Figures may submit runs from several threads at once, which together use all cores. A run that
    two figures need is executed once. Replications of different scenarios have the same seeds, so
    that they can be compared in pairs.

    A figure with an undecided claim is made again with twice and four times as many replications
    (`with_more`), and then stays undecided. Each of the three looks has intervals of 95 %. A quick
    lab looks once, as does a figure that fixes its replications.

    Parameters
    ----------
    quick : bool, optional
        Fewer and shorter runs.
    seed : int, optional
        Root of all random streams.
    workers : int, optional
        Threads; one for each core by default. Results do not depend on it.
    progress : callable, optional
        Called with the completed fraction of the submitted runs.
    most_times : int, optional
        The largest factor by which a figure has more replications; 1 to look once.
    """

    def __init__(
        self,
        *,
        quick: bool = False,
        most_times: int = MOST_TIMES,
        seed: int = 1,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.quick = quick
        self.most_times = most_times
        self.seed = seed
        self._runner = Runner(workers=workers)
        self._progress = progress
        self._lock = threading.Lock()
        self._shown = [0.0]  # shared with the labs of `with_more`
        self.times = 1

    def with_more(self) -> Lab | None:
        """Return a lab with the same runs and twice the replications; None if these are enough."""
        if self.quick or self.times >= self.most_times:
            return None
        more = copy(self)
        more.times = 2 * self.times
        return more

    def pick(self, full: Key, quick: Key) -> Key:
        """Return the second value if the lab is quick, otherwise the first."""
        return quick if self.quick else full

    def sample(
        self,
        cases: Mapping[Key, Scenario],
        measure: Measure,
        *,
        replications: int | Mapping[Key, Sequence[int]],
        probes: tuple[str, ...] = (),
    ) -> dict[Key, Sample]:
        """Run replications of every case and return the extracted values.

        Parameters
        ----------
        cases : mapping
            The scenarios by name.
        measure : callable
            The function that extracts the values from a run.
        replications : int or mapping
            The number of runs of each case, of which a lab of `with_more` runs more; or the numbers
            of the replications of each case, in this order.
        probes : tuple of str, optional
            Paths of the time series that `measure` reads.

        Raises
        ------
        ScenarioError
            A case has faults.
        """
        if isinstance(replications, int):
            replications = dict.fromkeys(cases, range(replications * self.times))
        numbers = {key: tuple(replications[key]) for key in cases}
        keys = [(key, replication) for key in cases for replication in numbers[key]]
        jobs = [_MeasureJob(RunJob(cases[key], self.seed, r, probes), measure) for key, r in keys]
        found: dict[tuple[Key, int], Mapping[str, float]] = {}
        for number, measured in self._runner.results(jobs):
            found[keys[number]] = measured
            self._report_progress()
        return {key: _stack([found[key, r] for r in numbers[key]]) for key in cases}

    def _report_progress(self) -> None:
        """Report the progress of all figures together, which never decreases."""
        with self._lock:
            self._shown[0] = max(self._shown[0], self._runner.ended / self._runner.submitted)
            if self._progress is not None:
                self._progress(self._shown[0])

    @property
    def runs(self) -> int:
        """The number of completed runs."""
        return self._runner.ended

    def close(self) -> None:
        """End all runs."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stack(runs: list[Mapping[str, float]]) -> Sample:
    return Sample((name, np.array([each[name] for each in runs])) for name in runs[0])


class FigureFunction:
    """A function that makes a figure: ``figure_5(quick=True)``, or in a shared lab."""

    def __init__(self, key: str, make: Callable[[Lab], Figure], *, again: bool) -> None:
        self.key = key
        self._make, self._again = make, again
        update_wrapper(self, make)

    def __call__(self, *, quick: bool = False, lab: Lab | None = None) -> Figure:
        """Make the figure.

        Parameters
        ----------
        quick : bool, optional
            Fewer and shorter runs.
        lab : Lab, optional
            The lab for the runs, which determines whether they are quick.
        """
        if lab is None:
            with Lab(quick=quick) as own:
                return self(lab=own)
        figure = self._make(lab)
        while self._again and any(each.is_undecided for each in figure.claims):
            if (more := lab.with_more()) is None:
                break
            lab, figure = more, self._make(more)
        return figure

    def __repr__(self) -> str:
        return f"FigureFunction({self.key})"


def figure_function(
    key: str, *, again: bool = True
) -> Callable[[Callable[[Lab], Figure]], FigureFunction]:
    """Decorate a function of a lab, so that it can be called as ``figure_5(quick=True)``.

    Parameters
    ----------
    key : str
        The figure's key.
    again : bool, optional
        Whether it is made again with more replications as long as a claim is undecided. Otherwise
        its function fixes their number.
    """
    return lambda make: FigureFunction(key, make, again=again)
