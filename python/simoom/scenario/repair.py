"""The repair of faults with one remedy in the text of a scenario; comments and order stay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from simoom import _core
from simoom.base.issue import Issue, Place, ScenarioError

MOST = 1000
"""Changes of one text."""


class Change(NamedTuple):
    """A change of a text.

    Attributes
    ----------
    line : int
        The line that was changed, from 1.
    before, after : str
        The line before and after; nothing after if it was removed.
    """

    line: int
    before: str
    after: str


def faults(text: str, folder: Path) -> tuple[Issue, ...]:
    """Return all faults of the text of a scenario in a folder."""
    try:
        read = _core.Scenario.parse(text.encode()).in_folder(folder)
        read.check()
    except ScenarioError as error:
        return error.issues
    return ()


def repaired(text: str, folder: Path) -> tuple[str, list[Change], tuple[Issue, ...]]:
    """Return a text in which each fault with exactly one remedy is repaired.

    A change is kept if the text is TOML still and the fault is gone.

    Returns
    -------
    str
        The text.
    list of Change
        What was changed, in order.
    tuple of Issue
        The faults that are left.
    """
    changes: list[Change] = []
    left = faults(text, folder)
    while len(changes) < MOST:
        step = next(_steps(text, left, folder), None)
        if step is None:
            break
        shown, text, left = step
        changes.append(shown)
    return text, changes, left


def _steps(
    text: str, issues: tuple[Issue, ...], folder: Path
) -> Iterator[tuple[Change, str, tuple[Issue, ...]]]:
    """Yield each repair that works, with the text and the faults after it."""
    for issue in issues:
        place = issue.place
        if len(issue.repairs) != 1 or place is None or not place.whole[1]:
            continue
        changed = _core.repaired(text, place.key, place.value, *issue.repairs[0])
        if changed is None or changed == text:
            continue
        left = faults(changed, folder)
        same = (issue.path, issue.message, place.line)
        if all(each.path and same != (each.path, each.message, _line(each)) for each in left):
            yield _change(text, changed, place), changed, left


def _line(issue: Issue) -> int:
    return 0 if issue.place is None else issue.place.line


def _change(before: str, after: str, place: Place) -> Change:
    old, new = before.splitlines(), after.splitlines()
    line = place.line - 1
    return Change(place.line, old[line], new[line] if len(new) == len(old) else "")
