"""Vegas: keeps a few segments in the queue of the bottleneck.

Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", JSAC 13:8,
1995.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simoom.gallery.reno import Reno
from simoom.gallery.slow_start import Rounds

if TYPE_CHECKING:
    from simoom._core import Ack, Loss


class Vegas(Reno):
    """Congestion avoidance and slow start by delay, with NewReno's reaction to losses."""

    alpha: float = 2.0
    """The window grows if fewer segments are queued (§3.2)."""
    beta: float = 4.0
    """The window shrinks if more segments are queued (§3.2)."""
    gamma: float = 1.0
    """Slow start ends if more segments are queued (§3.3)."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = Rounds()
        self.least_s: float | None = None
        """The least round-trip time of this round trip."""
        self.rests = False
        """Whether slow start pauses: it grows in every other round trip (§3.3)."""
        self.queued = float("nan")

    def on_ack(self, ack: Ack) -> None:
        """Evaluate the delay once per round trip; slow start is NewReno's."""
        rtt_s, least_s = ack.rtt_s, self.least_s
        if rtt_s is not None and (least_s is None or rtt_s < least_s):
            self.least_s = rtt_s
        ended = self.rounds.ended(ack)
        if ended and not ack.recovery and self.least_s is not None:
            self.look(ack, self.least_s)
            self.least_s = None
        if self.window < self.ssthresh and not self.rests:
            super().on_ack(ack)

    def look(self, ack: Ack, least_s: float) -> None:
        """Compare the data in flight with the capacity of the path without a queue."""
        # Diff of §3.2, times BaseRTT: Expected - Actual = W/BaseRTT - W/RTT.
        share = ack.rtt_min_s / least_s
        self.queued = self.window * (1.0 - share)
        slow_start = self.window < self.ssthresh
        self.rests = slow_start and not self.rests
        if slow_start:
            if self.queued > self.gamma:
                self.steer(max(min(self.window * share + 1.0, self.window), 2.0))
        elif ack.app_limited:
            pass  # An unused window neither grows nor shrinks.
        elif self.queued < self.alpha:
            self.window += 1.0
        elif self.queued > self.beta:
            self.steer(max(self.window - 1.0, 2.0))

    def steer(self, window: float) -> None:
        """Set the window, and end slow start at it."""
        self.window = self.ssthresh = window
        self.credit = 0.0

    def on_loss(self, loss: Loss) -> None:
        """Reduce the window as NewReno does."""
        super().on_loss(loss)
        self.rests = False

    def gauges(self) -> dict[str, float]:
        """Return the number of queued segments too."""
        return {**super().gauges(), "queued_segments": self.queued}
