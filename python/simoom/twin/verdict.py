"""How a scenario stands to the assumptions of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the models bring SciPy with them, which few commands need
    from simoom.models.assumption import Assumption

VERDICTS = ("met", "stretched", "broken")
"""From best to worst; a model whose assumption is broken says nothing of the scenario."""


@dataclass(frozen=True)
class Held:
    """A scenario held against one assumption.

    Parameters
    ----------
    assumption : Assumption
        What the model takes for granted.
    verdict : str
        "met", "stretched" or "broken".
    how : str
        What the scenario has instead, with numbers.
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


def met(assumption: Assumption, how: str = "") -> Held:
    """Say that an assumption is met."""
    return Held(assumption, "met", how)


def stretched(assumption: Assumption, how: str) -> Held:
    """Say that an assumption is not quite met."""
    return Held(assumption, "stretched", how)


def broken(assumption: Assumption, how: str) -> Held:
    """Say that an assumption is not met at all."""
    return Held(assumption, "broken", how)


def graded(assumption: Assumption, value: float, how: str, *, good: float, bad: float) -> Held:
    """Judge a number that is better the smaller it is: met to `good`, broken above `bad`."""
    verdict = "met" if value <= good else "stretched" if value <= bad else "broken"
    return Held(assumption, verdict, how)


@dataclass(frozen=True, repr=False)
class Fit:
    """One model held against a scenario, with what it predicts if it fits.

    Parameters
    ----------
    family : str
        Its name in `simoom.models.FAMILIES`.
    form : str
        Which function or equation of the family is taken.
    held : tuple of Held
        Every assumption with its verdict.
    values : mapping
        Predictions by path of the summary; empty if an assumption is broken.
    subject : bool
        Whether the scenario has what the family is about.
    """

    family: str
    form: str
    held: tuple[Held, ...]
    values: Mapping[str, float] = field(default_factory=dict)
    subject: bool = True

    @property
    def fits(self) -> bool:
        """Whether it predicts something."""
        return bool(self.values) and not self.failing

    @property
    def failing(self) -> tuple[Held, ...]:
        """The assumptions that are broken."""
        return tuple(held for held in self.held if held.verdict == "broken")

    @property
    def strained(self) -> tuple[Held, ...]:
        """The assumptions that are not quite met."""
        return tuple(held for held in self.held if held.verdict == "stretched")

    def __repr__(self) -> str:
        state = f"{len(self.values)} values" if self.fits else "does not fit"
        return f"Fit({self.family}, {state}, {len(self.strained)} stretched)"
