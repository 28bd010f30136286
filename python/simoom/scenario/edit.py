"""Changes of a scenario as text: tables appended, keys removed, controllers by file and class."""

from __future__ import annotations

import re
import tomllib
from pathlib import PurePath
from typing import Any

from simoom import _core
from simoom.base.issue import Issue, ScenarioError

_CLASS = re.compile(r"(?P<quote>[\"']?)(?P<module>[\w./\\-]+):(?P<name>[A-Za-z_][\w.]*)(?P=quote)")
_STATION = re.compile(r'stations\["?sta(?P<number>\d{1,9})"?\](?P<rest>\..+)')


def written(toml: str) -> dict[str, Any]:
    """Return the keys of a scenario as they are written in its TOML."""
    return tomllib.loads(toml)


def controller(path: str, text: str) -> str:
    """Return the value of a ``control`` key; a class by module or file becomes a table.

    Examples
    --------
    >>> controller("flows[*].control", "mylab/aimd.py:Aimd")
    '{python = {path = "mylab.aimd:Aimd"}}'
    >>> controller("flows[*].control", "cubic")
    'cubic'
    """
    match = _CLASS.fullmatch(text.strip())
    if match is None or path.rpartition(".")[2] != "control":
        return text
    module = match["module"]
    if module.endswith(".py"):
        file = PurePath(module)
        if file.is_absolute() or ".." in file.parts:
            message = (
                f"{module} must be below the current folder, or be named as Python imports it: "
                f"module:{match['name']}"
            )
            raise ScenarioError([Issue(path, message)])
        module = ".".join(file.with_suffix("").parts)
    return f'{{python = {{path = "{module}:{match["name"]}"}}}}'


def table(path: str, text: str) -> dict[str, Any]:
    """Read a table that is to be appended."""
    try:
        found = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError([Issue(path, f"is no TOML value: {error}")]) from None
    if not isinstance(found, dict):
        message = f'takes a whole table, as {path}={{from = "server", to = "sta0"}}, is {text}'
        raise ScenarioError([Issue(path, message)])
    return found


def station(path: str) -> tuple[int, str] | None:
    """Return the number of the single station that a path names, and the rest of the path.

    Examples
    --------
    >>> station('stations["sta3"].data_loss'), station("stations[3].data_loss")
    ((3, '.data_loss'), None)
    """
    match = _STATION.fullmatch(path)
    return None if match is None else (int(match["number"]), match["rest"])


def split_station(
    path: str, stations: Any, number: int, *, reads: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Return the tables of stations with one of its own for a single station, and its index.

    What only reads gets the table of all where their positions follow from their number.

    Parameters
    ----------
    path : str
        The path that names it, for messages.
    stations : int, mapping or list of mapping
        The stations as they are written: a number, a table, or tables with counts.
    number : int
        The number of the station.
    """
    if isinstance(stations, int):
        stations = {"count": stations}
    tables = [dict(each) for each in (stations if isinstance(stations, list) else [stations])]
    first = 0
    for place, each in enumerate(tables):
        count = each.get("count", 1)
        if not isinstance(count, int) or number >= first + count:
            first += count if isinstance(count, int) else 1
            continue
        if count == 1:
            return tables, place
        if key := next((key for key in ("ring_m", "placement") if key in each), None):
            if reads:
                return tables, place
            message = f"stands by {key} of {count} stations; give it a table of its own"
            raise ScenarioError([Issue(path, message)])
        counts = (number - first, 1, first + count - number - 1)
        parts = [{**each, "count": part} for part in counts if part]
        return [*tables[:place], *parts, *tables[place + 1 :]], place + (counts[0] > 0)
    raise ScenarioError([Issue(path, f"there is no sta{number}; the last is sta{first - 1}")])


def remove(keys: dict[str, Any], path: str) -> None:
    """Remove the value at a path, with indices, from the keys of a scenario."""
    steps = _core.steps(path)
    if not _remove(keys, steps):
        top = f" (top-level keys that are set: {', '.join(keys)})" if len(steps) == 1 else ""
        raise ScenarioError([Issue(path, f"is not set, so that it cannot be unset{top}")])


def _remove(part: Any, steps: list[str | int | None]) -> bool:
    """Remove what the steps lead to; return whether there was such a value."""
    first, *rest = steps
    if first is None and isinstance(part, list):
        if not rest:
            found = bool(part)
            part.clear()
            return found
        removed = [_remove(each, rest) for each in part]
        return any(removed)
    inside = isinstance(part, list) and isinstance(first, int) and first < len(part)
    if not inside and not (isinstance(part, dict) and first in part):
        return False
    if rest:
        return _remove(part[first], rest)
    del part[first]
    return True
