"""Cases: a scenario, its options, and the expected values of its results.

Where a reference has a rule that no option has, a ratio computed from the reference itself corrects
it (`Rule`); nothing is excused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simoom import Run, Scenario
from simoom.runs.evidence import Agreement, Check, Reference, Value
from simoom.scenario.scenario import toml_value


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
class Rule:
    """A rule of the reference that no option has, with the ratio that follows from it.

    Attributes
    ----------
    why : str
        The rule.
    ratio : float
        The value without the rule over the reference, computed from the reference's own numbers.
    """

    why: str
    ratio: float


DETECTED = 0.1
"""A comparison must detect a relative difference of this size; one that cannot is none."""


@dataclass(frozen=True)
class Expected:
    """The reference value of a quantity; `rule` corrects it."""

    quantity: Quantity
    reference: Reference
    rule: Rule | None = None

    @property
    def target(self) -> Reference:
        """The reference, corrected by its rule."""
        ratio = self.rule.ratio if self.rule else 1.0
        return Reference(self.reference.value * ratio, self.reference.half_width * ratio)

    @property
    def can_fail(self) -> bool:
        """Whether tolerance and interval are small enough to detect a difference of 10 %.

        A tenth of that is left for the interval of Simoom's own runs.
        """
        target, detected = self.target, DETECTED * abs(self.target.value)
        tolerance = self.quantity.tolerance(target.value)
        return tolerance <= detected and target.half_width <= 0.9 * detected

    def check(self, measured: Value) -> Check:
        """Compare the measured value with the corrected reference."""
        within = self.quantity.tolerance(self.target.value)
        return Check.against(self.quantity.name, measured, self.target, within=within)


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
    def is_open(self) -> bool:
        """Whether both intervals together are too wide to detect a difference of 10 %."""
        target = self.expected.target
        return self.compared.half_width + target.half_width > DETECTED * abs(target.value)

    @property
    def fails(self) -> bool:
        return self.verdict is Agreement.DIFFERS or self.is_open
