"""Concurrent runs: on all cores, each run once, until one fails or all are interrupted."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar

from simoom.base.issue import LostWorkerError
from simoom.base.patience import GRACE_S
from simoom.base.workers import Job, Sent, is_of_executor

T = TypeVar("T")

WINDOW = 4096
"""The number of jobs that are submitted at once: several for each worker of a large cluster."""
LOST = "the executor has ended before its runs: it was closed, or lost its scheduler or workers"


class Runner:
    """Runs jobs, each once, on all cores or on a given executor.

    Several threads may request results at the same time; they share the results of equal jobs.
    `close`, or leaving the ``with`` statement, ends every job.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        The executor of the jobs; by default the runner's own threads, because runs release the
        GIL. Jobs on a given executor have no progress callback, so that a job that has begun is
        not interrupted.
    workers : int, optional
        The number of own threads; one for each core by default.
    shares : bool, optional
        Whether the results of all jobs are kept, so that an equal job that is requested later is
        not run again. Otherwise a result is kept until it is yielded.
    window : int, optional
        The number of jobs that are submitted and have not ended: the rest waits, so that a million
        jobs take the memory of these.
    """

    def __init__(
        self,
        executor: Executor | None = None,
        *,
        workers: int | None = None,
        shares: bool = True,
        window: int = WINDOW,
    ) -> None:
        self._executor = executor or ThreadPoolExecutor(workers or cores(), "simoom")
        self._is_own = executor is None
        self._stop = threading.Event()
        # Reentrant: an interrupt may call `close` in the thread that holds the lock.
        self._lock = threading.RLock()
        self._shares, self._window = shares, window
        self._count = 0
        self._futures: dict[Hashable, Future[Any]] = {}
        self._jobs: dict[Future[Any], Hashable] = {}
        self._ended: set[Future[Any]] = set()

    def done(self, jobs: Iterable[Job[T]]) -> Iterator[tuple[int, T]]:
        """Yield the number and the result of each job that has a result, without waiting."""
        for number, job in enumerate(jobs):
            future = self._futures.get(job)
            ended = future is not None and future.done() and not future.cancelled()
            if future is not None and ended and future.exception() is None:
                yield number, future.result()

    def results(
        self, jobs: Iterable[Job[T]], *, describe: Callable[[int], str] | None = None
    ) -> Generator[tuple[int, T], None, None]:
        """Yield the number and the result of each job, in the order in which the jobs end.

        The first exception of a job is raised again, after the results of all jobs that have
        ended by then. `describe` returns a description of the job with a number, for a note of
        the exception.
        """
        numbered = enumerate(jobs)
        waiting: dict[Future[T], list[int]] = {}
        ended: SimpleQueue[Future[T]] = SimpleQueue()
        while True:
            for number, job in itertools.islice(numbered, self._window - len(waiting)):
                future = self._submit(job)
                if future not in waiting:
                    waiting[future] = []
                    # `concurrent.futures.as_completed` takes the locks of all futures for each
                    # result, and a Ctrl-C may leave locks taken.
                    future.add_done_callback(ended.put)
                waiting[future].append(number)
            if not waiting:
                return
            future = _next_ended(ended)
            numbers = waiting.pop(future)
            self._count_ended(future)
            error = self._error_of(future)
            if error is None:
                result = future.result()
                yield from ((number, result) for number in numbers)
                continue
            # Other jobs may have ended at the same time: their results are not lost.
            for other, its_numbers in waiting.items():
                if other.done() and not other.cancelled() and other.exception() is None:
                    yield from ((number, other.result()) for number in its_numbers)
            if describe is not None and not isinstance(error, LostWorkerError):
                error.add_note(f"in {describe(numbers[0])}")
            raise error

    def _error_of(self, future: Future[Any]) -> BaseException | None:
        """Return the exception of a job that has ended, or `LostWorkerError` in place of it."""
        if future.cancelled():
            return LostWorkerError(LOST)
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            return LostWorkerError()
        if error is not None and not self._is_own and is_of_executor(error):
            return LostWorkerError(f"{LOST}: {type(error).__name__}: {error}")
        return error

    def _count_ended(self, future: Future[Any]) -> None:
        with self._lock:
            if not self._shares:
                job = self._jobs.pop(future, None)
                if job is not None:
                    self._futures.pop(job, None)
                    self._count += 1
            else:
                self._ended.add(future)

    @property
    def submitted(self) -> int:
        """The number of different jobs that were submitted."""
        return len(self._futures) + self._count

    @property
    def ended(self) -> int:
        """The number of jobs that have ended."""
        return len(self._ended) + self._count

    def _submit(self, job: Job[T]) -> Future[T]:
        with self._lock:
            future = self._futures.get(job)
            if future is None:
                if self._is_own:
                    future = self._executor.submit(job, self._raise_if_stopped)
                else:
                    future = self._send(job)
                self._futures[job] = future
                if not self._shares:
                    self._jobs[future] = job
            return future

    def _send(self, job: Job[T]) -> Future[T]:
        """Submit a job to the executor of the caller, which may have ended."""
        try:
            return self._executor.submit(Sent(job), None)
        except BrokenExecutor:
            raise LostWorkerError from None
        except Exception as error:
            if is_of_executor(error) or isinstance(error, (RuntimeError, OSError, CancelledError)):
                raise LostWorkerError(f"{LOST}: {error or type(error).__name__}") from None
            raise

    def _raise_if_stopped(self, _: float) -> None:
        if self._stop.is_set():
            raise InterruptedError("another run failed or was interrupted")

    def close(self) -> None:
        """End all jobs, and wait for those in own threads that look at the stop flag soon."""
        self._stop.set()
        with self._lock:
            futures = list(self._futures.values())
        for future in futures:
            future.cancel()
        if self._is_own:
            # A thread in a long event ends after it, and nobody waits for it.
            shutdown = partial(self._executor.shutdown, cancel_futures=True)
            end = threading.Thread(target=shutdown, name="simoom end", daemon=True)
            end.start()
            end.join(GRACE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _next_ended(ended: SimpleQueue[Future[T]]) -> Future[T]:
    # Python handles Ctrl-C between waits; a wait without a timeout may never be interrupted.
    while True:
        try:
            return ended.get(timeout=0.1)
        except Empty:
            continue
