"""NewReno: slow start and congestion avoidance of RFC 5681, with RFC 3465's byte counting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simoom.scenario.control import Control

if TYPE_CHECKING:
    from simoom._core import Ack, Loss


class Reno(Control):
    """NewReno, equal to the built-in ``new_reno``; the sender implements recovery (RFC 6582)."""

    def __init__(self) -> None:
        self.window = max(self.window, 1.0)
        self.credit = 0.0
        """Data acknowledged in congestion avoidance since the window last grew (RFC 3465 §2.1)."""
        self.after_timeout = False
        self.before = (1.0, float("inf"))
        """Window and threshold before the last loss, which undo restores."""

    def on_ack(self, ack: Ack) -> None:
        """Grow by the data acknowledged in slow start, otherwise by one segment per window."""
        if ack.app_limited:
            return
        if self.window < self.ssthresh:
            # RFC 3465 §2.2 and §2.3: L is 2, and 1 after a timeout.
            step = min(ack.acked, 1.0 if self.after_timeout else 2.0)
            self.window = min(self.window + step, self.ssthresh)
        else:
            self.after_timeout = False
            self.avoid_congestion(ack.acked)

    def avoid_congestion(self, acked: float) -> None:
        """Grow by one segment per window of acknowledged data."""
        self.credit += acked
        if self.credit >= self.window:
            self.credit = min(self.credit - self.window, self.window)
            self.window += 1.0

    def threshold(self, loss: Loss) -> float:
        """Return the new threshold: RFC 5681 equation (4)."""
        return loss.in_flight / 2

    def on_loss(self, loss: Loss) -> None:
        """Reduce the window to the threshold, or after a timeout to one segment (RFC 5681 §3.1)."""
        if not loss.repeated:
            self.before = (self.window, self.ssthresh)
            self.ssthresh = max(self.threshold(loss), 2.0)
        self.credit = 0.0
        self.after_timeout = loss.cause == "timeout"
        self.window = 1.0 if self.after_timeout else self.ssthresh

    def on_undo(self) -> None:
        """Restore the window before the last reduction, as Linux does."""
        self.window = max(self.window, self.before[0])
        self.ssthresh = self.before[1]
        self.after_timeout = False
