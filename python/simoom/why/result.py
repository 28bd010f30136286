"""The explanation of a flow's result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simoom.base.frames import pl
from simoom.runs.stats import Estimate
from simoom.why.case import Goal
from simoom.why.measured import Measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_GAIN = 1.02
"""A smaller gain is none, however narrow its interval is."""


@dataclass(frozen=True)
class Effect:
    """What a change does to a flow.

    Attributes
    ----------
    name : str
        The counterfactual: "receive_window".
    cause : str
        What limits the flow if the change helps: "the receive window of 65,535 B".
    without : str
        The change in words: "with a window of 16 MiB".
    key : str
        The key to change.
    value : Estimate
        The goal with the change.
    difference : Estimate
        The difference of pairs with common random numbers.
    gain : float
        How many times better the goal is; less than 1 is worse.
    fair_gain : float
        How many times better it would be with equal shares, if the change removes flows.
    """

    name: str
    cause: str
    without: str
    key: str
    value: Estimate
    difference: Estimate
    gain: float
    fair_gain: float = 1.0

    @property
    def is_certain(self) -> bool:
        """Whether the interval of the difference excludes none."""
        return 0.0 not in self.difference

    @property
    def helps(self) -> bool:
        """Whether the change makes the goal better, beyond chance."""
        return self.is_certain and self.gain >= LEAST_GAIN

    @property
    def score(self) -> float:
        """The gain beyond that of equal shares, by which effects are ranked."""
        return self.gain / self.fair_gain


@dataclass(frozen=True)
class Step:
    """A step of the waterfall: one more change, together with those before it."""

    name: str
    without: str
    value: Estimate


@dataclass(frozen=True, repr=False)
class Why:
    """Why a flow has the result that it has.

    Attributes
    ----------
    title : str
        The title of the scenario.
    flow : str
        The name of the flow.
    goal : Goal
        The value by which it is judged.
    value : Estimate
        That value in the scenario as it is.
    measured : Measured
        What a run itself says.
    effects : tuple of Effect
        The changes, the one that explains most first.
    waterfall : tuple of Step
        The changes that help, one after the other.
    not_applicable : mapping
        By counterfactual, why it does not apply.
    replications : int
        The runs of each change.
    """

    title: str
    flow: str
    goal: Goal
    value: Estimate
    measured: Measured
    effects: tuple[Effect, ...]
    waterfall: tuple[Step, ...]
    not_applicable: dict[str, str]
    replications: int

    @property
    def causes(self) -> tuple[Effect, ...]:
        """The effects of changes that help, the first cause first."""
        return tuple(effect for effect in self.effects if effect.helps)

    def report(self, width: int = 100) -> str:
        """Return the explanation as text, as the command line prints it."""
        from simoom.why.text import text

        return text(self, width)

    def plot(self) -> Figure:
        """Return a figure of the flow as it is, with each change alone, and with all of them."""
        from simoom.why.draw import figure

        return figure(self)

    def frame(self) -> pl.DataFrame:
        """Return a data frame with a row for each change, in the order of `effects`."""
        return pl.DataFrame([_row(effect) for effect in self.effects], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "title": self.title,
            "flow": self.flow,
            "goal": self.goal.path,
            "value": _interval(self.value),
            "limits": dict(self.measured.limits),
            "hops": [
                {"at": hop.at, "to": hop.to, "packets": hop.packets, **hop.parts}
                for hop in self.measured.hops
            ],
            "airtime_fraction": self.measured.airtime,
            "airtime_of_others_fraction": self.measured.airtime_of_others,
            "effects": [_row(effect) for effect in self.effects],
            "waterfall": [
                {"name": step.name, "without": step.without, **_interval(step.value)}
                for step in self.waterfall
            ],
            "not_applicable": self.not_applicable,
            "replications": self.replications,
        }

    def _repr_html_(self) -> str:
        from simoom.why.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        first = self.causes[0].name if self.causes else "no cause found"
        return f"Why({self.flow!r}, {self.goal.name}, {first})"


def _row(effect: Effect) -> dict[str, Any]:
    difference = {f"difference_{k}": v for k, v in _interval(effect.difference).items()}
    return {
        "name": effect.name,
        "cause": effect.cause,
        "without": effect.without,
        "key": effect.key,
        **_interval(effect.value),
        **difference,
        "gain": effect.gain,
        "fair_gain": effect.fair_gain,
        "helps": effect.helps,
    }


def _interval(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "ci_low": estimate.ci_low, "ci_high": estimate.ci_high}
