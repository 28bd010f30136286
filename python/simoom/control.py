"""One's own congestion control, written in Python.

>>> import simoom as sm
>>> class Aimd(sm.Control):
...     def on_ack(self, ack):
...         if not ack.app_limited:
...             self.window += ack.acked / self.window
...     def on_loss(self, loss):
...         self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)

A scenario names the class by its import path, so that what is stored can be run again:

>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> s.set("flows[0].control", Aimd).get("flows[0].control.python.path")
'simoom.control:Aimd'
"""

from __future__ import annotations

import importlib
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from simoom import _core

if TYPE_CHECKING:
    from simoom._core import Ack, LossEvent

__all__ = ["Control", "NoControllerError", "cbrt", "find", "import_path", "make"]

CALLS = ("on_ack", "on_loss", "on_undo", "on_hint")
"""What the sender calls."""


class NoControllerError(ValueError):
    """An import path names no controller."""


class Control:
    """Base class of controllers: how much may be in flight.

    What is lost, and when to send again, is the sender's business. A controller is made for each
    connection, is told of each acknowledgement and each loss, and leaves its answer in `window`.
    When its ``__init__`` begins, the attributes below are already the flow's.

    Attributes
    ----------
    window : float
        How many segments may be in flight; the sender takes less than one for one. Begins at the
        flow's initial window.
    ssthresh : float
        Where slow start ends, in segments, for controllers that have one; begins at the flow's
        initial threshold, or infinite.
    pacing_mbps : float or None
        The rate at which segments are to leave; None leaves that to ``flows.tcp.pacing``.
    mss_bytes : int
        Data in a full segment.
    """

    window: float = 10.0
    ssthresh: float = float("inf")
    pacing_mbps: float | None = None
    mss_bytes: int = 1460

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in vars(cls):
            if name.startswith("on_") and name not in CALLS:
                close = get_close_matches(name, CALLS, n=1) or [", ".join(CALLS)]
                message = f"{cls.__qualname__}.{name} is never called; did you mean {close[0]}?"
                warnings.warn(message, stacklevel=2)

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged; `ack.app_limited` says that the window must not grow."""

    def on_loss(self, loss: LossEvent) -> None:
        """A loss or a mark was noticed; told once per window of data."""

    def on_undo(self) -> None:
        """The last loss was none: what was sent again had arrived."""

    def on_hint(self, name: str, value: float) -> None:
        """A lower layer tells something: `link_rate_mbps`, the rate of the radio link crossed."""

    def gauges(self) -> dict[str, float]:
        """Return what probes may see, by name with unit: ``flows[0].control.NAME``."""
        return {"ssthresh_segments": self.ssthresh}


def cbrt(x: float) -> float:
    """Return the cube root as the simulator has it: the same to the last bit on every platform.

    >>> cbrt(27.0)
    3.0
    """
    return _core.cbrt(x)


def import_path(controller: type[Control]) -> str:
    """Return the path under which `find` finds a class.

    Raises
    ------
    ValueError
        If the class is not a `Control` or cannot be imported (it is defined in a function).
    """
    if not (isinstance(controller, type) and issubclass(controller, Control)):
        raise ValueError(f"controller: must be a subclass of simoom.Control, is {controller!r}")
    if "<locals>" in controller.__qualname__:
        raise ValueError(
            f"controller: {controller.__qualname__} is defined in a function and cannot be "
            "imported again; define it at the top of a module"
        )
    return f"{controller.__module__}:{controller.__qualname__}"


def find(path: str) -> type[Control]:
    """Return the class that an import path names.

    Parameters
    ----------
    path : str
        `module:Class`.

    Raises
    ------
    NoControllerError
        If there is no such module or class, or it is no controller. What a module raises while it
        is imported is left as it is.
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise NoControllerError(
            f"{path!r} is no import path; write module:Class, as mylab.aimd:Aimd"
        )
    try:
        found: object = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there and misses another
        raise NoControllerError(
            f"{path}: there is no module {error.name!r} where Python looks for modules "
            "(sys.path, PYTHONPATH)"
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            close = get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise NoControllerError(f"{path}: there is no {part!r} in {module}{hint}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Control)):
        raise NoControllerError(f"{path}: is not a subclass of simoom.Control")
    return found


def make(
    path: str, initial_window: float, initial_ssthresh: float | None, mss_bytes: int
) -> Control:
    """Make the controller that `path` names, for one connection.

    Parameters
    ----------
    path : str
        `module:Class`.
    initial_window, initial_ssthresh : float
        In segments; a threshold of None is infinite.
    mss_bytes : int
        Data in a full segment.
    """
    kind = find(path)
    # The attributes come first, so that __init__ may read and change them.
    controller = kind.__new__(kind)
    controller.window = initial_window
    controller.ssthresh = float("inf") if initial_ssthresh is None else initial_ssthresh
    controller.mss_bytes = mss_bytes
    controller.__init__()  # type: ignore[misc]
    return controller
