"""Reinforcement learning: Gymnasium environments whose cells run in this process.

An environment is a scenario, the settings that the agent chooses before each step, the observables
that it sees after it, and a reward. Importing the module registers four of them, each also as a
vector environment: ``simoom/ContentionWindow-v0``, ``simoom/CongestionControl-v0``,
``simoom/Mcs-v0`` and ``simoom/Rts-v0``.

>>> import gymnasium
>>> import simoom.gym
>>> env = gymnasium.make("simoom/ContentionWindow-v0", duration_s=0.05)
>>> observation, info = env.reset(seed=7)
>>> observation, reward, terminated, truncated, info = env.step(3)
>>> info["time_s"], env.unwrapped.chosen(3)
(0.01, {'wlan.cw_min': 15, 'wlan.cw_max': 15})
"""

from simoom.base.needs import needed

with needed("simoom.gym"):
    import gymnasium  # noqa: F401  for the message

# isort: split
from simoom.gym import rewards
from simoom.gym.environment import Environment
from simoom.gym.presets import (
    PRESETS,
    Preset,
    congestion_control,
    contention_window,
    mcs,
    register,
    rts,
)
from simoom.gym.rewards import Reward
from simoom.gym.setting import Setting
from simoom.gym.simulations import Step
from simoom.gym.vector import VectorEnvironment

__all__ = [
    "PRESETS",
    "Environment",
    "Preset",
    "Reward",
    "Setting",
    "Step",
    "VectorEnvironment",
    "congestion_control",
    "contention_window",
    "mcs",
    "register",
    "rewards",
    "rts",
]

register()
