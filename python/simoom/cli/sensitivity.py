"""``simoom sensitivity``: which settings move a result."""

from __future__ import annotations

from typing import Any

from simoom.base.files import finite
from simoom.cli.api import Source, from_api
from simoom.cli.points import SpaceOption, read_space
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError, Quiet, console, progress_bar, told
from simoom.results.tables import Column, Row, digits, visible
from simoom.runs.sensitivity import METHODS, Effect, Sensitivity
from simoom.runs.sensitivity import sensitivity as analyse
from simoom.show.layout import captioned, estimated

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


@from_api("sensitivity")
def sensitivity(
    source: Source,
    over: SpaceOption = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Find out which settings move a result, over whole ranges."""
    if given["method"] not in METHODS:
        raise InputError(f"--method {given['method']}: must be one of {', '.join(METHODS)}")
    space, log = read_space(over)
    scenario = source.load(space)
    with told(), progress_bar("sensitivity", quiet=quiet) as progress:
        done = analyse(scenario, space, log=log, progress=progress, **given)
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

    rows: list[Row] = [
        {
            "path": visible(each.path),
            "total": estimated(each.total, 3),
            "first": None if each.first is None else estimated(each.first, 3),
            "spread": None if each.spread is None else digits(each.spread, 3),
        }
        for each in done
    ]
    screen = console()
    caption = f"{done.result}: {CAPTIONS[done.method]}; chance makes {done.noise:.0%} of it at most"
    screen.print(captioned(COLUMNS[done.method], rows, caption, screen.width, ("path",)))
