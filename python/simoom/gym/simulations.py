"""The simulations behind environments: what they share, and what a step of them shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from simoom import _core
from simoom.base.arguments import whole
from simoom.base.issue import Issue, ScenarioError
from simoom.results.run import Run
from simoom.scenario.observables import nearest
from simoom.scenario.scenario import Scenario, ScenarioLike, toml_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simoom.gym.setting import Setting

SHORTEST_STEP_MS = 1e-3


class Step(Mapping[str, "NDArray[np.float64]"]):
    """What a step measured, by path: of one environment, or of a vector of them.

    A value is an array without dimension, or of the shape (environments,). A path with a wildcard,
    ``flows[*].goodput_mbps``, has one dimension more, the last, for its elements.

    Attributes
    ----------
    names : tuple of str
        The paths in the order of `array`.
    array : ndarray of float
        What was measured, of the shape (paths,) or (environments, paths).
    step_s : float
        The length of the step.
    """

    def __init__(
        self, places: Mapping[str, int | list[int]], values: NDArray[np.float64], step_s: float
    ) -> None:
        self._places, self.array, self.step_s = places, values, step_s

    @property
    def names(self) -> tuple[str, ...]:
        """The paths in the order of `array`."""
        return tuple(path for path, place in self._places.items() if isinstance(place, int))

    def __getitem__(self, path: str) -> NDArray[np.float64]:
        try:
            found: NDArray[np.float64] = self.array[..., self._places[path]]
            return found
        except KeyError:
            message = f"this environment does not measure {path!r}{nearest(path, self._places)}"
            raise KeyError(f"{message}; name it in observe=[...] or also=[...]") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Simulations:
    """Simulations of one scenario that are stepped together.

    Attributes
    ----------
    scenario : Scenario
        The scenario; a copy with the values of its own settings is what a run without actions is.
    settings : tuple of Setting
        What the agent chooses.
    names : tuple of str
        The path of each observation, with its unit.
    step_s : float
        The simulated time of a step.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        settings: Sequence[Setting],
        observe: Sequence[str],
        also: Sequence[str],
        step_ms: float,
        count: int,
    ) -> None:
        if not SHORTEST_STEP_MS <= step_ms < math.inf:
            raise ValueError(f"step_ms: must be {SHORTEST_STEP_MS:g} or more, is {step_ms:g}")
        if not observe or not settings:
            raise ValueError("an environment needs at least one setting and one observation")
        self.scenario, self.settings, self.count = Scenario.of(scenario), tuple(settings), count
        self.step_s = step_ms / 1e3
        addressed, keys = self._keys()
        observed, more = self._paths(observe), self._paths(also)
        self._core = _core.Steps(addressed.core, keys, observed + more, self.step_s, count)
        first = _core.Steps(self.scenario.core, [], observed, self.step_s, 0)
        self.names, self._all = tuple(first.paths), self._core.paths
        self._places = self._find([*observe, *also, *self._all])
        self._episodes: list[tuple[int, int] | None] = [None] * count

    def _keys(self) -> tuple[Scenario, list[list[list[tuple[str, str]]]]]:
        """Return the scenario with tables for the stations that settings name, and the choices."""
        named = list(dict.fromkeys(path for setting in self.settings for path in setting.paths))
        addressed, paths = self.scenario.addressed(named)
        found = dict(zip(named, paths, strict=True))

        def keys(chosen: dict[str, Any]) -> list[tuple[str, str]]:
            return [
                (indexed, toml_value(value))
                for path, value in chosen.items()
                for indexed in found[path]
            ]

        choices = [
            [keys(setting.chosen(index)) for index in range(len(setting.values))]
            for setting in self.settings
        ]
        return addressed, choices

    def _paths(self, paths: Sequence[str]) -> list[str]:
        if isinstance(paths, str):
            raise TypeError(f"observe: must be a list of paths, is the text {paths!r}")
        return [each for path in paths for each in self.scenario.probe_paths(path)]

    def _find(self, paths: Sequence[str]) -> dict[str, int | list[int]]:
        """Return where the values of each path are; of a wildcard and a name, all of them."""
        places: dict[str, int | list[int]] = {}
        for path in paths:
            if path in self._all:
                places[path] = self._all.index(path)
                continue
            found = _core.Steps(
                self.scenario.core, [], self.scenario.probe_paths(path), self.step_s, 0
            )
            places[path] = [self._all.index(each) for each in found.paths]
        return places

    def observation_space(self) -> Any:
        """Return the space of the observations of one simulation.

        Returns
        -------
        Box
            Of the shape (observations,), each in the unit of its name, from 0 to 1 for a fraction
            or a probability, else unbounded.
        """
        bounded = [name.endswith(("_fraction", "_probability")) for name in self.names]
        high = np.where(bounded, 1.0, np.inf)
        return gymnasium.spaces.Box(np.zeros(len(self.names)), high, dtype=np.float64)

    def action_space(self) -> Any:
        """Return the space of the actions of one simulation.

        Returns
        -------
        Discrete or MultiDiscrete
            The indices of the values of the setting, or of each of several settings.
        """
        sizes = [len(setting.values) for setting in self.settings]
        if len(sizes) == 1:
            return gymnasium.spaces.Discrete(sizes[0])
        return gymnasium.spaces.MultiDiscrete(sizes)

    def begin(self, which: int, seed: int, replication: int) -> NDArray[np.float64]:
        """Begin a simulation anew and return its observations."""
        whole("seed", seed, bits=64)
        whole("replication", replication, bits=32)
        values = np.empty(len(self._all))
        self._core.begin(which, seed, replication, values)
        self._episodes[which] = seed, replication
        return values

    def advance(self, choices: NDArray[np.int64], going: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Advance the simulations that go on by a step, and record in `going` which still do.

        Returns
        -------
        ndarray of float
            Of the shape (simulations, paths).
        """
        values = np.empty((self.count, len(self._all)))
        self._core.advance(choices, going, values)
        return values

    def step(self, values: NDArray[np.float64]) -> Step:
        """Return what was measured, for a reward."""
        return Step(self._places, values, self.step_s)

    def now_s(self, which: int) -> float:
        """Return the simulated time."""
        return self._core.now_s(which)

    def finish(self, which: int) -> Run:
        """Run a simulation to its end with its last settings, and return its results."""
        episode = self._episodes[which]
        if episode is None:
            raise ScenarioError([Issue("", "no episode has begun: call reset first")])
        done = self._core.finish(which)
        return Run.of(done, self.scenario, *episode)
