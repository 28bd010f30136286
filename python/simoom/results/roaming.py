"""The tables of stations that change their access points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.results.tables import Column, Row, digits, number, observed, percent, plain, rows

ROAMERS = (
    observed("stations[i]", "name"),
    observed("stations[i]", "roaming.handovers"),
    observed("stations[i]", "roaming.scans"),
    Column("roaming.outage_s", "outage\ns", plain),
    Column("roaming.outage_fraction", "outage\n%", percent),
)
"""Columns of stations that roam."""

HANDOVERS = (
    Column("name", "station"),
    Column("at", "handover\nat, s"),
    Column("from", "from"),
    Column("to", "to"),
)
"""Columns of their changes of access point."""


def roamers(summary: Mapping[str, Any]) -> list[Row]:
    """Return the values of a summary for each station that roams."""
    return [row for row in rows(summary, "stations") if "roaming.handovers" in row]


def handovers(summary: Mapping[str, Any]) -> list[Row]:
    """Return each change of access point, of one station after the other.

    Examples
    --------
    >>> station = {"handovers": 1, "handover_at_s[0]": 25.4, "handover_from[0]": 0.0}
    >>> station["handover_to[0]"] = 2.0
    >>> handovers({f"stations[0].roaming.{key}": value for key, value in station.items()})
    [{'name': None, 'at': '25.4', 'from': 'ap', 'to': 'cells[1]'}]
    """
    return [change for station in roamers(summary) for change in _changes(station)]


def _changes(station: Row) -> list[Row]:
    found: list[Row] = []
    while (at := number(station.get(f"roaming.handover_at_s[{len(found)}]"))) is not None:
        left, entered = (
            _cell(number(station.get(f"roaming.handover_{end}[{len(found)}]")))
            for end in ("from", "to")
        )
        found.append({"name": station.get("name"), "at": digits(at), "from": left, "to": entered})
    return found


def _cell(cell: float | None) -> str:
    return f"cells[{round(cell) - 1}]" if cell else "ap"
