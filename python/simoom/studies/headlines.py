"""What a study says first: how many claims of the paper it reproduces, and a line for each of them.

Everything here follows from the rows of ``claims.csv``. The paper's claims are counted once each. A
claim which holds but is worded so loosely that 10 % more or less would not make it fail, a repeat
of a claim, and a finding of the study are counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from simoom.runs.evidence import Verdict
from simoom.studies.claim import Kind
from simoom.studies.original import Original

Row = Mapping[str, str]
"""A claim as a row of a table: from column to text, see `Claim.row`."""

HOLDS = {
    Verdict.REPRODUCED: "holds",
    Verdict.IN_PART: "holds in part",
    Verdict.NOT_REPRODUCED: "does not hold",
}
"""The verdict on a finding, which nobody else had before."""

OTHER = re.compile(r"(?P<name>[^:;]+): .*? \((?P<verdict>[a-z ]+)\)(?:; |$)")
"""A reading among the others of a claim, as `Reading` writes it."""
MARKS = {
    Verdict.REPRODUCED.value: "**holds**",
    Verdict.IN_PART.value: "in part",
    Verdict.NOT_REPRODUCED.value: "no",
    Verdict.UNDECIDED.value: "undecided",
}
"""Verdicts by reading, short."""


def verdicts(rows: Iterable[Row], kind: Kind = Kind.PAPER) -> dict[Verdict, int]:
    """Return the numbers of claims of a kind by verdict."""
    found = [row["verdict"] for row in rows if row["kind"] == kind.value]
    return {verdict: found.count(verdict.value) for verdict in Verdict}


def counts(rows: Sequence[Row]) -> str:
    """Return the numbers of claims by kind and verdict as text.

    Examples
    --------
    >>> counts([{"kind": "paper", "verdict": "reproduced"}, {"kind": "loose"}])
    '1 claim of the paper: 1 reproduced; 1 loosely worded claim that holds'
    """
    parts = []
    if total := _count(rows, Kind.PAPER):
        parts.append(f"{_plural(total, 'claim')} of the paper: {_split(rows, Kind.PAPER)}")
    if total := _count(rows, Kind.LOOSE):
        verb = "hold" if total > 1 else "holds"
        parts.append(f"{_plural(total, 'loosely worded claim')} that {verb}")
    if total := _count(rows, Kind.REPEAT):
        parts.append(f"{_plural(total, 'repeat')} of a claim")
    if total := _count(rows, Kind.FINDING):
        parts.append(f"{_plural(total, 'finding')} of the study: {_split(rows, Kind.FINDING)}")
    return "; ".join(parts)


def outcome(rows: Sequence[Row], original: Original) -> str:
    """Return the verdicts on the claims about an original as text."""
    about = [row for row in rows if row["place"] == original.place]
    parts = [_split(about, Kind.PAPER)]
    if loose := _count(about, Kind.LOOSE):
        parts.append(f"{loose} loosely worded")
    found = "; ".join(part for part in parts if part)
    return found or ("shown; nothing is claimed in words" if original.figures else "-")


def lines(rows: Sequence[Row]) -> str:
    """Return the paper's claims as a table of a Markdown page, a line for each."""
    heads = ("place", "claim", "paper", "here", "verdict", "reading")
    shown = [row for row in rows if row["kind"] in (Kind.PAPER, Kind.LOOSE)]
    return _table(
        heads,
        (
            (
                row["place"], row["statement"], row["paper"], row["ours"] or "-", _word(row),
                row["reading"],
            )
            for row in shown
        ),
    )  # fmt: skip


def reasons(rows: Sequence[Row]) -> str:
    """Return a table of a Markdown page: what each verdict allows, other readings, reasons."""
    heads = ("claim", "allowed", "other readings", "why")
    shown = [row for row in rows if row["kind"] != Kind.FINDING]
    return _table(
        heads,
        (
            (f"{row['place']}: {row['statement']}", row["tolerance"], row["others"], _why(row))
            for row in shown
        ),
    )


def by_reading(rows: Sequence[Row]) -> str:
    """Return which claims hold by which reading, as a table of a Markdown page.

    A row is a reading, the first one that which decides; a column is a claim that has several.
    """
    shown = [row for row in rows if row["kind"] == Kind.PAPER and row["others"]]
    columns = [
        {row["reading"]: row["verdict"]}
        | {found["name"]: found["verdict"] for found in OTHER.finditer(row["others"])}
        for row in shown
    ]
    names = dict.fromkeys(name for column in columns for name in column)
    heads = ("reading", *(f"{row['place']}: {row['statement'].rstrip('.')}" for row in shown))
    return _table(
        heads,
        ((name, *(MARKS.get(column.get(name, ""), "") for column in columns)) for name in names),
    )


def findings(rows: Sequence[Row]) -> str:
    """Return the findings of the study as a table of a Markdown page."""
    heads = ("finding", "here", "verdict")
    shown = [row for row in rows if row["kind"] == Kind.FINDING]
    return _table(
        heads,
        (
            (
                f"{row['figure']}: {row['statement']}",
                row["ours"],
                f"{_word(row)}. " + _sentences(_allowed(row), row["reason"]),
            )
            for row in shown
        ),
    )


def _count(rows: Iterable[Row], kind: Kind) -> int:
    return sum(row["kind"] == kind.value for row in rows)


def _split(rows: Sequence[Row], kind: Kind) -> str:
    """Return the numbers by verdict, without those that are 0."""
    words = HOLDS if kind is Kind.FINDING else {}
    found = verdicts(rows, kind).items()
    parts = ((n, words.get(verdict, verdict.value)) for verdict, n in found if n)
    return ", ".join(f"{n} {_agreeing(word, n)}" for n, word in parts)


def _agreeing(word: str, number: int) -> str:
    """Return a verb in the plural where there are several."""
    if number == 1:
        return word
    return word.replace("holds", "hold").replace("does not", "do not")


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number > 1 else "")


def _word(row: Row) -> str:
    """Return the verdict on a claim in the words of its kind."""
    if row["kind"] == Kind.LOOSE:
        return "holds, loosely worded"
    if row["kind"] == Kind.FINDING:
        return HOLDS.get(Verdict(row["verdict"]), row["verdict"])
    return f"**{row['verdict']}**"


def _why(row: Row) -> str:
    repeat = f"counted as {row['repeats']}" if row["repeats"] else ""
    return _sentences(repeat, row["reason"])


def _allowed(row: Row) -> str:
    return f"allowed: {row['tolerance']}" if row["tolerance"] else ""


def _sentences(*parts: str) -> str:
    """Join texts as sentences."""
    return ". ".join(part[0].upper() + part[1:].rstrip(".") for part in parts if part)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    lines += [f"| {' | '.join(part.replace('|', '/') for part in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
