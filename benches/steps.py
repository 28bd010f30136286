"""Speed of the environments of `simoom.gym`: steps per second of CPU time, on one core.

    python benches/steps.py [--quick]

The agent sets the contention window of a saturated 802.11b cell of ten stations every 10 ms of
simulated time, at random. CPU time is that of the process, so that other load only adds noise. The
best of five measurements counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from simoom import gym

WANTED_PER_S = 20_000


def single(steps: int) -> int:
    """Step one environment; return the steps."""
    env = gym.contention_window(duration_s=1e4)
    actions = np.random.default_rng(1).integers(0, len(env.simulations.settings[0].values), steps)
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return steps


def vector(steps: int, count: int = 16) -> int:
    """Step a vector of environments; return the steps of all."""
    envs = gym.PRESETS[0].make_vec(num_envs=count, duration_s=1e4)
    most = len(envs.simulations.settings[0].values)
    actions = np.random.default_rng(1).integers(0, most, (steps // count, count))
    envs.reset(seed=1)
    for action in actions:
        envs.step(action)
    return actions.size


def resets(count: int) -> int:
    """Begin episodes; return their number."""
    env = gym.contention_window()
    for _ in range(count):
        env.reset()
    return count


def per_s(work: Callable[[int], int], amount: int) -> float:
    """Return how often a second of CPU time does the work, the best of five."""
    best = 0.0
    for _ in range(5):
        begin = time.process_time()
        done = work(amount)
        best = max(best, done / (time.process_time() - begin))
    return best


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A tenth of the steps.")
    steps = 10_000 if parser.parse_args(arguments).quick else 100_000
    print("steps of 10 ms of a saturated 802.11b cell of ten, by CPU time on one core")
    print(f"  one environment: {per_s(single, steps):,.0f} per s (wanted {WANTED_PER_S:,})")
    print(f"  a vector of 16: {per_s(vector, steps):,.0f} per s")
    print(f"  resets: {per_s(resets, steps // 20):,.0f} per s")


if __name__ == "__main__":
    main()
