"""FeW, fractional window increment (Nahm, Helmy and Kuo, MobiHoc 2005)."""

from __future__ import annotations

from simoom.gallery.reno import Reno


class Few(Reno):
    """NewReno that grows by `alpha` segments per round trip, equal to the built-in ``few``."""

    alpha: float = 0.01

    def avoid_congestion(self, acked: float) -> None:
        """Grow by alpha over the window for each segment acknowledged."""
        self.window += self.alpha * acked / self.window
