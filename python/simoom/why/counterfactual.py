"""Counterfactuals: what could be otherwise in a scenario, one function each.

A counterfactual returns a `Change`, or a text that says why it does not apply.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from simoom.why.case import Case, Goal
from simoom.why.draft import Edit


@dataclass(frozen=True)
class Key:
    """What to change in the original scenario.

    Attributes
    ----------
    set, unset : tuple of str
        Settings and paths as ``--set`` and ``--unset`` take them.
    note : str
        What no option says: "the position of sta1".
    """

    set: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        options = [f"--unset {shlex.quote(path)}" for path in self.unset]
        options += [f"--set {shlex.quote(setting)}" for setting in self.set]
        note = f"({self.note})" if self.note and options else self.note
        return " ".join([*options, note] if note else options)


def setting(*settings: str, note: str = "") -> Key:
    """Return the key of settings, each ``PATH=VALUE``.

    Examples
    --------
    >>> print(setting("links[0].queue=cake"))
    --set 'links[0].queue=cake'
    """
    return Key(set=settings, note=note)


def without(*paths: str) -> Key:
    """Return the key that removes paths.

    Examples
    --------
    >>> print(without("wire.loss"))
    --unset wire.loss
    """
    return Key(unset=tuple(dict.fromkeys(paths)))


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
    key : Key
        What to change in the original scenario.
    sharers : tuple of int
        For flows that are removed: how many flows share the network before and after.
    """

    edits: list[Edit]
    cause: str
    without: str
    key: Key
    sharers: tuple[int, int] | None = None

    @property
    def removes_flows(self) -> bool:
        """Whether it removes flows."""
        return self.sharers is not None

    def fair_gain(self, goal: Goal) -> float:
        """Return the gain that it brings if all flows have equal shares of what the goal is."""
        return self.sharers[0] / self.sharers[1] if self.sharers and goal.is_shared else 1.0


Answer = Change | str


@dataclass(frozen=True)
class Counterfactual:
    """A line of the table: a name, and the change that it makes to a case.

    Attributes
    ----------
    name, title : str
        Its name, and what is then otherwise.
    change : callable
        Makes the change.
    finds_cause, cures : bool
        Whether its gain says what limits the flow, and whether a network can have it.
    needs_hops : bool
        Whether it looks at the hops of flows, which are not known where routes or access points
        change.
    """

    name: str
    title: str
    change: Callable[[Case], Answer]
    finds_cause: bool = True
    cures: bool = False
    needs_hops: bool = False
