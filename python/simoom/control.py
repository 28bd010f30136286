"""Congestion controllers written in Python.

>>> import simoom as sm
>>> class Aimd(sm.Control):
...     def on_ack(self, ack):
...         if not ack.app_limited:
...             self.window += ack.acked / self.window
...     def on_loss(self, loss):
...         self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)

A scenario stores the import path of the class, so that a saved scenario can be run again:

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
"""The methods that the sender calls."""


class NoControllerError(ValueError):
    """An import path does not name a controller."""


class Control:
    """Base class of congestion controllers, which compute the congestion window.

    The sender detects losses and retransmits. It makes a controller for each connection, calls it
    at each acknowledgement and each loss, and then reads `window`. The attributes below have the
    values of the flow before ``__init__`` is called.

    Attributes
    ----------
    window : float
        The congestion window in segments; the sender replaces a value below one by one. Its first
        value is the flow's initial window.
    ssthresh : float
        The slow start threshold in segments, for controllers that use one. Its first value is the
        flow's initial threshold, or infinity.
    pacing_mbps : float or None
        The pacing rate; if it is None, ``flows.tcp.pacing`` applies.
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
        """React to an ACK of new data; if `ack.app_limited`, the window must not grow."""

    def on_loss(self, loss: LossEvent) -> None:
        """React to a loss or an ECN mark; called once per window of data, and at each timeout."""

    def on_undo(self) -> None:
        """React to a spurious reduction: the retransmitted data had arrived before."""

    def on_hint(self, name: str, value: float) -> None:
        """React to a value of a lower layer: `link_rate_mbps`, the rate of the radio link."""

    def gauges(self) -> dict[str, float]:
        """Return the values of probes by name with unit: ``flows[0].control.NAME``."""
        return {"ssthresh_segments": self.ssthresh}


def cbrt(x: float) -> float:
    """Return the cube root by the simulator's function, which is bit-identical on every platform.

    >>> cbrt(27.0)
    3.0
    """
    return _core.cbrt(x)


def import_path(controller: type[Control]) -> str:
    """Return the import path by which `find` finds a class.

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
        If there is no such module or class, or the class is not a controller. An exception that the
        module raises while it is imported is passed on.
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
            raise  # the module exists and imports one that does not
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
    """Make the controller at an import path for one connection.

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
    # The attributes are set first, so that __init__ may read and change them.
    controller = kind.__new__(kind)
    controller.window = initial_window
    controller.ssthresh = float("inf") if initial_ssthresh is None else initial_ssthresh
    controller.mss_bytes = mss_bytes
    controller.__init__()  # type: ignore[misc]
    return controller
