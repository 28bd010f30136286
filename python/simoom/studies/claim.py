"""Claims: sentences of a paper, compared with numbers.

A verdict follows only from checks, see `simoom.evidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from simoom.evidence import Check, Outcome, Quantity, Verdict


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper with its verdict.

    Parameters
    ----------
    name : str
        A short key.
    statement : str
        The sentence, paraphrased.
    paper : str
        The value or the wording of the paper.
    checks : tuple of Check
        The checks that determine the verdict; none if the claim cannot be checked.
    tolerance : str
        The tolerance and its reason.
    remark : str
        An explanation of the numbers, or why there are none.
    coarse : str
        Why the paper allows more than 10 %, if a change of a quantity by 10 % does not change the
        outcome of a check.
    """

    name: str
    statement: str
    paper: str
    checks: tuple[Check, ...]
    tolerance: str = ""
    remark: str = ""
    coarse: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict of all checks."""
        return Verdict.of(self.checks)

    @property
    def ours(self) -> str:
        """The values found here: of each check if there are few, otherwise of the worst check."""
        if len(self.checks) <= FEW:
            return "; ".join(map(str, self.checks))
        worst = max(self.checks, key=lambda check: check.distance)
        return f"{self.count} hold; furthest off {worst}"

    @property
    def count(self) -> str:
        """The number of checks that hold, as text."""
        hold = sum(check.outcome is Outcome.HOLDS for check in self.checks)
        return f"{hold} of {len(self.checks)}"

    @property
    def is_undecided(self) -> bool:
        """Whether more runs might decide it."""
        return self.verdict is Verdict.UNDECIDED

    def scaled(self, quantity: Quantity, factor: float) -> Claim:
        """Return the claim as it would be if a quantity were larger by a factor."""
        return replace(self, checks=tuple(c.scaled(quantity, factor) for c in self.checks))

    @property
    def quantities(self) -> frozenset[Quantity]:
        """The quantities of the checks that hold, which the verdict rests on."""
        hold = (check for check in self.checks if check.outcome is Outcome.HOLDS)
        return frozenset[Quantity]().union(*(check.value.quantities for check in hold))

    def insensitive_to(self) -> list[str]:
        """Return the settings whose numbers may change by 10 % without any effect.

        A setting is a curve of the figure. It has an effect if a check that holds does not hold
        once the curve, or one of its points, is 10 % higher or lower.
        """
        hold = replace(self, checks=tuple(c for c in self.checks if c.outcome is Outcome.HOLDS))
        parts: dict[Quantity, set[Quantity]] = {}
        for name in self.quantities:
            parts.setdefault(name[:2], {name[:2]}).add(name)

        def breaks(name: Quantity) -> bool:
            scaled = (hold.scaled(name, factor) for factor in PERTURBATIONS)
            return any(each.verdict is not Verdict.REPRODUCED for each in scaled)

        silent = (name for name, some in parts.items() if not any(map(breaks, some)))
        return sorted(", ".join(name) or self.name for name in silent)

    @property
    def reason(self) -> str:
        """The reasons of the verdict: the checks that do not hold, then the remark."""
        parts = []
        for outcome, word in ((Outcome.FAILS, "outside"), (Outcome.OPEN, "undecided")):
            some = [check for check in self.checks if check.outcome is outcome]
            if some:
                parts.append(f"{word}: {_named(some)}")
        if self.remark:
            parts.append(self.remark)
        if self.coarse:
            parts.append(f"10 % more or less would not change this: {self.coarse}")
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
"""Up to this number, checks are listed with their numbers."""
PERTURBATIONS = (0.9, 1.1)
"""The factors by which a quantity is changed to see whether a claim can fail."""


def claim(
    name: str,
    statement: str,
    *,
    paper: str,
    checks: Iterable[Check],
    tolerance: str = "",
    remark: str = "",
    coarse: str = "",
) -> Claim:
    """Return a claim with its checks, of which there must be at least one.

    Examples
    --------
    >>> from simoom.evidence import Value
    >>> two = Check.near("P_C", Value.exact(0.0603), 0.060, within=0.001)
    >>> claim("pair", "Two nodes collide rarely.", paper="0.060", checks=[two])
    Claim(pair: reproduced)
    """
    some = tuple(checks)
    if not some:
        raise ValueError(f"{name}: a claim needs a check; use `unchecked` if there can be none")
    return Claim(name, statement, paper, some, tolerance, remark, coarse)


def unchecked(name: str, statement: str, *, paper: str, because: str) -> Claim:
    """Return a claim that cannot be checked, with the reason."""
    return Claim(name, statement, paper, (), remark=because)


def _named(checks: Sequence[Check]) -> str:
    """Return a text that lists the first few checks with their bands."""
    parts = [f"{check.what} (wanted {check.band}, is {check.value})" for check in checks[:FEW]]
    more = len(checks) - FEW
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")
