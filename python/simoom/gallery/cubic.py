"""CUBIC (RFC 9438): a window that grows by the time since the last loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom.control import Control, cbrt
from simoom.gallery.slow_start import HyStart

if TYPE_CHECKING:
    from simoom._core import Ack, LossEvent


@dataclass(slots=True)
class Stage:
    """A stage of congestion avoidance."""

    start_ns: int
    """When it began, later by all the time in which the window was not used (§4.2, §5.8)."""
    plateau: float
    k_s: float
    """How long after the start the plateau is reached."""
    reno: float
    """Reno's window (§4.3)."""


class Cubic(Control):
    """What the built-in ``cubic`` does."""

    beta = 0.7
    """What of the flight is left after a loss (§4.6)."""
    c = 0.4
    """C of §4.1, in segments per second cubed."""

    def __init__(self) -> None:
        self.window = max(self.window, 1.0)
        self.prior = 0.0
        """The window before the last reduction (cwnd_prior)."""
        self.w_max = 0.0
        self.stage: Stage | None = None
        self.after_timeout = False
        # §4.10: slow start with HyStart++, where the threshold is arbitrarily high.
        self.hystart = HyStart() if self.ssthresh == float("inf") else None
        self.before: tuple[float, float, float, float, Stage | None] | None = None
        self.last_ns, self.last_empty = 0, False

    def on_ack(self, ack: Ack) -> None:
        """Grow: slow start up to the threshold, then by the time."""
        now_ns, app_limited = ack.now_ns, ack.app_limited
        if self.stage is not None:
            # Time in which the window is not used is none of the stage's.
            if app_limited and not ack.recovery:
                self.stage.start_ns += now_ns - self.last_ns
            elif self.last_empty:
                # What was sent in answer takes a round trip to be acknowledged.
                self.stage.start_ns += max(now_ns - self.last_ns - ack.srtt_ns, 0)
        self.last_ns, self.last_empty = now_ns, ack.in_flight <= 0.0
        if self.window < self.ssthresh:
            self.slow_start(ack)
        elif not app_limited:
            self.avoid_congestion(now_ns, ack.acked, ack.srtt_s)
            self.after_timeout = False

    def slow_start(self, ack: Ack) -> None:
        """Grow by what is acknowledged (RFC 3465), until HyStart++ advises to end."""
        divisor, limit = 1.0, 2.0
        if self.hystart is not None:
            advice = self.hystart.divisor(ack)
            if advice is None:
                self.hystart = None
                self.ssthresh = self.window
                return
            divisor, limit = advice, self.hystart.LIMIT
        if ack.app_limited:
            return
        step = min(ack.acked, 1.0 if self.after_timeout else limit)
        self.window = min(self.window + step / divisor, self.ssthresh)

    def avoid_congestion(self, now_ns: int, acked: float, srtt_s: float) -> None:
        """Follow the cubic curve, or Reno where that is faster (§4.2 to §4.5)."""
        window, beta = self.window, self.beta
        stage = self.stage
        if stage is None:
            stage = self.stage = self.begin(now_ns)
        # Figure 4; alpha rises to one where the window of before is reached.
        gain = 3.0 * (1.0 - beta) / (1.0 + beta) if stage.reno < self.prior else 1.0
        reno = stage.reno = stage.reno + gain * acked / window
        # Figure 1, now and a round trip later.
        t = (now_ns - stage.start_ns) * 1e-9
        x, y = t - stage.k_s, t + srtt_s - stage.k_s
        if self.c * x * x * x + stage.plateau < reno:
            if reno > window:
                self.window = reno
            return
        # §4.4 and §4.5, for each segment that is acknowledged. `min` and `max` would read better
        # and cost as much as all the rest of this method.
        target = self.c * y * y * y + stage.plateau
        if target > 1.5 * window:
            target = 1.5 * window
        if target > window:
            self.window = window + (target - window) * (acked / window if acked < window else 1.0)

    def begin(self, now_ns: int) -> Stage:
        """Begin a stage: the plateau is where the last loss was (§4.2, §4.8)."""
        window = self.window
        if self.after_timeout or self.w_max <= window:
            return Stage(now_ns, window, 0.0, window)
        # Figure 2.
        return Stage(now_ns, self.w_max, cbrt((self.w_max - window) / self.c), window)

    def on_loss(self, loss: LossEvent) -> None:
        """Reduce by `beta`, and remember where it happened."""
        window, w_max = self.window, self.w_max
        if not loss.repeated:
            self.before = (window, self.ssthresh, self.prior, w_max, self.stage)
            self.ssthresh = max(loss.in_flight * self.beta, 2.0)
            # §4.7: fast convergence.
            self.w_max = window * (1.0 + self.beta) / 2.0 if window < w_max else window
            self.prior = window
        self.stage = None
        self.hystart = None
        self.after_timeout = loss.cause == "timeout"
        self.window = 1.0 if self.after_timeout else self.ssthresh

    def on_undo(self) -> None:
        """Take the last loss back (§4.9)."""
        if self.before is None:
            return
        window, self.ssthresh, self.prior, self.w_max, self.stage = self.before
        self.window = max(self.window, window)
        self.after_timeout = False
        self.before = None

    def gauges(self) -> dict[str, float]:
        """Show the curve, too."""
        stage = self.stage
        nan = float("nan")
        return {
            **super().gauges(),
            "w_max_segments": self.w_max,
            "k_s": nan if stage is None else stage.k_s,
            "reno_window_segments": nan if stage is None else stage.reno,
        }
