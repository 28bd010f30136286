"""The explanation of a flow's result."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.runs.stats import Estimate
from simoom.why.case import Goal
from simoom.why.counterfactual import Change
from simoom.why.measured import Measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_GAIN = 1.02
"""A smaller gain is none, however narrow its interval is."""
SMALL = 0.1
"""Below this part of the best gain a cause is small."""


class Verdict(enum.StrEnum):
    """What experiments say about a change."""

    CAUSE = "cause"
    SMALL = "small"
    UNDECIDED = "undecided"
    NONE = "no help"


@dataclass(frozen=True)
class Cost:
    """What a change does to the other flows.

    Attributes
    ----------
    goodput : Estimate
        The relative difference of the goodput of all other flows together, over pairs of runs.
    flow : str
        The flow whose own goal, such as a call's opinion score, gets worst; empty without any
        that is certainly worse.
    ratio : float
        How many times worse it is: 0.9 is a tenth less of what should be more.
    """

    goodput: Estimate
    flow: str = ""
    ratio: float = 1.0


@dataclass(frozen=True)
class Effect:
    """What a change does to a flow.

    Attributes
    ----------
    name : str
        The counterfactual: "receive_window".
    change : Change
        The change: its cause in words, and what to change.
    value : Estimate
        The goal with the change.
    difference : Estimate
        The difference of pairs with common random numbers, with its 95 % interval.
    gain : float
        How many times better the goal is; less than 1 is worse.
    p_value : float
        Of the paired t test that there is no difference, adjusted for the number of changes
        (Holm 1979).
    verdict : Verdict
        Whether it is a cause.
    fair_gain : float
        How many times better it would be with equal shares, if the change removes flows.
    cost : Cost or None
        What a cure does to the other flows.
    """

    name: str
    change: Change
    value: Estimate
    difference: Estimate
    gain: float
    p_value: float
    verdict: Verdict
    fair_gain: float = 1.0
    cost: Cost | None = None

    @property
    def cause(self) -> str:
        """What limits the flow if the change helps: "the receive window of 65,535 B"."""
        return self.change.cause

    @property
    def without(self) -> str:
        """The change in words: "with a window of 16 MiB"."""
        return self.change.without

    @property
    def key(self) -> str:
        """What to change, as options of the command line."""
        return str(self.change.key)

    @property
    def helps(self) -> bool:
        """Whether the change makes the goal better, beyond chance."""
        return self.verdict in (Verdict.CAUSE, Verdict.SMALL)

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
    cures : tuple of Effect
        What a network can have, the best first, and if it helps, what it costs the other flows.
    waterfall : tuple of Step
        The changes that help, one after the other.
    not_applicable : mapping
        By counterfactual, why it does not apply.
    replications, most : int
        The runs of each change, and of one that is undecided.
    """

    title: str
    flow: str
    goal: Goal
    value: Estimate
    measured: Measured
    effects: tuple[Effect, ...]
    cures: tuple[Effect, ...]
    waterfall: tuple[Step, ...]
    not_applicable: dict[str, str]
    replications: int
    most: int

    @property
    def causes(self) -> tuple[Effect, ...]:
        """The effects of changes that help and are not small, the first cause first."""
        return self.of(Verdict.CAUSE)

    def of(self, verdict: Verdict) -> tuple[Effect, ...]:
        """Return the effects with a verdict, in the order of `effects`."""
        return tuple(effect for effect in self.effects if effect.verdict is verdict)

    @door
    def report(self, width: int = 100) -> str:
        """Return the explanation as text, as the command line prints it."""
        raise NotImplementedError

    @door
    def plot(self) -> Figure:
        """Return a figure of the flow as it is, with each change alone, and with all of them."""
        raise NotImplementedError

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
            "cures": [_row(effect) for effect in self.cures],
            "waterfall": [
                {"name": step.name, "without": step.without, **_interval(step.value)}
                for step in self.waterfall
            ],
            "not_applicable": self.not_applicable,
            "replications": self.replications,
            "most_replications": self.most,
        }

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

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
        "set": list(effect.change.key.set),
        "unset": list(effect.change.key.unset),
        **_interval(effect.value),
        **difference,
        "gain": effect.gain,
        "fair_gain": effect.fair_gain,
        "p_value": effect.p_value,
        "verdict": effect.verdict.value,
        "helps": effect.helps,
        "runs": effect.value.n,
        **_cost(effect.cost),
    }


def _cost(cost: Cost | None) -> dict[str, Any]:
    if cost is None:
        return {}
    relative = {f"others_goodput_{k}": v for k, v in _interval(cost.goodput).items()}
    return {**relative, "others_worst_flow": cost.flow, "others_worst_ratio": cost.ratio}


def _interval(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "ci_low": estimate.ci_low, "ci_high": estimate.ci_high}
