"""``simoom rerun``: whether a stored run still gives the same."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from simoom.cli.terminal import Check, InputError, Quiet, progress_bar
from simoom.results.record import DamagedError, Record
from simoom.results.run import run as simulate
from simoom.results.tables import visible
from simoom.results.travel import controllers
from simoom.store.store import Store

DIFFERENT = 1
"""The exit code if a run gives other results."""
MOST_LINES = 10


def rerun(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A run in a store (STORE/??/*.json), or the store."),
    ],
    key: Annotated[
        str, typer.Argument(metavar="[KEY]", help="The key of a run in a store, or its beginning.")
    ] = "",
    check: Check = False,
    code: Annotated[
        bool,
        typer.Option("--controllers", help="Run the controllers in Python that the record names."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run a stored run again from its own record, and say whether it still gives the same."""
    if file.is_dir() and not key:
        raise InputError(f"{file}: is a store; name one of its runs: {file} KEY")
    try:
        record = Store(file).record(key) if file.is_dir() else Record.read(file)
    except (DamagedError, LookupError) as error:
        raise InputError(str(error)) from None
    kept = record.run
    if (named := controllers(kept.scenario)) and not code:
        # A record may be of others.
        message = f"{file}: names code in Python ({', '.join(dict.fromkeys(named))}), which runs "
        raise InputError(f"{message}only with --controllers")
    with progress_bar(record.key[:12], quiet=quiet) as progress:
        done = simulate(
            kept.scenario,
            seed=kept.seed,
            replication=kept.replication,
            progress=progress,
            check=check,
        )
    found = record.differences(done)
    if not quiet:
        by = f"stored by Simoom {record.simoom}, this is {version('simoom')}"
        verdict = f"{len(found)} values differ" if found else f"the same, digest {done.digest}"
        print(visible(f"{file}{key and f' {record.key[:12]}'}: {verdict}; {by}"))
        for path, was, now in found[:MOST_LINES]:
            print(visible(f"  {path}: was {was}, is {now}"))
        if len(found) > MOST_LINES:
            print(f"  … {len(found) - MOST_LINES} more")
    if found:
        raise typer.Exit(DIFFERENT)
