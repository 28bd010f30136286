"""Learn how large the contention window of a cell should be while stations come and go.

    python docs/gym/learn_window.py [--quick]

Five stations of 802.11b always send; forty-five more join for four of ten seconds. The policy
raises the window when frames collide, and lowers it when they do not; the cross-entropy method
finds three numbers: the fraction of collisions to aim at, how fast to follow it, and over how many
steps to average. The learned policy is then compared with each fixed window and with the default
of 802.11b on seeds that it has not seen.
"""

from __future__ import annotations

import sys

import numpy as np

import simoom as sm
from simoom import gym

FEW, MANY = 5, 45


def cell() -> sm.Scenario:
    """Return the cell."""
    traffic = {"saturated": {"payload_bytes": 1472}}
    crowd = {"start_s": 3.0, "stop_s": 7.0, "start_spread_s": 0.1}
    return sm.Scenario(
        standard="11b",
        stations=FEW + MANY,
        duration_s=10.0,
        warmup_s=0.0,
        flows=[
            {"from": f"sta0-{FEW - 1}", "to": "ap", "traffic": traffic},
            {"from": f"sta{FEW}-{FEW + MANY - 1}", "to": "ap", "traffic": traffic, **crowd},
        ],
    )


def goodput_mbps(policies: np.ndarray, seeds: list[int], step_ms: float = 20.0) -> np.ndarray:
    """Return the mean goodput of an episode of each policy, each with its seed."""
    envs = gym.PRESETS[0].make_vec(cell(), num_envs=len(policies), step_ms=step_ms)
    most = envs.single_action_space.n - 1
    aim, gain, memory = policies.T
    window = np.full(len(policies), most / 2)
    collided, tried = np.zeros(len(policies)), np.zeros(len(policies))
    at = {name: index for index, name in enumerate(envs.observation_names)}
    envs.reset(seed=seeds)
    total, steps = np.zeros(len(policies)), 0
    while True:
        seen, reward, _, truncated, _ = envs.step(np.rint(window).astype(int))
        attempts = seen[:, at["total.attempts"]]
        total, steps = total + reward, steps + 1
        if truncated.all():
            return total / steps
        collided = memory * collided + attempts * seen[:, at["total.collision_probability"]]
        tried = memory * tried + attempts
        error = collided / np.maximum(tried, 1.0) - aim
        window = np.clip(window + gain * error, 0, most)


def bounded(policies: np.ndarray) -> np.ndarray:
    """Return policies within the ranges of their numbers."""
    return np.clip(policies, [0.0, 0.0, 0.0], [1.0, 40.0, 0.99])


def learn(rounds: int, candidates: int, seed: int = 1) -> np.ndarray:
    """Return the policy that the cross-entropy method finds (Rubinstein 1999)."""
    rng = np.random.default_rng(seed)
    mean, spread = np.array([0.3, 5.0, 0.5]), np.array([0.2, 5.0, 0.3])
    for number in range(rounds):
        policies = bounded(rng.normal(mean, spread, (candidates, 3)))
        # Common random numbers: all candidates of a round meet the same cell.
        found = goodput_mbps(policies, [1000 + number] * candidates)
        elite = policies[np.argsort(found)[-candidates // 4 :]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0) + 0.01 * np.array([1.0, 20.0, 1.0])
        print(f"round {number + 1:2}: {found.mean():.3f} Mb/s, aims at {mean[0]:.3f} collisions")
    return mean


def fixed_mbps(cw_min: int, cw_max: int, seeds: list[int]) -> np.ndarray:
    """Return the goodput of fixed windows with the same seeds."""
    fixed = cell().set("wlan.cw_max", cw_max).set("wlan.cw_min", cw_min)
    runs = [sm.run(fixed, seed=seed) for seed in seeds]
    return np.array([run.summary["total.goodput_mbps"] for run in runs])


def main(*, quick: bool = False) -> dict[str, tuple[float, float]]:
    """Learn, compare and print; return the gain over each fixed setting with its half-width."""
    policy = learn(4, 8) if quick else learn(15, 24)
    seeds = list(range(5 if quick else 20))
    learned = goodput_mbps(np.tile(policy, (len(seeds), 1)), seeds)
    print(f"learned: {sm.mean_ci(learned)} Mb/s")
    gains = {}
    rivals = {"default, 31 to 1023": (31, 1023)}
    rivals |= {f"window {w}": (w, w) for w in ((255,) if quick else (31, 63, 127, 255, 511, 1023))}
    for name, (low, high) in rivals.items():
        fixed = fixed_mbps(low, high, seeds)
        gain = sm.paired_difference(fixed, learned)
        gains[name] = (gain.mean, gain.half_width)
        print(f"{name:>20}: {fixed.mean():.3f} Mb/s; learned is better by {gain} Mb/s")
    return gains


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
