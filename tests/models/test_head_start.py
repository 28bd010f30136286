"""The fixed point of classes with a head start, against a simulation of slots."""

from __future__ import annotations

import random

import pytest

from simoom.models import fixed_point, head_start

LIMIT = 7
"""Attempts before a packet is given up."""


class Contender:
    """A station with its stage and its counter."""

    def __init__(self, most: int, draws: random.Random) -> None:
        self.most, self.draws = most, draws
        self.begin(0)

    def begin(self, stage: int) -> None:
        self.stage = stage if stage < LIMIT else 0
        self.count = self.draws.randint(0, min(16 << self.stage, self.most + 1) - 1)


def after(transmitting: list[Contender], ahead: int) -> tuple[int, int, int]:
    """Settle an attempt and the head start that follows it.

    Returns the attempts within it, and how many of all these attempts collide, early ones apart.
    """
    if len(transmitting) == 1:
        transmitting[0].begin(0)
        return 0, 0, 0
    for each in transmitting:
        each.begin(each.stage + 1)
    retrying = [each for each in transmitting if each.stage > 0]
    for slot in range(ahead):
        now = [each for each in retrying if each.count == slot]
        if now:
            for each in retrying:
                each.count -= slot + 1
            early, again, more = after(now, ahead)
            collided = len(now) if len(now) > 1 else 0
            return len(now) + early, len(transmitting), collided + again + more
    for each in retrying:
        each.count -= ahead
    return 0, len(transmitting), 0


def simulated(number: tuple[int, int], most: tuple[int, int], ahead: int) -> tuple[float, float]:
    """Return the early attempts per other one, and the part of all that collides."""
    draws = random.Random(1)
    pairs = zip(number, most, strict=True)
    everyone = [Contender(cw, draws) for n, cw in pairs for _ in range(n)]
    attempts = early = collided = 0
    for _ in range(150_000):
        now = [each for each in everyone if each.count == 0]
        for each in everyone:
            each.count -= 1
        if now:
            more, lost, again = after(now, ahead)
            attempts, early = attempts + len(now), early + more
            collided += lost + again
    return early / attempts, collided / (attempts + early)


@pytest.mark.parametrize("ahead", [0, 6])
@pytest.mark.parametrize("number", [(5, 1), (20, 1), (10, 10)])
def test_attempts_are_those_of_a_simulation_of_slots(number, ahead):
    most = (1023, 63)
    curves = [fixed_point.backoff_slots(15, cw, attempts=LIMIT) for cw in most]
    found = head_start.members(number, curves, ahead - 0.5)
    pairs = list(zip(number, found, strict=True))
    attempts = sum(n * each.attempts for n, each in pairs)
    early = sum(n * each.early for n, each in pairs)
    lost = sum(n * (each.attempts + each.early) * each.collided for n, each in pairs)
    measured = simulated(number, most, ahead)
    assert early / attempts == pytest.approx(measured[0], abs=0.01)
    assert lost / (attempts + early) == pytest.approx(measured[1], abs=0.01)
