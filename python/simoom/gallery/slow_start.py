"""Round trips as a controller counts them, and HyStart++, which ends slow start before losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simoom._core import Ack


class Rounds:
    """Detects the end of a round trip: a segment that was sent in it has been delivered."""

    def __init__(self) -> None:
        self.left = 0.0

    def ended(self, ack: Ack) -> bool:
        """Return whether this acknowledgement ends a round trip and begins the next."""
        self.left -= ack.delivered
        # Amounts are bytes divided by the segment size: exact except for rounding.
        if self.left < -1e-6:
            self.left = ack.in_flight
            return True
        return False


class HyStart:
    """HyStart++ (RFC 9406), for the first slow start of a connection."""

    # §4.3. Times are whole nanoseconds, as in the simulator, so that division and comparison are
    # exact.
    LEAST_RISE_NS = 4_000_000
    GREATEST_RISE_NS = 16_000_000
    RISE_DIVISOR = 8
    SAMPLES = 8
    CAREFUL_DIVISOR = 4.0
    CAREFUL_ROUNDS = 5
    LIMIT = 8.0
    """L if segments are not paced."""

    def __init__(self) -> None:
        self.rounds = Rounds()
        self.last_ns: int | None = None
        self.current_ns: int | None = None
        self.samples = 0
        self.baseline_ns: int | None = None
        """The round-trip time at the start of conservative slow start (CSS); None outside CSS."""
        self.careful_rounds = 0

    def divisor(self, ack: Ack) -> float | None:
        """Return the divisor of the growth of slow start; None ends slow start."""
        ended = self.rounds.ended(ack)
        rtt_ns = ack.rtt_ns
        if rtt_ns is not None:
            self.current_ns = rtt_ns if self.current_ns is None else min(self.current_ns, rtt_ns)
            self.samples += 1
        self.detect_rise()
        if ended:
            self.last_ns, self.current_ns, self.samples = self.current_ns, None, 0
            if self.baseline_ns is not None:
                self.careful_rounds += 1
                if self.careful_rounds >= self.CAREFUL_ROUNDS:
                    return None
        return 1.0 if self.baseline_ns is None else self.CAREFUL_DIVISOR

    def detect_rise(self) -> None:
        """Detect a rise of the delay, or that an earlier rise was spurious (§4.2)."""
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
