"""Drafts: a scenario's keys as plain data, in which values are set and removed by path."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simoom.scenario.edit import written
from simoom.scenario.scenario import Scenario
from simoom.twin.inputs import Cell

OFF = {"start_s": 0.0, "start_spread_s": 0.0, "stop_s": 1e-9}
"""Keys of a flow that ends before it sends data. All flows keep their numbers, and so their random
streams."""


@dataclass(frozen=True)
class Edit:
    """A value at a path; None removes the key."""

    path: str
    value: Any = None


def keys_of(scenario: Scenario) -> dict[str, Any]:
    """Return the keys that a scenario sets."""
    return written(scenario.to_toml())


def apply(scenario: Scenario, edits: list[Edit]) -> Scenario:
    """Return a scenario with these changes; raise `ScenarioError` if it has faults."""
    for edit in sorted(edits, key=lambda edit: edit.value is not None):
        if edit.value is not None:
            scenario = scenario.set(edit.path, edit.value)
        elif scenario.core.has(edit.path):
            scenario = scenario.unset(edit.path)
    scenario.check()
    return scenario


def with_single_flows(scenario: Scenario) -> Scenario:
    """Return the same scenario in which each flow has a table of its own, ``flows[i]``.

    Examples
    --------
    >>> s = Scenario(standard="11b", stations=2, flows=[{"from": "server", "to": "sta*"}])
    >>> [flow["to"] for flow in with_single_flows(s).get("flows")]
    ['sta0', 'sta1']
    """
    keys = keys_of(scenario)
    cell = Cell(scenario)
    written: list[Mapping[str, Any]] = keys["flows"]
    tables = []
    for flow in cell.flows:
        table = copy.deepcopy(dict(written[flow.facts["table"]]))
        table |= {"from": flow.source, "to": flow.sink, "count": 1, "name": flow.name}
        tables.append(table)
    return Scenario(**{**keys, "flows": tables})
