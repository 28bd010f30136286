"""One's own congestion control, written in Python.

>>> import simoom as sm
>>> class Aimd(sm.Control):
...     def on_ack(self, ack):
...         self.window += ack.acked / self.window
...     def on_loss(self, loss):
...         self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)

A scenario names the class by its import path, so that what is stored can be run again:

>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> s.set("flows[0].control", Aimd).get("flows[0].control.python.path")
'simoom.control:Aimd'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simoom._core import Ack, LossEvent


class Control:
    """Base class of controllers: how much may be in flight.

    What is lost, and when to send again, is the sender's business. A controller is made for each
    connection, is told of each acknowledgement and each loss, and leaves its answer in `window`.

    Attributes
    ----------
    window : float
        How many segments may be in flight; the sender takes less than one for one. Begins at the
        flow's initial window.
    ssthresh : float
        Where slow start ends, in segments, for controllers that have one; begins at the flow's
        initial threshold, or infinite.
    """

    def __init__(self) -> None:
        self.window = 10.0
        self.ssthresh = float("inf")

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged; `ack.app_limited` says that the window must not grow."""

    def on_loss(self, loss: LossEvent) -> None:
        """A loss or a mark was noticed; told once per window of data."""

    def on_hint(self, name: str, value: float) -> None:
        """A lower layer tells something: `link_loss`, `link_rate_mbps` or `route_changed_s`."""


def import_path(controller: type[Control]) -> str:
    """Return the path under which `make` finds a class.

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


def make(path: str, initial_window: float, initial_ssthresh: float | None) -> Control:
    """Make the controller that `path` names, for one connection.

    Parameters
    ----------
    path : str
        `module:Class`.
    initial_window, initial_ssthresh : float
        In segments; a threshold of None is infinite.
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{path!r} is no import path; write module:Class, as mylab.aimd:Aimd")
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Control)):
        raise TypeError(f"{path} is not a subclass of simoom.Control")
    controller = found()
    controller.window = initial_window
    controller.ssthresh = float("inf") if initial_ssthresh is None else initial_ssthresh
    return controller
