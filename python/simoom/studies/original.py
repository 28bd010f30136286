"""Originals: the figures and tables of a paper, and what a study makes of them."""

from __future__ import annotations

from dataclasses import dataclass


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


def drawing(place: str, what: str) -> Original:
    """Return an original that is a drawing or a list of symbols, and has no results."""
    return Original(place, what, method="a drawing: nothing to reproduce")


def inputs(place: str, what: str, *, reading: str = "") -> Original:
    """Return an original that has the parameters of the runs, and no results."""
    return Original(place, what, method="inputs of all runs", reading=reading)
