"""The nodes of a scenario that have interfaces, and their channels, as the core tells of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simoom.scenario.scenario import Scenario


def interfaces(scenario: Scenario) -> list[dict[str, Any]]:
    """Return name, kind, number and direction of each interface, by its name in results."""
    found: list[dict[str, Any]] = json.loads(scenario.core.interfaces())
    return found


def stations(scenario: Scenario) -> dict[str, int]:
    """Return the number of each station, by its name."""
    found = interfaces(scenario)
    return {each["name"]: each["number"] for each in found if each["kind"] == "station"}


def channels(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return the channel of each access point with a radio, by the path of its table.

    ``parts_mhz`` are the lower edges of the 20 MHz subchannels of its widest frames, and
    ``primary_mhz`` is that of the primary one.
    """
    found: list[dict[str, Any]] = json.loads(scenario.core.channels())
    return {each["path"]: each for each in found}
