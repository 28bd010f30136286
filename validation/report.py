"""Writes the table of agreement: for a terminal, the pages and ``README.md``."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from simoom.runs.evidence import Agreement, Reference, Value
from validation.case import Group, Quantity, Row
from validation.table import not_comparable

BLOCK = re.compile(r"(<!-- agreement -->\n).*?(<!-- /agreement -->)", re.DOTALL)

Results = Sequence[tuple[Group, Sequence[Row]]]

HEAD = """# Validation

Written by `make validate` (`python -m validation`), which runs every case below and fails if one
does not agree. `python -m validation --quick` runs some of the cases, as the tests do. The line of
each case is in `build/validation.md`, which the site shows as *Each case*.

**Reference values** have 95 % confidence intervals if they were simulated. `validation/data` has
the values and their provenance. A reference may be wrong: each simulator has quirks. Simoom follows
the standard by default. If a quirk explains a difference, it is a named option of the scenario, and
the case is run twice: by the standard (column *standard*) and with the options of its group (column
*with options*). No option is a number that could be fitted. If no option has a quirk, its effect is
computed from the reference's own numbers, and the reference is corrected by this ratio.

**Verdict.** *agrees*: within the tolerance. *within the interval*: beyond the tolerance, but within
the sum of the intervals of the reference and of Simoom. *differs*: neither. *open*: both intervals
together are wider than 10 % of the value. The verdict is on the run with options, if there are any.
No difference is excused: a case that differs or is open fails the run, and a change of Simoom's
result by 10 % makes each case fail. References that are too uncertain for this are counted at the
end. The tolerance of probabilities and shares is half of these 10 %. The largest differences in the
summary exclude references whose own interval is wider than twice the tolerance.

"""


def text(quantity: Quantity, value: Value | Reference) -> str:
    """A number with the half-width of its interval, if it has one."""
    half = value.half_width
    if not half or not math.isfinite(half):
        return f"{value.value:.{quantity.digits}f}"
    return f"{value.value:.{quantity.digits}f} ± {half:.{quantity.digits}f}"


def difference(row: Row, measured: Value) -> str:
    """The difference from the reference, before any correction by a rule."""
    expected = row.expected
    return expected.quantity.difference(measured.value, expected.reference.value)


def tolerance(quantity: Quantity) -> str:
    """The tolerance in words."""
    return f"{quantity.absolute:g}" if quantity.absolute else f"{100 * quantity.relative:g} %"


def cells(group: Group, row: Row) -> list[str]:
    """A line of a group's table."""
    quantity = row.expected.quantity
    line = [row.case.name, quantity.name, text(quantity, row.expected.reference)]
    line += [text(quantity, row.standard), difference(row, row.standard)]
    if group.options:
        line += [text(quantity, row.compared), difference(row, row.compared)]
    verdict = "open: the intervals are too wide" if row.is_open else row.verdict.value
    verdict = f"**{verdict}**" if row.fails else verdict
    if row.expected.rule:
        ratio = f"{row.expected.rule.ratio:.4f}"
        verdict += f" with {ratio} times the reference: {row.expected.rule.why}"
    return [*line, verdict]


def columns(group: Group) -> list[str]:
    """The head of a group's table."""
    head = ["case", "quantity", "reference", "Simoom, standard", "difference"]
    if group.options:
        head += ["Simoom, with options", "difference"]
    return [*head, "verdict"]


SUMMARY = (
    "against",
    "quantity",
    "cases",
    "largest difference, standard",
    "largest difference, with options",
    "tolerance",
    "verdict",
)


def evidence(results: Results) -> Results:
    """The groups that count as evidence, without those that only explain."""
    return [(group, rows) for group, rows in results if not group.explains]


def count(results: Results) -> str:
    """The number of comparisons that agree, as a sentence."""
    rows = [row for _, rows in evidence(results) for row in rows]
    return f"{sum(not row.fails for row in rows)} of {len(rows)} comparisons agree"


def summary(results: Results) -> list[list[str]]:
    """A line for each quantity of each group."""
    lines = []
    for group, rows in evidence(results):
        for quantity in dict.fromkeys(row.expected.quantity for row in rows):
            mine = [row for row in rows if row.expected.quantity == quantity]
            options = any(row.case.options for row in mine)
            lines.append(
                [
                    f"{group.title} ({group.source})",
                    quantity.name,
                    str(len(mine)),
                    _largest(mine, [row.standard for row in mine]),
                    _largest(mine, [row.compared for row in mine]) if options else "-",
                    tolerance(quantity),
                    _verdicts(mine),
                ]
            )
    return lines


def _largest(rows: Sequence[Row], measured: Sequence[Value]) -> str:
    """The largest difference from references whose interval is below twice the tolerance."""
    apart = []
    for row, value in zip(rows, measured, strict=True):
        reference = row.expected.reference
        allowed = row.expected.quantity.tolerance(reference.value)
        if reference.half_width <= 2 * allowed:
            shown = difference(row, value)
            apart.append((abs(value.value - reference.value) / allowed, shown))
    return max(apart)[1] if apart else "-"


def _verdicts(rows: Sequence[Row]) -> str:
    words = {
        Agreement.AGREES: "agree",
        Agreement.INTERVAL: "within the interval",
        Agreement.DIFFERS: "differ",
    }
    counts = {word: sum(row.verdict is verdict for row in rows) for verdict, word in words.items()}
    found = {word: count for word, count in counts.items() if count}
    if len(found) == 1:
        return f"all {next(iter(found))}"
    return ", ".join(f"{count} {word}" for word, count in found.items())


def wrapped(paragraph: str, indent: str = "") -> str:
    """A paragraph, wrapped to the line width."""
    return textwrap.fill(paragraph, 96, subsequent_indent=indent, break_on_hyphens=False)


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]]
    return "\n".join(rows) + "\n"


DETAILS_HEAD = """# Each case of the validation

Written by `make validate`. [Validation](validation.md) says what the columns are.
"""


def page(results: Results) -> str:
    """The whole of ``docs/validation.md``."""
    head = f"## Summary\n\n{count(results)}.\n\n"
    table = markdown(SUMMARY, summary(results))
    return f"{HEAD}{head}{table}{subjects([group for group, _ in results])}"


def subjects(groups: Sequence[Group]) -> str:
    """The options, what each group compares and with which of them, and what it cannot."""
    reasons: dict[str, dict[str, None]] = {}
    for group in groups:
        for name, option in group.options.items():
            reasons.setdefault(name, {})[option.why] = None
    parts = ["\n## Options\n\n"]
    for name, why in reasons.items():
        parts.append(wrapped(f"- `{name}`: {'; or '.join(why)}.", "  ") + "\n")
    for group in groups:
        about = f"Reference: {group.source}. {group.about}"
        if group.options:
            about += f" With options: {', '.join(f'`{name}`' for name in group.options)}."
        parts.append(f"\n## {group.title}\n\n{wrapped(about)}\n")
    parts.append("\n## Not comparable yet\n\n")
    waiting = ([what, str(count), need] for what, count, need in not_comparable())
    parts.append(markdown(("reference values", "number", "what is missing"), waiting))
    return "".join(parts)


def details(results: Results) -> str:
    """The whole of ``build/validation.md``: each comparison, by group."""
    parts = [DETAILS_HEAD]
    for group, rows in results:
        lines = markdown(columns(group), (cells(group, row) for row in rows))
        parts.append(f"\n## {group.title}\n\n{lines}")
    return "".join(parts)


def block(results: Results) -> str:
    """The text between the markers in ``README.md``: the comparisons with each reference."""
    sources: dict[str, list[Row]] = {}
    for group, rows in evidence(results):
        sources.setdefault(re.split(r"\.\d|,", group.source)[0], []).extend(rows)
    shares = [f"{source} {len(rows)} ({_verdicts(rows)})" for source, rows in sources.items()]
    return wrapped(
        f"{count(results)}: {'; '.join(shares)}. [docs/validation.md](docs/validation.md) has each "
        "group, by the standard and with the other simulator's quirks as named options."
    )


def put_block(readme: Path, results: Results) -> bool:
    """Write the summary between the markers; return whether the markers exist."""
    before = readme.read_text(encoding="utf-8")
    inside = f"\n{block(results)}\n"
    after, found = BLOCK.subn(lambda marks: marks[1] + inside + marks[2], before)
    if found and after != before:
        readme.write_text(after, encoding="utf-8")
    return bool(found)
