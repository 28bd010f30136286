"""CUBIC (RFC 9438): the window is a cubic function of the time since the last loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom.gallery.slow_start import HyStart
from simoom.scenario.control import Control, cbrt

if TYPE_CHECKING:
    from simoom._core import Ack, Loss


@dataclass(slots=True)
class Stage:
    """A congestion avoidance stage."""

    start_ns: int
    """When it began, plus the time in which the window was not used (§4.2, §5.8)."""
    plateau: float
    k_s: float
    """K: the time from the start to the plateau."""
    reno: float
    """W_est, the window of Reno (§4.3)."""


class Cubic(Control):
    """CUBIC, equal to the built-in ``cubic``."""

    beta: float = 0.7
    """The factor of the multiplicative decrease (§4.6)."""
    c: float = 0.4
    """C of §4.1, in segments per second cubed."""

    def __init__(self) -> None:
        self.window = max(self.window, 1.0)
        self.prior = 0.0
        """The window before the last reduction (cwnd_prior)."""
        self.w_max = 0.0
        self.stage: Stage | None = None
        self.after_timeout = False
        # §4.10: slow start with HyStart++, if the threshold is arbitrarily high.
        self.hystart = HyStart() if self.ssthresh == float("inf") else None
        self.before: tuple[float, float, float, float, Stage | None] | None = None
        self.last_ns, self.last_empty = 0, False

    def on_ack(self, ack: Ack) -> None:
        """Grow in slow start up to the threshold, then as a function of time."""
        now_ns, app_limited = ack.now_ns, ack.app_limited
        if self.stage is not None:
            # The stage does not count the time in which the window is not used.
            if app_limited and not ack.recovery:
                self.stage.start_ns += now_ns - self.last_ns
            elif self.last_empty:
                # The segments sent now are acknowledged one round trip later.
                self.stage.start_ns += max(now_ns - self.last_ns - ack.srtt_ns, 0)
        self.last_ns, self.last_empty = now_ns, ack.in_flight <= 0.0
        if self.window < self.ssthresh:
            self.slow_start(ack)
        elif not app_limited:
            self.avoid_congestion(now_ns, ack.acked, ack.srtt_s)
            self.after_timeout = False

    def slow_start(self, ack: Ack) -> None:
        """Grow by the data acknowledged (RFC 3465), until HyStart++ ends slow start."""
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
        # Figure 4; alpha becomes 1 when W_est reaches cwnd_prior.
        gain = 3.0 * (1.0 - beta) / (1.0 + beta) if stage.reno < self.prior else 1.0
        reno = stage.reno = stage.reno + gain * acked / window
        # Figure 1, at the current time and one round trip later.
        t = (now_ns - stage.start_ns) * 1e-9
        x, y = t - stage.k_s, t + srtt_s - stage.k_s
        if self.c * x * x * x + stage.plateau < reno:
            if reno > window:
                self.window = reno
            return
        # §4.4 and §4.5, for each acknowledged segment. `min` and `max` would be clearer, but take
        # as long as the rest of this method.
        target = self.c * y * y * y + stage.plateau
        if target > 1.5 * window:
            target = 1.5 * window
        if target > window:
            self.window = window + (target - window) * (acked / window if acked < window else 1.0)

    def begin(self, now_ns: int) -> Stage:
        """Begin a stage, whose plateau is the window of the last loss (§4.2, §4.8)."""
        window = self.window
        if self.after_timeout or self.w_max <= window:
            return Stage(now_ns, window, 0.0, window)
        # Figure 2.
        return Stage(now_ns, self.w_max, cbrt((self.w_max - window) / self.c), window)

    def on_loss(self, loss: Loss) -> None:
        """Reduce the window by `beta`, and store the window before."""
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
        """Restore the state before the last reduction (§4.9)."""
        if self.before is None:
            return
        window, self.ssthresh, self.prior, self.w_max, self.stage = self.before
        self.window = max(self.window, window)
        self.after_timeout = False
        self.before = None

    def gauges(self) -> dict[str, float]:
        """Return the parameters of the curve too."""
        stage = self.stage
        nan = float("nan")
        return {
            **super().gauges(),
            "w_max_segments": self.w_max,
            "k_s": nan if stage is None else stage.k_s,
            "reno_window_segments": nan if stage is None else stage.reno,
        }
