"""Verdicts on the assumptions of a model for a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the models import SciPy, which few commands need
    from simoom.models.assumption import Assumption

VERDICTS = ("met", "stretched", "broken")
"""From best to worst; a model with a broken assumption makes no prediction."""


@dataclass(frozen=True)
class AssumptionCheck:
    """The verdict on one assumption for a scenario.

    Parameters
    ----------
    assumption : Assumption
        The assumption of the model.
    verdict : str
        "met", "stretched" or "broken".
    how : str
        The reason: what the scenario has, with numbers.
    """

    assumption: Assumption
    verdict: str
    how: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict: must be one of {VERDICTS}, is {self.verdict!r}")

    @property
    def name(self) -> str:
        """The assumption's key."""
        return self.assumption.name

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}" + (f", {self.how}" if self.how else "")


def met(assumption: Assumption, how: str = "") -> AssumptionCheck:
    """Return the verdict that an assumption is met."""
    return AssumptionCheck(assumption, "met", how)


def stretched(assumption: Assumption, how: str) -> AssumptionCheck:
    """Return the verdict that an assumption is stretched."""
    return AssumptionCheck(assumption, "stretched", how)


def broken(assumption: Assumption, how: str) -> AssumptionCheck:
    """Return the verdict that an assumption is broken."""
    return AssumptionCheck(assumption, "broken", how)


def graded(
    assumption: Assumption, value: float, how: str, *, good: float, bad: float
) -> AssumptionCheck:
    """Return the verdict on a number: met up to `good`, broken above `bad`."""
    verdict = "met" if value <= good else "stretched" if value <= bad else "broken"
    return AssumptionCheck(assumption, verdict, how)


@dataclass(frozen=True, repr=False)
class Fit:
    """The verdicts on one model for a scenario, with its predictions if it fits.

    Parameters
    ----------
    family : str
        Its name in `simoom.models.FAMILIES`.
    form : str
        The function or equation of the family that is used.
    checks : tuple of AssumptionCheck
        Every assumption with its verdict.
    values : mapping
        Predictions by path of the summary; empty if an assumption is broken.
    relevant : bool
        Whether the family concerns the scenario.
    """

    family: str
    form: str
    checks: tuple[AssumptionCheck, ...]
    values: Mapping[str, float] = field(default_factory=dict)
    relevant: bool = True

    @property
    def fits(self) -> bool:
        """Whether the model makes a prediction."""
        return bool(self.values) and not self.broken

    @property
    def broken(self) -> tuple[AssumptionCheck, ...]:
        """The assumptions that are broken."""
        return tuple(check for check in self.checks if check.verdict == "broken")

    @property
    def stretched(self) -> tuple[AssumptionCheck, ...]:
        """The assumptions that are stretched."""
        return tuple(check for check in self.checks if check.verdict == "stretched")

    def __repr__(self) -> str:
        state = f"{len(self.values)} values" if self.fits else "does not fit"
        return f"Fit({self.family}, {state}, {len(self.stretched)} stretched)"
