"""``simoom why``: why a flow is slow, or why two scenarios differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from simoom.base.files import finite, write_text
from simoom.cli.api import Source, from_api
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    AsJson,
    InputError,
    Quiet,
    console,
    directory,
    load,
    make_directory,
    progress_bar,
    say,
)
from simoom.results.run import run
from simoom.scenario.observables import default_probes
from simoom.scenario.scenario import Scenario
from simoom.show.report import write
from simoom.why import why as explain
from simoom.why.page import page as document
from simoom.why.result import Why

EXAMPLES = (
    "simoom why performance_anomaly",
    "simoom why home --flow 'call up'",
    "simoom why performance_anomaly --out explained -n 3",
)
"""The end of the help."""


@from_api("why", least=2)
def why(
    source: Source,
    other: Annotated[
        str | None,
        typer.Argument(metavar="[OTHER]", help="Another scenario: why its results differ."),
    ] = None,
    as_json: AsJson = False,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for the browser.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=directory,
            help="Write the report of a run with the explanation (report.html), its data "
            "(why.json), and all that simoom run --out writes, into this directory.",
        ),
    ] = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Say what limits a flow: what a run shows, and what runs with one change show."""
    scenario = source.load()
    second = None if other is None else load(other, [])
    if second is not None:
        _refuse_with_two({"--html": page, "--out": out})
    if out is not None:
        make_directory(out)
    with progress_bar(source.name, quiet=quiet) as progress:
        done = explain(scenario, second, progress=progress, **given)
    names = ""
    if out is not None and isinstance(done, Why):
        names = write_report(scenario, given["seed"], out, done)
    if page is not None and isinstance(done, Why):
        write_text(page, document(done))
    if as_json:
        print_json(finite(done.to_dict()))
    elif not quiet:
        print(done.report(console().width), end="")
        if names:
            say(f"wrote {names}")


def _refuse_with_two(options: dict[str, Path | None]) -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option}: explains one scenario; leave out the second")


def write_report(scenario: Scenario, seed: int, out: Path, why: Why) -> str:
    """Write the report of a run with an explanation; return what was written."""
    done = run(scenario, seed=seed, probes=default_probes(scenario))
    return f"{', '.join(write(done, out, why))} to {out}/"
