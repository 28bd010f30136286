"""A simulation as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from simoom.gym import rewards
from simoom.gym.rewards import Reward
from simoom.gym.setting import Setting
from simoom.gym.simulations import Simulations
from simoom.results.run import Run
from simoom.scenario.scenario import ScenarioLike

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SEED = 2**63 - 1


class Environment(gymnasium.Env["NDArray[np.float64]", Any]):
    """A scenario that an agent steps.

    An action is the index of a value of the setting, or of each of several settings: it is set at
    the start of a step, as if the scenario had it from then on. An observation is what the step
    measured: counters as their increase in the step, rates and ratios over the step, gauges at its
    end, and 0 where there is nothing to measure. An episode is a run of the scenario, truncated
    at its ``duration_s``; no state is terminal.

    ``reset(seed=7)`` begins the run of seed 7; each further ``reset()`` begins the next replication
    of it. Equal seeds and actions give bit-identical episodes, and with the values of the scenario
    the run of `simoom.run`.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        What is simulated.
    settings : sequence of Setting
        What the agent chooses.
    observe : sequence of str
        Paths of results and probes, wildcards included: ``flows[*].srtt_s``.
    reward : callable
        A function of a `Step`.
    also : sequence of str, optional
        Paths that the reward needs and the agent does not see.
    step_ms : float, optional
        The simulated time of a step.

    Attributes
    ----------
    observation_names, action_names : tuple of str
        What each element of an observation and of an action is; names end in units.

    Raises
    ------
    ScenarioError
        The scenario, a value of a setting or a path has faults.
    """

    metadata = {"render_modes": []}  # noqa: RUF012  as Gymnasium declares it

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        settings: Sequence[Setting],
        observe: Sequence[str],
        reward: Reward = rewards.goodput,
        also: Sequence[str] = (),
        step_ms: float = 10.0,
    ) -> None:
        self.simulations = Simulations(scenario, settings, observe, also, step_ms, 1)
        self.reward = reward
        self.observation_names = self.simulations.names
        self.action_names = tuple(setting.name for setting in settings)
        self.observation_space = self.simulations.observation_space()
        self.action_space = self.simulations.action_space()
        self._width = len(self.observation_names)
        self._going = np.zeros(1, np.uint8)
        self._episode: tuple[int, int] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            The seed of the run; default: the next replication of the last seed, or a random seed.
        options : dict, optional
            ``{"replication": 3}`` begins that replication.

        Returns
        -------
        tuple of ndarray and dict
            The observation of the start, of the shape (observations,), and what `step` tells.
        """
        super().reset(seed=seed)
        self._episode = following(self._episode, seed, self.np_random, options)
        values = self.simulations.begin(0, *self._episode)
        self._going[0] = True
        return values[: self._width], {"time_s": 0.0}

    def step(self, action: Any) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Set what was chosen and simulate a step.

        Parameters
        ----------
        action : int or array of int
            The index of the value of each setting.

        Returns
        -------
        tuple
            Observation, reward, False, whether the run has ended, and ``{"time_s": ...}``.
        """
        if not self._going[0]:
            raise gymnasium.error.ResetNeeded("the run has ended, or not begun: call reset first")
        choices = np.asarray(action, dtype=np.int64)
        values = self.simulations.advance(np.ascontiguousarray(choices.reshape(1, -1)), self._going)
        reward = float(self.reward(self.simulations.step(values[0])))
        info = {"time_s": self.simulations.now_s(0)}
        return values[0, : self._width], reward, False, not self._going[0], info

    def chosen(self, action: Any) -> dict[str, Any]:
        """Return the keys of the scenario that an action sets, and their values.

        Returns
        -------
        dict
            The values by path.
        """
        return chosen(self.simulations, action)

    def finish(self) -> Run:
        """Run the present episode to its end with the last settings, and return its results.

        Returns
        -------
        Run
            The results with their digest. The scenario in it is that before any action.
        """
        self._going[0] = False
        return self.simulations.finish(0)


def chosen(simulations: Simulations, action: Any) -> dict[str, Any]:
    """Return the keys that an action sets, and their values."""
    indices = np.atleast_1d(np.asarray(action, dtype=np.int64))
    keys: dict[str, Any] = {}
    for setting, index in zip(simulations.settings, indices, strict=True):
        keys |= setting.chosen(int(index))
    return keys


def following(
    last: tuple[int, int] | None,
    seed: int | None,
    generator: np.random.Generator,
    options: dict[str, Any] | None,
) -> tuple[int, int]:
    """Return seed and replication of the episode after another."""
    unknown = set(options or ()) - {"replication"}
    if unknown:
        raise ValueError(f"options: there is no {min(unknown)!r}; there is 'replication'")
    if seed is not None:
        root, replication = seed, 0
    elif last is not None:
        root, replication = last[0], last[1] + 1
    else:
        root, replication = int(generator.integers(MOST_SEED)), 0
    return root, (options or {}).get("replication", replication)
