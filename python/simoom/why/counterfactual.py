"""Counterfactuals: what could be otherwise in a scenario, one function each.

A counterfactual returns a `Change`, or a text that says why it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simoom.why.case import Case
from simoom.why.draft import Edit


@dataclass(frozen=True)
class Change:
    """A change of a scenario.

    Attributes
    ----------
    edits : list of Edit
        The keys, in the scenario with single flows.
    cause : str
        What limits the flow if the change helps: "the receive window of 65,535 B".
    without : str
        The change in words, after "with" or "without": "with one of 16 MiB".
    key : str
        The key to change in the original scenario, as ``--set`` takes it where one value does it.
    sharers : tuple of int
        For flows that are removed: how many flows share the network before and after.
    """

    edits: list[Edit]
    cause: str
    without: str
    key: str
    sharers: tuple[int, int] | None = None

    @property
    def fair_gain(self) -> float:
        """The gain that the change brings if all flows have equal shares."""
        return 1.0 if self.sharers is None else self.sharers[0] / self.sharers[1]


Answer = Change | str


@dataclass(frozen=True)
class Counterfactual:
    """A line of the table: a name, and the change that it makes to a case."""

    name: str
    title: str
    change: Callable[[Case], Answer]
