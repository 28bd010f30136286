"""Published and independently simulated reference values of figures; see `simoom_studies`."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files

from simoom.runs.evidence import Value
from simoom.studies.figure import Curve, Source, X


def curves(
    package: str, figure: str, colours: Mapping[str, int], dashed: Collection[str] = ()
) -> list[Curve]:
    """Return the reference curves of a figure.

    Parameters
    ----------
    package : str
        The package of the study, ``__package__``, which has them in ``values.csv``.
    figure : str
        The figure's key.
    colours : mapping
        The colour of each series; series without a colour are omitted.
    dashed : collection, optional
        The series that are a second form of a setting, see `Curve`.
    """
    found: dict[tuple[str, str, str], list[tuple[X, Value]]] = {}
    for row in _rows(package):
        if row["figure"] == figure and row["series"] in colours:
            key = (row["series"], row["source"], row["quantity"])
            half = float(row["half_width"] or 0.0)
            point = (_x_value(row["x"]), Value.printed(float(row["value"]), half))
            found.setdefault(key, []).append(point)
    return [
        Curve(
            label=series,
            source=Source(source),
            x=tuple(x for x, _ in points),
            values=tuple(value for _, value in points),
            quantity=quantity,
            colour=colours[series],
            dashed=series in dashed,
        )
        for (series, source, quantity), points in found.items()
    ]


@cache
def _rows(package: str) -> tuple[dict[str, str], ...]:
    text = files(package).joinpath("values.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _x_value(text: str) -> X:
    """Return a number if the text is one, otherwise the text."""
    try:
        return float(text)
    except ValueError:
        return text
