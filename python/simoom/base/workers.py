"""Worker processes: jobs that run in other processes, and how such a process may fail."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")

Progress = Callable[[float], object]
"""Takes the completed fraction. If it raises an exception, the job ends."""

Job = Callable[[Progress | None], T]
"""The work of a runner. Equal jobs are run once; for an executor of processes, a job is pickled."""


class JobError(RuntimeError):
    """Stands for an exception of a job in another process that could not be sent from there."""


class WorkerProcesses(ProcessPoolExecutor):
    """Processes that run jobs. The process that started them handles Ctrl-C, and ends them."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers, initializer=_ignore_interrupts)

    def submit(self, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Submit a call. A process that starts here does not receive the Ctrl-C meanwhile."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(*arguments, **keywords)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(*arguments, **keywords)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def kill(self) -> None:
        """End all processes at once, whatever they compute."""
        for process in list((self._processes or {}).values()):
            process.kill()
        self.shutdown(wait=False, cancel_futures=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class Sent(Generic[T]):
    """A job that may run in another process."""

    job: Job[T]
    home: int = field(default_factory=os.getpid)
    """The process that submits it."""

    def __call__(self, progress: Progress | None = None) -> T:
        """Run the job; its exception can be sent to the process that submitted it."""
        try:
            return self.job(progress)
        except Exception as error:
            if os.getpid() == self.home or _can_be_sent(error):
                raise
            notes = getattr(error, "__notes__", [])
            kind = type(error).__qualname__
            text = "".join(traceback.format_exception(error))
        substitute = JobError(f"a run raised {kind}, which cannot be pickled:\n{text}")
        for note in notes:
            substitute.add_note(note)
        raise substitute


EXECUTORS = ("distributed", "dask", "mpi4py", "ipyparallel", "submitit", "loky", "parsl", "ray")
"""Packages with executors: an exception of theirs is not an exception of the job."""


def is_of_executor(error: BaseException) -> bool:
    """Whether an executor, and not the job, has raised an exception."""
    return (type(error).__module__ or "").partition(".")[0] in EXECUTORS


def _can_be_sent(error: Exception) -> bool:
    """Whether an exception arrives in another process; one with arguments of its own may not."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  classes of users raise anything
        return False
    return True
