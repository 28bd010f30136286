"""The catalogue of results and probes, with their units and meanings.

The simulator declares each one once. Headings of tables, labels of plots and ``docs/results.md``
follow from this catalogue.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from simoom import _core
from simoom.base.issue import ArgumentError
from simoom.scenario.address import generic

if TYPE_CHECKING:
    from simoom.scenario.scenario import Scenario

MOST_NEAR = 3
PLAIN_WORDS = frozenset(
    (
        "flows",
        "stations",
        "links",
        "cells",
        "ap",
        "total",
        "mean",
        "sum",
        "min",
        "max",
        "mbps",
        "ms",
        "count",
        "per",
        "of",
        "fraction",
    )
)
"""Words of paths and headings by which no result is found."""
DEFAULT_PROBES = ("total.goodput_mbps", "ap.queue_packets")
PING_PROBES = ("flows[*].goodput_mbps", "flows[*].ping.reply_rtt_s")
"""The time series of a report if the user names none, as far as the scenario has them."""


@dataclass(frozen=True)
class Observable:
    """A result, a probe, or both.

    Attributes
    ----------
    path : str
        The path of the result, with ``[i]`` for an index.
    unit : str
        The unit; "1" for a number without a unit, "text" for a name.
    heading : str
        The heading of a table, without the unit, in one or two lines.
    meaning : str
        The definition, in a sentence.
    title : str
        The title of a plot.
    """

    path: str
    unit: str
    heading: str
    meaning: str
    title: str


class Probe(NamedTuple):
    """Probes of a scenario with the same name; `path` has a wildcard for the index."""

    path: str
    unit: str
    meaning: str
    series: int


def declared() -> list[dict[str, Any]]:
    """Return the declarations of the simulator as plain data, in the order of a summary."""
    entries: list[dict[str, Any]] = json.loads(_core.observables())
    return entries


@cache
def catalogue() -> Mapping[str, Observable]:
    """Return all observables by path.

    Examples
    --------
    >>> catalogue()["flows[i].rtt_s.mean"].heading
    'RTT'
    """
    return {each.path: each for entry in declared() for each in _parts(entry)}


def _parts(entry: dict[str, Any]) -> Iterator[Observable]:
    """Yield the observables of a declaration: one for each table, and for delays each statistic."""
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
    """Return the observable of a path, whose elements may have indices or names."""
    return catalogue()[generic(path)]


def unit_of(path: str) -> str:
    """Return the unit of a result; nothing for a number without one."""
    unit = observable(path).unit
    return "" if unit in ("1", "text") else unit


def check_path(argument: str, path: str, *, text: bool = False) -> None:
    """Raise unless a path is that of a number, or of a text, among the results of some scenario.

    Raises
    ------
    ArgumentError
        With similar paths.
    """
    try:
        each = observable(path)
        if any(known.startswith(f"{each.path}.") for known in catalogue()):
            raise KeyError(path)  # the heading of statistics, as `total.delay_s`
    except KeyError:
        heads = {known.rpartition(".")[0] for known in catalogue()}
        results = [known for known in catalogue() if known not in heads]
        near = nearest(path, [known.replace("[i]", "[0]") for known in results])
        raise ArgumentError(argument, f"there is no result {path!r}{near}") from None
    if each.unit == "text" and not text:
        raise ArgumentError(argument, f"{path}: is text and not a number")


def nearest(path: str, known: Iterable[str]) -> str:
    """Return the part of a message that suggests similar paths, if there are any.

    Examples
    --------
    >>> nearest("file ms", ["flows[0].session_delay_s.mean", "flows[0].timeouts"])
    '; the nearest is flows[0].session_delay_s.mean'
    """
    remedy = remedy_near(path, known)
    return remedy and f"; {remedy}"


def remedy_near(path: str, known: Iterable[str]) -> str:
    """Return the remedy that suggests similar paths; empty if there are none.

    First come those that begin so, then those whose headings in reports have its words.
    """
    every = list(known)
    begin = [each for each in every if path and each.startswith(path)]
    words, place = _words(path), path.partition("[")[0].partition(".")[0]
    named = [each for each in every if words and words <= _words(_heading(each))]
    named.sort(key=lambda each: (not each.startswith(place), not each.endswith(".mean")))
    close = get_close_matches(path, every, n=MOST_NEAR, cutoff=0.5)
    found = list(dict.fromkeys([*begin, *named, *close]))[:MOST_NEAR]
    return _core.suggested(found)


def _heading(path: str) -> str:
    """Return the last parts of a path, and its heading if it is a result."""
    each = catalogue().get(generic(path))
    return f"{path.rpartition(']')[2]} {'' if each is None else f'{each.heading} {each.title}'}"


def _words(text: str) -> set[str]:
    """Return the words that tell results apart, without units, lists and statistics."""
    inner = re.sub(r"\[[^\]]*\]", " ", text)
    return set(re.findall(r"[a-z]{2,}", inner.lower())) - PLAIN_WORDS


@cache
def _renamed() -> Mapping[str, str]:
    """Return the current name of each renamed path."""
    return {
        f"{place}.{entry['formerly']}": f"{place}.{entry['name']}"
        for entry in declared()
        if entry["formerly"]
        for place in entry["places"]
    }


def present(path: str) -> str:
    """Return the current name of a path; warn if the given name is an old one."""
    name = _renamed().get(path, path)
    if name != path:
        message = f"{path} is called {name} now; the old name goes with 0.3"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    return name


def default_probes(scenario: Scenario) -> list[str]:
    """Return the time series of a report if the user names none."""
    known = {probe.path for probe in scenario.probes()}
    return [path for path in (*DEFAULT_PROBES, *_of_pings(known)) if path in known]


def _of_pings(known: set[str]) -> tuple[str, ...]:
    """Return the time series of the picture of goodput and ping, if there are pings."""
    return PING_PROBES if PING_PROBES[-1] in known else ()
