"""Cases: a flow of a scenario whose result is to be explained, and the value that explains it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simoom import _core
from simoom.base.issue import Issue, ScenarioError
from simoom.results.tables import Row, Value, digits, number, rows
from simoom.runs.stats import Estimate
from simoom.scenario.hearing import Hearing, hearing
from simoom.scenario.interfaces import interfaces
from simoom.scenario.scenario import Scenario
from simoom.twin.inputs import Cell, Flow
from simoom.why.draft import Edit, with_single_flows


@dataclass(frozen=True)
class Goal:
    """The value by which a flow is judged.

    Attributes
    ----------
    path : str
        Its path in the results.
    name : str
        Its name in sentences.
    unit : str
        Its unit in sentences.
    scale : float
        The factor from results to this unit.
    more : bool
        Whether more is better.
    """

    path: str
    name: str
    unit: str
    scale: float
    more: bool

    @property
    def is_shared(self) -> bool:
        """Whether it is a rate, or the time that a size takes: less than all with other flows."""
        return self.path.endswith(("goodput_mbps", "session_delay_s.mean"))

    def written(self, value: float, half: float | None = None) -> str:
        """Write a value of the results with its interval and unit."""
        if value != value:
            return "nothing measured"
        text = digits(self.scale * value)
        if half is not None and half < float("inf"):
            # Where nothing is random there is no interval.
            is_zero = half < 1e-9 * abs(value)
            text += "" if is_zero else f" ± {digits(self.scale * half, 2)}"
        return f"{text} {self.unit}"

    def gained(self, difference: Estimate) -> str:
        """Write a difference over pairs of runs with its interval, in the unit of `written`."""
        if not difference.n:
            return "nothing measured"
        low, mean, high = (
            f"{'+' if self.scale * x >= 0 else '-'}{digits(abs(self.scale * x))}"
            for x in (difference.ci_low, difference.mean, difference.ci_high)
        )
        is_one = difference.half_width <= 1e-9 * abs(difference.mean)
        return mean if is_one else f"{mean} ({low} to {high})"


GOALS = {
    "bulk": ("goodput_mbps", "goodput", "Mb/s", 1.0, True),
    "saturated": ("goodput_mbps", "goodput", "Mb/s", 1.0, True),
    "writes": ("goodput_mbps", "goodput", "Mb/s", 1.0, True),
    "web": ("session_delay_s.mean", "time per file", "s", 1.0, False),
    "requests": ("session_delay_s.mean", "time per response", "s", 1.0, False),
    "video": ("video.rate_mbps", "rate of the video", "Mb/s", 1.0, True),
    "conference": ("conference.in_time_mbps", "video in time", "Mb/s", 1.0, True),
    "call": ("mos", "mean opinion score", "(MOS)", 1.0, True),
}
"""By traffic, the value by which a flow is judged."""

DELAY = ("delay_s.p95", "delay of 95 % of the packets", "ms", 1e3, False)
"""That of other traffic."""


def goal_of(index: int, kind: str) -> Goal:
    """Return the goal of a flow by its traffic."""
    end, *rest = GOALS.get(kind, DELAY)
    return Goal(f"flows[{index}].{end}", *rest)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Interface:
    """An interface with a queue.

    Attributes
    ----------
    name : str
        Its name in results.
    kind : str
        "ap", "station", "cell" (a further access point), "wire" or "link".
    number : int or None
        The number of the station, or of the table in ``cells`` or ``links``.
    is_reverse : bool
        Whether it is the second direction of a link.
    """

    name: str
    kind: str
    number: int | None
    is_reverse: bool


@dataclass(frozen=True)
class Case:
    """A flow of a scenario, and what a run of the scenario says about it.

    Attributes
    ----------
    original : Scenario
        The scenario as it was given.
    scenario : Scenario
        The same, in which each flow has a table of its own.
    index : int
        The number of the flow.
    summary : mapping
        The results of a run, with delays by hop.
    """

    original: Scenario
    scenario: Scenario
    index: int
    summary: Mapping[str, Value]
    seed: int

    @cached_property
    def cell(self) -> Cell:
        """The inputs of the scenario with single flows."""
        return Cell(self.scenario)

    @cached_property
    def flow(self) -> Flow:
        """The flow."""
        return self.cell.flows[self.index]

    @property
    def name(self) -> str:
        """The name of the flow."""
        return str(self.summary[f"flows[{self.index}].name"])

    @cached_property
    def goal(self) -> Goal:
        """The value by which the flow is judged."""
        return goal_of(self.index, self.flow.kind)

    @cached_property
    def group(self) -> int:
        """The number of its table in the original scenario."""
        tables = Cell(self.original).keys["flows"]
        flows = Cell(self.original).flows
        return next(n for n, table in enumerate(tables) if table == flows[self.index].table)

    def flow_key(self, key: str) -> str:
        """Return the path of a key of the flow in the original scenario."""
        return f"flows[{self.group}].{key}"

    def edit(self, key: str, value: Any = None) -> Edit:
        """Return a change of a key of the flow."""
        return Edit(f"flows[{self.index}].{key}", value)

    @property
    def own(self) -> Row:
        """The results of the flow."""
        return rows(self.summary, "flows")[self.index]

    @property
    def knows_hops(self) -> bool:
        """Whether the hops of flows are measured."""
        return bool(self.scenario.get("measure.hops"))

    @cached_property
    def hops(self) -> list[Row]:
        """The hops of the flow, those of its data first; empty where they are not measured."""
        return [row for row in rows(self.summary, "hops") if row["flow"] == self.name]

    @cached_property
    def interfaces(self) -> dict[str, Interface]:
        """The interfaces by their names in results."""
        return {each["name"]: Interface(**each) for each in interfaces(self.scenario)}

    @cached_property
    def others(self) -> list[int]:
        """The other flows that send anything."""
        tables = enumerate(rows(self.summary, "flows"))
        return [i for i, row in tables if i != self.index and number(row["packets_sent"])]

    @property
    def has_cell(self) -> bool:
        """Whether the scenario has a cell."""
        return self.cell.keys["standard"] is not None and bool(self.cell.stations)

    @property
    def radio(self) -> dict[str, Any] | None:
        """The table ``[radio]``, if there is one."""
        found: dict[str, Any] | None = self.cell.keys["radio"]
        return found

    @cached_property
    def station_groups(self) -> list[tuple[str, dict[str, Any], range]]:
        """The path, the keys and the numbers of the stations of each group."""
        given = self.cell.keys["stations"]
        if not isinstance(given, (list, dict)):
            return [("stations", {}, range(int(given)))]
        if isinstance(given, dict):
            return [("stations", given, range(int(given["count"])))]
        groups, first = [], 0
        for n, table in enumerate(given):
            groups.append((f"stations[{n}]", table, range(first, first + int(table["count"]))))
            first += int(table["count"])
        return groups

    @property
    def own_stations(self) -> list[int]:
        """The stations at the ends of the flow."""
        return self.flow.stations

    @cached_property
    def hearing(self) -> Hearing:
        """The links between the nodes of a scenario with a radio."""
        return hearing(self.scenario, seed=self.seed)

    @cached_property
    def moves(self) -> bool:
        """Whether stations move."""
        keys = ("waypoints", "movement")
        return any(table.get(key) for _, table, _ in self.station_groups for key in keys)


def find_flow(scenario: Scenario, name: str | None) -> tuple[Scenario, int | None]:
    """Return the scenario with single flows, and the number of the flow with a name."""
    single = with_single_flows(scenario)
    names = [table["name"] for table in single.get("flows")]
    if not names:
        raise ScenarioError([Issue("flows", "there are none, so that there is nothing to explain")])
    if name is None:
        return single, None
    if name not in names:
        close = _core.near(name, names) or names[:5]
        remedy = _core.suggested(close)
        raise ScenarioError([Issue("flow", f"there is no flow {name!r}", remedy)])
    return single, names.index(name)


def slowest(scenario: Scenario, summary: Mapping[str, Value]) -> int:
    """Return the flow to explain if none is named.

    That is the one with the least goodput of those that could send more; without any, the one
    with the longest time per file, and without any, the one with the longest delay.
    """
    flows = Cell(scenario).flows
    found = []
    for flow in flows:
        goal = goal_of(flow.index, flow.kind)
        value = number(summary.get(goal.path))
        is_limited = flow.traffic.get("size_bytes") is not None
        unlimited = flow.kind in ("bulk", "saturated") and not is_limited
        order = 0 if unlimited else 1 if flow.kind in ("web", "requests") else 2
        if order == 2:
            value = number(summary.get(f"{flow.path}.delay_s.p95"))
        worst = -math.inf if value is None else value if order == 0 else -value
        found.append((order, worst, flow.index))
    return min(found)[2]
