"""Settings of a scenario that an agent chooses during a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from simoom.base.issue import ScenarioError
from simoom.scenario.scenario import Scenario


@dataclass(frozen=True)
class Setting:
    """A setting that an agent chooses at each step among some values.

    The simulator resolves the scenario with the chosen values as if they had been written in it, so
    that ranges, units and rules between keys are those of the scenario. These may change during a
    run: the contention windows, ``wlan.rts_threshold_bytes``, the rates and MCSs of stations
    with a fixed mode, and ``control.fixed.window_segments``.

    Attributes
    ----------
    paths : tuple of str
        The keys that are set together, ``("wlan.cw_min", "wlan.cw_max")``.
    values : tuple
        The values from which the agent chooses, by index. A tuple has a value for each key, any
        other value is that of all keys.

    Examples
    --------
    >>> Setting("wlan.rts_threshold_bytes", [0, 2347]).chosen(1)
    {'wlan.rts_threshold_bytes': 2347}
    """

    paths: tuple[str, ...]
    values: tuple[Any, ...]

    def __init__(self, paths: str | Sequence[str], values: Iterable[Any]) -> None:
        object.__setattr__(self, "paths", (paths,) if isinstance(paths, str) else tuple(paths))
        object.__setattr__(self, "values", tuple(values))
        if not self.paths or not self.values:
            raise ValueError("Setting: needs a path and at least one value")
        for value in self.values:
            if isinstance(value, tuple) and len(value) != len(self.paths):
                raise ValueError(
                    f"Setting: {value!r} has {len(value)} values for {len(self.paths)} paths"
                )

    @property
    def name(self) -> str:
        """The paths, as a name with units."""
        return ", ".join(self.paths)

    def chosen(self, index: int) -> dict[str, Any]:
        """Return the value of each key.

        Returns
        -------
        dict
            The values by path.
        """
        value = self.values[index]
        each = value if isinstance(value, tuple) else (value,) * len(self.paths)
        return dict(zip(self.paths, each, strict=True))

    @classmethod
    def allowed(
        cls, scenario: Scenario, paths: str | Sequence[str], candidates: Iterable[Any]
    ) -> Setting:
        """Return a setting with those of some values that the scenario allows.

        Raises
        ------
        ScenarioError
            It allows none of them; the faults are those of the first.

        Examples
        --------
        >>> s = Scenario(standard="11b", stations=1, flows=[{"from": "sta0", "to": "ap"}])
        >>> Setting.allowed(s, "wlan.rate_mbps", [5.5, 6, 11]).values
        (5.5, 11)
        """
        every = cls(paths, candidates)
        values, faults = [], None
        for index, value in enumerate(every.values):
            changed = scenario
            try:
                for path, each in every.chosen(index).items():
                    changed = changed.set(path, each)
                changed.check()
                values.append(value)
            except ScenarioError as error:
                faults = faults or error
        if not values and faults is not None:
            raise faults
        return cls(paths, values)
