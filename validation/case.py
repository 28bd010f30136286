"""What a case is: a scenario, the options it is run with, and what it should give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simoom import Run, Scenario
from simoom.evidence import Agreement, Check, Reference, Value
from simoom.scenario import toml_value


@dataclass(frozen=True)
class Quantity:
    """What is compared, and how far apart two values of it may be.

    Attributes
    ----------
    name : str
        With its unit, as a table shows it.
    of : callable
        Takes it from a run.
    relative, absolute : float
        The tolerance; one of them is 0.
    digits : int
        Decimals that are shown.
    """

    name: str
    of: Callable[[Run], float]
    relative: float = 0.0
    absolute: float = 0.0
    digits: int = 3

    def tolerance(self, reference: float) -> float:
        return self.absolute or self.relative * abs(reference)

    def difference(self, value: float, reference: float) -> str:
        """The difference as a table shows it: in per cent, or as it is."""
        if self.absolute:
            return f"{value - reference:+.{self.digits}f}"
        return f"{100 * (value / reference - 1):+.2f} %"


@dataclass(frozen=True)
class Expected:
    """What a quantity of a case should be; `known` is why it is expected to differ."""

    quantity: Quantity
    reference: Reference
    known: str = ""

    def check(self, measured: Value) -> Check:
        """Hold what was measured against the reference."""
        within = self.quantity.tolerance(self.reference.value)
        return Check.against(self.quantity.name, measured, self.reference, within=within)


@dataclass(frozen=True)
class Option:
    """A named option of the scenario that does as a reference does, and why it is needed."""

    path: str
    value: Any
    why: str

    def __str__(self) -> str:
        return f"{self.path.rpartition('.')[2]} = {toml_value(self.value)}"


@dataclass(frozen=True)
class Case:
    """A scenario and what it should give.

    It is run as the standard has it, and with `options` if there are any; these runs are held
    against the reference.
    """

    name: str
    scenario: Mapping[str, Any]
    expected: tuple[Expected, ...]
    options: tuple[Option, ...] = ()
    replications: int = 4
    quick: bool = False

    def standard(self) -> Scenario:
        return Scenario(**self.scenario)

    def compared(self) -> Scenario:
        scenario = self.standard()
        for option in self.options:
            scenario = scenario.set(option.path, option.value)
        return scenario


@dataclass(frozen=True)
class Group:
    """Cases with one kind of reference; `explains`: they are no evidence of their own."""

    title: str
    source: str
    about: str
    cases: tuple[Case, ...]
    explains: bool = False

    @property
    def options(self) -> dict[str, Option]:
        """The options of all its cases, by what a table calls them."""
        return {str(option): option for case in self.cases for option in case.options}


@dataclass(frozen=True)
class Row:
    """One comparison: what was expected, with what was measured."""

    case: Case
    expected: Expected
    standard: Value
    compared: Value

    @property
    def verdict(self) -> Agreement:
        """What becomes of the comparison, which is on the run with options."""
        return self.expected.check(self.compared).agreement

    @property
    def unexplained(self) -> bool:
        return self.verdict is Agreement.DIFFERS and not self.expected.known
