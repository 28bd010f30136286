"""Runs in progress: a queue, and threads that take from it and have workers run what is in it."""

from __future__ import annotations

import threading
import time
from array import array
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from simoom.results.run import Samples
from simoom.serve.library import MOST_SAMPLES, Library, plain
from simoom.serve.limits import Limits
from simoom.serve.sweeps import Plan, Sweeps
from simoom.serve.tasks import PAIRS, Explanation, Pairs, Simulation
from simoom.serve.workers import Bounds, StoppedError, Worker, message

ENDED = ("done", "stopped", "failed")
KEPT = 50
"""Jobs that have ended, of which the newest are kept."""
MOST_KEPT_SAMPLES = 2000
"""Samples of a time series of these."""
END_S = 5.0
"""How long a thread may take to end; a worker is killed long before."""


class BusyError(Exception):
    """The queue is full."""


Work = Simulation | Explanation | Pairs | Plan


def _about(work: Work) -> dict[str, Any]:
    """Return what the list of runs shows of this kind of work alone."""
    match work:
        case Explanation():
            return {"explains": work.explains, "flow": work.flow}
        case Pairs():
            return {"compares": work.compares}
        case Plan():
            return {"sweep": work.key}
    return {}


@dataclass(eq=False)
class Job:
    """A run that waits, runs or has ended."""

    work: Work
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
    found: Any = None
    """What it has found, if that is kept nowhere else."""

    def entry(self) -> dict[str, Any]:
        """Return what the list of runs shows."""
        scenario = self.work.scenario
        return {
            "id": self.work.key,
            "name": self.work.name,
            "title": str(scenario.get("title") or ""),
            "seed": self.work.seed,
            "replication": 0,
            "state": self.state,
            "progress": self.done,
            "message": self.message,
            "simulated_s": self.done * float(scenario.get("duration_s")),
            "running_s": time.monotonic() - self.began if self.state == "running" else None,
            **_about(self.work),
        }

    def thin(self, most: int) -> None:
        """Leave out half of the samples until no series has more than so many."""
        while any(len(times) > most for times, _ in self.series.values()):
            self.thinned += 1
            self.series = {path: (t[::2], v[::2]) for path, (t, v) in self.series.items()}


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

    def add(self, work: Work) -> str:
        """Queue work, unless it is queued or need not be done again; return its key.

        Raises
        ------
        BusyError
            Too much work waits.
        """
        key = work.key
        with self._changed:
            known = self._jobs.get(key)
            is_queued = known is not None and known.state not in ENDED
            if is_queued or self._has(work, known):
                return key
            if sum(each.state not in ENDED for each in self._jobs.values()) >= self.limits.queue:
                raise BusyError(f"{self.limits.queue} runs wait already: stop one, or wait")
            self._jobs.pop(key, None)
            self._jobs[key] = Job(work)
            self._tell()
        return key

    def _has(self, work: Work, known: Job | None) -> bool:
        """Whether the result of work is kept."""
        match work:
            case Simulation():
                has_air = self.library.air(work.key).is_file()
                return self.library.has(work.key) and (has_air or not work.air_mib)
            case Pairs():
                return known is not None and known.found is not None
        return False

    def get(self, key: str) -> Job | None:
        """Return a run that is not in the library yet."""
        return self._jobs.get(key)

    def entries(self) -> list[dict[str, Any]]:
        """Return what the list of runs shows of those whose result is not in the library."""
        with self._changed:
            own = self._jobs.values()
            return [job.entry() for job in own if job.state != "done" or job.found is not None]

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

    def stop(self, key: str) -> None:
        """Stop a run, or take it from the queue."""
        with self._changed:
            job = self._jobs.get(key)
            if job is not None and job.state not in ENDED:
                job.stop.set()
                job.state = "stopped" if job.state == "waiting" else job.state
                self._tell()

    def forget(self, key: str) -> None:
        """Remove a run that was stopped or has failed from the list."""
        with self._changed:
            job = self._jobs.get(key)
            if job is not None and job.state in ENDED:
                del self._jobs[key]
                self._tell()

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
        work, folder, desk = job.work, self.library.folder, self.library.desk
        times = work.runs if isinstance(work, Plan) else 2 * PAIRS if isinstance(work, Pairs) else 1
        worker = Worker(Bounds(self.limits.run_s, self.limits.run_mib, desk.controllers), folder)
        try:
            found = worker.call(
                partial(work, self.library),
                stop=job.stop,
                times=times,
                hear=lambda news: self._hear(job, news),
            )
        finally:
            worker.end()
        match work:
            case Explanation():
                self.library.explain(work.explains, work.flow, found)
            case Pairs():
                job.found = found
            case Simulation() if work.air_mib:
                self.library.drop_timelines(self.limits.airs_mib << 20, work.key)
        self.library.changed()
        self.sweeps.changed()

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
