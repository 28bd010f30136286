"""What a job does: a task that a worker carries out in a library."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from simoom.scenario.scenario import Scenario


@dataclass(frozen=True)
class Runs:
    """Runs of a scenario with random streams from a seed, under a name in the list of runs."""

    scenario: Scenario
    seed: int
    name: str


def digest(text: str) -> str:
    """Return a key, as those of runs are."""
    return hashlib.sha256(text.encode()).hexdigest()
