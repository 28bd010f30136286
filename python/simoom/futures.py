"""Waiting for work in other threads and processes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def as_they_end(futures: Collection[Future[T]]) -> Iterator[Future[T]]:
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
