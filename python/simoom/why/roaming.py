"""Counterfactuals of roaming: without scans, and other ways to change the access point."""

from __future__ import annotations

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
    return _change(found, NEVER, cause, "with an access point for ever")


def announced(case: Case) -> Answer:
    """Let the access point know of scans, and keep what comes meanwhile."""
    return _other(
        case,
        ("announce", True),
        "the station tells its access point when it scans",
        "scans of which the access point does not know",
        "with scans that are announced",
    )


def forwarded(case: Case) -> Answer:
    """Let the new access point have what waits at the one before."""
    return _other(
        case,
        ("forward", True),
        "what waits at an access point is passed to the next",
        "packets that are lost at the access point before",
        "with packets passed to the new access point",
    )


def authentication(case: Case) -> Answer:
    """Let a change of access point take no time for keys, as with a fast BSS transition."""
    return _other(
        case,
        ("authentication_ms", 0.0),
        "a change of access point takes no time for keys",
        "the authentication after each change of access point",
        "with a fast BSS transition (802.11r)",
    )


def _other(case: Case, to: tuple[str, Any], is_so: str, cause: str, without: str) -> Answer:
    """Give a key of roaming another value; `is_so` says that it has it."""
    found = _roaming(case)
    if isinstance(found, str):
        return found
    key, value = to
    found = {path: table for path, table in found.items() if (table[key] or 0) != value}
    return _change(found, {key: value}, cause, without) if found else is_so


def _change(
    found: dict[str, dict[str, Any]], values: dict[str, Any], cause: str, without: str
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
