"""Addresses: elements of lists by name in paths of scenarios and of results.

An index in brackets may be a name, quoted or not, ``flows["download"].goodput_mbps``; a name with
wildcards, ``flows["call *"]``; or conditions on the ends, ``flows[to="sta*"]``. The name of a table
of flows also stands for the single flows to which it expands. Of several elements of the results a
function takes a number: ``sum(flows[to="sta*"].goodput_mbps)``, ``mean``, ``min`` or ``max``.
Without one the name of a table stands for the mean of its flows or stations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda numbers: math.fsum(numbers) / len(numbers),
    "min": min,
    "max": max,
}
"""What turns the values of several elements into one number."""

KEYS = ("name", "from", "to", "group")
"""The keys of an element that a condition may name; the group of a station is its table's name."""

_CALL = re.compile(r"\s*(?P<function>[a-z]+)\((?P<path>.+)\)\s*")
_ELEMENT = re.compile(r'(?P<list>\w+)\[(?P<which>(?:"[^"]*"|[^\]"])*)\](?P<rest>.*)')
_CONDITION = re.compile(r'\s*(?:(?P<key>\w+)\s*=\s*)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^",=]+))\s*')


class AddressError(KeyError):
    """An address names no element, several, or is malformed."""

    def __str__(self) -> str:
        return str(self.args[0])


def is_address(path: str) -> bool:
    """Whether a path names an element by more than its index.

    Examples
    --------
    >>> is_address('flows["up"].timeouts'), is_address("sum(flows[*].timeouts)")
    (True, True)
    >>> is_address("flows[0].timeouts"), is_address("flows[*].control"), is_address("flows[+]")
    (False, False, False)
    """
    if _CALL.fullmatch(path):
        return True
    match = _ELEMENT.match(path)
    return match is not None and not re.fullmatch(r"\d+|[*+]", match["which"])


def generic(path: str) -> str:
    """Return the path of the catalogue that a result path is of.

    Examples
    --------
    >>> generic('sum(flows["up"].goodput_mbps)'), generic("stations[3].attempts")
    ('flows[i].goodput_mbps', 'stations[i].attempts')
    """
    call = _CALL.fullmatch(path)
    inner = call["path"] if call and call["function"] in FUNCTIONS else path
    return re.sub(r'\[(?:"[^"]*"|[^\]"])*\]', "[i]", inner.strip())


def matching(kind: str, rows: Mapping[int, Mapping[str, Any]], which: str) -> list[int]:
    """Return the indices of the elements of a list that brackets name; raise if there are none.

    Parameters
    ----------
    kind : str
        The list, ``flows``.
    rows : mapping
        Its elements by index, with their ``name``, ``from`` and ``to``.
    which : str
        What is in brackets.
    """
    if which == "*":
        return list(rows)
    if which.isdigit():
        return [int(which)]
    found = list(rows)
    for key, wanted in _conditions(kind, which):
        chosen = [n for n in found if str(rows[n].get(key, "")) == wanted]
        if not chosen and key == "name":
            chosen = [n for n in found if _is_of_table(rows[n], wanted)]
        found = chosen or [n for n in found if fnmatchcase(str(rows[n].get(key, "")), wanted)]
        if not found:
            names = dict.fromkeys(str(row.get(key, "")) for row in rows.values())
            close = near(wanted, names) or list(names)[:5]
            hint = f"; there are {', '.join(close)}" if close else "; there are none"
            raise AddressError(f"{kind}[{which}]: no {key} is {wanted!r}{hint}")
    return found


def _is_of_table(row: Mapping[str, Any], name: str) -> bool:
    """Whether a single flow or station is one of the table with this name."""
    return row.get("group") == name or str(row.get("name", "")) in _expanded(row, name)


def near(wanted: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that may be meant: those that begin so, that contain it, that are similar.

    Examples
    --------
    >>> near("call", ["browsing sta0", "call up", "call down", "recall"])
    ['call up', 'call down', 'recall']
    >>> near("dwonload", ["download", "upload"])
    ['download']
    """
    every, low = list(names), wanted.lower()
    begin = [name for name in every if name.lower().startswith(low)]
    hold = [name for name in every if low in name.lower()]
    chosen = dict.fromkeys([*begin, *hold] if low else [])
    return [*chosen][:most] or get_close_matches(wanted, every, n=most)


def suggested(names: Sequence[str]) -> str:
    """Return the part of a message that suggests names, if there are any.

    Examples
    --------
    >>> suggested(["cafe"]), suggested(["up", "down"]), suggested([])
    ('; the nearest is cafe', '; the nearest are up, down', '')
    """
    if not names:
        return ""
    return f"; the nearest {'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def _expanded(row: Mapping[str, Any], name: str) -> list[str]:
    """Return the names that a single flow of the table with this name may have."""
    source, sink = row.get("from"), row.get("to")
    return [f"{name} {source}", f"{name} {sink}", f"{name} {source}->{sink}"]


def _conditions(kind: str, which: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while place <= len(which):
        match = _CONDITION.match(which, place)
        if match is None or which[match.end() : match.end() + 1] not in ("", ","):
            example = f'{kind}["download"] or {kind}[from="server", to="sta*"]'
            raise AddressError(f"{kind}[{which}]: write an index, a name or conditions: {example}")
        key = match["key"] or "name"
        if key not in KEYS:
            raise AddressError(f"{kind}[{which}]: {key} is none of {', '.join(KEYS)}")
        found.append((key, match["bare"].strip() if match["bare"] else match["quoted"]))
        place = match.end() + 1
    return found


def value(results: Mapping[str, Any], path: str) -> Any:
    """Return the value of the results at an address; None if none of its elements has one.

    Raises
    ------
    AddressError
        It names no element, or without a function several that are not those of one table.

    Examples
    --------
    >>> results = {"flows[0].name": "a", "flows[0].to": "sta0", "flows[0].timeouts": 2,
    ...            "flows[1].name": "b", "flows[1].to": "sta1", "flows[1].timeouts": 3}
    >>> value(results, 'flows["b"].timeouts'), value(results, 'sum(flows[to="sta*"].timeouts)')
    (3, 5.0)
    """
    call = _CALL.fullmatch(path)
    if call and call["function"] not in FUNCTIONS:
        known = ", ".join(FUNCTIONS)
        raise AddressError(f"{path}: there is no function {call['function']!r}; there are {known}")
    inner = call["path"].strip() if call else path
    match = _ELEMENT.fullmatch(inner)
    if match is None:
        raise AddressError(f"{path}: must be of elements of a list, as sum(flows[*].goodput_mbps)")
    kind, rest = match["list"], match["rest"]
    chosen = matching(kind, rows(results, kind), match["which"])
    paths = [f"{kind}[{n}]{rest}" for n in chosen]
    if not any(each in results for each in paths):
        close = get_close_matches(f"{kind}[i]{rest}", dict.fromkeys(map(generic, results)), n=3)
        raise AddressError(f"there is no {path!r}{suggested(close)}")
    values = [results.get(each) for each in paths]
    if call is None:
        if len(values) == 1:
            return values[0]
        if not _is_name(match["which"]):
            message = f"{path}: are {len(values)} {kind}; write sum({path}), or mean, min, max"
            raise AddressError(message)
    if text := next((each for each in values if isinstance(each, str)), None):
        raise AddressError(f"{path}: is of text, {text!r}, and not of numbers")
    numbers = [float(each) for each in values if each is not None]
    return FUNCTIONS[call["function"] if call else "mean"](numbers) if numbers else None


def _is_name(which: str) -> bool:
    """Whether brackets have the name of one table, and no wildcard or condition."""
    return re.fullmatch(r'\s*(?:"[^"*?\[]*"|[^"*?=,\[]+)\s*', which) is not None


def rows(results: Mapping[str, Any], kind: str) -> dict[int, dict[str, Any]]:
    """Return the results of each element of a list, by its index and by their paths in it.

    Examples
    --------
    >>> rows({"flows[0].name": "a", "flows[1].rtt_s.mean": 2, "total.attempts": 3}, "flows")
    {0: {'name': 'a'}, 1: {'rtt_s.mean': 2}}
    """
    pattern = re.compile(rf"{re.escape(kind)}\[(\d+)\]\.(.+)")
    found: dict[int, dict[str, Any]] = {}
    for path, each in results.items():
        if match := pattern.fullmatch(path):
            found.setdefault(int(match[1]), {})[match[2]] = each
    return found


def indexed(path: str, tables: Callable[[str], object]) -> list[str]:
    """Return the paths with indices of a scenario that an address stands for.

    Parameters
    ----------
    path : str
        A path that may name tables: ``flows["download"].control``.
    tables : callable
        Takes the name of a list, and returns its tables.
    """
    match = _ELEMENT.fullmatch(path)
    if match is None or not is_address(path):
        return [path]
    kind = match["list"]
    given = tables(kind)
    if not isinstance(given, list) or not all(isinstance(row, Mapping) for row in given):
        raise AddressError(f"{kind}[{match['which']}]: {kind} is no array of tables with names")
    rows = {n: _with_name(kind, row) for n, row in enumerate(given)}
    chosen = matching(kind, rows, match["which"])
    return [f"{kind}[{n}]{match['rest']}" for n in chosen]


def named_probes(path: str, flows: Sequence[str]) -> list[str]:
    """Return the probes with indices that a path with a name stands for.

    Parameters
    ----------
    path : str
        A path that names flows or a station: ``flows["download"].goodput_mbps``.
    flows : sequence of str
        The names of all single flows, in order.

    Examples
    --------
    >>> named_probes('stations["sta3"].queue_packets', [])
    ['stations[3].queue_packets']
    """
    match = _ELEMENT.fullmatch(path)
    if match is None or match["list"] not in ("flows", "stations"):
        raise AddressError(f"{path}: a probe is of one flow or station, and has no function")
    kind, which, rest = match["list"], match["which"], match["rest"]
    if kind == "stations":
        if number := re.fullmatch(r'"?sta(\d+)"?', which.strip()):
            return [f"stations[{number[1]}]{rest}"]
        raise AddressError(f'{kind}[{which}]: name a station, as stations["sta3"]')
    rows = {}
    for n, name in enumerate(flows):
        ends = name.rpartition(" ")[2]
        source, _, sink = ends.partition("->")
        rows[n] = {"name": name, "from": source, "to": sink or source}
    if any(key != "name" for key, _ in _conditions(kind, which)):
        raise AddressError(f"{kind}[{which}]: a probe names a flow by its index or its name")
    return [f"{kind}[{n}]{rest}" for n in matching(kind, rows, which)]


def _with_name(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ends of a table, and its name or the default of reports."""
    arrow = "-" if kind == "links" else "->"
    default = f"{row['from']}{arrow}{row.get('to')}" if row.get("from") else ""
    return {**{key: row.get(key, "") for key in KEYS}, "name": row.get("name") or default}


def every(path: str) -> str:
    """Return a regular expression of the paths that an address may stand for, for messages."""
    parts = re.split(r'\[(?:"[^"]*"|[^\]"\d])*\]', path)
    return rf"(?:{re.escape(path)}|{{}})".format(r"\[\d+\]".join(map(re.escape, parts)))
