"""Claims: sentences of a paper, compared with numbers.

A verdict follows only from checks, see `simoom.runs.evidence`. What a paper leaves open has
readings: the verdict is that of the reading which the text supports best, the others are shown
beside it.
"""

from __future__ import annotations

import csv
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files

from simoom.runs.evidence import Check, Outcome, Quantity, Verdict


class Kind(enum.StrEnum):
    """What a claim counts as. The headline of a study is about the claims of its paper."""

    PAPER = "paper"
    LOOSE = "loose"
    """A claim of the paper that holds, worded so loosely that 10 % would not make it fail."""
    REPEAT = "repeat"
    """A claim of the paper that another claim counts."""
    FINDING = "finding"
    """A finding of the study, which the paper does not have."""


@dataclass(frozen=True)
class Reading:
    """What a paper leaves open, read in one way, with the numbers that this gives.

    Parameters
    ----------
    name : str
        What is read how: "0 to 45 s".
    checks : tuple of Check
        The checks of the claim under this reading.
    """

    name: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        verdict = Verdict.of(self.checks).value
        if len(self.checks) == 1:
            return f"{self.name}: {self.checks[0].value} ({verdict})"
        return f"{self.name}: {_ours(self.checks, ', ')} ({verdict})"


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
    reading : str
        The reading of the paper that the checks are about.
    others : tuple of Reading
        Other readings, which do not decide the verdict.
    place : str
        Where the paper has it, "Fig. 5"; that of the figure by default, see `Study.originals`.
    repeats : str
        The name of the claim that counts it, if this is the same sentence once more.
    is_finding : bool
        Whether it is a finding of the study, and no sentence of the paper.
    """

    name: str
    statement: str
    paper: str
    checks: tuple[Check, ...]
    tolerance: str = ""
    remark: str = ""
    coarse: str = ""
    reading: str = ""
    others: tuple[Reading, ...] = ()
    place: str = ""
    repeats: str = ""
    is_finding: bool = False

    @property
    def kind(self) -> Kind:
        """What it counts as. A loosely worded claim that fails counts against the study."""
        if self.is_finding:
            return Kind.FINDING
        if self.repeats:
            return Kind.REPEAT
        holds = self.verdict is Verdict.REPRODUCED
        return Kind.LOOSE if self.coarse and holds else Kind.PAPER

    @property
    def verdict(self) -> Verdict:
        """The verdict of all checks."""
        return Verdict.of(self.checks)

    @property
    def ours(self) -> str:
        """The values found here: of each check if there are few, otherwise of the worst check."""
        return _ours(self.checks, "; ")

    @property
    def tried(self) -> str:
        """The other readings with their numbers, as text."""
        return "; ".join(map(str, self.others))

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
            "kind": self.kind.value,
            "repeats": self.repeats,
            "place": self.place,
            "statement": self.statement,
            "paper": self.paper,
            "ours": self.ours,
            "reading": self.reading,
            "others": self.tried,
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
FINDING = "a finding of this study"
"""What stands for the paper's wording where it has none."""


def claim(
    name: str,
    statement: str,
    *,
    paper: str,
    checks: Iterable[Check],
    tolerance: str = "",
    remark: str = "",
    coarse: str = "",
    reading: str = "",
    others: Iterable[Reading] = (),
    place: str = "",
    repeats: str = "",
) -> Claim:
    """Return a claim with its checks, of which there must be at least one.

    Examples
    --------
    >>> from simoom.runs.evidence import Value
    >>> two = Check.near("P_C", Value.exact(0.0603), 0.060, within=0.001)
    >>> claim("pair", "Two nodes collide rarely.", paper="0.060", checks=[two])
    Claim(pair: reproduced)
    """
    some = tuple(checks)
    if not some:
        raise ValueError(f"{name}: a claim needs a check; use `unchecked` if there can be none")
    return Claim(
        name, statement, paper, some, tolerance, remark, coarse, reading, tuple(others), place,
        repeats,
    )  # fmt: skip


def finding(
    name: str,
    statement: str,
    *,
    checks: Iterable[Check],
    about: str = FINDING,
    tolerance: str = "",
    remark: str = "",
    coarse: str = "",
) -> Claim:
    """Return a finding of the study, which no headline counts as a claim of the paper.

    `about` says what it is instead, for example "a check of the formula".
    """
    made = claim(
        name, statement, paper=about, checks=checks, tolerance=tolerance, remark=remark,
        coarse=coarse,
    )  # fmt: skip
    return replace(made, is_finding=True)


def unchecked(name: str, statement: str, *, paper: str, because: str, place: str = "") -> Claim:
    """Return a claim that cannot be checked, with the reason."""
    return Claim(name, statement, paper, (), remark=because, place=place)


class Claims:
    """Makes the claims of a study: their words are rows of its ``claims.csv``, their checks code.

    The columns are ``name``, ``kind`` ("claim", "finding" or "unchecked"), and the parameters of
    `claim`; of a claim that cannot be checked, ``remark`` says why.

    Parameters
    ----------
    package : str
        The package of the study, ``__package__``.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    @cached_property
    def rows(self) -> dict[str, dict[str, str]]:
        """The rows by the names of the claims."""
        text = files(self._package).joinpath("claims.csv").read_text(encoding="utf-8")
        rows = csv.DictReader(text.splitlines())
        return {row["name"]: {key: text for key, text in row.items() if text} for row in rows}

    def __call__(
        self,
        name: str,
        statement: str = "",
        *,
        checks: Iterable[Check] = (),
        others: Iterable[Reading] = (),
        paper: str = "",
        tolerance: str = "",
        remark: str = "",
        coarse: str = "",
        reading: str = "",
        place: str = "",
        repeats: str = "",
    ) -> Claim:
        """Return a claim with its checks; words that follow from numbers are given here."""
        given = {"statement": statement, "paper": paper, "tolerance": tolerance, "remark": remark,
                 "coarse": coarse, "reading": reading, "place": place,
                 "repeats": repeats}  # fmt: skip
        words = {**self.rows.get(name, {}), **{key: text for key, text in given.items() if text}}
        kind = words.pop("kind", "claim")
        if "statement" not in words:
            raise ValueError(f"{name}: has no row in claims.csv of {self._package}")
        words["name"] = name
        if kind == "unchecked":
            return unchecked(because=words.pop("remark"), **words)
        words.setdefault("paper", FINDING)
        made = claim(**words, checks=checks, others=others)
        return replace(made, is_finding=kind == "finding")


def _ours(checks: Sequence[Check], between: str) -> str:
    """Return the values of a few checks, or how many of many hold and the worst one."""
    if len(checks) <= FEW:
        return between.join(map(str, checks))
    worst = max(checks, key=lambda check: check.distance)
    hold = sum(check.outcome is Outcome.HOLDS for check in checks)
    return f"{hold} of {len(checks)} hold{between}furthest off {worst}"


def _named(checks: Sequence[Check]) -> str:
    """Return a text that lists the first few checks with their bands."""
    parts = [f"{check.what} (wanted {check.band}, is {check.value})" for check in checks[:FEW]]
    more = len(checks) - FEW
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")
