"""A study: the figures, tables and claims of one paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from simoom.base.frames import pl
from simoom.base.workers import Progress
from simoom.runs.runner import Runner
from simoom.studies.claim import Claim
from simoom.studies.figure import Figure
from simoom.studies.headlines import Row, counts
from simoom.studies.lab import FigureFunction, Lab
from simoom.studies.original import Original


class UnknownStudyError(KeyError):
    """A study has no such figure or table, or there is no such study."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """The figures, tables and claims of one paper.

    Attributes
    ----------
    name : str
        ``http_queueing``.
    title : str
        The subject.
    reference : str
        The paper.
    figure_functions : tuple of FigureFunction
        Its figures and tables, in order.
    notes : str
        The reading of the paper, and deviations from it.
    originals : tuple of Original
        All figures and tables of the paper, and passages with claims of their own.
    """

    name: str
    title: str
    reference: str
    figure_functions: tuple[FigureFunction, ...]
    notes: str = ""
    originals: tuple[Original, ...] = ()
    by_key: Mapping[str, FigureFunction] = field(init=False)

    def __post_init__(self) -> None:
        table = {each.key: each for each in self.figure_functions}
        if len(table) != len(self.figure_functions):
            raise ValueError(f"{self.name}: two figures with the same key")
        object.__setattr__(self, "by_key", MappingProxyType(table))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all figures and tables."""
        return tuple(self.by_key)

    def original(self, figure: str) -> Original:
        """Return the original that a figure is about; one of its own if the paper has none."""
        found = (each for each in self.originals if figure in each.figures)
        return next(found, Original(figure, "", (figure,)))

    def find(self, kind: str, number: str) -> str:
        """Return the key of a figure or table.

        Parameters
        ----------
        kind : {"figure", "table"}
            Whether it is a figure or a table.
        number : str
            ``5``, ``A.2`` or ``elephants``, in upper or lower case.

        Raises
        ------
        UnknownStudyError
            If there is none; the message lists the existing ones.
        """
        wanted = f"{kind} {number.strip()}".casefold()
        for key in self.keys:
            if key.casefold() == wanted:
                return key
        there = [key.removeprefix(f"{kind} ") for key in self.keys if key.startswith(f"{kind} ")]
        has = f"its {kind}s are {', '.join(there)}" if there else f"it has no {kind}s"
        raise UnknownStudyError(f"{self.name} has no {kind} {number.strip()}; {has}")

    def run(self, keys: Iterable[str] | None = None, *, lab: Lab | None = None) -> Results:
        """Make figures and tables, all of them by default.

        Parameters
        ----------
        keys : iterable of str, optional
            The keys, see `keys`.
        lab : Lab, optional
            The lab for the runs; by default a new quick one.
        """
        chosen = [self.by_key[key] for key in (self.keys if keys is None else keys)]
        if lab is None:
            with Lab(quick=True) as own:
                return self.run(keys, lab=own)
        # A thread for each figure: the runs of all figures share the cores, so that no core is
        # idle while one figure waits for its last run.
        jobs = [partial(_make, each, lab) for each in chosen]
        with Runner(workers=max(1, len(jobs))) as threads:
            try:
                figures = dict(threads.results(jobs))
            except BaseException:
                lab.close()
                raise
        return Results(self, tuple(figures[number] for number in range(len(jobs))))

    def __repr__(self) -> str:
        return f"Study({self.name}: {len(self.keys)} figures and tables)"


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The figures and tables that a study made."""

    study: Study
    figures: tuple[Figure, ...]

    @property
    def claims(self) -> list[tuple[Figure, Claim]]:
        """All claims with the figures that they belong to."""
        return [(figure, claim) for figure in self.figures for claim in figure.claims]

    @property
    def rows(self) -> list[Row]:
        """The claims as rows of a table: from column to text."""
        rows: list[Row] = []
        for figure, claim in self.claims:
            row = claim.row()
            original = self.study.original(figure.key)
            place = row["place"] or original.place
            reading = row["reading"] or original.reading
            rows.append({"figure": figure.key, **row, "place": place, "reading": reading})
        return rows

    def frame(self) -> pl.DataFrame:
        """Return the claims as a data frame with a row for each claim."""
        return pl.DataFrame(self.rows)

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.figures)

    def __getitem__(self, key: str) -> Figure:
        return next(figure for figure in self.figures if figure.key == key)

    def __repr__(self) -> str:
        return f"Results({self.study.name}: {len(self.figures)} figures; {counts(self.rows)})"


def _make(figure_function: FigureFunction, lab: Lab, _: Progress | None) -> Figure:
    return figure_function(lab=lab)


def slug(key: str) -> str:
    """Return a key as a file's name.

    Examples
    --------
    >>> slug("figure A.2")
    'figure_a2'
    """
    return re.sub(r"\W+", "_", key.casefold().replace(".", ""))
