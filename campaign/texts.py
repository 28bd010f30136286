"""Random scenarios for tests in Rust: python -m campaign.texts SEED COUNT LONGEST_S.

Writes a line for each scenario: its class (`features.ORDER`), a tab, and the scenario as JSON. None
simulates more than LONGEST_S. Keys are drawn one by one, so that some contradict each other.
"""

from __future__ import annotations

import json
import random
import sys

from campaign import features, inputs


def line(number: int, seed: int, longest_s: float) -> str:
    """Return the line of a random scenario."""
    made = features.scenario(number, seed, random.Random(number))
    inputs.shorten(made, longest_s)
    return f"{features.class_of(number)}\t{json.dumps(made)}"


if __name__ == "__main__":
    seed, count = map(int, sys.argv[1:3])
    for number in range(count):
        print(line(number, seed, float(sys.argv[3])))
