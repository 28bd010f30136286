"""``simoom compare``: the results of two scenarios, by pairs of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    Check,
    File,
    InputError,
    Seed,
    Settings,
    Unset,
    check_range,
    load,
    progress_bar,
    told,
)
from simoom.cli.until import MaxReplications, UntilOption, read_until, refused_results
from simoom.files import finite
from simoom.tables import visible

if TYPE_CHECKING:
    from rich.console import Console

    from simoom.compare import Comparison

NARROW = 76
"""A table has at least so many columns."""

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
Pairs = Annotated[
    int,
    typer.Option(
        "--replications", "-n", metavar="N", help="Pairs of runs; the least with --until."
    ),
]


def compare(
    file: File,
    other: Other = None,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    results: Results = [],  # noqa: B006
    replications: Pairs = 20,
    until: UntilOption = [],  # noqa: B006
    max_replications: MaxReplications = None,
    seed: Seed = 1,
    check: Check = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, and nothing else.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no result and no progress.")
    ] = False,
) -> None:
    """Compare the results of two scenarios by pairs of runs with common random numbers."""
    from simoom.compare import compare as run_pairs

    check_range("--replications", replications, least=2, bits=32)
    check_range("--seed", seed, bits=64)
    targets = read_until(until, max_replications)
    if other is None and not changes:
        raise InputError("OTHER: name a second scenario, or what changes, --change PATH=VALUE")
    if file == "-" and other in (None, "-"):
        raise InputError("FILE: standard input can be read once; name a file")
    first = load(file, settings, unset=unset)
    second = load(file if other is None else other, [*settings, *changes], unset=unset)
    with (
        told(),
        refused_results("--result"),
        progress_bar(Path(file).stem, quiet=quiet) as progress,
    ):
        try:
            done = run_pairs(
                first,
                second,
                results=results or None,
                replications=replications,
                until=targets,
                max_replications=max_replications,
                seed=seed,
                progress=progress,
                check=check,
            )
        except ValueError as error:
            if not str(error).startswith("results: "):
                raise
            raise InputError(f"--result: {str(error).removeprefix('results: ')}") from None
    if as_json:
        rows = finite(done.to_dicts())
        print_json({"pairs": len(done.first), "confidence": done.confidence, "results": rows})
    elif not quiet:
        _print(done)


def _print(done: Comparison) -> None:
    from rich.console import Console

    from simoom.compare import CONTROLLED_HEADINGS, HEADINGS

    console = Console()
    _print_table(console, HEADINGS, done.table(), done.caption)
    if rows := done.controlled_table():
        _print_table(console, CONTROLLED_HEADINGS, rows, "the same differences by control variates")


def _print_table(
    console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str
) -> None:
    """Print a table, or where it is too narrow for one, each row as lines."""
    from rich.table import Table
    from rich.text import Text

    if console.width < NARROW:
        names = [heading.replace("\n", " ") for heading in headings]
        for first, *cells in rows:
            console.print(Text(visible(first)))
            for name, cell in zip(names[1:], cells, strict=True):
                console.print(Text(f"  {name}: {visible(cell)}"))
        console.print(Text(caption))
        return
    table = Table(caption=caption)
    for heading in headings:
        left = heading in ("result", "second is")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading != "result",
                         overflow="fold")  # fmt: skip
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)
