"""Counterfactuals of roaming: without scans, and other ways to change the access point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simoom.why.air import NO_CELL
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting
from simoom.why.draft import Edit

NEVER = {"threshold_dbm": -120.0, "short_interval_s": 1e5, "long_interval_s": 1e5}
"""With these a station scans only when it has lost its access point."""


def scans(case: Case) -> Answer:
    """Let the flow's stations stay in their channels, and so with their access points."""
    found = _roaming(case)
    if isinstance(found, str):
        return found
    cause = "scans of other channels, during which its station receives nothing"
    return _change(found, NEVER, cause, "without scans")


@dataclass(frozen=True)
class Better:
    """A counterfactual: a key of roaming with another value.

    Attributes
    ----------
    key : str
        The key.
    value : object
        The value.
    is_so : str
        What is so where the key has the value.
    cause, without : str
        As those of `Change`.
    """

    key: str
    value: object
    is_so: str
    cause: str
    without: str

    def __call__(self, case: Case) -> Answer:
        """Give the key the value at the flow's stations that roam."""
        found = _roaming(case)
        if isinstance(found, str):
            return found
        other = {path: own for path, own in found.items() if (own[self.key] or 0) != self.value}
        if not other:
            return self.is_so
        return _change(other, {self.key: self.value}, self.cause, self.without)


announced = Better(
    key="announce",
    value=True,
    is_so="the station tells its access point when it scans",
    cause="scans of which the access point does not know",
    without="with scans that are announced",
)
forwarded = Better(
    key="forward",
    value=True,
    is_so="what waits at an access point is passed to the next",
    cause="packets that are lost at the access point before",
    without="with packets passed to the new access point",
)
authentication = Better(
    key="authentication_ms",
    value=0.0,
    is_so="a change of access point takes no time for keys",
    cause="the authentication after each change of access point",
    without="with a fast BSS transition (802.11r)",
)


def _change(
    found: dict[str, dict[str, Any]], values: Mapping[str, object], cause: str, without: str
) -> Change:
    paths = [(f"{path}.{key}", value) for path in found for key, value in values.items()]
    edits = [Edit(path, value) for path, value in paths]
    texts = (str(value).lower() if value is True else f"{value:g}" for _, value in paths)
    key = setting(*(f"{path}={text}" for (path, _), text in zip(paths, texts, strict=True)))
    return Change(edits, cause, without, key)


def _roaming(case: Case) -> dict[str, dict[str, Any]] | str:
    """Return the tables of roaming of the flow's stations by their paths, or why there are none."""
    if not case.has_cell:
        return NO_CELL
    own = set(case.own_stations)
    groups = ((path, table, own & set(members)) for path, table, members in case.station_groups)
    found = {f"{path}.roaming": table["roaming"] for path, table, members in groups
             if members and table.get("roaming")}  # fmt: skip
    return found or "the flow's stations stay with their access points"
