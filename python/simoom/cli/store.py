"""``simoom store``: the results that sweeps keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from simoom.base.files import finite, write_frame
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    InputError,
    console,
    say,
    told,
)
from simoom.results.tables import digits, visible
from simoom.store.shards import Content, MergeError, contents, missing_of
from simoom.store.shards import merge as merge_stores
from simoom.store.store import Store

FAULTY = 1
"""The exit code of a check that finds faults."""

store = typer.Typer(
    help="Compact, query, merge and check the results that sweeps store.", no_args_is_help=True
)

Which = Annotated[
    str, typer.Argument(metavar="STORE", help="The folder of --store, or s3://BUCKET/FOLDER.")
]


@store.command("compact")
def compact(store: Which) -> None:
    """Move all runs into a few Parquet files. Sweeps may use the store meanwhile."""
    with told():
        opened = _open(store)
        done = opened.compact()
    for problem in done.damaged:
        say(f"{problem}; it stays as it is")
    print(f"{store}: {_count(done.runs, 'run')} in {_count(done.segments, 'file')}")


@store.command("query")
def query(
    store: Which,
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="""What DuckDB computes of the table runs, e.g. 'SELECT seed,
            avg("total.goodput_mbps") FROM runs GROUP BY ALL'.""",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result into this .csv or .parquet file."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows as one JSON array, nothing else.")
    ] = False,
) -> None:
    """Query the runs in SQL; without a query list the columns."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: must end in .csv or .parquet")
    with told():
        opened = _open(store)
        try:
            found = opened.query(sql or "SELECT column_name, column_type FROM (DESCRIBE runs)")
        except ValueError as error:
            raise InputError(f"SQL: {str(error).splitlines()[0]}") from None
    if out is not None:
        write_frame(out, found)
        say(f"wrote {_count(found.height, 'row')} to {out}")
    elif as_json:
        print_json([finite(row) for row in found.to_dicts()])
    else:
        _print(found.columns, [[_cell(value) for value in row] for row in found.iter_rows()])


@store.command("merge")
def merge(
    into: Annotated[str, typer.Argument(metavar="STORE", help="The store that gets all runs.")],
    stores: Annotated[
        list[str], typer.Argument(metavar="FROM...", help="The stores, which stay as they are.")
    ],
    partial: Annotated[
        bool, typer.Option("--partial", help="Merge though shards, or runs of them, are missing.")
    ] = False,
) -> None:
    """Copy the runs of stores into one, each once; the parts of --shard must be complete."""
    with told():
        sources = [_open(each) for each in stores]
        try:
            done = merge_stores(_open(into, make=True), sources, partial=partial)
        except MergeError as error:
            raise InputError(f"{error}; nothing was copied") from None
    for note in done.notes:
        say(note)
    print(f"{into}: {_count(done.added, 'run')} added, {done.runs} in all")


@store.command("check")
def check(store: Which) -> None:
    """Read every run, and say what is damaged or missing; the exit code is then 1."""
    with told():
        found = contents(_open(store))
    faults = [*found.damaged, *missing_of([found])]
    for fault in faults:
        say(fault)
    print(f"{store}: {_count(len(found.digests), 'run')}{_builds(found)}")
    if faults:
        raise typer.Exit(FAULTY)


def _builds(found: Content) -> str:
    parts = [f"{count} by Simoom {build}" for build, count in sorted(found.builds.items())]
    return f": {', '.join(parts)}" if parts else ""


def _open(store: str, *, make: bool = False) -> Store:

    if not store:
        raise InputError("STORE: is empty; name the folder of a store")
    if "://" not in store and not make and not Path(store).is_dir():
        what = "is a file" if Path(store).exists() else "there is no such folder"
        raise InputError(f"{store}: {what}; name the folder that --store named")
    return Store(store)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _cell(value: object) -> str:

    if value is None:
        return "-"
    return digits(value, 6) if isinstance(value, float) else str(value)


def _print(columns: list[str], rows: list[list[str]]) -> None:

    table = Table()
    for name in columns:
        table.add_column(Text(visible(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console().print(table)
