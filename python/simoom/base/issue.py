"""Faults of a scenario, each with its path, of arguments, and of the processes that run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a value is written in the text of a scenario.

    Attributes
    ----------
    line, column : int
        Of its key, or of itself in a list; in characters, from 1.
    key, value : tuple of int
        The bytes of the text, the first and the one after the last; both 0 if there are none.
    """

    line: int
    column: int
    key: tuple[int, int]
    value: tuple[int, int]

    @property
    def whole(self) -> tuple[int, int]:
        """The bytes of key and value."""
        return min(self.key[0], self.value[0]), max(self.key[1], self.value[1])


@dataclass(frozen=True)
class Issue:
    r"""One fault.

    Parameters
    ----------
    path : str
        Where the fault is, for example ``flows[0].tcp.mss_bytes``; empty for the whole scenario.
    message : str
        The value, and the rule that it violates.
    remedy : str, optional
        What to do about it, unless the message says it.
    place : Place, optional
        Where the value is written, or the table that lacks it; None if no text has either.
    repairs : tuple of tuple of str, optional
        The changes of which each may be meant: ``("rename", key)`` or ``("value", toml)``.
    file_line : int, optional
        The line of a file that the scenario names in which the fault is; 0 without one.

    Examples
    --------
    >>> import simoom as sm
    >>> try:
    ...     sm.Scenario.parse('standard = "11g"\nstatoins = 3\n')
    ... except sm.ScenarioError as error:
    ...     issue = error.issues[-1]
    >>> issue.path, issue.message, issue.remedy, issue.place.line
    ('statoins', 'unknown key', 'did you mean stations?', 2)
    """

    path: str
    message: str
    remedy: str = ""
    place: Place | None = None
    repairs: tuple[tuple[str, str], ...] = ()
    file_line: int = 0

    @property
    def text(self) -> str:
        """Message and remedy."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message

    def __str__(self) -> str:
        line = "" if self.place is None else f"line {self.place.line}"
        if not self.path:
            return f"{line}: {self.text}" if line else self.text
        return f"{self.path} ({line}): {self.text}" if line else f"{self.path}: {self.text}"


def _of_core(
    path: str,
    message: str,
    remedy: str,
    place: tuple[Any, ...],
    repairs: list[tuple[str, str]],
    file_line: int,
) -> Issue:
    """Return a fault as the core has found it."""
    line, column, key, value = place
    where = Place(line, column, tuple(key), tuple(value)) if line else None
    return Issue(path, message, remedy, where, tuple(repairs), file_line)


class ScenarioError(ValueError):
    """A scenario cannot be read, changed or run as it stands.

    Attributes
    ----------
    issues : tuple of Issue
        All faults that were found.
    """

    def __init__(self, issues: Iterable[Issue | tuple[Any, ...]]) -> None:
        self.issues = tuple(i if isinstance(i, Issue) else _of_core(*i) for i in issues)
        super().__init__("\n".join(map(str, self.issues)))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Issue, ...]]]:
        return type(self), (self.issues,)


class ArgumentError(ValueError):
    """A value that an argument cannot have.

    Parameters
    ----------
    argument : str
        The name of the argument.
    said : str
        The value, and the rule that it violates.
    part : object, optional
        The key or the index of the part that is wrong.
    """

    def __init__(self, argument: str, said: str, part: object = None) -> None:
        super().__init__(argument, said, part)
        self.argument, self.said, self.part = argument, said, part

    def __str__(self) -> str:
        where = "" if self.part is None else f"[{self.part!r}]"
        return f"{self.argument}{where}: {self.said}"


class LostWorkerError(RuntimeError):
    """A process that computed runs, or the executor, has ended without an exception of a run.

    Parameters
    ----------
    reason : str, optional
        What has ended.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(
            reason
            or "a worker process has ended before its runs: it was killed, or memory was exhausted"
        )
