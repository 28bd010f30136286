"""Round trips as a controller sees them, and HyStart++: slow start that ends before it loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simoom._core import Ack


class Rounds:
    """Tells where a round trip ends: once something that was sent in it has been delivered."""

    def __init__(self) -> None:
        self.left = 0.0

    def ended(self, ack: Ack) -> bool:
        """Whether this acknowledgement ends a round trip, and begins the next."""
        self.left -= ack.delivered
        # Amounts are bytes over the segment size: exact but for the rounding.
        if self.left < -1e-6:
            self.left = ack.in_flight
            return True
        return False


class HyStart:
    """HyStart++ (RFC 9406), for the first slow start of a connection."""

    # §4.3. Times are whole nanoseconds, as the simulator's, so that dividing and comparing them
    # is exact.
    LEAST_RISE_NS = 4_000_000
    GREATEST_RISE_NS = 16_000_000
    RISE_DIVISOR = 8
    SAMPLES = 8
    CAREFUL_DIVISOR = 4.0
    CAREFUL_ROUNDS = 5
    LIMIT = 8.0
    """L where segments are not paced."""

    def __init__(self) -> None:
        self.rounds = Rounds()
        self.last_ns: int | None = None
        self.current_ns: int | None = None
        self.samples = 0
        self.baseline_ns: int | None = None
        """The round-trip time at the beginning of conservative slow start, while that lasts."""
        self.careful_rounds = 0

    def divisor(self, ack: Ack) -> float | None:
        """Return by how much slower slow start is to grow; None ends it."""
        ended = self.rounds.ended(ack)
        rtt_ns = ack.rtt_ns
        if rtt_ns is not None:
            self.current_ns = rtt_ns if self.current_ns is None else min(self.current_ns, rtt_ns)
            self.samples += 1
        self.judge()
        if ended:
            self.last_ns, self.current_ns, self.samples = self.current_ns, None, 0
            if self.baseline_ns is not None:
                self.careful_rounds += 1
                if self.careful_rounds >= self.CAREFUL_ROUNDS:
                    return None
        return 1.0 if self.baseline_ns is None else self.CAREFUL_DIVISOR

    def judge(self) -> None:
        """Find whether the delay has risen, or its rise was a mistake (§4.2)."""
        current = self.current_ns
        if current is None or self.samples < self.SAMPLES:
            return
        if self.baseline_ns is not None:
            if current < self.baseline_ns:
                self.baseline_ns = None
        elif self.last_ns is not None:
            least = self.last_ns // self.RISE_DIVISOR
            rise = max(self.LEAST_RISE_NS, min(least, self.GREATEST_RISE_NS))
            if current >= self.last_ns + rise:
                self.baseline_ns, self.careful_rounds = current, 0
