"""Concurrent runs: on all cores, each run once, until one fails or all are interrupted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar

from simoom.patience import GRACE_S
from simoom.workers import Job, LostWorkerError, Sent

T = TypeVar("T")


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
    """

    def __init__(self, executor: Executor | None = None, *, workers: int | None = None) -> None:
        self._executor = executor or ThreadPoolExecutor(workers or cores(), "simoom")
        self._is_own = executor is None
        self._stop = threading.Event()
        # Reentrant: an interrupt may call `close` in the thread that holds the lock.
        self._lock = threading.RLock()
        self._futures: dict[Hashable, Future[Any]] = {}
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
        waiting: dict[Future[T], list[int]] = {}
        try:
            for number, job in enumerate(jobs):
                waiting.setdefault(self._submit(job), []).append(number)
        except BrokenExecutor:
            raise LostWorkerError from None
        for future in _as_completed(list(waiting)):
            numbers = waiting.pop(future)
            self._ended.add(future)
            error = future.exception()
            if isinstance(error, BrokenExecutor):
                raise LostWorkerError from None
            if error is None:
                yield from ((number, future.result()) for number in numbers)
                continue
            # Other jobs may have ended at the same time: their results are not lost.
            for other, its_numbers in waiting.items():
                if other.done() and not other.cancelled() and other.exception() is None:
                    yield from ((number, other.result()) for number in its_numbers)
            if describe is not None:
                error.add_note(f"in {describe(numbers[0])}")
            raise error

    @property
    def submitted(self) -> int:
        """The number of different jobs that were submitted."""
        return len(self._futures)

    @property
    def ended(self) -> int:
        """The number of jobs that have ended."""
        return len(self._ended)

    def _submit(self, job: Job[T]) -> Future[T]:
        with self._lock:
            future = self._futures.get(job)
            if future is None:
                if self._is_own:
                    future = self._executor.submit(job, self._raise_if_stopped)
                else:
                    future = self._executor.submit(Sent(job), None)
                self._futures[job] = future
            return future

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


def _as_completed(futures: Collection[Future[T]]) -> Iterator[Future[T]]:
    """Yield each future when it ends, with a result, with an exception or cancelled.

    `concurrent.futures.as_completed` takes the locks of all futures for each result, which is slow
    for many futures, and a Ctrl-C may leave locks taken. This function takes each lock once.
    """
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    for _ in futures:
        yield _next_ended(ended)


def _next_ended(ended: SimpleQueue[Future[T]]) -> Future[T]:
    # Python handles Ctrl-C between waits; a wait without a timeout may never be interrupted.
    while True:
        try:
            return ended.get(timeout=0.1)
        except Empty:
            continue
