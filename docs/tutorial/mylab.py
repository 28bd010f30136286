"""The congestion controller of lesson 8."""

import simoom as sm


class Aimd(sm.Control):
    increase: float = 1.0
    decrease: float = 0.5

    def on_ack(self, ack: sm.Ack) -> None:
        self.window += self.increase * ack.acked / self.window

    def on_loss(self, loss: sm.Loss) -> None:
        self.window = max(1.0, self.window * self.decrease)
