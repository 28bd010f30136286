"""``simoom why``: why a flow is slow, or why two scenarios differ."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    File,
    InputError,
    Seed,
    Settings,
    Unset,
    check_range,
    load,
    progress_bar,
)


def why(
    file: File,
    other: Annotated[
        str | None,
        typer.Argument(metavar="[OTHER]", help="Another scenario: why its results differ."),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The flow, by its name in reports. Default: the slowest; with OTHER the total.",
        ),
    ] = None,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    replications: Annotated[
        int, typer.Option("--replications", "-n", metavar="N", help="Runs of each change.")
    ] = 5,
    seed: Seed = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, and nothing else.")
    ] = False,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for the browser.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no result and no progress.")
    ] = False,
) -> None:
    """Say what limits a flow: what a run shows, and what runs with one change show."""
    from rich.console import Console

    from simoom.files import write_text
    from simoom.why import Why
    from simoom.why import why as explain

    check_range("--replications", replications, least=2, bits=32)
    check_range("--seed", seed, bits=64)
    scenario = load(file, settings, unset=unset)
    second = None if other is None else load(other, [])
    if second is not None and page is not None:
        raise InputError("--html: explains one scenario; leave out the second")
    with progress_bar(Path(file).stem, quiet=quiet) as progress:
        arguments: dict[str, Any] = {
            "flow": flow, "replications": replications, "seed": seed, "progress": progress,
        }  # fmt: skip
        done = explain(scenario, second, **arguments)
    if page is not None and isinstance(done, Why):
        from simoom.why.page import page as document

        write_text(page, document(done))
    if as_json:
        print_json(_finite(done.to_dict()))
    elif not quiet:
        print(done.report(Console().width), end="")


def _finite(value: Any) -> Any:
    """Return plain data in which numbers that are not finite are None, as JSON needs it."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
