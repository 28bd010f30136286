"""Calls into the simulator that Ctrl-C ends at once, whatever they compute."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")

LOOK_S = 0.05
"""Time between two looks for a signal."""
GRACE_S = 0.5
"""How long an interrupted call may take to end."""


def interruptible(call: Callable[[threading.Event], T]) -> T:
    """Make a call in another thread, so that the main thread can handle signals meanwhile.

    `call` receives an event that is set when the call is interrupted: a run looks at it between
    events. A call that does not end soon is abandoned; it ends when it looks at the event again.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        return call(stop)
    results: SimpleQueue[tuple[bool, T | BaseException]] = SimpleQueue()

    def work() -> None:
        try:
            results.put((True, call(stop)))
        except BaseException as error:  # noqa: BLE001  it is raised again by the caller
            results.put((False, error))

    thread = threading.Thread(target=work, name="simoom run", daemon=True)
    thread.start()
    try:
        while True:
            try:
                succeeded, result = results.get(timeout=LOOK_S)
                break
            except Empty:
                continue
    except BaseException:
        stop.set()
        thread.join(GRACE_S)
        raise
    if not succeeded:
        raise result  # type: ignore[misc]
    return result  # type: ignore[return-value]
