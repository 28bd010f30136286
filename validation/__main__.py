"""``python -m validation [--quick | --multi-hop | --testbed | --linux | --emulation]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from simoom.runs.evidence import Agreement
from validation import (
    emulation,
    emulation_page,
    linux,
    linux_page,
    report,
    table,
    testbed,
    testbed_page,
)
from validation.case import Group, Row
from validation.measure import measure

ROOT = Path(__file__).resolve().parent.parent
STYLES = {Agreement.AGREES: "green", Agreement.INTERVAL: "cyan", Agreement.DIFFERS: "yellow"}


Progressing = Callable[[int, int], object]
T = TypeVar("T")


def with_bar(work: Callable[[Progressing], T]) -> T:
    """Work whose runs a progress bar counts."""
    shown = (TextColumn("validation"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return work(advance)


def run(groups: list[Group]) -> list[tuple[Group, list[Row]]]:
    """Run all cases with a progress bar."""
    return with_bar(lambda tell: measure(groups, tell))


def compare_with_hardware() -> int:
    """Simulate the points of the test bed and write their page."""
    points = {name: read() for name, (_, read) in testbed_page.SECTIONS.items()}
    tried = {
        name: [(each, each.points(points[name])) for each in testbed.EXPERIMENTS.get(read, ())]
        for name, (_, read) in testbed_page.SECTIONS.items()
    }
    every = [point for section in points.values() for point in section]
    every += [point for section in tried.values() for _, changed in section for point in changed]
    results = iter(with_bar(lambda tell: testbed.measure(every, tell)))
    compared = {name: [next(results) for _ in section] for name, section in points.items()}
    sections = [
        (
            name,
            testbed_page.SECTIONS[name][0],
            compared[name],
            [(each, [next(results) for _ in changed]) for each, changed in tried[name]],
        )
        for name in points
    ]
    (ROOT / "docs" / "testbed.md").write_text(testbed_page.page(sections), encoding="utf-8")
    for name, those in compared.items():
        print(f"{name}: {testbed_page.reach(those)}")
    return 0


def compare_emulations() -> int:
    """Run real programs over known paths and write their page."""
    lacking = emulation.missing()
    if lacking:
        print(f"validation --emulation {lacking}", file=sys.stderr)
        return 2
    results = []
    for each in emulation.measure():
        results.append(each)
        print(f"{each.values[0].path}: {each.verdict}", file=sys.stderr)
    page = ROOT / "docs" / "emulation.md"
    page.write_text(emulation_page.page(results), encoding="utf-8")
    values = [value for each in results for value in each.values]
    print(f"{sum(value.agrees for value in values)} of {len(values)} values agree")
    return 0


def compare_with_linux() -> int:
    """Simulate the points of Linux in virtual time and write their page."""
    points = linux.points()
    results = with_bar(lambda tell: linux.measure(points, progress=tell))
    without = {
        what: linux.agreeing(linux.measure(points, rules)) for what, rules in linux.WITHOUT.items()
    }
    page = ROOT / "docs" / "linux.md"
    page.write_text(linux_page.page(results, without), encoding="utf-8")
    agree, judged = linux.agreeing(results)
    print(f"{agree} of {judged} values agree")
    return 0


def show(group: Group, rows: list[Row], console: Console) -> None:
    """Print the table of a group."""
    drawn = Table(title=f"{group.title} ({group.source})", title_justify="left")
    for column in report.columns(group):
        text = column in {"case", "quantity", "verdict"}
        drawn.add_column(column, justify="left" if text else "right", no_wrap=not text)
    for row in rows:
        *cells, verdict = report.cells(group, row)
        style = "red" if row.fails else STYLES[row.verdict]
        drawn.add_row(*cells, f"[{style}]{verdict}[/]")
    console.print(drawn)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="run some cases only, and write nothing"
    )
    parser.add_argument(
        "--multi-hop",
        action="store_true",
        help="run the multi-hop networks only, and write nothing",
    )
    parser.add_argument(
        "--testbed",
        action="store_true",
        help="simulate what real hardware was measured at, and write docs/testbed.md",
    )
    parser.add_argument(
        "--linux",
        action="store_true",
        help="simulate what a Linux kernel did in virtual time, and write docs/linux.md",
    )
    parser.add_argument(
        "--emulation",
        action="store_true",
        help="run real programs in emulations, and write docs/emulation.md",
    )
    arguments = parser.parse_args()
    if arguments.emulation:
        return compare_emulations()
    if arguments.testbed:
        return compare_with_hardware()
    if arguments.linux:
        return compare_with_linux()
    groups = table.decisive(table.multi_hop()) if arguments.multi_hop else table.groups()
    results = run(table.quick() if arguments.quick else groups)
    console = Console(width=None if sys.stdout.isatty() else 160)
    for group, rows in results:
        show(group, rows, console)
    if not (arguments.quick or arguments.multi_hop):
        (ROOT / "docs" / "validation.md").write_text(report.page(results), encoding="utf-8")
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / "validation.md").write_text(report.details(results), encoding="utf-8")
        if not report.put_block(ROOT / "README.md", results):
            console.print("README.md has no <!-- agreement --> markers and was not changed")
    console.print(report.count(results))
    return int(any(row.fails for _, rows in results for row in rows))


if __name__ == "__main__":
    sys.exit(main())
