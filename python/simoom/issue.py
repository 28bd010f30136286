"""Faults of a scenario, each with its path, and of the processes that run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Issue:
    """One fault.

    Parameters
    ----------
    path : str
        Where the fault is, for example ``flows[0].tcp.mss_bytes``; empty for the whole scenario.
    message : str
        The value, the rule that it violates, and the remedy.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ScenarioError(ValueError):
    """A scenario cannot be read, changed or run as it stands.

    Attributes
    ----------
    issues : tuple of Issue
        All faults that were found.
    """

    def __init__(self, issues: Iterable[Issue | tuple[str, str]]) -> None:
        self.issues = tuple(i if isinstance(i, Issue) else Issue(*i) for i in issues)
        super().__init__("\n".join(map(str, self.issues)))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Issue, ...]]]:
        return type(self), (self.issues,)


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
