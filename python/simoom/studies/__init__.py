"""Studies: reproductions of the figures, tables and claims of published papers.

>>> from simoom import studies
>>> list(studies.STUDIES)
['afw_few', 'full_duplex', 'http_queueing', 'l4s_wifi', 'lt_tcp', 'mcs_cubic', 'ofdma_tcp']
>>> figure = studies.lt_tcp.figure_corruption()
>>> figure.claims[2].verdict.value
'reproduced'

A study has figures and tables. `Figure.data` has the numbers, `Figure.plot` draws them, and
`Figure.claims` are sentences of the paper with verdicts that follow from the numbers. ``simoom
study`` prints and writes them. The papers are in the package `simoom_studies`.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

import simoom_studies
from simoom.base.needs import remedy_of
from simoom.runs.evidence import Check, Outcome, Value, Verdict
from simoom.studies.claim import Claim, Kind, Reading
from simoom.studies.figure import Figure
from simoom.studies.lab import Lab
from simoom.studies.original import Original
from simoom.studies.study import Results, Study, UnknownStudyError

GROUP = "simoom.studies"
"""The entry points by which other packages publish studies."""


class Studies(Mapping[str, Study]):
    """All studies by name, each of which is imported when it is used.

    They are the folders of `simoom_studies`, then the entry points of the group `GROUP`, whose
    objects are of the class `Study`.
    """

    @cached_property
    def entries(self) -> dict[str, EntryPoint]:
        """Where each study is."""
        own = [EntryPoint(n, f"simoom_studies.{n}:STUDY", GROUP) for n in simoom_studies.NAMES]
        others = sorted(entry_points(group=GROUP), key=lambda each: each.name)
        return {each.name: each for each in (*own, *others, *own)}

    def __getitem__(self, name: str) -> Study:
        entry = self.entries[name]
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            if isinstance(error, ModuleNotFoundError) and remedy_of(error):
                raise
            raise UnknownStudyError(f"{name}: {entry.value} cannot be imported: {error}") from error
        if not isinstance(found, Study):
            raise UnknownStudyError(f"{name}: {entry.value} is no study but {found!r}")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


STUDIES = Studies()
"""All studies by name."""


def __getattr__(name: str) -> ModuleType:
    """Return the module of a study: ``studies.lt_tcp``."""
    if name in STUDIES:
        return import_module(STUDIES.entries[name].module)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find(name: str) -> Study:
    """Return the study of a name.

    Raises
    ------
    UnknownStudyError
        If there is no such study; the message lists the studies.
    """
    if name in STUDIES:
        return STUDIES[name]
    close = get_close_matches(name, STUDIES, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(STUDIES)}"
    raise UnknownStudyError(f"there is no study {name}; {hint}")


__all__ = [
    "STUDIES",
    "Check",
    "Claim",
    "Figure",
    "Kind",
    "Lab",
    "Original",
    "Outcome",
    "Reading",
    "Results",
    "Study",
    "UnknownStudyError",
    "Value",
    "Verdict",
    "find",
]
