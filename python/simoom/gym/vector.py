"""Simulations of one scenario as a vector environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from simoom.gym import rewards
from simoom.gym.environment import following
from simoom.gym.rewards import Reward
from simoom.gym.setting import Setting
from simoom.gym.simulations import Simulations
from simoom.results.run import Run
from simoom.scenario.scenario import ScenarioLike

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VectorEnvironment(VectorEnv["NDArray[np.float64]", Any, Any]):
    """Simulations of one scenario that an agent steps in one call, in this process.

    The call releases the GIL. With the seed 7, simulation *i* is that of an `Environment` with the
    seed 7 + *i*. The step after the end of a run begins the next replication
    (``AutoresetMode.NEXT_STEP``).

    Parameters
    ----------
    scenario, settings, observe, reward, also, step_ms
        As of `Environment`; the reward returns an array.
    num_envs : int
        The number of simulations.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        num_envs: int,
        settings: Sequence[Setting],
        observe: Sequence[str],
        reward: Reward = rewards.goodput,
        also: Sequence[str] = (),
        step_ms: float = 10.0,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: must be at least 1, is {num_envs}")
        self.simulations = Simulations(scenario, settings, observe, also, step_ms, num_envs)
        self.reward, self.num_envs, self.render_mode = reward, num_envs, None
        self.observation_names = self.simulations.names
        self.action_names = tuple(setting.name for setting in settings)
        self.single_observation_space = self.simulations.observation_space()
        self.single_action_space = self.simulations.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._width = len(self.observation_names)
        self._going = np.zeros(num_envs, np.uint8)
        self._episodes: list[tuple[int, int] | None] = [None] * num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode of each simulation.

        Parameters
        ----------
        seed : int or sequence of int, optional
            The seed of the first simulation, or of each.
        options : dict, optional
            ``{"replication": 3}`` begins that replication.

        Returns
        -------
        tuple of ndarray and dict
            Observations of the shape (environments, observations), and ``{"time_s": ...}``.
        """
        first = seed[0] if isinstance(seed, Sequence) else seed
        super().reset(seed=first)
        if seed is None or isinstance(seed, Sequence):
            seeds = list(seed or [None] * self.num_envs)
        else:
            seeds = [seed + which for which in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} seeds for {self.num_envs} environments")
        values = [self._begin(which, own, options) for which, own in enumerate(seeds)]
        return np.stack(values)[:, : self._width], {"time_s": np.zeros(self.num_envs)}

    def _begin(
        self, which: int, seed: int | None, options: dict[str, Any] | None
    ) -> NDArray[np.float64]:
        episode = following(self._episodes[which], seed, self.np_random, options)
        self._episodes[which], self._going[which] = episode, True
        return self.simulations.begin(which, *episode)

    def step(self, actions: Any) -> tuple[NDArray[np.float64], Any, Any, Any, dict[str, Any]]:
        """Set what was chosen and simulate a step of each.

        Parameters
        ----------
        actions : array of int
            Of the shape (environments,), or (environments, settings) of several settings.

        Returns
        -------
        tuple
            Observations of the shape (environments, observations); rewards, terminations and
            truncations of the shape (environments,), and ``{"time_s": ...}``.
        """
        choices = np.ascontiguousarray(actions, dtype=np.int64).reshape(self.num_envs, -1)
        stepped = self._going.astype(bool)
        values = self.simulations.advance(choices, self._going)
        found = np.where(stepped, self.reward(self.simulations.step(values)), 0.0)
        truncated = stepped & ~self._going.astype(bool)
        for which in np.flatnonzero(~stepped):
            values[which] = self._begin(int(which), None, None)
        times_s = np.array([self.simulations.now_s(i) for i in range(self.num_envs)])
        ended = np.zeros(self.num_envs, bool)
        return values[:, : self._width], found, ended, truncated, {"time_s": times_s}

    def finish(self, which: int) -> Run:
        """Run an episode to its end with the last settings, and return its results."""
        self._going[which] = False
        return self.simulations.finish(which)
