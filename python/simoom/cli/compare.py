"""``simoom compare``: the results of two scenarios, by pairs of runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any

import typer

from simoom.base.files import finite
from simoom.cli.api import Source, from_api
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError, Quiet, console, progress_bar, told
from simoom.cli.until import UntilOption, read_until, refused_results
from simoom.results.tables import Column, Row, digits, visible
from simoom.runs.compare import Comparison
from simoom.runs.compare import Row as Compared
from simoom.runs.compare import compare as run_pairs
from simoom.runs.stats import Estimate
from simoom.show.layout import captioned, with_interval

COLUMNS = (
    Column("result", "result"),
    Column("first", "first"),
    Column("second", "second"),
    Column("difference", "difference"),
    Column("verdict", "second\nis"),
    Column("saved", "variance\nsaved\n%"),
)
CONTROLLED = tuple(column for column in COLUMNS if column.key in ("result", "difference", "saved"))

Other = Annotated[
    str | None,
    typer.Argument(metavar="[OTHER]", help="The second scenario; by default the first."),
]
Changes = Annotated[
    list[str],
    typer.Option(
        "--change",
        metavar="PATH=VALUE",
        help="Change one value of the second scenario alone; --set changes both. Repeatable.",
    ),
]
Results = Annotated[
    list[str],
    typer.Option(
        "--result",
        metavar="PATH",
        help="Compare this result; the default is all total.* of both. Repeatable.",
    ),
]


EXAMPLES = (
    "simoom compare cafe --change ap.queue=fq_codel -n 5",
    "simoom compare one_station --change 'flows[*].control=bbr' --until '10 %'",
    "simoom compare performance_anomaly --change 'stations[1].rate_mbps=11' -n 5 --json",
)
"""The end of the help."""


@from_api("compare", least=2)
def compare(
    source: Source,
    other: Other = None,
    changes: Changes = [],  # noqa: B006
    results: Results = [],  # noqa: B006
    until: UntilOption = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Compare the results of two scenarios by pairs of runs with common random numbers."""
    targets = read_until(until, given["max_replications"])
    if other is None and not changes:
        raise InputError("OTHER: name a second scenario, or what changes, --change PATH=VALUE")
    if source.file == "-" and other in (None, "-"):
        raise InputError("FILE: standard input can be read once; name a file")
    first = source.load()
    changed = [*source.settings, *changes]
    second = replace(source, file=source.file if other is None else other, settings=changed).load()
    runs = 0 if targets else 2 * given["replications"]
    with (
        told(),
        refused_results("--result"),
        progress_bar(source.name, quiet=quiet, runs=runs) as progress,
    ):
        done = run_pairs(
            first, second, results=results or None, until=targets, progress=progress, **given
        )
    if as_json:
        rows = finite(done.to_dicts())
        print_json({"pairs": len(done.first), "confidence": done.confidence, "results": rows})
    elif not quiet:
        _print(done)


def _print(done: Comparison) -> None:

    screen = console()
    is_random = done.first.is_random or done.second.is_random
    tables = (
        (COLUMNS, [_cells(row, is_random=is_random) for row in done.rows], done.caption),
        (CONTROLLED, [_controlled_cells(row) for row in done.rows], "the same by control variates"),
    )
    for columns, cells, caption in tables:
        if rows := [row for row in cells if row]:
            words = ("result", "verdict")
            screen.print(captioned(columns, rows, caption, screen.width, words))


def _cells(row: Compared, *, is_random: bool) -> Row:
    """Return the difference of a result as texts by column."""
    return {
        "result": visible(row.path),
        "first": digits(row.first.mean, 4),
        "second": digits(row.second.mean, 4),
        "difference": _signed(row.difference, is_random=is_random),
        "verdict": row.verdict,
        "saved": _percent(row.saved),
    }


def _controlled_cells(row: Compared) -> Row:
    """Return the difference by control variates as texts by column; none without any."""
    if row.controlled is None:
        return {}
    difference, saved = row.controlled.estimate, row.controlled.saved
    name = visible(row.path)
    return {"result": name, "difference": _signed(difference), "saved": _percent(saved)}


def _signed(difference: Estimate, *, is_random: bool = True) -> str:

    mean = f"{'+' if difference.mean > 0 else ''}{digits(difference.mean, 3)}"
    return with_interval(mean, difference.half_width if is_random and difference.n > 1 else None)


def _percent(fraction: float) -> str | None:
    return None if math.isnan(fraction) else f"{100 * fraction:z.0f}"
