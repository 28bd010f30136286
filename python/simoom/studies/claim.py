"""Claims: what a paper says, held against numbers.

A verdict follows from checks and from nothing else. A check is a number with its interval and the
band in which the claim wants it: it holds if the whole interval lies inside the band, fails if the
whole interval lies outside, and is open if the band's edge runs through the interval.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simoom.studies.value import Value
from simoom.tables import digits


class Outcome(enum.StrEnum):
    """What a check says."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


class Verdict(enum.StrEnum):
    """What becomes of a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Check:
    """One number and the band in which the claim wants it.

    Parameters
    ----------
    what : str
        Which number this is.
    value : Value
        The number.
    low, high : float
        The band, ends included.
    """

    what: str
    value: Value
    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def near(cls, what: str, value: Value, target: float, *, within: float) -> Check:
        """Return a check that a number is its target up to so much."""
        return cls(what, value, target - within, target + within)

    @classmethod
    def agrees(cls, what: str, value: Value, target: Value, *, within: float) -> Check:
        """Return a check that the ratio of two numbers is 1 up to a fraction."""
        return cls(what, value.over(target), 1 - within, 1 + within)

    @property
    def outcome(self) -> Outcome:
        """Whether the interval lies inside the band, outside, or across its edge."""
        value = self.value
        if not math.isfinite(value.value):
            return Outcome.OPEN
        if self.low <= value.low and value.high <= self.high:
            return Outcome.HOLDS
        if value.high < self.low or value.low > self.high:
            return Outcome.FAILS
        return Outcome.OPEN

    @property
    def band(self) -> str:
        """The band in words."""
        if math.isinf(self.low):
            return f"at most {digits(self.high, 4)}" if math.isfinite(self.high) else "any"
        if math.isinf(self.high):
            return f"at least {digits(self.low, 4)}"
        return f"{digits(self.low, 4)} to {digits(self.high, 4)}"

    @property
    def distance(self) -> float:
        """How far the number is from the nearer end of the band, negative inside, in its parts."""
        worst = max(self.low - self.value.value, self.value.value - self.high)
        width = self.high - self.low
        scale = width if math.isfinite(width) and width > 0 else abs(self.value.value) or 1.0
        return worst / scale

    def __str__(self) -> str:
        return f"{self.what}: {self.value}"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper with its verdict.

    Parameters
    ----------
    name : str
        A short key.
    statement : str
        The sentence, in our words.
    paper : str
        The value that the paper gives, or how it puts it.
    checks : tuple of Check
        What the verdict rests on; none if the claim cannot be checked.
    tolerance : str
        How much is allowed, and why so much.
    remark : str
        What explains the numbers, or why there are none.
    """

    name: str
    statement: str
    paper: str
    checks: tuple[Check, ...]
    tolerance: str = ""
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the checks say together."""
        outcomes = [check.outcome for check in self.checks]
        if outcomes and all(outcome is Outcome.HOLDS for outcome in outcomes):
            return Verdict.REPRODUCED
        if Outcome.HOLDS in outcomes:
            return Verdict.IN_PART
        if Outcome.FAILS in outcomes:
            return Verdict.NOT_REPRODUCED
        return Verdict.NOT_CHECKABLE

    @property
    def ours(self) -> str:
        """Our value: each check's where there are few, else the one furthest off."""
        if len(self.checks) <= FEW:
            return "; ".join(map(str, self.checks))
        worst = max(self.checks, key=lambda check: check.distance)
        return f"{self.count} hold; furthest off {worst}"

    @property
    def count(self) -> str:
        """How many checks hold."""
        hold = sum(check.outcome is Outcome.HOLDS for check in self.checks)
        return f"{hold} of {len(self.checks)}"

    @property
    def reason(self) -> str:
        """Why the verdict is what it is: the checks that do not hold, then the remark."""
        parts = []
        for outcome, word in ((Outcome.FAILS, "outside"), (Outcome.OPEN, "undecided")):
            some = [check for check in self.checks if check.outcome is outcome]
            if some:
                parts.append(f"{word}: {_named(some)}")
        if self.remark:
            parts.append(self.remark)
        return ". ".join(part[0].upper() + part[1:].rstrip(".") for part in parts)

    def row(self) -> dict[str, str]:
        """Return the claim as a row of a table."""
        return {
            "claim": self.name,
            "statement": self.statement,
            "paper": self.paper,
            "ours": self.ours,
            "tolerance": self.tolerance,
            "verdict": self.verdict.value,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        return f"Claim({self.name}: {self.verdict.value})"


FEW = 3
"""So many checks are listed with their numbers."""


def claim(
    name: str,
    statement: str,
    *,
    paper: str,
    checks: Iterable[Check],
    tolerance: str = "",
    remark: str = "",
) -> Claim:
    """Hold a claim against checks; there must be one.

    Examples
    --------
    >>> two = Check.near("P_C", Value.exact(0.0603), 0.060, within=0.001)
    >>> claim("pair", "Two nodes collide rarely.", paper="0.060", checks=[two])
    Claim(pair: reproduced)
    """
    some = tuple(checks)
    if not some:
        raise ValueError(f"{name}: a claim needs a check; use `unchecked` if there can be none")
    return Claim(name, statement, paper, some, tolerance, remark)


def unchecked(name: str, statement: str, *, paper: str, because: str) -> Claim:
    """Return a claim that cannot be checked, and say why."""
    return Claim(name, statement, paper, (), remark=because)


def _named(checks: Sequence[Check]) -> str:
    """Name checks with their bands, a few of them."""
    parts = [f"{check.what} (wanted {check.band}, is {check.value})" for check in checks[:FEW]]
    more = len(checks) - FEW
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")
