"""The points of a sweep: the values of each axis, and how tables and figures name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simoom.base.issue import ArgumentError, Issue, ScenarioError
from simoom.runs.designs import grid
from simoom.scenario.control import import_path
from simoom.scenario.scenario import Scenario, toml_value

Label = str | bool | int | float
"""A value of an axis as tables and figures show it."""

Axes = Mapping[str, Iterable[Any] | Mapping[str, Any]]
"""The values of each axis, or its values by the names that they have in tables."""

Over = Axes | Sequence[Mapping[str, Any]]
"""Axes of which every combination is a point, or the list of all points."""


@dataclass(frozen=True)
class Points:
    """The points of a sweep.

    Attributes
    ----------
    labels : mapping
        The labels of each axis.
    settings : list of mapping
        The label of each axis at each point.
    values : list of mapping
        The value of each axis at each point.
    """

    labels: Mapping[str, tuple[Label, ...]]
    settings: list[dict[str, Label]]
    values: list[dict[str, Any]]


def points(over: Over) -> Points:
    """Return the points of a sweep.

    Raises
    ------
    TypeError, ValueError
        An axis has no values or one twice, or the points do not have the same axes.
    """
    if isinstance(over, Mapping):
        axes = {path: _named(path, values) for path, values in over.items()}
        if not axes:
            raise ArgumentError("over", "must name at least one path, is empty")
        chosen = grid({path: axis.items() for path, axis in axes.items()})
        return _of({path: tuple(axis) for path, axis in axes.items()}, chosen)
    if isinstance(over, (str, bytes)) or not isinstance(over, Sequence):
        raise TypeError(f"over: must be a mapping of axes or a list of points, is {over!r}")
    return _listed(list(over))


def _of(
    labels: Mapping[str, tuple[Label, ...]], chosen: Sequence[Mapping[str, tuple[Label, Any]]]
) -> Points:
    settings = [{path: label for path, (label, _) in each.items()} for each in chosen]
    values = [{path: value for path, (_, value) in each.items()} for each in chosen]
    return Points(labels, settings, values)


def _listed(given: Sequence[Mapping[str, Any]]) -> Points:
    """Return the points of a list; all have the axes of the first."""
    if not given:
        raise ArgumentError("over", "must have at least one point, is empty")
    for n, each in enumerate(given):
        if not isinstance(each, Mapping) or not each:
            raise TypeError(f"over[{n}]: must be a mapping of paths to values, is {each!r}")
        if each.keys() != given[0].keys():
            has, must = ", ".join(map(str, each)), ", ".join(map(str, given[0]))
            raise ArgumentError(
                "over", f"has the axes {has}; those of the first point are {must}", n
            )
    axes, columns = {}, {}
    for path in given[0]:
        column = [_plain(each[path]) for each in given]
        full = [label(value) for value in column]
        distinct = dict(zip(full, column, strict=True))
        names = _labels(path, list(distinct.values()))
        by_full = dict(zip(distinct, names, strict=True))
        axes[path] = names
        columns[path] = [(by_full[key], value) for key, value in zip(full, column, strict=True)]
    chosen = [{path: column[n] for path, column in columns.items()} for n in range(len(given))]
    done = _of(axes, chosen)
    seen: set[tuple[Label, ...]] = set()
    for n, settings in enumerate(done.settings):
        if (point := tuple(settings.values())) in seen:
            raise ArgumentError("over", f"has the point {describe(settings)} twice", n)
        seen.add(point)
    return done


def _named(path: str, values: Iterable[Any] | Mapping[str, Any]) -> dict[Label, Any]:
    """Return the values of an axis by label; raise if there are none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"over[{path!r}]: must be a list of values, is {values!r}")
    plain = [
        _plain(value) for value in (values.values() if isinstance(values, Mapping) else values)
    ]
    if not plain:
        raise ArgumentError("over", "must have at least one value, is empty", path)
    names = tuple(map(str, values)) if isinstance(values, Mapping) else _labels(path, plain)
    return dict(zip(names, plain, strict=True))


def _plain(value: Any) -> Any:
    """Convert arrays and scalars of NumPy to plain data."""
    return value.tolist() if hasattr(value, "tolist") else value


def label(value: Any) -> Label:
    """Return the full label of a value: numbers and names unchanged, others as in TOML."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, type):
        return import_path(value)
    return toml_value(value)


def brief(value: Any) -> Label:
    """Return the brief label of a value: a table by its name and what it sets.

    Examples
    --------
    >>> brief({"cubic": {"beta": 0.5}}), brief({"drop_tail": {}}), brief("mylab.aimd:Aimd")
    ('cubic(beta=0.5)', 'drop_tail', 'Aimd')
    >>> brief({"python": {"path": "mylab.aimd:Aimd", "gain": 2}})
    'Aimd(gain=2)'
    """
    if isinstance(value, type):
        return value.__qualname__
    if isinstance(value, str):
        module, colon, name = value.partition(":")
        return name if colon and module and name.isidentifier() else value
    if not isinstance(value, Mapping):
        return label(value)
    items = dict(value)
    name = ""
    if len(items) == 1 and isinstance(inner := next(iter(items.values())), Mapping):
        name, items = str(next(iter(items))), dict(inner)
        if name == "python" and isinstance(path := items.get("path"), str):
            name = str(brief(items.pop("path"))) or path
    parts = ", ".join(f"{key}={brief(item)}" for key, item in items.items())
    return f"{name}({parts})" if parts or not name else name


def _labels(path: str, values: Sequence[Any]) -> tuple[Label, ...]:
    """Return the labels of the values of an axis: brief, or in full where these are not unique."""
    full = _of_one_kind([label(value) for value in values])
    for n, each in enumerate(full):
        if each in full[:n]:
            raise ArgumentError("over", f"has {each!r} twice", path)
    short = _of_one_kind([brief(value) for value in values])
    return tuple(short if len(set(map(str, short))) == len(short) else full)


def _of_one_kind(labels: list[Label]) -> list[Label]:
    """Return labels as text if some are text: a column of a data frame has one type."""
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in labels)
    if numbers or len({type(each) for each in labels}) == 1:
        return labels
    return [each if isinstance(each, str) else toml_value(each) for each in labels]


def find_label(value: Any, known: Sequence[Label]) -> Label:
    """Return the label of a value among those of an axis; in full if it is none of them."""
    full = label(value)
    for each in (full, brief(value), str(toml_value(value))):
        if each in known:
            return each
    return full


def describe(settings: Mapping[str, Label]) -> str:
    """Return a point as text for messages."""
    return ", ".join(f"{path}={value}" for path, value in settings.items())


def scenarios(scenario: Scenario, at: Points) -> list[Scenario]:
    """Return the scenarios of all points; raise with the faults of all points, each once."""
    found: list[Scenario] = []
    faults: dict[Issue, None] = {}
    faulty_points: dict[Issue, list[int]] = {}
    for n, values in enumerate(at.values):
        point = scenario
        try:
            for path, value in values.items():
                point = point.set(path, value)
        except ScenarioError as error:
            faults |= dict.fromkeys(error.issues)
            continue
        found.append(point)
        try:
            point.check()
        except ScenarioError as error:
            for issue in error.issues:
                faulty_points.setdefault(issue, []).append(n)
    for issue, numbers in faulty_points.items():
        at_all_points = len(numbers) == len(at.values)
        note = "" if at_all_points else f" (at {describe(at.settings[numbers[0]])})"
        faults[replace(issue, message=issue.message + note)] = None
    if faults:
        raise ScenarioError(faults)
    return found
