"""Studies: reproductions of the figures, tables and claims of published papers.

>>> from simoom import studies
>>> list(studies.STUDIES)
['afw_few', 'full_duplex', 'http_queueing', 'l4s_wifi', 'lt_tcp', 'mcs_cubic']
>>> figure = studies.lt_tcp.figure_corruption()
>>> figure.claims[2].verdict.value
'reproduced'

A study has figures and tables. `Figure.data` has the numbers, `Figure.plot` draws them, and
`Figure.claims` are sentences of the paper with verdicts that follow from the numbers. ``simoom
study`` prints and writes them.
"""

from difflib import get_close_matches
from types import MappingProxyType

from simoom.runs.evidence import Check, Outcome, Value, Verdict
from simoom.studies import afw_few, full_duplex, http_queueing, l4s_wifi, lt_tcp, mcs_cubic
from simoom.studies.claim import Claim, Kind, Reading
from simoom.studies.figure import Figure
from simoom.studies.lab import Lab
from simoom.studies.original import Original
from simoom.studies.study import Results, Study, UnknownStudyError

STUDIES = MappingProxyType(
    {
        each.name: each
        for each in (
            afw_few.STUDY,
            full_duplex.STUDY,
            http_queueing.STUDY,
            l4s_wifi.STUDY,
            lt_tcp.STUDY,
            mcs_cubic.STUDY,
        )
    }
)
"""All studies by name."""


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
    "afw_few",
    "find",
    "full_duplex",
    "http_queueing",
    "l4s_wifi",
    "lt_tcp",
    "mcs_cubic",
]
