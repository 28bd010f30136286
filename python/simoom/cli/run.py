"""``simoom run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simoom.cli.terminal import (
    File,
    Replication,
    Seed,
    Settings,
    check_range,
    load,
    make_directory,
    progress_bar,
    say,
)

DEFAULT_PROBES = ("total.goodput_mbps", "ap.queue_packets")
"""The time series of a report if the user names none."""


def run(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    seed: Seed = 1,
    replication: Replication = 0,
    probes: Annotated[
        list[str],
        typer.Option(
            "--probe", metavar="PATH", help="Record a time series of this value. Repeatable."
        ),
    ] = [],  # noqa: B006
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object, nothing else.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write summary.json, scenario.toml, report.html, report.png and the time series "
            "(series.csv, series.parquet) into this directory. Without --probe the time series are "
            "total.goodput_mbps and ap.queue_packets.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the laws of conservation during the run (slower)."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no report and no progress.")
    ] = False,
) -> None:
    """Simulate a scenario and print its results."""
    from simoom.run import run as simulate

    check_range("--seed", seed, bits=64)
    check_range("--replication", replication, bits=32)
    scenario = load(file, settings)
    scenario.check()
    if out is not None:
        make_directory(out)
        probes = probes or list(DEFAULT_PROBES)
    with progress_bar(Path(file).stem, quiet=quiet) as progress:
        done = simulate(
            scenario,
            seed=seed,
            replication=replication,
            probes=probes,
            progress=progress,
            check=check,
        )
    if as_json:
        from simoom.report import summary_json

        print(summary_json(done))
    elif not quiet:
        from rich.console import Console

        from simoom.report import tables

        console = Console()
        console.print(tables(done, width=console.width))
    if out is not None:
        from simoom.report import write

        names = write(done, out)
        if not quiet and not as_json:
            say(f"wrote {', '.join(names)} to {out}/")
