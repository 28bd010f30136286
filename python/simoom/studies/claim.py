"""Claims: what a paper says, held against numbers.

A verdict follows from checks and from nothing else, see `simoom.evidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simoom.evidence import Check, Outcome, Verdict


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
        return Verdict.of(self.checks)

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
    >>> from simoom.evidence import Value
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
