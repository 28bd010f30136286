"""Processes beside the server.

A scenario may take any time and memory, and a controller in Python may do anything. Checks and runs
are therefore tasks of workers: what takes too much ends a worker, and not the server.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simoom.base.files import discard_drafts, mark_drafts
from simoom.base.issue import ScenarioError
from simoom.base.needs import Later, MissingPackageError
from simoom.scenario import control

if TYPE_CHECKING:
    import resource
    from multiprocessing import forkserver
else:  # Windows has neither.
    resource, forkserver = Later("resource"), Later("multiprocessing.forkserver")

T = TypeVar("T")

LOOK_S = 0.05
"""Time between two looks at whether a task is to end."""
GRACE_S = 0.5
"""How long a task that is to end may take until its worker is killed."""
PRELOADED = ["__main__", "simoom.serve.tasks"]
"""What the process imports from which workers are forked."""
SENT = (ScenarioError, MissingPackageError, ValueError, LookupError, TypeError, OSError)
"""Exceptions that are sent to the server; of others, a message."""


class StoppedError(Exception):
    """The task was ended; the message says why if the user did not end it."""


class FailedError(Exception):
    """The task has failed by a defect, or its worker has ended; the message is for the user."""


class Teller:
    """The way from a task to the server."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    def progress(self, done: float) -> None:
        """Send the completed fraction; raise if the task is to end."""
        self.tell(done)
        if self._line.poll():
            raise InterruptedError("the task is to end")

    def tell(self, news: Any) -> None:
        """Send what the server shows meanwhile."""
        self._line.send((True, news))


Task = Callable[[Teller], T]


@dataclass(frozen=True)
class Call:
    """The task to call a function."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self, _: Teller) -> Any:
        """Call it."""
        return self.function(*self.arguments)


@dataclass(frozen=True)
class Bounds:
    """What a task may take.

    Attributes
    ----------
    seconds : float
        Wall-clock time.
    mib : int
        Memory.
    controllers : bool
        Whether it may import controllers in Python.
    """

    seconds: float
    mib: int
    controllers: bool = False


class Worker:
    """A process that carries out one task after the other.

    Parameters
    ----------
    bounds : Bounds
        What each of its tasks may take.
    folder : Path
        The folder below which its tasks write files.
    """

    def __init__(self, bounds: Bounds, folder: Path) -> None:
        self._bounds = bounds
        self._folder = folder
        self._mark = secrets.token_hex(4)
        with _start() as context:
            self._line, theirs = context.Pipe()
            self._process = context.Process(
                target=_serve, args=(theirs, bounds, self._mark), daemon=True
            )
            self._process.start()
        theirs.close()

    def call(
        self,
        task: Task[T],
        *,
        stop: threading.Event,
        times: int = 1,
        hear: Callable[[Any], object] | None = None,
    ) -> T:
        """Carry out a task and return its result.

        Parameters
        ----------
        task : callable
            The task, which is pickled.
        stop : Event
            Ends the task when it is set.
        times : int, optional
            How many times the time of the bounds it may take.
        hear : callable, optional
            Takes what the task tells.

        Raises
        ------
        StoppedError
            The task was ended, or took more time than it may.
        FailedError
            It has met a defect, or took more memory than it may. The worker may have ended.
        """
        seconds = self._bounds.seconds * times
        end = time.monotonic() + seconds
        try:
            self._line.send(task)
            while not stop.is_set() and time.monotonic() < end:
                if not self._line.poll(LOOK_S):
                    continue
                is_news, value = self._line.recv()
                if not is_news:
                    break
                if hear is not None:
                    hear(value)
            else:
                self._halt()
                raise StoppedError("" if stop.is_set() else f"it took more than {seconds:g} s")
        except (EOFError, OSError):
            raise FailedError(self._death()) from None
        is_done, result = value
        if is_done:
            found: T = result
            return found
        if isinstance(result, MemoryError):
            raise FailedError(_too_much(self._bounds.mib))
        raise result

    @property
    def is_alive(self) -> bool:
        """Whether it can carry out a task."""
        is_alive: bool = self._process.is_alive()
        return is_alive

    def end(self) -> None:
        """End the process at once, whatever it does, and remove the drafts of its files."""
        self._process.kill()
        self._process.join()
        self._line.close()
        discard_drafts(self._folder, self._mark)

    def _halt(self) -> None:
        """Ask the process to end its task, and then end it."""
        with suppress(EOFError, OSError):
            self._line.send(None)
            end = time.monotonic() + GRACE_S
            while time.monotonic() < end:
                if self._line.poll(LOOK_S) and not self._line.recv()[0]:
                    break
        self.end()

    def _death(self) -> str:
        """Return why the process has ended."""
        self._process.join(GRACE_S)
        code = self._process.exitcode
        self.end()
        if code == -signal.SIGABRT:
            return f"its process was aborted: {_too_much(self._bounds.mib)}, or has a defect"
        if code == -getattr(signal, "SIGKILL", 9):
            return f"its process was killed: {_too_much(self._bounds.mib)}, or more than there is"
        return f"its process has ended with exit code {code}"


class Workers:
    """The workers that check scenarios, so many at once, each for one request after the other."""

    def __init__(self, bounds: Bounds, folder: Path, count: int) -> None:
        self._bounds = bounds
        self._folder = folder
        self._free = threading.Semaphore(count)
        self._idle: list[Worker] = []

    def call(self, stop: threading.Event, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in a worker; raise as `Worker.call`."""
        while not self._free.acquire(timeout=LOOK_S):
            if stop.is_set():
                raise StoppedError
        try:
            worker = self._idle.pop() if self._idle else Worker(self._bounds, self._folder)
            try:
                found: T = worker.call(Call(function, arguments), stop=stop)
            finally:
                # The source of controllers may change: a worker imports it once.
                if self._bounds.controllers and worker.is_alive:
                    worker.end()
                elif worker.is_alive:
                    self._idle.append(worker)
        finally:
            self._free.release()
        return found

    def close(self) -> None:
        """End all workers that have no task."""
        while self._idle:
            self._idle.pop().end()


@contextmanager
def _start() -> Iterator[Any]:
    """Give the way to start processes, with the process running from which they are forked.

    None of them takes Ctrl-C, or imports from the current folder before it is told where to look.
    """
    name = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(name)
    with _lock, _environment("PYTHONSAFEPATH", "1"), _blocked_interrupts():
        if name == "forkserver":
            context.set_forkserver_preload(PRELOADED)
            forkserver.ensure_running()
        yield context


_lock = threading.Lock()


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _too_much(mib: int) -> str:
    return f"it took more memory than it may, {mib:,} MiB"


def _serve(line: Connection, bounds: Bounds, mark: str) -> None:
    """Carry out tasks until the server has none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave, name="simoom leave", daemon=True).start()
    mark_drafts(mark)
    if not bounds.controllers:
        control.forbid()
    _limit_memory(bounds.mib)
    teller = Teller(line)
    with suppress(EOFError, OSError):
        while True:
            task = line.recv()
            # A task may have ended before it was asked to end.
            if task is not None:
                line.send((False, _answer(task, teller)))


def _answer(task: Task[Any], teller: Teller) -> tuple[bool, Any]:
    try:
        return True, task(teller)
    except (MemoryError, *SENT) as error:
        # The server imports nothing to read the exception of a controller.
        if type(error).__module__.partition(".")[0] in ("builtins", "simoom"):
            return False, error.with_traceback(None)
        return False, FailedError(message(error))
    except BaseException as error:  # noqa: BLE001  a panic has no other base class
        return False, FailedError(message(error))


def _leave() -> None:
    """End this process with its server, whatever it does."""
    server = multiprocessing.parent_process()
    if server is not None:
        wait([server.sentinel])
        os._exit(1)


def _limit_memory(mib: int) -> None:
    """Let allocations fail beyond this memory, and have the system end this process first."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    except OSError:
        return
    most = pages * resource.getpagesize() + (mib << 20)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def message(error: BaseException) -> str:
    """Return why a task has failed, for the user."""
    return _text(error).encode(errors="backslashreplace").decode()


def _text(error: BaseException) -> str:
    if isinstance(error, FailedError):
        return str(error)
    if isinstance(error, ScenarioError):
        return "; ".join(map(str, error.issues))
    if type(error).__name__ == "PanicException":
        return f"a defect of Simoom, please report it with the scenario: {error}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"{type(error).__name__}: {error}"
