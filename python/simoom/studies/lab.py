"""Where the runs of a study are made: on all cores, each once, whatever the order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import update_wrapper
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from simoom.run import Progress, Run, cores, run
from simoom.scenario import Scenario
from simoom.studies.figure import Figure

Measure = Callable[[Run], Mapping[str, float]]
"""Takes from a run what a study needs, so that the rest need not be kept."""

Key = TypeVar("Key", bound=Hashable)

_Wanted = tuple[Scenario, Measure, tuple[str, ...], int]
"""A run: its scenario, what is taken from it, the probes it needs, its replication."""


class Sample(dict[str, "NDArray[np.float64]"]):
    """What replications measured: for each quantity an array in order of replication."""


class Lab:
    """Runs scenarios for the figures of a study.

    Figures may ask from several threads at once, and together keep all cores busy. What two of
    them ask for is run once. Replications of different scenarios have the same seeds, so that they
    may be compared pair by pair.

    Parameters
    ----------
    quick : bool, optional
        Fewer and shorter runs.
    seed : int, optional
        Root of all random streams.
    workers : int, optional
        Threads; one for each core by default. Results do not depend on it.
    progress : callable, optional
        Called with the fraction of the runs asked for that is done.
    """

    def __init__(
        self,
        *,
        quick: bool = False,
        seed: int = 1,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.quick = quick
        self.seed = seed
        self._progress = progress
        self._threads = ThreadPoolExecutor(workers or cores(), "simoom-lab")
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._known: dict[_Wanted, Future[Mapping[str, float]]] = {}
        self._done = 0
        self._shown = 0.0

    def pick(self, full: Key, quick: Key) -> Key:
        """Return one or the other: a grid, a number of replications, a duration."""
        return quick if self.quick else full

    def sample(
        self,
        cases: Mapping[Key, Scenario],
        measure: Measure,
        *,
        replications: int,
        probes: tuple[str, ...] = (),
    ) -> dict[Key, Sample]:
        """Run every case so many times and return what was measured.

        Parameters
        ----------
        cases : mapping
            The scenarios by name.
        measure : callable
            What to take from a run.
        replications : int
            How many runs of each.
        probes : tuple of str, optional
            Paths of the time series that `measure` reads.

        Raises
        ------
        ScenarioError
            A case has faults.
        """
        futures = {
            key: [self._submit((scenario, measure, probes, r)) for r in range(replications)]
            for key, scenario in cases.items()
        }
        return {key: _stack([f.result() for f in row]) for key, row in futures.items()}

    def _submit(self, wanted: _Wanted) -> Future[Mapping[str, float]]:
        with self._lock:
            if wanted not in self._known:
                self._known[wanted] = self._threads.submit(self._run, *wanted)
            return self._known[wanted]

    def _run(
        self, scenario: Scenario, measure: Measure, probes: tuple[str, ...], replication: int
    ) -> Mapping[str, float]:
        done = run(
            scenario,
            seed=self.seed,
            replication=replication,
            probes=probes,
            progress=self._attend,
        )
        measured = measure(done)
        with self._lock:
            self._done += 1
            self._shown = max(self._shown, self._done / len(self._known))
            if self._progress is not None:
                self._progress(self._shown)
        return measured

    def _attend(self, _: float) -> None:
        if self._stop.is_set():
            raise InterruptedError("the study was interrupted")

    @property
    def runs(self) -> int:
        """How many runs were made."""
        return self._done

    def close(self) -> None:
        """End all runs."""
        self._stop.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _stack(runs: list[Mapping[str, float]]) -> Sample:
    return Sample((name, np.array([each[name] for each in runs])) for name in runs[0])


class Exhibit:
    """A figure that can be made: ``figure_5(quick=True)``, or in a lab that others use too."""

    def __init__(self, key: str, make: Callable[[Lab], Figure]) -> None:
        self.key = key
        self._make = make
        update_wrapper(self, make)

    def __call__(self, *, quick: bool = False, lab: Lab | None = None) -> Figure:
        """Make the figure.

        Parameters
        ----------
        quick : bool, optional
            Fewer and shorter runs.
        lab : Lab, optional
            Where to run; it says whether to be quick.
        """
        if lab is not None:
            return self._make(lab)
        with Lab(quick=quick) as own:
            return self._make(own)

    def __repr__(self) -> str:
        return f"Exhibit({self.key})"


def exhibit(key: str) -> Callable[[Callable[[Lab], Figure]], Exhibit]:
    """Make a function of a lab callable as ``figure_5(quick=True)``."""
    return lambda make: Exhibit(key, make)
