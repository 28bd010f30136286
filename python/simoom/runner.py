"""Where many runs are made: on all cores, each once, until one fails or all are interrupted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar

T = TypeVar("T")

Progress = Callable[[float], object]
"""Is told the fraction that is done; an exception of it ends what it is told of."""

Job = Callable[[Progress | None], T]
"""What a runner runs. Jobs that are equal are one; on an executor of processes they are pickled."""


class Runner:
    """Runs jobs, each once, on all cores or on a given executor.

    Several threads may ask for results at a time, and share those of equal jobs. Closing it, as
    leaving its ``with`` does, ends every job.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        Where to run; without it, threads of its own, as runs do not hold the GIL. Jobs on a given
        executor are told of no progress: those that have begun are not ended.
    workers : int, optional
        How many threads of its own; one for each core by default.
    """

    def __init__(self, executor: Executor | None = None, *, workers: int | None = None) -> None:
        self._executor = executor or ThreadPoolExecutor(workers or cores(), "simoom")
        self._is_own = executor is None
        self._stop = threading.Event()
        self._lock = threading.RLock()  # an interrupt may come while it is held, and closes
        self._futures: dict[Hashable, Future[Any]] = {}
        self._ended: set[Future[Any]] = set()

    def results(
        self, jobs: Iterable[Job[T]], *, told: Callable[[int], str] | None = None
    ) -> Generator[tuple[int, T], None, None]:
        """Yield the number of each job and what it gave, as they end.

        The first exception of any is raised again; the jobs that have ended by then have been
        yielded before. `told` says in a note of the exception which job it was.
        """
        waiting: dict[Future[T], list[int]] = {}
        for number, job in enumerate(jobs):
            waiting.setdefault(self._submit(job), []).append(number)
        for future in _as_they_end(list(waiting)):
            numbers = waiting.pop(future)
            self._ended.add(future)
            error = future.exception()
            if error is None:
                yield from ((number, future.result()) for number in numbers)
                continue
            # Of those that ended together the good ones go first, and none of them is lost.
            for other, its in waiting.items():
                if other.done() and not other.cancelled() and other.exception() is None:
                    yield from ((number, other.result()) for number in its)
            if told is not None:
                error.add_note(f"in {told(numbers[0])}")
            raise error

    @property
    def asked(self) -> int:
        """How many different jobs were asked for."""
        return len(self._futures)

    @property
    def ended(self) -> int:
        """How many of them have ended."""
        return len(self._ended)

    def _submit(self, job: Job[T]) -> Future[T]:
        with self._lock:
            future = self._futures.get(job)
            if future is None:
                future = self._executor.submit(job, self._attend if self._is_own else None)
                self._futures[job] = future
            return future

    def _attend(self, _: float) -> None:
        if self._stop.is_set():
            raise InterruptedError("another run failed or was interrupted")

    def close(self) -> None:
        """End all jobs, and wait for those in threads of its own."""
        self._stop.set()
        with self._lock:
            futures = list(self._futures.values())
        for future in futures:
            future.cancel()
        if self._is_own:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_they_end(futures: Collection[Future[T]]) -> Iterator[Future[T]]:
    """Yield each future when it ends, whichever way.

    Unlike `concurrent.futures.as_completed` and `wait`, it takes each future's lock once and not
    those of all at each turn, which is slow for many, and a Ctrl-C in the middle of it leaves none
    of them taken.
    """
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    for _ in futures:
        yield _first(ended)


def _first(ended: SimpleQueue[Future[T]]) -> Future[T]:
    # Ctrl-C is seen between waits: one without an end may never be interrupted.
    while True:
        try:
            return ended.get(timeout=0.1)
        except Empty:
            continue
