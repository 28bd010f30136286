"""``simoom sensitivity``: which settings move a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simoom.base.files import finite
from simoom.cli.points import SpaceOption, read_space, refused_space
from simoom.cli.streams import print_json
from simoom.cli.sweep import StoreOption
from simoom.cli.terminal import (
    AsJson,
    File,
    InputError,
    Quiet,
    Seed,
    Settings,
    Unset,
    check_range,
    console,
    load,
    progress_bar,
    told,
)
from simoom.results.tables import Column, Row, digits, visible

if TYPE_CHECKING:
    from simoom.runs.sensitivity import Effect, Sensitivity

COLUMNS = {
    "sobol": (
        Column("path", "setting"),
        Column("total", "total\neffect"),
        Column("first", "effect\nalone"),
    ),
    "morris": (
        Column("path", "setting"),
        Column("total", "mean\nchange"),
        Column("spread", "its\nspread"),
    ),
}
CAPTIONS = {
    "sobol": "fractions of the variance with 95 % intervals",
    "morris": "changes over the whole range with 95 % intervals",
}


def sensitivity(
    file: File,
    over: SpaceOption = [],  # noqa: B006
    result: Annotated[
        str, typer.Option("--result", metavar="PATH", help="The result.")
    ] = "total.goodput_mbps",
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="sobol (divides the variance among the settings) or morris (fewer runs; ranks "
            "the settings).",
        ),
    ] = "sobol",
    points: Annotated[
        int,
        typer.Option(
            "--points",
            metavar="N",
            help="Base points, for sobol a power of two. The scenario is run at as many times the "
            "number of settings, plus two (sobol) or one (morris).",
        ),
    ] = 64,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    replications: Annotated[
        int, typer.Option("--replications", "-n", metavar="N", help="Runs of each point.")
    ] = 5,
    seed: Seed = 1,
    store: StoreOption = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find out which settings move a result, over whole ranges."""
    from simoom.runs.sensitivity import METHODS
    from simoom.runs.sensitivity import sensitivity as analyse

    check_range("--replications", replications, least=1, bits=32)
    check_range("--seed", seed, bits=64)
    if method not in METHODS:
        raise InputError(f"--method {method}: must be one of {', '.join(METHODS)}")
    space, log = read_space(over)
    scenario = load(file, settings, space, unset=unset)
    with told(), refused_space(), progress_bar("sensitivity", quiet=quiet) as progress:
        done = analyse(
            scenario,
            space,
            result=result,
            method=method,
            points=points,
            replications=replications,
            seed=seed,
            log=log,
            store=store,
            progress=progress,
        )
    if as_json:
        print_json(finite(_plain(done)))
    elif not quiet:
        _print(done)


def _plain(done: Sensitivity) -> dict[str, object]:
    return {
        "result": done.result,
        "method": done.method,
        "noise": done.noise,
        "settings": [_effect(each) for each in done],
    }


def _effect(each: Effect) -> dict[str, object]:
    row: dict[str, object] = {"path": each.path}
    for name, value in (("total", each.total), ("first", each.first)):
        if value is not None:
            row |= {name: value.mean, f"{name}_low": value.ci_low, f"{name}_high": value.ci_high}
    return row if each.spread is None else {**row, "spread": each.spread}


def _print(done: Sensitivity) -> None:
    from rich.text import Text

    from simoom.show.layout import estimated, fitted

    rows: list[Row] = [
        {
            "path": visible(each.path),
            "total": estimated(each.total, 3),
            "first": None if each.first is None else estimated(each.first, 3),
            "spread": None if each.spread is None else digits(each.spread, 3),
        }
        for each in done
    ]
    screen, longest = console(), max(len(each.path) for each in done)
    columns, most = COLUMNS[done.method], len(rows)
    screen.print(fitted(columns, rows, screen.width, least=longest, most=most, words=("path",)))
    caption = f"{done.result}: {CAPTIONS[done.method]}; chance makes {done.noise:.0%} of it at most"
    screen.print(Text(caption, style="dim"))
