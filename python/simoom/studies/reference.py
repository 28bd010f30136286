"""Published and independently simulated reference values of figures; see ``data/README.md``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from simoom.runs.evidence import Value
from simoom.studies.figure import Curve, Source, X

DATA = Path(__file__).parent / "data"


def curves(study: str, figure: str, colours: Mapping[str, int]) -> list[Curve]:
    """Return the reference curves of a figure.

    Parameters
    ----------
    study : str
        The name of the file.
    figure : str
        The figure's key.
    colours : mapping
        The colour of each series; series without a colour are omitted.
    """
    found: dict[tuple[str, str, str], list[tuple[X, Value]]] = {}
    for row in _rows(study):
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
        )
        for (series, source, quantity), points in found.items()
    ]


@cache
def _rows(study: str) -> tuple[dict[str, str], ...]:
    with (DATA / f"{study}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def _x_value(text: str) -> X:
    """Return a number if the text is one, otherwise the text."""
    try:
        return float(text)
    except ValueError:
        return text
