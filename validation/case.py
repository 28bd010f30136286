"""Cases: a scenario, its options, and the expected values of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simoom import Run, Scenario
from simoom.evidence import Agreement, Check, Reference, Value
from simoom.scenario import toml_value


@dataclass(frozen=True)
class Quantity:
    """A quantity that is compared, with its tolerance.

    Attributes
    ----------
    name : str
        The name with the unit, as in tables.
    of : callable
        Extracts the value from a run.
    relative, absolute : float
        The tolerance; one of them is 0.
    digits : int
        The number of decimals in tables.
    """

    name: str
    of: Callable[[Run], float]
    relative: float = 0.0
    absolute: float = 0.0
    digits: int = 3

    def tolerance(self, reference: float) -> float:
        return self.absolute or self.relative * abs(reference)

    def difference(self, value: float, reference: float) -> str:
        """The difference as shown in tables: in per cent, or absolute."""
        if self.absolute:
            return f"{value - reference:+.{self.digits}f}"
        return f"{100 * (value / reference - 1):+.2f} %"


@dataclass(frozen=True)
class Expected:
    """The expected value of a quantity; `known` is the reason of an expected difference."""

    quantity: Quantity
    reference: Reference
    known: str = ""

    def check(self, measured: Value) -> Check:
        """Compare the measured value with the reference."""
        within = self.quantity.tolerance(self.reference.value)
        return Check.against(self.quantity.name, measured, self.reference, within=within)


@dataclass(frozen=True)
class Option:
    """An option of the scenario that reproduces a property of a reference, with the reason."""

    path: str
    value: Any
    why: str

    def __str__(self) -> str:
        return f"{self.path.rpartition('.')[2]} = {toml_value(self.value)}"


@dataclass(frozen=True)
class Case:
    """A scenario and its expected values.

    It is run by the standard, and with `options` if there are any; the run with options is compared
    with the reference.
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
    """Cases with one kind of reference; if `explains`, they are not evidence by themselves."""

    title: str
    source: str
    about: str
    cases: tuple[Case, ...]
    explains: bool = False

    @property
    def options(self) -> dict[str, Option]:
        """The options of all cases, by their names in tables."""
        return {str(option): option for case in self.cases for option in case.options}


@dataclass(frozen=True)
class Row:
    """One comparison of an expected with a measured value."""

    case: Case
    expected: Expected
    standard: Value
    compared: Value

    @property
    def verdict(self) -> Agreement:
        """The verdict on the comparison of the run with options."""
        return self.expected.check(self.compared).agreement

    @property
    def unexplained(self) -> bool:
        return self.verdict is Agreement.DIFFERS and not self.expected.known
