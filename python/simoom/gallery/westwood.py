"""Westwood+: after a loss the window is the estimated bandwidth-delay product.

Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
congestion control", ACM CCR 34:2, 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simoom.gallery.reno import Reno

if TYPE_CHECKING:
    from simoom._core import Ack, Loss


class Westwood(Reno):
    """NewReno with a threshold of the rate of acknowledgements times the least round-trip time."""

    memory: float = 0.9
    """The weight of the old estimate at each sample: alpha of §2.1."""

    def __init__(self) -> None:
        super().__init__()
        self.rate: float | None = None
        """In segments per second."""
        self.since_ns: int | None = None
        """The start of the current round trip."""
        self.arrived = 0.0
        self.rtt_min_s = 0.0

    def on_ack(self, ack: Ack) -> None:
        """Estimate the rate, and grow as NewReno does."""
        self.rtt_min_s = ack.rtt_min_s
        now_ns = ack.now_ns
        if self.since_ns is None:
            self.since_ns = now_ns
        else:
            self.arrived += ack.delivered
            # One sample per round trip (§2.1), because acknowledgements arrive in bursts.
            elapsed_ns = now_ns - self.since_ns
            if elapsed_ns >= ack.srtt_ns and elapsed_ns > 0:
                self.take_sample(self.arrived / (elapsed_ns * 1e-9))
                self.since_ns, self.arrived = now_ns, 0.0
        super().on_ack(ack)

    def take_sample(self, rate: float) -> None:
        """Update the estimate by a sample with the weight 1 - `memory`."""
        if self.rate is None:
            self.rate = rate
        else:
            self.rate = self.memory * self.rate + (1.0 - self.memory) * rate

    def threshold(self, loss: Loss) -> float:
        """Return the bandwidth-delay product (§2.2); before the first sample NewReno's half."""
        if self.rate is None:
            return super().threshold(loss)
        return min(self.rate * self.rtt_min_s, self.window)

    def gauges(self) -> dict[str, float]:
        """Return the estimate too."""
        rate = float("nan") if self.rate is None else self.rate
        return {**super().gauges(), "rate_segments_per_s": rate}
