"""Where the runs of a study are made: on all cores, each once, whatever the order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from simoom.run import Run, Wanted
from simoom.runner import Progress, Runner
from simoom.scenario import Scenario
from simoom.studies.figure import Figure

Measure = Callable[[Run], Mapping[str, float]]
"""Takes from a run what a study needs, so that the rest need not be kept."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class _Measured:
    """A run of which only what is measured is wanted."""

    wanted: Wanted
    measure: Measure

    def __call__(self, progress: Progress | None = None) -> Mapping[str, float]:
        return self.measure(self.wanted(progress))


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
        self._runner = Runner(workers=workers)
        self._progress = progress
        self._lock = threading.Lock()
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
        places = [(key, replication) for key in cases for replication in range(replications)]
        jobs = [_Measured(Wanted(cases[key], self.seed, r, probes), measure) for key, r in places]
        found: dict[tuple[Key, int], Mapping[str, float]] = {}
        for number, measured in self._runner.results(jobs):
            found[places[number]] = measured
            self._tell()
        return {key: _stack([found[key, r] for r in range(replications)]) for key in cases}

    def _tell(self) -> None:
        """Tell the progress of all figures together, which never goes back."""
        with self._lock:
            self._shown = max(self._shown, self._runner.ended / self._runner.asked)
            if self._progress is not None:
                self._progress(self._shown)

    @property
    def runs(self) -> int:
        """How many runs were made."""
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
