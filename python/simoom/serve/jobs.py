"""Runs in progress: a queue, and threads that take from it and have workers run what is in it."""

from __future__ import annotations

import hashlib
import threading
import time
from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simoom.results.run import Samples
from simoom.scenario.scenario import Scenario
from simoom.serve.library import MOST_SAMPLES, Library, plain
from simoom.serve.limits import Limits
from simoom.serve.sweeps import Plan, Sweeps
from simoom.serve.tasks import PAIRS, Explanation, Pairs, Simulation, Swept
from simoom.serve.workers import Bounds, StoppedError, Worker, message

ENDED = ("done", "stopped", "failed")
KEPT = 50
"""Runs that were stopped or have failed, of which the newest are listed."""
MOST_KEPT_SAMPLES = 2000
"""Samples of a time series of these."""
END_S = 5.0
"""How long a thread may take to end; a worker is killed long before."""


class BusyError(Exception):
    """The queue is full."""


@dataclass(frozen=True)
class Wanted:
    """What is run.

    Attributes
    ----------
    scenario, seed, name : Scenario, int, str
        The scenario, the seed of its run, and the name of the run.
    wants_air : bool
        Whether it has a timeline.
    owners : dict
        Name and traffic of what has time series, by path.
    """

    scenario: Scenario
    seed: int
    name: str
    wants_air: bool = False
    owners: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(eq=False)
class Job:
    """A run that waits, runs or has ended."""

    key: str
    wanted: Wanted
    state: str = "waiting"
    done: float = 0.0
    message: str = ""
    began: float = 0.0
    """When it began to run, as `time.monotonic` has it."""
    series: dict[str, tuple[array[float], array[float]]] = field(default_factory=dict)
    """Its samples so far; those of a run that is kept are in the library."""
    thinned: int = 0
    """How often half of the samples were left out, because they were too many."""
    stop: threading.Event = field(default_factory=threading.Event)
    explains: str | None = None
    """The key of the run whose flow it explains, instead of running the scenario once."""
    flow: str | None = None
    """That flow; None is the slowest."""
    sweep: Plan | None = None
    """The sweep that it runs, instead of running the scenario once."""

    pairs: Pairs | None = None
    """The comparison that it makes, instead of running the scenario once."""
    compares: tuple[str, str] | None = None
    """The keys of the runs that are compared so."""
    found: Any = None
    """What it has found, if that is kept nowhere else."""

    def entry(self) -> dict[str, Any]:
        """Return what the list of runs shows."""
        return {
            "id": self.key,
            "name": self.wanted.name,
            "title": str(self.wanted.scenario.get("title") or ""),
            "seed": self.wanted.seed,
            "replication": 0,
            "state": self.state,
            "progress": self.done,
            "message": self.message,
            "simulated_s": self.done * float(self.wanted.scenario.get("duration_s")),
            "running_s": time.monotonic() - self.began if self.state == "running" else None,
            "explains": self.explains,
            "flow": self.flow,
            "sweep": None if self.sweep is None else self.key,
            "compares": self.compares,
        }

    def thin(self, most: int) -> None:
        """Leave out half of the samples until no series has more than so many."""
        while any(len(times) > most for times, _ in self.series.values()):
            self.thinned += 1
            self.series = {path: (t[::2], v[::2]) for path, (t, v) in self.series.items()}


def pairs_key(first: str, second: str) -> str:
    """Return the key of the job that compares two runs."""
    return hashlib.sha256(f"pairs {first} {second}".encode()).hexdigest()


class Jobs:
    """The queue of a server, and the threads that run what is in it.

    Parameters
    ----------
    library : Library
        Where completed runs are kept.
    limits : Limits
        How many runs may wait, and how long one may take.
    threads : int, optional
        How many runs at once.
    """

    def __init__(self, library: Library, limits: Limits, threads: int = 1) -> None:
        self.library = library
        self.sweeps = Sweeps(library)
        self.limits = limits
        self.version = 0
        self._jobs: dict[str, Job] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"simoom serve {n}", daemon=True)
            for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, key: str, wanted: Wanted) -> None:
        """Queue the run that has this key in a store, unless it is kept or queued already.

        Raises
        ------
        BusyError
            Too many runs wait.
        """
        with self._changed:
            known = self._jobs.get(key)
            if known is not None and known.state not in ENDED:
                return
            has_air = self.library.air(key).is_file()
            if self.library.has(key) and (has_air or not wanted.wants_air):
                return
            self._queue(Job(key, wanted))

    def explain(self, key: str, flow: str | None) -> str:
        """Queue the runs that explain a flow of a kept run, and return their key.

        Raises
        ------
        BusyError
            Too many runs wait.
        LookupError
            There is no such run.
        """
        record = self.library.record(key).run
        own = hashlib.sha256(f"why {key} {flow}".encode()).hexdigest()
        with self._changed:
            known = self._jobs.get(own)
            if known is None or known.state in ENDED:
                name = f"Why: {flow or 'the slowest flow'}"
                job = Job(own, Wanted(record.scenario, record.seed, name))
                job.explains, job.flow = key, flow
                self._queue(job)
        return own

    def compare(self, first: str, second: str) -> str:
        """Queue pairs of runs of the scenarios of two kept runs, and return their key.

        Raises
        ------
        BusyError
            Too many runs wait.
        LookupError
            There is no such run.
        """
        own = pairs_key(first, second)
        one, other = (self.library.record(key).run for key in (first, second))
        with self._changed:
            known = self._jobs.get(own)
            if known is None or known.state in ("stopped", "failed"):
                job = Job(own, Wanted(one.scenario, one.seed, "Ten pairs of runs"))
                job.pairs = Pairs(one.scenario, other.scenario, one.seed)
                job.compares = (first, second)
                self._queue(job)
        return own

    def run_sweep(self, plan: Plan) -> str:
        """Queue the runs of a sweep, and return its key.

        Raises
        ------
        BusyError
            Too many runs wait.
        """
        with self._changed:
            known = self._jobs.get(plan.key)
            if known is None or known.state in ENDED:
                job = Job(plan.key, Wanted(plan.scenario, plan.seed, plan.name))
                job.sweep = plan
                self._queue(job)
        return plan.key

    def _queue(self, job: Job) -> None:
        if sum(each.state not in ENDED for each in self._jobs.values()) >= self.limits.queue:
            raise BusyError(f"{self.limits.queue} runs wait already: stop one, or wait")
        self._jobs.pop(job.key, None)
        self._jobs[job.key] = job
        self._tell()

    def get(self, key: str) -> Job | None:
        """Return a run that is not in the library yet."""
        return self._jobs.get(key)

    def entries(self) -> list[dict[str, Any]]:
        """Return what the list of runs shows of those that are not in the library."""
        with self._changed:
            return [job.entry() for job in self._jobs.values()]

    def series(self, key: str, starts: dict[str, int], thinned: int) -> tuple[int, dict[str, Any]]:
        """Return the samples of a run from these numbers on, and how often it was thinned.

        If that is not what the caller knows, its samples begin anew.
        """
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                return thinned, {}
            starts = starts if job.thinned == thinned else {}
            new = {path: slice(starts.get(path, 0), None) for path in job.series}
            samples = {
                path: (np.asarray(times[new[path]]), np.asarray(values[new[path]]))
                for path, (times, values) in job.series.items()
            }
            thinned = job.thinned
        return thinned, plain({path: pair for path, pair in samples.items() if len(pair[0])})

    def stop(self, key: str) -> bool:
        """Stop a run, or take it from the queue; false if there is none."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None or job.state in ENDED:
                return False
            job.stop.set()
            if job.state == "waiting":
                job.state = "stopped"
            self._tell()
            return True

    def forget(self, key: str) -> bool:
        """Remove a run that was stopped or has failed from the list."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None or job.state not in ENDED:
                return False
            del self._jobs[key]
            self._tell()
            return True

    def touch(self) -> None:
        """Tell pages that the library has changed."""
        with self._changed:
            self._tell()

    def close(self) -> None:
        """Stop all runs and wait for their threads, which end their workers soon."""
        with self._changed:
            self._closed = True
            for job in self._jobs.values():
                job.stop.set()
            self._tell()
        for thread in self._threads:
            thread.join(END_S)

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._run(job)
            except StoppedError as reason:
                self._end(job, "stopped", str(reason))
            except Exception as error:  # noqa: BLE001  whatever it is, the next run follows
                self._end(job, "failed", message(error))
            else:
                self._end(job, "done", "")

    def _next(self) -> Job | None:
        with self._changed:
            while not self._closed:
                for job in self._jobs.values():
                    if job.state == "waiting":
                        job.state, job.began = "running", time.monotonic()
                        self._tell()
                        return job
                self._changed.wait()
            return None

    def _run(self, job: Job) -> None:
        """Have a worker of its own run a job: it takes its memory along when it ends."""
        bounds = Bounds(self.limits.run_s, self.limits.run_mib, self.library.desk.controllers)
        worker = Worker(bounds, self.library.folder)
        times = 2 * PAIRS if job.pairs else 1 if job.sweep is None else job.sweep.runs
        try:
            found = worker.call(
                self._task(job), stop=job.stop, times=times, hear=lambda news: self._hear(job, news)
            )
        finally:
            worker.end()
        if job.explains is not None:
            self.library.explain(job.explains, job.flow, found)
        job.found = found if job.pairs is not None else None
        if job.wanted.wants_air:
            self.library.drop_timelines(self.limits.airs_mib << 20, job.key)
        self.library.changed()
        self.sweeps.changed()

    def _task(self, job: Job) -> Swept | Explanation | Pairs | Simulation:
        if job.pairs is not None:
            return job.pairs
        if job.sweep is not None:
            return Swept(self.library.folder.absolute(), self.library.desk, job.sweep)
        if job.explains is not None:
            return Explanation(job.wanted.scenario, job.wanted.seed, job.flow)
        air_mib = self.limits.air_mib if job.wanted.wants_air else 0
        return Simulation(
            self.library.folder.absolute(), self.library.desk, job.key, job.wanted.scenario,
            job.wanted.seed, job.wanted.name, self.limits.series, air_mib,
        )  # fmt: skip

    def _hear(self, job: Job, news: float | Samples) -> None:
        """Take the completed fraction, or the samples since the last ones."""
        if not isinstance(news, float):
            self._collect(job, news)
            return
        job.done = news
        with self._changed:
            self._tell()

    def _collect(self, job: Job, samples: Samples) -> None:
        with self._changed:
            for path, (times, values) in samples.items():
                own = job.series.setdefault(path, (array("d"), array("d")))
                own[0].frombytes(times.astype(np.float64).tobytes())
                own[1].frombytes(values.astype(np.float64).tobytes())
            job.thin(MOST_SAMPLES)

    def _end(self, job: Job, state: str, message: str) -> None:
        with self._changed:
            job.state, job.message = state, message
            if state == "done":
                job.series = {}
            else:
                job.thin(MOST_KEPT_SAMPLES)
            ended = [key for key, each in self._jobs.items() if each.state in ENDED]
            for key in ended[:-KEPT]:
                del self._jobs[key]
            self._tell()
