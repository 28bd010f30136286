"""What runs measure: every result and every probe, with unit and meaning.

The simulator declares each once; headings of tables, labels of plots and ``docs/results.md`` follow
from the same catalogue.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from simoom import _core


@dataclass(frozen=True)
class Observable:
    """A result, a probe, or both.

    Attributes
    ----------
    path : str
        With ``[i]`` for a number.
    unit : str
        "1" of a number without one, "text" of a name.
    heading : str
        What a table calls it, without the unit, perhaps in two lines.
    meaning : str
        What it is, in a sentence.
    title : str
        What a picture calls it.
    """

    path: str
    unit: str
    heading: str
    meaning: str
    title: str


class Probe(NamedTuple):
    """Probes of a scenario that are called the same; `path` has a wildcard for the number."""

    path: str
    unit: str
    meaning: str
    series: int


def declared() -> list[dict[str, Any]]:
    """Return what the simulator declares, as plain data in the order of a summary."""
    entries: list[dict[str, Any]] = json.loads(_core.observables())
    return entries


@cache
def catalogue() -> Mapping[str, Observable]:
    """Return all observables by their path.

    Examples
    --------
    >>> catalogue()["flows[i].rtt_s.mean"].heading
    'RTT'
    """
    return {each.path: each for entry in declared() for each in _parts(entry)}


def _parts(entry: dict[str, Any]) -> Iterator[Observable]:
    """Yield what an entry declares, for each of its places; of a delay what is told of it."""
    heading, unit, meaning = entry["heading"], entry["unit"], entry["meaning"]
    title = entry.get("title", heading.replace("\n", " "))
    for place in entry["places"]:
        path = f"{place}.{entry['name']}"
        yield Observable(path, unit, heading, meaning, title)
        for part in entry.get("parts", ()):
            own = {"count": entry["of"], "mean": heading}.get(part) or _quantile(part)
            yield Observable(
                f"{path}.{part}", entry["of"] if part == "count" else unit, own, meaning, title
            )


def _quantile(part: str) -> str:
    return f"{part[1:]} %" if part[1:].isdigit() else part


def observable(path: str) -> Observable:
    """Return the observable of a path, which may have numbers in its brackets."""
    return catalogue()[re.sub(r"\[\d+\]", "[i]", path)]


@cache
def _former() -> Mapping[str, str]:
    """Return the present name of each path that was called otherwise before."""
    return {
        f"{place}.{entry['formerly']}": f"{place}.{entry['name']}"
        for entry in declared()
        if entry["formerly"]
        for place in entry["places"]
    }


def present(path: str) -> str:
    """Return the present name of a path; warn if it is another one."""
    name = _former().get(path, path)
    if name != path:
        message = f"{path} is called {name} now; the old name goes with 0.3"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    return name
