"""The registered environments: contention window, congestion control, MCS, RTS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium

from simoom.gym import rewards
from simoom.gym.environment import Environment
from simoom.gym.rewards import Reward
from simoom.gym.setting import Setting
from simoom.gym.vector import VectorEnvironment
from simoom.scenario.scenario import Scenario, ScenarioLike

WINDOWS = tuple(2**k - 1 for k in range(1, 16))
"""The forms that a contention window has, in slots."""

NEVER_BYTES = 2347
"""The RTS threshold that means never."""


@dataclass(frozen=True)
class Preset:
    """An environment with a usual scenario, which the user may replace.

    Attributes
    ----------
    name : str
        Its id after ``simoom/``.
    scenario : callable
        The usual scenario, by its number of stations.
    settings : callable
        What the agent chooses in a scenario.
    observe, also : tuple of str
        What it observes, and what the reward needs beside it.
    reward : callable
        What a step is worth.
    """

    name: str
    scenario: Callable[[int], Scenario]
    settings: Callable[[Scenario], list[Setting]]
    observe: tuple[str, ...]
    reward: Reward = rewards.goodput
    also: tuple[str, ...] = ()

    def _options(
        self,
        scenario: ScenarioLike | None,
        stations: int,
        duration_s: float | None,
        options: dict[str, Any],
    ) -> tuple[Scenario, dict[str, Any]]:
        cell = self.scenario(stations) if scenario is None else Scenario.of(scenario)
        if duration_s is not None:
            cell = cell.set("duration_s", duration_s)
        usual = {"observe": self.observe, "also": self.also, "reward": self.reward}
        if "settings" not in options:
            usual["settings"] = self.settings(cell)
        return cell, {**usual, **options}

    def make(
        self,
        scenario: ScenarioLike | None = None,
        *,
        stations: int = 10,
        duration_s: float | None = None,
        **options: Any,
    ) -> Environment:
        """Return the environment.

        Parameters
        ----------
        scenario : Scenario, path or mapping, optional
            Another scenario than the usual one.
        stations : int, optional
            The stations of the usual scenario.
        duration_s : float, optional
            The length of an episode.
        **options
            What else `Environment` takes: ``reward``, ``observe``, ``also``, ``settings``,
            ``step_ms``.

        Returns
        -------
        Environment
        """
        cell, options = self._options(scenario, stations, duration_s, options)
        return Environment(cell, **options)

    def make_vec(
        self,
        scenario: ScenarioLike | None = None,
        *,
        num_envs: int,
        stations: int = 10,
        duration_s: float | None = None,
        **options: Any,
    ) -> VectorEnvironment:
        """Return a vector of the environment.

        Parameters
        ----------
        num_envs : int
            The number of simulations.
        scenario, stations, duration_s, **options
            As of `make`.

        Returns
        -------
        VectorEnvironment
        """
        cell, options = self._options(scenario, stations, duration_s, options)
        return VectorEnvironment(cell, num_envs=num_envs, **options)


def _cell(standard: str, flows: list[dict[str, Any]], stations: int, **keys: Any) -> Scenario:
    return Scenario(
        standard=standard, stations=stations, duration_s=10.0, warmup_s=0.0, flows=flows, **keys
    )


def _saturated(standard: str) -> Callable[[int], Scenario]:
    """Return a cell whose stations always have a datagram of 1500 bytes to send."""
    flow = {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}
    return lambda stations: _cell(standard, [flow], stations)


def _download(stations: int) -> Scenario:
    """Return downloads from a server beyond a link of 20 Mb/s and 20 ms."""
    flow = {
        "from": "server",
        "to": "sta*",
        "control": {"fixed": {}},
        "tcp": {"window_segments": 1000},
    }
    queue = {"drop_tail": {"limit_packets": 100}}
    wire = {"rate_mbps": 20.0, "delay_ms": 20.0, "queue": queue}
    return _cell("11g", [flow], stations, wire=wire)


def _walk(stations: int) -> Scenario:
    """Return stations that download while they walk to and fro between 5 m and 50 m."""
    way = [{"at_s": at, "position_m": [x, 0.0]} for at, x in ((0, 5), (5, 50), (10, 5))]
    flow = {"from": "server", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 60.0}}}
    station = {"count": stations, "waypoints": way}
    return Scenario(
        standard="11n",
        stations=station,
        duration_s=10.0,
        warmup_s=0.0,
        radio={},
        ap={"queue": {"drop_tail": {"limit_packets": 1000}}},
        flows=[flow],
    )


def _rates(scenario: Scenario) -> list[Setting]:
    # 802.11n counts the MCSs of two streams from 8 on.
    count = 8 if scenario.get("standard") == "11n" else 12
    return [Setting.allowed(scenario, "wlan.mcs", range(count))]


def _windows(scenario: Scenario) -> list[Setting]:
    fixed = Setting.allowed(scenario, ("wlan.cw_min", "wlan.cw_max"), WINDOWS)
    return [Setting(fixed.paths, [window for window in fixed.values if window <= 1023])]


def _congestion_windows(scenario: Scenario) -> list[Setting]:
    """Return windows from 1 to 1024 segments, half a doubling apart."""
    windows = sorted({round(2 ** (k / 2)) for k in range(21)})
    path = "flows[*].control.fixed.window_segments"
    return [Setting.allowed(scenario, path, map(float, windows))]


def _thresholds(scenario: Scenario) -> list[Setting]:
    return [Setting.allowed(scenario, "wlan.rts_threshold_bytes", (0, NEVER_BYTES))]


PRESETS: Sequence[Preset] = (
    Preset(
        "ContentionWindow-v0",
        _saturated("11b"),
        _windows,
        ("total.goodput_mbps", "total.collision_probability", "total.attempts"),
    ),
    Preset(
        "CongestionControl-v0",
        _download,
        _congestion_windows,
        (
            "total.goodput_mbps",
            "flows[*].srtt_s",
            "flows[*].control.window_segments",
            "flows[*].retransmissions",
        ),
        rewards.goodput_and_delay(),
    ),
    Preset(
        "Mcs-v0",
        _walk,
        _rates,
        ("total.goodput_mbps", "ap.attempts", "ap.noise_losses", "ap.queue_packets"),
    ),
    Preset(
        "Rts-v0",
        _saturated("11g"),
        _thresholds,
        ("total.goodput_mbps", "total.collision_probability", "total.attempts"),
    ),
)
"""The registered environments."""

contention_window, congestion_control, mcs, rts = (preset.make for preset in PRESETS)


def register() -> None:
    """Register the environments with Gymnasium, as ``simoom/ContentionWindow-v0`` and so on."""
    for preset in PRESETS:
        if f"simoom/{preset.name}" not in gymnasium.registry:
            vector: Any = preset.make_vec  # its keywords have types
            gymnasium.register(
                f"simoom/{preset.name}",
                entry_point=preset.make,
                vector_entry_point=vector,
            )
