"""Rounds of runs: replications of several scenarios, as many as a rule asks for.

`replicate` has one scenario, `compare` two, and `sweep` one for each point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path

from simoom import _core
from simoom.base.issue import LostWorkerError
from simoom.base.workers import Progress
from simoom.results.record import identity
from simoom.results.run import Run, RunJob, Summary
from simoom.results.travel import sources
from simoom.runs.precision import Rule
from simoom.runs.runner import Runner
from simoom.runs.transient import Warmup, assess
from simoom.scenario.scenario import Scenario
from simoom.store.shards import manifest
from simoom.store.store import Store

Key = tuple[int, int]
"""The number of a scenario, and the number of a replication."""

AT_ONCE = 10_000
"""So many stored runs are read at once."""


@dataclass(frozen=True)
class Request:
    """What all runs have in common.

    Attributes
    ----------
    seed : int
        The root of the random streams.
    probes : tuple of str
        Paths whose time series are kept.
    check : bool
        Whether the laws of conservation are checked.
    progress : callable, optional
        Called after each run with the completed fraction.
    keep : collection of str, optional
        The results that are kept of each run; by default all.
    shard : tuple of int, optional
        The number of the part of the runs that is run, from 1, and the number of parts.
    """

    seed: int = 1
    probes: tuple[str, ...] = ()
    check: bool = False
    progress: Progress | None = None
    keep: Collection[str] | None = None
    shard: tuple[int, int] | None = None


@dataclass
class Rounds:
    """The runs of several scenarios: those in the store, and those to be computed.

    Parameters
    ----------
    scenarios : sequence of Scenario
        The scenarios.
    request : Request
        What all runs have in common.
    describe : callable
        Returns the description of a run, for notes of exceptions, from the number of its scenario
        and its replication.
    store : Store, optional
        The store to which each run is written when it ends.

    Attributes
    ----------
    results : dict
        The runs, by the number of the scenario and the replication.
    wanted : list of int
        The number of runs of each scenario.
    warmups : list
        The numbers of scenarios and their warm-ups that were found too short.
    """

    scenarios: Sequence[Scenario]
    request: Request
    describe: Callable[[int, int], str]
    store: Store | None = None
    results: dict[Key, Run] = field(default_factory=dict)
    wanted: list[int] = field(default_factory=list)
    warmups: list[tuple[int, Warmup]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # The source of controllers is read before the runs, because it may be edited meanwhile.
        self._sources = [sources(s) if self.store is not None else () for s in self.scenarios]
        self._pilots: list[tuple[str, ...]] = [() for _ in self.scenarios]

    def run(
        self,
        executor: Executor | None,
        least: int,
        rule: Rule | None = None,
        look: Callable[[], Sequence[int]] | None = None,
    ) -> None:
        """Read the stored runs, compute the missing ones, and store each when it ends.

        Parameters
        ----------
        executor : concurrent.futures.Executor, optional
            The executor of the runs.
        least : int
            The number of runs of each scenario in the first round.
        rule : Rule, optional
            The rule by which rounds end. The first round then records the time series by which
            the warm-up is judged.
        look : callable, optional
            Returns the number of runs of each scenario that are wanted after a round.
        """
        done = [0] * len(self.scenarios)
        self.wanted = [least] * len(done)
        self._pilots = [pilot_probe(each, rule) for each in self.scenarios]
        with Runner(executor, shares=False) as runner:
            while done != self.wanted:
                # One replication of all scenarios, then the next: an interrupt leaves some of all.
                pending = [
                    (n, r)
                    for r in range(min(done), max(self.wanted))
                    for n in range(len(done))
                    if done[n] <= r < self.wanted[n]
                ]
                self._compute(runner, self._read(self._own(pending)))
                if rule is not None and not any(done):
                    self._check_warmups()
                done = list(self.wanted)
                if look is not None:
                    self.wanted = list(look())

    def of(self, n: int) -> tuple[Run, ...]:
        """Return the runs of a scenario, by replication."""
        found = (self.results.get((n, r)) for r in range(self.wanted[n]))
        return tuple(run for run in found if run is not None)

    def _own(self, pending: list[Key]) -> list[Key]:
        """Return the runs of the shard, and leave its manifest in the store."""
        if self.request.shard is None or self.store is None:
            return pending
        part = manifest([self._name(key) for key in pending], self.request.shard)
        part.write(self.store.place)
        return pending[part.number - 1 :: part.of]

    def _read(self, pending: Sequence[Key]) -> list[Key]:
        """Read the stored runs among these, and return the others."""
        if self.store is None:
            return list(pending)
        missing = []
        for begin in range(0, len(pending), AT_ONCE):
            keys = {self._name(key): key for key in pending[begin : begin + AT_ONCE]}
            wanted = {name: self.scenarios[n] for name, (n, _) in keys.items()}
            found = self.store.get_many(wanted, checked=self.request.check)
            for name, run in found.items():
                self.results[keys[name]] = self._kept(run)
            missing += [key for name, key in keys.items() if name not in found]
        self._report_progress()
        return missing

    def _compute(self, runner: Runner, missing: Sequence[Key]) -> None:
        def describe(number: int) -> str:
            return self.describe(*missing[number])

        try:
            for number, result in runner.results(self._jobs(missing), describe=describe):
                self._keep(missing[number], result)
                self._report_progress()
        except (KeyboardInterrupt, LostWorkerError):
            # Further runs have ended, and the interrupt may have come before one was stored.
            for number, result in runner.done(self._jobs(missing)):
                self._keep(missing[number], result)
            raise

    def _jobs(self, keys: Sequence[Key]) -> Iterator[RunJob]:
        request = self.request
        for n, r in keys:
            probes = tuple(dict.fromkeys((*request.probes, *self._pilots[n])))
            yield RunJob(self.scenarios[n], request.seed, r, probes, request.check,
                         sources=self._sources[n])  # fmt: skip

    def _name(self, key: Key) -> str:
        """Return the key of a run in the store."""
        n, r = key
        known = self._sources[n]
        return identity(self.scenarios[n], seed=self.request.seed, replication=r, known=known)

    def _keep(self, key: Key, run: Run) -> None:
        if self.store is not None:
            self.store.put(self._name(key), run, checked=self.request.check)
        self.results[key] = self._kept(run)

    def _kept(self, run: Run) -> Run:
        """Return a run with the results that are kept, and with the scenario that runs share."""
        keep = self.request.keep
        if keep is None:
            return run
        general = {path for path in keep if "[*]" in path}
        every = (path for path in run.summary if _core.general(path, "[*]") in general)
        paths = dict.fromkeys((*keep, *(every if general else ())))
        present = ((path, run.summary.get(path)) for path in paths if "[*]" not in path)
        # Runs share texts, such as the names of flows.
        shared = ((p, sys.intern(v) if isinstance(v, str) else v) for p, v in present)
        return replace(run, summary=Summary((p, v) for p, v in shared if v is not None))

    def _report_progress(self) -> None:
        if self.request.progress is not None:
            of = self.request.shard[1] if self.request.shard else 1
            self.request.progress(min(1.0, len(self.results) * of / sum(self.wanted)))

    def _check_warmups(self) -> None:
        """Check the warm-up of each scenario by the runs that were computed, which have series."""
        for n, paths in enumerate(self._pilots):
            for path in paths:
                judged = check_warmup(self.scenarios[n], self.of(n), path)
                if judged is not None and judged.too_short:
                    self.warmups.append((n, judged))
            extra = set(paths) - set(self.request.probes)
            for r in range(self.wanted[n]) if extra else ():
                if (run := self.results.get((n, r))) is not None:
                    self.results[n, r] = without_series(run, extra)
        self._pilots = [() for _ in self.scenarios]


def opened(store: Store | Path | str | None) -> Store | None:
    """Return a store that a caller names."""
    return store if store is None or isinstance(store, Store) else Store(store)


def pilot_probe(scenario: Scenario, rule: Rule | None) -> tuple[str, ...]:
    """Return the probe by which the warm-up is judged: that of the first target that has one."""
    if rule is None:
        return ()
    known = {probe.path for probe in scenario.probes()}
    paths = (*(target.path for target in rule.targets), "total.goodput_mbps")
    return next(((path,) for path in paths if path in known), ())


def check_warmup(scenario: Scenario, runs: Sequence[Run], path: str) -> Warmup | None:
    """Check the warm-up of a scenario by runs that recorded a probe; see `transient.assess`."""
    recorded = [run.samples(path) for run in runs if path in run.probes]
    return assess(path, recorded, scenario.warmup_s)


def without_series(run: Run, paths: Collection[str]) -> Run:
    """Return a run without some of its time series."""
    kept = {path: run.samples(path) for path in run.probes if path not in paths}
    return replace(run, _series=kept)
