"""Originals: the figures and tables of a paper, and what a study makes of them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Original:
    """A figure, a table or a passage of the paper, and what the study makes of it.

    Parameters
    ----------
    place : str
        Its name in the paper: "Fig. 5", "Table II", "section IV".
    what : str
        What it shows.
    figures : tuple of str
        The keys of the study's figures about it. Their claims are about this place unless they
        name another one.
    method : str
        How the numbers are made: "analysis", "simulation"; of an original without numbers what it
        is instead: "a drawing".
    reading : str
        How the study reads what the paper leaves open.
    """

    place: str
    what: str
    figures: tuple[str, ...] = ()
    method: str = ""
    reading: str = ""


def originals(package: str) -> tuple[Original, ...]:
    """Return the originals of a study, from the rows of its ``originals.csv``.

    The columns are the parameters of `Original`; several figures have semicolons between them.
    """
    text = files(package).joinpath("originals.csv").read_text(encoding="utf-8")
    return tuple(
        Original(**row | {"figures": tuple(filter(None, row["figures"].split("; ")))})
        for row in csv.DictReader(text.splitlines())
    )
